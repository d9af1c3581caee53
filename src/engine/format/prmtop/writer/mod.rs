//! Writer of AMBER topologies, with the sections that sander, ParmEd, OpenMM and MDAnalysis read.
//!
//! Numbers have nine digits (format `5E16.8`), so that stored charges have relative errors of up to 5·10⁻⁹. CHAMBER
//! files have charges with seventeen digits. Names are cut to four characters, and virtual sites have the names by
//! which AMBER and OpenMM recognise extra points. Numbers, chains and insertion codes of residues are in the sections
//! that `add_pdb` and ParmEd write. The radii of implicit solvent are not written.
//!
//! A CHAMBER file is written for CHARMM force fields, and for systems with Urey–Bradley terms or harmonic impropers. A
//! CHAMBER file has a separate Lennard-Jones table for 1-4 pairs. Other AMBER files have no table for 1-4 pairs. The
//! 1-4 interaction of two atoms is the interaction of their charges and Lennard-Jones types, divided by the divisors of
//! the torsion.
//!
//! Terms that the format lacks are written as other terms with the same energy. A torsion without periodicity is a
//! constant, and is written as two cosine torsions. A Ryckaert–Bellemans torsion is written as a sum of cosine
//! torsions. A 1-4 pair is represented by a torsion whose end atoms are the pair. If no torsion ends at the two atoms,
//! the writer adds a torsion with a force constant of zero. A rigid water is written as bonds with LEaP's force
//! constant. A water with extra points and an angle term gets an H–H bond instead of the angle term, as in files of
//! LEaP, because readers derive the positions of extra points from this bond.
//!
//! The writer refuses the following terms with an error that names the term: GROMOS-96 bonds and angles, harmonic
//! distances between atoms without a bond, constraints outside of rigid waters, and chemical bonds without energy. The
//! writer also refuses 1-4 pairs that are not three bonds apart, 1-4 pairs whose interaction is not a fraction of the
//! non-bonded interaction, virtual sites other than extra points of waters, and correction maps that are not on a chain
//! of five atoms.

mod atoms;
mod bonds;
mod chamber;
mod dihedrals;
mod frame;
mod names;
mod nonbonded;
mod residues;
mod sections;

use super::sections::Parsed;
use super::{FORCE_FIELD, OTHER_FIELD};
use crate::cell::PeriodicCell;
use crate::error::Problem;
use crate::format::known::WrittenTopology;
use crate::system::{BondedTerms, Description, Topology};

use bonds::Bonds;
use dihedrals::Dihedrals;
use names::Names;
use nonbonded::Types;
use sections::Text;

/// Writes a topology. The topology is periodic if a cell is given.
pub(in crate::format) fn write(description: &Description, cell: Option<&PeriodicCell>) -> Parsed<WrittenTopology> {
    let topology = &description.topology;
    let names = Names::new(topology)?;
    let types = Types::new(description)?;
    let bonds = Bonds::new(topology)?;
    let dihedrals = Dihedrals::new(topology, &types)?;
    let chamber = types.is_chamber();
    let mut text = Text::new();
    let title = topology.title.trim();
    if chamber {
        text.line("CTITLE", "a80", title);
        let field = if topology.charmm { " 1 CHARMM  force field" } else { OTHER_FIELD };
        text.line(FORCE_FIELD, "i2,a78", field);
    } else {
        text.line("TITLE", "20a4", title);
    }
    text.integers("POINTERS", pointers(topology, &types, &bonds, &dihedrals, cell.map_or(0, frame::shape)));
    atoms::write(topology, &types, &names, &mut text);
    bonds.write_types(&mut text);
    if chamber {
        chamber::write_urey_bradleys(topology, &mut text);
    }
    dihedrals.write_types(&mut text);
    if chamber {
        chamber::write_impropers(topology, &mut text);
    }
    types.write(&mut text);
    bonds.write(&mut text);
    dihedrals.write(&mut text);
    text.integers("EXCLUDED_ATOMS_LIST", atoms::excluded(topology));
    for name in ["HBOND_ACOEF", "HBOND_BCOEF", "HBCUT"] {
        text.reals(name, []);
    }
    atoms::write_labels(&names, &mut text);
    if let Some(cell) = cell {
        frame::write(topology, cell, &mut text);
    }
    write_maps(topology, chamber, &mut text)?;
    text.integers("IPOL", [0]);
    residues::write(topology, &mut text);
    let losses = names.losses.into_iter().chain(residues::losses(topology)).chain(cell.and_then(frame::loss));
    let losses = losses.chain(bonds.loss()).collect();
    Ok(WrittenTopology { text: text.finish()?, losses })
}

/// Returns the values of the `POINTERS` section. `shape` is the value of IFBOX.
fn pointers(topology: &Topology, types: &Types, bonds: &Bonds, dihedrals: &Dihedrals, shape: usize) -> Vec<usize> {
    let [bonds_h, bonds_no_h] = bonds.pairs.counts();
    let [angles_h, angles_no_h] = bonds.angles.counts();
    let [dihedrals_h, dihedrals_no_h] = dihedrals.rows.counts();
    let residue = (0..topology.residues.len()).map(|residue| topology.residue_atoms(residue).len());
    let longest_residue = residue.max().unwrap_or(0);
    let excluded = atoms::excluded(topology).count();
    let counts = [topology.atoms.len(), types.count(), bonds_h, bonds_no_h, angles_h, angles_no_h];
    let counts = counts.into_iter().chain([dihedrals_h, dihedrals_no_h, 0, 0, excluded, topology.residues.len()]);
    let kinds = [bonds.pairs.kinds(), bonds.angles.kinds(), dihedrals.rows.kinds(), types.count(), 0];
    let again = [bonds_no_h, angles_no_h, dihedrals_no_h].into_iter().chain(kinds);
    let rest = [0, 0, 0, 0, 0, 0, 0, shape, longest_residue, 0, topology.virtual_sites.len()];
    counts.chain(again).chain(rest).collect()
}

/// Writes the correction maps with energies in kcal/mol; ψ varies fastest.
fn write_maps(topology: &Topology, chamber: bool, text: &mut Text) -> Parsed<()> {
    let BondedTerms { cmaps, cmap_grids, .. } = &topology.bonded;
    if cmaps.is_empty() {
        return Ok(());
    }
    let name = |rest: &str| format!("{}CMAP_{rest}", if chamber { "CHARMM_" } else { "" });
    text.integers_as(&name("COUNT"), 2, 8, [cmaps.len(), cmap_grids.len()]);
    text.integers_as(&name("RESOLUTION"), 20, 4, cmap_grids.iter().map(|grid| grid.size));
    for (index, grid) in cmap_grids.iter().enumerate() {
        let energies = grid.energies.iter().map(|energy| energy / crate::units::KCAL);
        text.reals(&name(&format!("PARAMETER_{:02}", index + 1)), energies);
    }
    let mut rows = vec![];
    for map in cmaps {
        let [a, b, c, d, .., e] = map.atoms;
        if map.atoms != [a, b, c, d, b, c, d, e] {
            let message = format!("the correction map around atom {} is not on a chain of five atoms", c + 1);
            return Err(refused(message, "an AMBER topology has no other correction maps"));
        }
        rows.extend([a, b, c, d, e, map.grid].map(|number| number as usize + 1));
    }
    text.integers_as(&name("INDEX"), 6, 8, rows);
    Ok(())
}

/// Returns the error for a term that the AMBER format cannot express.
fn refused(message: impl Into<String>, why: &str) -> Problem {
    Problem::new(message).help(format!("{why}; write another format"))
}
