//! Keys of `restraints` of a stage.

use super::stage::NOT_NEGATIVE;
use crate::config::key::Default::{Is, Required, Rule};
use crate::config::key::Kind::{File, QuantityBy, Texts};
use crate::config::key::{Condition, Key, Kind, Range, key, word};
use crate::config::words;
use crate::units::Dimension::{
    Angle, AngularForceConstant, AngularVelocity, Force, ForceConstant, Length, Torque, Velocity,
};

/// Returns the kind of a value of a restraint variable: an angle if the variable is an angle, otherwise a length.
const fn position(range: Range) -> Kind {
    QuantityBy([Length, Angle], ANGULAR, range)
}

const ANGULAR: Condition = ("kind", words::ANGLES);

pub(super) static RESTRAINTS: &[Key] = &[
    word("kind", &words::of(&words::VARIABLES), "\"distance\"")
        .default(Required)
        .doc("Restrained variable: the distance between two centers of mass, the angle between three centers (vertex at the second), the torsion of four centers, or the root mean square deviation from a reference structure after the best superposition."),
    key("groups", Texts, "[\"resid 5 and name CA\", \"resid 60 and name CA\"]")
        .default(Required)
        .doc("Selections of atoms, with the keywords of output.trajectory.select, whose centers of mass are used: two for a distance, three for an angle, four for a torsion; one for an RMSD, whose atoms have equal weights. Displacements are minimum images. When a stage begins, the molecules of a group are moved to periodic images near each other, along the shortest distances between molecules."),
    key("gather_around", Texts, "[\"index 17\", \"none\"]")
        .default(Rule("none: the molecules of a group are moved to periodic images near each other", |_| None))
        .doc("For each group a selection of one atom, or \"none\": the molecules of the group are placed in the periodic images nearest to this atom (GROMACS: pull-group1-pbcatom). This key matters for groups of several molecules that extend over more than half of the cell."),
    word("along", &words::of(&words::COMPONENTS), "\"z\"")
        .default(Is("\"xyz\""))
        .only(("kind", &["distance"]))
        .doc("Components of the displacement that a distance uses (GROMACS: pull-coord-dim)."),
    key("reference", File, "\"start.gro\"")
        .default(Rule("the coordinates that the run starts from", |_| None))
        .only(("kind", &["rmsd"]))
        .doc("Reference of an RMSD: coordinates of all atoms, in any format of system.coordinates."),
    key("at", position(Range::ANY), "\"0.8 nm\"")
        .default(Rule("the value at the start of the stage; no center if lower, upper or force is given", |_| None))
        .doc("Center of a harmonic restraint (AMBER: r2 = r3; GROMACS: pull-coord-init)."),
    key("flat", position(NOT_NEGATIVE), "\"0.1 nm\"")
        .default(Rule("0", |_| None))
        .doc("Half-width of the flat bottom: no force acts within this distance from the center; beyond this distance, the energy depends on the excess distance."),
    key("lower", position(Range::ANY), "\"0.3 nm\"")
        .default(Rule("no lower wall", |_| None))
        .doc("Lower wall, instead of a center: no force above this value (AMBER: r2)."),
    key("upper", position(Range::ANY), "\"1.2 nm\"")
        .default(Rule("no upper wall", |_| None))
        .doc("Upper wall, instead of a center: no force below this value (AMBER: r3)."),
    key("force_constant", QuantityBy([ForceConstant, AngularForceConstant], ANGULAR, Range::POSITIVE), "\"1000 kJ/mol/nm^2\"")
        .default(Rule("none; the key must be set unless force is set", |_| None))
        .doc("Force constant k of the energy k/2 e^2 at the distance e from center, flat bottom or wall, as in GROMACS. k is twice AMBER's rk."),
    key("linear_beyond", position(Range::POSITIVE), "\"0.2 nm\"")
        .default(Rule("none: harmonic everywhere", |_| None))
        .doc("Distance from center, flat bottom or wall beyond which the energy is linear (AMBER: r4 - r3)."),
    key("rate", QuantityBy([Velocity, AngularVelocity], ANGULAR, Range::ANY), "\"1 nm/ns\"")
        .default(Rule("0", |_| None))
        .doc("Speed at which the center or the walls move during a stage of dynamics (pulling); the energy table and restraints.csv list the pulling work."),
    key("force", QuantityBy([Force, Torque], ANGULAR, Range::ANY), "\"100 kJ/mol/nm\"")
        .default(Rule("none", |_| None))
        .doc("Constant force instead of a harmonic restraint; a positive force increases the value. Not available for torsions."),
];
