use super::*;
use crate::system::ordered;
use crate::testing::{Sample, linked_atoms};

/// Compares everything that a compact system returns with the system from which it was made.
fn compare(system: &System) -> CompactSystem {
    let compact = CompactSystem::new(system);
    let System { topology, constraints, .. } = system;
    let atoms = topology.atoms.len();
    assert_eq!([compact.atoms(), compact.exclusions()], [atoms, topology.exclusions.len()]);
    let all: Vec<u32> = (0..atoms as u32).collect();
    assert!(all.iter().all(|&i| *compact.atom(i) == Atom { residue: 0, ..topology.atoms[i as usize] }));
    let (groups, molecules) = (system.rank_groups(), topology.molecules());
    assert_eq!([compact.groups(), compact.molecules()], [groups.len(), molecules.len()]);
    for group in 0..groups.len() {
        assert!(compact.group(group as u32).eq(groups.atoms(group).iter().copied()));
    }
    let mut shared: Vec<(u32, u32)> = vec![];
    for &atom in &all {
        let (molecule, number) = compact.molecule_of(atom);
        assert_eq!(molecule as usize, molecules.of_atom(atom as usize));
        let group = |&atom: &u32| groups.of_atom(atom as usize);
        let several = molecules.atoms(molecule as usize).iter().any(|other| group(other) != group(&atom));
        assert_eq!(number.is_some(), several);
        shared.extend(number.map(|number| (number, molecule)));
    }
    shared.sort_unstable();
    shared.dedup();
    assert!(shared.iter().map(|(number, _)| *number).eq(0..compact.shared_molecules() as u32));

    let (mut bonded, mut exclusions, mut sites) = (BondedTerms::default(), vec![], vec![]);
    let mut found = Constraints { tolerance: compact.tolerance, ..Constraints::default() };
    for unit in compact.units_of(&all) {
        let number = |atom: u32| unit.number(atom);
        bonded.append_those(&unit.kind.bonded, |_| true, number);
        exclusions.extend(unit.kind.exclusions.pairs().map(|pair| ordered(pair.map(number))));
        sites.extend(unit.kind.virtual_sites.iter().map(|site| number(site.site)));
        found.settles.extend(unit.kind.settles.iter().map(|s| Settle { atoms: s.atoms.map(number), ..*s }));
        found.bonds.extend(unit.kind.constraints.iter().map(|c| Constraint { atoms: c.atoms.map(number), ..*c }));
    }
    let by_first_atom = |terms: &BondedTerms| terms.by_part(atoms, |atom| atom as usize);
    assert!(by_first_atom(&bonded) == by_first_atom(&topology.bonded));
    assert_eq!(compact.terms(), bonded.total());
    assert!(exclusions.into_iter().eq(topology.exclusions.pairs()));
    sites.sort_unstable();
    let mut expected: Vec<u32> = topology.virtual_sites.iter().map(|site| site.site).collect();
    expected.sort_unstable();
    assert_eq!(sites, expected);
    found.bonds.sort_by_key(|bond| bond.atoms);
    let mut expected = constraints.clone();
    expected.bonds.sort_by_key(|bond| bond.atoms);
    assert_eq!(found, expected);
    assert_eq!(compact.lj_type_counts(), system.lj_type_counts());
    compact
}

#[test]
fn everything_of_a_system_is_kept() {
    for name in ["peptide-ff19sb", "peptide-charmm36", "peptide-nbfix", "octahedron", "opc", "tip5p", "salt-crystal"] {
        let sample = Sample::load(name);
        compare(&sample.system);
        compare(&sample.rigid().system);
    }
    compare(&Sample::with_every_kind_of_site().system);
    let water = compare(&Sample::load("tip5p").rigid().system);
    assert_eq!(water.kinds.len(), 1, "all molecules of water are equal");
    assert_eq!(water.shared_molecules(), 0);
}

#[test]
fn a_unit_contains_interleaved_molecules() {
    // units 0–3, 4–7 and 8; the first two are equal
    let compact = compare(&linked_atoms(9, &[[0, 2], [1, 3], [4, 6], [5, 7]]));
    assert_eq!([compact.kinds.len(), compact.blocks.len(), compact.groups()], [2, 2, 5]);
    // the order of the atoms of a pair makes a difference
    let compact = compare(&linked_atoms(9, &[[0, 2], [1, 3], [6, 4], [5, 7]]));
    assert_eq!([compact.kinds.len(), compact.blocks.len()], [3, 3]);
    let first_atoms =
        |atoms: &[u32]| -> Vec<u32> { compact.units_of(atoms).iter().map(|unit| unit.number(0)).collect() };
    assert_eq!(first_atoms(&[8, 2, 0, 3]), [0, 8]);
    assert_eq!(first_atoms(&[5]), [4]);
}
