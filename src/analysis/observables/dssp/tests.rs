use super::*;
use crate::vec3::vec3;

/// Returns the position of a fourth atom d of a chain a–b–c–d, from the length c–d (nm), the angle b–c–d (degrees) and
/// the torsion a–b–c–d (degrees).
fn place([a, b, c]: [Vec3; 3], length: f64, angle: f64, torsion: f64) -> Vec3 {
    let unit = |v: Vec3| v * (1.0 / v.norm());
    let along = unit(c - b);
    let normal = unit((b - a).cross(along));
    let (angle, torsion) = (angle.to_radians(), torsion.to_radians());
    let across = normal.cross(along) * torsion.cos() + normal * torsion.sin();
    c + (across * angle.sin() - along * angle.cos()) * length
}

/// Returns a chain with the given φ and ψ (degrees) in every residue, and with the bonds and angles of Engh & Huber,
/// Acta Cryst. A 47, 392 (1991), doi:10.1107/S0108767391001071.
fn chain(residues: usize, phi: f64, psi: f64) -> Vec<Backbone> {
    let mut n = Vec3::ZERO;
    let mut ca = vec3(0.1458, 0.0, 0.0);
    let mut c = place([vec3(0.0, 0.1, 0.0), n, ca], 0.1525, 111.0, phi);
    let mut chain = vec![];
    for _ in 0..residues {
        let o = place([n, ca, c], 0.1231, 120.1, psi + 180.0);
        chain.push(Backbone { n, ca, c, o, proline: false });
        let next = place([n, ca, c], 0.1329, 116.6, psi);
        let next_ca = place([ca, c, next], 0.1458, 121.7, 180.0);
        let next_c = place([c, next, next_ca], 0.1525, 111.0, phi);
        (n, ca, c) = (next, next_ca, next_c);
    }
    chain
}

fn letters(cell: Option<&PeriodicCell>, residues: &[Backbone]) -> String {
    classes(cell, residues).into_iter().map(Class::letter).collect()
}

/// The atoms N, H, O and C are on a line at 0, 0.1, 0.29 and 0.413 nm, so that the energy is 2.7888 (1/0.313 − 1/0.19 +
/// 1/0.29 − 1/0.413) = −2.904 kcal/mol.
#[test]
fn energy_of_a_linear_bond() {
    let at = |x: f64| vec3(x, 0.0, 0.0);
    let donor = Backbone { n: at(0.0), ca: at(-0.1), c: at(-0.2), o: at(-0.3), proline: false };
    assert_eq!(energy(&donor, at(0.1), [at(0.413), at(0.29)]), -2.904);
    assert_eq!(energy(&donor, at(0.1), [at(0.2), at(0.12)]), LEAST_ENERGY);
}

/// The dihedral angles are those of the ideal α helix (Arnott & Dover, J. Mol. Biol. 30, 209 (1967)), of the 3₁₀ helix
/// and of polyproline II. A helix begins one residue after the first residue whose CO accepts a hydrogen bond.
#[test]
fn ideal_helices() {
    assert_eq!(letters(None, &chain(12, -57.0, -47.0)), "CHHHHHHHHHHC");
    assert_eq!(letters(None, &chain(10, -49.0, -26.0)), "CGGGGGGGGC");
    assert_eq!(letters(None, &chain(8, -75.0, 145.0)), "CPPPPPPC");
    assert_eq!(letters(None, &chain(8, -139.0, 135.0)), "CCCCCCCC");
    assert_eq!(letters(None, &chain(1, -57.0, -47.0)), "C");
}

#[test]
fn faces_of_the_cell_break_no_helix() {
    let cell = PeriodicCell::orthorhombic([3.0; 3]);
    let mut residues = chain(12, -57.0, -47.0);
    for residue in &mut residues[6..] {
        for atom in [&mut residue.n, &mut residue.ca, &mut residue.c, &mut residue.o] {
            *atom += vec3(3.0, -6.0, 0.0);
        }
    }
    assert_eq!(letters(Some(&cell), &residues), "CHHHHHHHHHHC");
}

#[test]
fn chain_breaks_and_prolines_end_helices() {
    // the first part of the chain has six residues and two turns, at the residues 0 and 1; the second part has five
    // residues and only one turn
    let mut residues = chain(12, -57.0, -47.0);
    residues.remove(6);
    assert_eq!(letters(None, &residues), "CHHHHCCTTTC");
    // residues 5 to 7 donate no hydrogen bond, so that residues 1 to 3 start no turn; the chain is bent at residue 4
    let mut residues = chain(12, -57.0, -47.0);
    residues[5..8].iter_mut().for_each(|residue| residue.proline = true);
    assert_eq!(letters(None, &residues), "CTTTSHHHHHHC");
}

/// Returns the letters of the classes of residues that have only the hydrogen bonds `bonds`, each given as donor and
/// acceptor.
fn strands(residues: usize, bonds: &[(usize, usize)]) -> String {
    let bond = |i: usize| {
        let mut found = bonds.iter().filter(|(donor, _)| *donor == i).map(|(_, acceptor)| *acceptor);
        [found.next(), found.next()]
    };
    // all residues are close, so that [`Chain::candidates`] excludes no pair by distance
    let [n, ca, c, o] = [Vec3::ZERO; 4];
    let backbones = vec![Backbone { n, ca, c, o, proline: false }; residues];
    let acceptors = (0..residues).map(bond).collect();
    let chain = Chain { cell: None, residues: &backbones, breaks: vec![0; residues], acceptors };
    let mut classes = vec![Class::Loop; residues];
    chain.mark_strands(&mut classes);
    classes.into_iter().map(Class::letter).collect()
}

/// The hydrogen bonds are the patterns of figure 3 of Kabsch & Sander.
#[test]
fn bridges_and_ladders() {
    // residues 3 and 10, and residues 5 and 8, have hydrogen bonds in both directions; residues 4 and 9 are between the
    // bonds 5 → 8 and 10 → 3
    let hairpin = [(3, 10), (10, 3), (5, 8), (8, 5)];
    assert_eq!(strands(14, &hairpin), "CCCEEECCEEECCC");
    // residue 10 has hydrogen bonds to both neighbours of residue 3
    assert_eq!(strands(14, &[(4, 10), (10, 2)]), "CCCBCCCCCCBCCC");
    // the parallel bridge (3, 10) needs the hydrogen bonds 4 → 10 and 10 → 2, and the bridge (4, 11) needs 12 → 4 and 4
    // → 10
    assert_eq!(strands(14, &[(4, 10), (10, 2), (12, 4)]), "CCCEECCCCCEECC");
    // one additional residue on the second strand is a bulge
    assert_eq!(strands(14, &[(3, 12), (12, 3), (4, 10), (10, 4)]), "CCCEECCCCCEEEC");
    // overlapping turns are no bridge
    assert_eq!(strands(8, &[(3, 5), (5, 3)]), "CCCCCCCC");
}
