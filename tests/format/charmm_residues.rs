//! Tests that residues of CHARMM force fields that are read as molecules have the same terms as in a PSF file.

use md::format::{Factors14, Molecules, TopologyOptions, read_topology_with};
use md::system::Description;

use crate::charmm::{PARAMETERS, folder, options, read};

/// Residue TST of the system as a residue topology. Of the 20 angles and 21 dihedrals that the PSF file lists for the
/// residue and the waters, this text lists one angle.
const RESIDUE: &str = "\
* A residue
*
36 1
RESI OTHER 1.0
ATOM X UNKNOWN 1.0
RESI TST -0.0000
GROUP
ATOM CY TC 0.5
ATOM OY TO -0.5
ATOM N TN -0.4 ! a comment
ATOM HN TH 0.3
ATOM CA TA 0.1
ATOM HA TH 0.1
ATOM C TC 0.45
ATOM O TO -0.45
GROUP
ATOM NT TN -0.35
ATOM R1 TR 0.15
ATOM R2 TR 0.05
ATOM R3 TR -0.1
ATOM R4 TR 0
ATOM R5 TR 0.15
DOUBLE CY OY
BOND CY N N HN N CA CA HA CA C
BOND C O C NT NT R1 R1 R2 R2 R3 R3 R4 -
 R4 R5 R5 R1
ANGLE OY CY N
IMPR N CY CA HN C CA NT O
IMPR CA N C HA R1 NT R2 R5
CMAP CY N CA C N CA C NT
DONOR HN N
IC CY N CA C 1.3 120.0 180.0 110.0 1.5
PATCHING FIRST NONE LAST NONE
END
";

/// Reads residue TST of [`RESIDUE`] with some parts replaced.
fn residue(changes: &[(&str, &str)]) -> md::error::Result<Description> {
    let mut text = RESIDUE.to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    let file = tempfile::Builder::new().suffix(".str").tempfile().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let factors14 = Factors14 { coulomb: 1.0, lennard_jones: 1.0 };
    let molecules = Some(Molecules { factors14, residues: ["TST".to_owned()].into() });
    read_topology_with(file.path(), &TopologyOptions { molecules, ..options(&folder(), &PARAMETERS) })
}

#[test]
fn residues_have_the_terms_of_their_psf() {
    let (found, whole) = (residue(&[]).unwrap(), read("charmm.psf"));
    let (topology, expected) = (&found.topology, &whole.topology);
    assert_eq!(topology.atoms.len(), 14);
    for (atom, other) in topology.atoms.iter().zip(&expected.atoms) {
        assert_eq!(
            (atom.name, atom.charge, atom.mass, atom.element),
            (other.name, other.charge, other.mass, other.element)
        );
        let of = |description: &Description, lj_type: u32| description.nonbonded.sigma_epsilon(lj_type, lj_type);
        assert_eq!(of(&found, atom.lj_type), of(&whole, other.lj_type));
    }
    let is_of_residue = |atoms: &[u32]| atoms.iter().all(|&atom| atom < 14);
    let mut expected = expected.bonded.of_those(is_of_residue);
    expected.cmap_grids.clone_from(&whole.topology.bonded.cmap_grids);
    // a term is the same if the order of its atoms is reversed
    let ends = |atoms: &mut [u32]| {
        if atoms[0] > atoms[atoms.len() - 1] {
            atoms.reverse();
        }
    };
    let mut bonded = topology.bonded.clone();
    for terms in [&mut bonded, &mut expected] {
        terms.bonds.iter_mut().for_each(|term| ends(&mut term.atoms));
        terms.angles.iter_mut().for_each(|term| ends(&mut term.atoms));
        terms.propers.iter_mut().for_each(|term| ends(&mut term.atoms));
        terms.urey_bradleys.iter_mut().for_each(|term| ends(&mut term.atoms));
        terms.bonds.sort_by_key(|term| term.atoms);
        terms.angles.sort_by_key(|term| term.atoms);
        terms.propers.sort_by_key(|term| (term.atoms, term.periodicity));
        terms.urey_bradleys.sort_by_key(|term| term.atoms);
    }
    assert_eq!(bonded, expected);
    assert!(bonded.angles.len() > 15 && bonded.propers.len() > 15 && bonded.pairs14.len() > 5);
}

#[test]
fn faulty_residues_are_refused() {
    let refused = |changes: &[(&str, &str)], message: &str| {
        let found = residue(changes).unwrap_err().to_string();
        assert!(found.contains(message), "{found}");
    };
    refused(&[("RESI TST", "RESI ELSE")], "the file has no residue TST");
    refused(&[("RESI OTHER 1.0\nATOM X UNKNOWN", "RESI TST 1.0\nATOM X TC")], "the file has a second residue TST");
    refused(&[("-0.35\n", "-0.25\n")], "the charges of the atoms add up to 0.1000 e, not to");
    refused(&[("ATOM R5 TR", "ATOM R5 TQ")], "no file has a line MASS for the atom type TQ");
    refused(&[("ATOM R5", "ATOM R4")], "the residue has a second atom R4");
    refused(&[("R5 R1\n", "R5 +N\n")], "the residue has no atom +N above this line");
    refused(&[("R5 R1\n", "R5\n")], "expected groups of 2 atoms, found 15 names");
    refused(&[("DONOR", "LONEPAIR")], "lone pairs");
    refused(&[("DONOR", "ANISOTROPY")], "ANISOTROPY is not supported in a residue");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), RESIDUE).unwrap();
    let message = read_topology_with(file.path(), &options(&folder(), &PARAMETERS)).unwrap_err().to_string();
    assert!(message.contains("a file of CHARMM residues describes only parts of a system"), "{message}");
}
