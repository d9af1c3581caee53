//! Tests of the import of GROMACS' reaction field in a medium.

use md::import::Imported;
use md::prepare::ElectrostaticsSpec;

use super::{ImportedExt, problem, text};

fn permittivity(imported: &Imported) -> f64 {
    match imported.plan.forces.electrostatics {
        ElectrostaticsSpec::ReactionField { permittivity } => permittivity,
        other => panic!("{other:?}"),
    }
}

/// Tests that the permittivity gives the force constant (ε_rf − ε_r)/(2 ε_rf + ε_r) of GROMACS, which in `md` is
/// (ε − 1)/(2 ε + 1).
#[test]
fn a_reaction_field_in_a_medium_has_the_ratio_of_permittivities() {
    let of = |lines: &str| text("x.mdp", &format!("coulombtype = reaction-field\nepsilon-r = 15\n{lines}"));
    let finite = of("epsilon-rf = 60");
    let epsilon = permittivity(&finite);
    assert!(((epsilon - 1.0) / (2.0 * epsilon + 1.0) - (60.0 - 15.0) / (2.0 * 60.0 + 15.0)).abs() < 1e-12, "{epsilon}");
    assert!(finite.remark("epsilon-r").text.contains("epsilon-rf / epsilon-r"), "{:?}", finite.remarks);
    let infinite = of("epsilon-rf = 0");
    assert_eq!((permittivity(&infinite), infinite.differing()), (f64::INFINITY, vec!["coulombtype", "epsilon-r"]));
    assert!(!infinite.remark("epsilon-r").text.contains("epsilon-rf"), "{:?}", infinite.remarks);
    let (line, found) = problem("x.mdp", "epsilon-r = 15\nepsilon-rf = 10\ncoulombtype = reaction-field");
    assert!(line == 2 && found.contains("epsilon-rf = 10 is less than epsilon-r = 15"), "{found}");
}
