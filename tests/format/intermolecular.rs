//! Tests of bonded terms between molecules in GROMACS topologies.

use md::system::{Angle, Bond, HarmonicImproper, Pair14};

use crate::gromacs_text::{TOP, good, refused};

/// Restraints as for binding free energies, between the butane (atoms 1 to 4) and the waters (5 to 10).
const BETWEEN: &str = "
[ intermolecular_interactions ]
[ bonds ]
1 8 6 0.5 1000
[ angles ]
2 1 8 1 80.0 41.84
[ dihedrals ]
3 2 1 8 2 -60.0 20.0
[ pairs ]
4 5 1 1e-3 1e-6
";

/// Tests terms between molecules. Atom numbers count through the whole system: number 8 is the oxygen of the second
/// water. The Coulomb energy of a pair with parameters is scaled by fudgeQQ.
#[test]
fn terms_between_molecules_are_added_to_those_within() {
    let (within, both) = (good(TOP, &[]), good(&format!("{TOP}{BETWEEN}"), &[]));
    let mut expected = within.bonded.clone();
    expected.distances.push(Bond { atoms: [0, 7], length: 0.5, force_constant: 1000.0 });
    expected.angles.push(Angle { atoms: [1, 0, 7], angle: 80f64.to_radians(), force_constant: 41.84 });
    let angle = (-60f64).to_radians();
    expected.harmonic_impropers.push(HarmonicImproper { atoms: [2, 1, 0, 7], angle, force_constant: 20.0 });
    // with combination rule 2 the parameters are sigma and epsilon
    let (sigma, epsilon) = (1e-3f64, 1e-6);
    let (c6, c12) = (4.0 * epsilon * sigma.powi(6), 4.0 * epsilon * sigma.powi(12));
    let charge_product = 0.8333 * -0.1 * -0.834;
    expected.pairs14.push(Pair14 { atoms: [3, 4], charge_product, c6, c12 });
    let pair = both.bonded.pairs14.last().unwrap();
    assert!((pair.c6 / c6 - 1.0).abs() < 1e-12 && (pair.c12 / c12 - 1.0).abs() < 1e-12, "{pair:?}");
    assert!((pair.charge_product / charge_product - 1.0).abs() < 1e-12, "{pair:?}");
    let mut found = both.bonded.clone();
    (found.pairs14[1].c6, found.pairs14[1].c12, found.pairs14[1].charge_product) = (c6, c12, charge_product);
    assert_eq!(found, expected);
    assert_eq!(
        (both.atoms, both.exclusions, both.connectivity),
        (within.atoms, within.exclusions, within.connectivity)
    );
}

#[test]
fn what_cannot_stand_between_molecules_is_named() {
    let of = |section: &str, part: &str| {
        refused("BUT 1\nSOL 2\n", &format!("BUT 1\nSOL 2\n[ intermolecular_interactions ]\n{section}\n"), &[part]);
    };
    of("[ bonds ]\n1 8 1 0.5 1000", "has a chemical bond, which excludes pairs");
    of("[ bonds ]\n1 11 6 0.5 1000", "atom 11 is not between 1 and 10");
    of("[ bonds ]\n1 8 6 0.5 1000 0.5 0", "the parameters of states A and B differ");
    of("[ bonds ]\n1 8 6", "the line gives no parameters");
    of("[ constraints ]\n1 8 2 0.5", "[ constraints ] is not allowed below [ intermolecular_interactions ]");
    of("[ exclusions ]\n1 8", "[ exclusions ] is not allowed below [ intermolecular_interactions ]");
    of("[ molecules ]\nSOL 1", "[ molecules ] comes too late in the topology");
    of("1 8 6 0.5 1000", "the heading above this line belongs to another part of the topology");
}
