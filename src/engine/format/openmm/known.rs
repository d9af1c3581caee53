//! Parts and attributes of an OpenMM system that the reader knows. Any other part or attribute is refused, because it
//! may change energies. The lists are those of OpenMM 8.6.1, which writes all parts and attributes of earlier versions.

use super::Parsed;
use crate::error::Problem;
use crate::format::number;
use crate::format::xml::Node;

/// Parts of a force, with the attributes of the elements of each part, separated by blanks. The name `param*` stands
/// for the parameters `param1`, `param2`, … of elements of custom forces.
type Parts = &'static [(&'static str, &'static str)];

/// Kind of a force, its attributes in addition to [`OF_ALL`], and its parts. If a part has no attributes in this table,
/// the reader of the force checks the elements of the part.
type Known = (&'static str, &'static str, Parts);

/// Attributes that every kind of force has, none of which changes the energy.
const OF_ALL: &str = "type name version forceGroup";
const FORCES: [Known; 9] = [
    (
        "NonbondedForce",
        "alpha cutoff dispersionCorrection ewaldTolerance exceptionsUsePeriodic includeDirectSpace ljAlpha ljnx \
         ljny ljnz method nx ny nz recipForceGroup rfDielectric switchingDistance useSwitchingFunction",
        &[
            ("GlobalParameters", ""),
            ("ParticleOffsets", ""),
            ("ExceptionOffsets", ""),
            ("Particles", "q sig eps"),
            ("Exceptions", "p1 p2 q sig eps"),
        ],
    ),
    ("HarmonicBondForce", "usesPeriodic", &[("Bonds", "p1 p2 d k")]),
    ("HarmonicAngleForce", "usesPeriodic", &[("Angles", "p1 p2 p3 a k")]),
    ("PeriodicTorsionForce", "usesPeriodic", &[("Torsions", "p1 p2 p3 p4 periodicity phase k")]),
    ("RBTorsionForce", "usesPeriodic", &[("Torsions", "p1 p2 p3 p4 c0 c1 c2 c3 c4 c5")]),
    ("CMAPTorsionForce", "usesPeriodic", &[("Maps", "size"), ("Torsions", "a1 a2 a3 a4 b1 b2 b3 b4 map")]),
    (
        "CustomTorsionForce",
        "usesPeriodic energy",
        &[
            ("PerTorsionParameters", "name"),
            ("GlobalParameters", "name default"),
            ("EnergyParameterDerivatives", "name"),
            ("Functions", ""),
            ("Torsions", "p1 p2 p3 p4 param*"),
        ],
    ),
    (
        "CustomBondForce",
        "usesPeriodic energy",
        &[
            ("PerBondParameters", "name"),
            ("GlobalParameters", "name default"),
            ("EnergyParameterDerivatives", "name"),
            ("Functions", ""),
            ("Bonds", "p1 p2 param*"),
        ],
    ),
    (
        "CustomNonbondedForce",
        "energy method cutoff useSwitchingFunction switchingDistance useLongRangeCorrection",
        &[
            ("PerParticleParameters", "name"),
            ("GlobalParameters", "name default"),
            ("ComputedValues", "name expression"),
            ("EnergyParameterDerivatives", "name"),
            ("Particles", "param*"),
            ("Exclusions", "p1 p2"),
            ("Functions", ""),
            ("InteractionGroups", ""),
        ],
    ),
];
/// Parts of a system that the reader knows, with the attributes of their elements.
const SYSTEM: Parts = &[("PeriodicBoxVectors", "x y z"), ("Particles", "mass"), ("Constraints", "p1 p2 d")];

/// Fails if the system has a part or an attribute that the reader does not know. Forces of unknown kinds are not
/// checked here, because the reader of forces refuses them.
pub(super) fn check(root: &Node<'_>) -> Parsed<()> {
    attributes(root, "openmmVersion type version", "")?;
    for part in root.children().filter(|part| part.name() != "Forces") {
        self::part(&part, SYSTEM)?;
    }
    for force in root.list("Forces")? {
        let kind = force.text("type")?;
        let Some((_, known, parts)) = FORCES.iter().find(|(name, ..)| *name == kind) else { continue };
        attributes(&force, known, OF_ALL)?;
        force.children().try_for_each(|part| self::part(&part, parts))?;
    }
    Ok(())
}

/// Checks the elements of a part of a system or of a force.
fn part(part: &Node<'_>, known: Parts) -> Parsed<()> {
    let Some((_, names)) = known.iter().find(|(name, _)| *name == part.name()) else {
        return Err(part.problem("the part is unknown to md").help(HELP));
    };
    match names.is_empty() {
        true => Ok(()),
        false => part.children().try_for_each(|element| attributes(&element, names, "")),
    }
}

/// Fails if an element has an attribute that is neither in `names` nor in `others`.
fn attributes(node: &Node<'_>, names: &str, others: &str) -> Parsed<()> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let fits = |name: &str, known: &str| match known.strip_suffix('*') {
        Some(start) => name.strip_prefix(start).is_some_and(is_number),
        None => name == known,
    };
    let is_known = |name: &str| names.split(' ').chain(others.split(' ')).any(|known| fits(name, known));
    match node.attributes().find(|name| !is_known(name)) {
        Some(name) => Err(unknown(node, name)),
        None => Ok(()),
    }
}

const HELP: &str = "an unknown part or attribute may change energies, so md refuses the file; OpenMM up to version \
                    8.6.1 writes only parts and attributes that md knows";

fn unknown(node: &Node<'_>, name: &str) -> Problem {
    let name = number::quoted(name.as_bytes());
    node.problem(format!("the attribute {name} is unknown to md")).help(HELP)
}
