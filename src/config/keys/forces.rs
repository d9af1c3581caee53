//! Keys of `[forces]`.

use super::quoted;
use crate::config::key::Default::{self, Is, Required, Rule};
use crate::config::key::Kind::{Boolean, Grid, Integer, Number, Quantity, Text};
use crate::config::key::{Key, Kind, Range, key, word};
use crate::config::words;
use crate::units::Dimension::{EnergyRate, InverseLength, Length, Mass, Pressure};

/// Allowed relative force errors of PME. A larger error would make the Coulomb forces meaningless.
const FORCE_ERROR: Range = Range { above: 0.0, at_most: 0.1, words: "greater than zero and at most 0.1" };
/// Allowed relative tolerances of constraints. The lower limit follows from the rounding errors of f64. With a
/// tolerance above the upper limit a bond is not really constrained.
const TOLERANCE: Range = Range { above: 1e-14, at_most: 1e-3, words: "greater than 1e-14 and at most 1e-3" };
/// Allowed masses of hydrogens. The upper limit is the mass that a bonded carbon or oxygen can give to its hydrogens.
const HYDROGEN: Range = Range { above: 0.0, at_most: 6.0, words: "greater than zero and at most 6 amu" };

/// Allowed cutoffs. Below the lower limit, powers of inverse distances would overflow in single precision.
const CUTOFF: Range = Range { above: 0.01, at_most: f64::INFINITY, words: "greater than zero, more than 0.01 nm" };
/// Allowed Ewald splitting parameters α. Below the lower limit, the reciprocal-space sum would vanish.
const SPLITTING: Range = Range { above: 1e-3, at_most: f64::INFINITY, words: "greater than 0.001 1/nm" };

/// Allowed grid spacings of PME.
const SPACING: Range = Range { above: 0.0, at_most: 1.0, words: "greater than zero and at most 1 nm" };

/// Default of keys whose value follows the force field: the word [`words::FORCE_FIELD`] as TOML.
const BY_FORCE_FIELD: Default = Is("\"force-field\"");

/// Words of `lj_modifier`. The distance at which a switch begins is a separate key.
const LJ_MODIFIERS: &[&str] = &[words::FORCE_FIELD, "potential-shift", "force-switch", "potential-switch", "none"];

pub(super) static FORCES: &[Key] = &[
    key("cutoff", Quantity(Length, CUTOFF), "\"0.9 nm\"")
        .words(&["none", words::FORCE_FIELD])
        .default(BY_FORCE_FIELD)
        .doc("Distance at which pair interactions end; with PME, only their direct-space part ends there. \"none\" computes all pairs, for systems without a periodic cell; \"force-field\" is 0.9 nm, or 1.2 nm with CHARMM force fields."),
    key("cutoff_lj", Quantity(Length, CUTOFF), "\"1.2 nm\"")
        .words(&["none", words::FORCE_FIELD])
        .default(Rule("the same as cutoff", |table| table.get("cutoff").map(|entry| entry.text.clone())))
        .doc("Lennard-Jones cutoff, if it differs from the Coulomb cutoff."),
    word("electrostatics", &["pme", "plain", "reaction-field", "off"], "\"pme\"")
        .default(Rule("\"pme\", or \"plain\" with cutoff = \"none\"", |table| {
            quoted(if table.word("cutoff") == Some("none") { "plain" } else { "pme" })
        }))
        .doc("Coulomb interactions: smooth particle-mesh Ewald, truncated 1/r, reaction field, or no Coulomb interactions."),
    key("permittivity", Number(Range { above: 1.0 - f64::EPSILON, at_most: f64::INFINITY, words: "at least 1" }), "78.3")
        .words(&["infinity"])
        // dielectric constant of water at 298 K (CRC Handbook), the usual value for reaction fields
        .default(Is("78.3"))
        .only(("electrostatics", &["reaction-field"]))
        .doc("Relative permittivity beyond the cutoff of a reaction field; \"infinity\" is a conductor."),
    key("pme", Kind::Table(PME), "{ force_error = 5e-4 }")
        .default(Is("{}"))
        .only(("electrostatics", &["pme"]))
        .doc("Accuracy of PME, set by force_error, or by spacing and order, or by alpha, grid and order."),
    word("lj_modifier", LJ_MODIFIERS, "\"force-switch\"")
        .default(BY_FORCE_FIELD)
        .doc("Lennard-Jones potential at the cutoff: the potential is shifted to zero at the cutoff (forces unchanged); the force or the potential is switched to zero between lj_switch and the cutoff, as with GROMACS' Force-switch and Potential-switch (OpenMM has the potential switch); or the potential is truncated. \"force-field\" is \"potential-shift\", or \"force-switch\" from 1.0 nm with CHARMM force fields. 1-4 pairs are not modified."),
    key("lj_switch", Quantity(Length, Range::POSITIVE), "\"1.0 nm\"")
        .doc("Distance from which Lennard-Jones forces or potentials are switched off, with lj_modifier = \"force-switch\" or \"potential-switch\": GROMACS' rvdw-switch, OpenMM's switchDistance."),
    word("coulomb_modifier", &words::of(&words::MODIFIERS), "\"potential-shift\"")
        .default(Is("\"potential-shift\""))
        .only(("electrostatics", &["pme", "plain"]))
        .doc("Direct-space Coulomb potential at the cutoff: the potential is shifted to zero at the cutoff (forces unchanged), or truncated."),
    key("dispersion_correction", Boolean, "true")
        .words(&["all-pairs", "non-excluded", "pme", words::FORCE_FIELD])
        .default(Rule("\"force-field\", or false with cutoff_lj = \"none\"", |table| match table.word("cutoff_lj") {
            Some("none") => Some("false".to_owned()),
            _ => quoted(words::FORCE_FIELD),
        }))
        .doc("Correction of energy and pressure for Lennard-Jones interactions removed by the cutoff and by a switch. \"force-field\" is true, or false with CHARMM force fields. true is \"all-pairs\", the average that OpenMM uses; \"non-excluded\" is the average that GROMACS uses. \"pme\" is LJ-PME: instead of a correction, the attraction between all periodic images is computed by particle-mesh Ewald. Beyond the cutoff c6 is a geometric mean, and within the cutoff it follows the rule of the force field, as with GROMACS' vdwtype = PME and OpenMM's LJPME. \"pme\" needs lj_modifier = \"potential-shift\" or \"none\"."),
    key("lj_pme", Kind::Table(LJ_PME), "{ spacing = \"0.12 nm\" }")
        .default(Is("{}"))
        .only(("dispersion_correction", &["pme"]))
        .doc("Accuracy of LJ-PME, set by spacing and order, or by alpha, grid and order."),
    word("constraints", &words::of(&words::CONSTRAINTS), "\"h-bonds\"")
        .default(Is("\"h-bonds\""))
        .doc("Constrained bonds: none, bonds to hydrogen, or all; \"h-angles\" constrains all bonds and the angles H-X-H and H-O-X, as in GROMACS."),
    key("rigid_water", Boolean, "true")
        .default(Rule("true, or false with constraints = \"none\"", |table| {
            Some((table.word("constraints") != Some("none")).to_string())
        }))
        .doc("Whether all water molecules are rigid (SETTLE). Waters whose topology fixes all three distances, such as those with [ settles ] of GROMACS, are rigid in any case."),
    key("constraint_tolerance", Number(TOLERANCE), "1e-6")
        .default(Is("1e-6"))
        .doc("Relative tolerance of constraints."),
    key("hydrogen_mass", Quantity(Mass, HYDROGEN), "\"3.024 amu\"")
        .doc("Hydrogen mass repartitioning: new mass of hydrogens outside rigid water. The mass that a hydrogen gains is taken from its bonded atom. If this key is not set, the masses of the topology are used."),
    key("scaled_solute", Kind::Table(SCALED_SOLUTE), "{ select = \"protein\", factor = 0.7 }")
        .doc("Solute scaled as in REST2. Energies within the solute are multiplied by factor, and energies between the solute and other atoms by the square root of factor: charges, Lennard-Jones, 1-4 pairs, torsions and correction maps, but not bonds and angles. For replicas with several factors see `md help ensemble.solute_temperature`."),
    key("list", Kind::Table(LIST), "{ tolerance = \"0.005 kJ/mol/ps\" }")
        .default(Is("{}"))
        .doc("Criterion for rebuilding pair lists. If buffer is not set, lists are rebuilt after a fixed number of steps, with a buffer that follows from the tolerated energy drift and pressure error. If buffer is set, lists are rebuilt whenever an atom has moved by half of the buffer, so that no pair is ever missed."),
];

const ALPHA: Key = key("alpha", Quantity(InverseLength, SPLITTING), "\"3.1 1/nm\"")
    .doc("Ewald splitting parameter. alpha and grid must be set together, and md does not change them.");

const GRID: Key = key("grid", Grid, "[64, 64, 64]")
    .doc("Number of grid points along the cell vectors a, b, c. alpha and grid must be set together.");

static PME: &[Key] = &[
    ALPHA,
    GRID,
    key("spacing", Quantity(Length, SPACING), "\"0.12 nm\"")
        .doc("Largest spacing of grid points; alpha follows from erfc(alpha*cutoff) = 1e-5. The pair (spacing, order) defines the accuracy."),
    key("force_error", Number(FORCE_ERROR), "5e-4")
        .default(Rule("5e-4, unless another key of pme is set", |table| {
            let others = ["alpha", "grid", "spacing"].iter().any(|name| table.is_set(name));
            (!others).then(|| "5e-4".to_owned())
        }))
        .doc("Largest RMS error of the electrostatic force divided by the RMS force; alpha, grid and order follow from this error."),
    key("order", Integer(4, 8), "5")
        .default(Rule("4 with spacing, 5 with alpha and grid", |table| {
            let with = |name, order: &str| table.is_set(name).then(|| order.to_owned());
            with("spacing", "4").or_else(|| with("alpha", "5"))
        }))
        .doc("B-spline order: 4, 5, 6 or 8."),
];

static LJ_PME: &[Key] = &[
    ALPHA.doc("Ewald splitting parameter of r^-6. alpha and grid must be set together, and md does not change them."),
    GRID,
    key("spacing", Quantity(Length, SPACING), "\"0.12 nm\"")
        .default(Rule("\"0.12 nm\", unless alpha and grid are set", |table| {
            let others = ["alpha", "grid"].iter().any(|name| table.is_set(name));
            if others { None } else { quoted("0.12 nm") }
        }))
        .doc("Largest spacing of grid points; alpha is such that 1e-3 of r^-6 remains in direct space at the cutoff, as with GROMACS' ewald-rtol-lj."),
    key("order", Integer(4, 8), "4")
        .default(Rule("4 with spacing, 5 with alpha and grid", |table| {
            let explicit = ["alpha", "grid"].iter().any(|name| table.is_set(name));
            Some(if explicit { "5" } else { "4" }.to_owned())
        }))
        .doc("B-spline order: 4, 5, 6 or 8."),
];

static SCALED_SOLUTE: &[Key] = &[
    key("select", Text, "\"protein\"")
        .default(Required)
        .doc("Selection of the atoms, with the keywords of output.trajectory.select."),
    key("factor", Number(Range { above: 0.0, at_most: 1.0, words: "greater than 0 and at most 1" }), "0.7")
        .default(Is("1.0"))
        .doc("Scaling factor: thermostat temperature divided by the effective temperature of the solute, for example 0.5 for 600 K at 300 K."),
];

static LIST: &[Key] = &[
    key("buffer", Quantity(Length, Range::POSITIVE), "\"0.1 nm\"")
        .doc("Pair-list buffer. Lists are rebuilt when any atom has moved by half of the buffer, so that no pair is missed."),
    key("tolerance", Quantity(EnergyRate, Range::POSITIVE), "\"0.005 kJ/mol/ps\"")
        .default(Rule("\"0.005 kJ/mol/ps\", unless buffer is set", |table| {
            (!table.is_set("buffer")).then(|| "\"0.005 kJ/mol/ps\"".to_owned())
        }))
        .doc("Tolerated energy drift per atom due to missed pairs. The buffer of lists with a fixed lifetime follows from this drift."),
    key("pressure_tolerance", Quantity(Pressure, Range::POSITIVE), "\"0.5 bar\"")
        .default(Rule("\"0.5 bar\", unless buffer is set", |table| {
            (!table.is_set("buffer")).then(|| "\"0.5 bar\"".to_owned())
        }))
        .doc("Tolerated error of the mean pressure due to missed pairs (GROMACS: verlet-buffer-pressure-tolerance)."),
    key("interval", Integer(1, 1000), "40")
        .doc("Steps between rebuilds. If this key is not set, the cost model chooses the number."),
];
