//! Translation of GROMACS' cutoffs, Coulomb and Lennard-Jones interactions, pair lists, and constraints.

use super::Draft;
use crate::constraint::ConstraintKind;
use crate::import::readable;
use crate::pme::{LJ_SPACING_TOLERANCE, ORDERS, alpha_for_tolerance, beta_for_tolerance};
use crate::run::{ElectrostaticsSpec, LjPmeSpec, PmeSpec, Setting};
use crate::system::{DispersionCorrection, ListPolicy, LjModifier, Modifier, PmeParameters};
use crate::units::BAR;

/// Cutoff (nm) above which the file means "no cutoff" in a system without a cell.
const BEYOND: f64 = 99.0;
/// Ewald tolerance `ewald-rtol` from which `md` computes α if the input sets `forces.pme.spacing`.
const TOLERANCE: f64 = 1e-5;
/// Mass of a hydrogen (amu), the lightest atom of biomolecules.
const HYDROGEN: f64 = 1.008;
/// Smallest distance (nm) at which a switch begins, because a distance of zero is not allowed.
const SHORTEST_SWITCH: f64 = 0.001;

pub(super) fn translate(draft: &mut Draft<'_>) {
    let periodic = cell(draft);
    let [coulomb, lj] = ["rcoulomb", "rvdw"].map(|name| draft.real(name));
    let is_all = |cutoff: f64| cutoff == 0.0 || cutoff > BEYOND;
    if !periodic && is_all(coulomb) && is_all(lj) {
        all_pairs(draft);
    } else {
        for (key, name, value) in [("forces.cutoff", "rcoulomb", coulomb), ("forces.cutoff_lj", "rvdw", lj)] {
            draft.admitted(key, name, value);
            draft.carried(key, &[name]);
        }
        draft.plan.forces.cutoff = Setting::Given(Some(coulomb));
        draft.plan.forces.cutoff_lj = Setting::Given(Some(lj));
        electrostatics(draft, coulomb);
        lennard_jones(draft, lj);
        lists(draft, coulomb.max(lj));
    }
    constraints(draft);
}

fn cell(draft: &mut Draft<'_>) -> bool {
    match draft.word("pbc").as_str() {
        "xyz" => {
            draft.no_use("pbc", "the cell is read from the coordinates");
            true
        }
        "no" => {
            let text = "md has no cell if the coordinates have none (a last line of zeros in a gro file)";
            draft.differs("pbc", text);
            false
        }
        _ => {
            draft.differs("pbc", "the cell of md is periodic in three dimensions");
            true
        }
    }
}

fn all_pairs(draft: &mut Draft<'_>) {
    draft.all_pairs();
    draft.carried_as("forces.cutoff", &["rcoulomb", "rvdw"], "all pairs");
    draft.carried_as("forces.electrostatics", &["coulombtype"], "there is no cutoff");
}

fn electrostatics(draft: &mut Draft<'_>, cutoff: f64) {
    let key = "forces.electrostatics";
    let word = draft.word("coulombtype");
    draft.carried(key, &["coulombtype"]);
    draft.plan.forces.electrostatics = match word.as_str() {
        "pme" => pme(draft, cutoff),
        "cutoff" => ElectrostaticsSpec::Plain,
        "reactionfield" | "generalizedreactionfield" | "reactionfieldnec" => reaction_field(draft, None),
        "reactionfieldzero" => reaction_field(draft, Some(f64::INFINITY)),
        "switch" | "shift" | "encadshift" | "user" => {
            draft.differs(
                "coulombtype",
                "a reaction field of infinite permittivity is used, whose force is zero at the cutoff",
            );
            ElectrostaticsSpec::ReactionField { permittivity: f64::INFINITY }
        }
        "ewald" | "p3mad" | "pmeswitch" | "pmeuser" | "pmeuserswitch" | "fmm" => {
            draft.differs("coulombtype", "PME is used");
            pme(draft, cutoff)
        }
        word => return draft.unsupported("coulombtype", word, "expected PME, Cut-off or Reaction-Field"),
    };
    let is_plain = draft.plan.forces.electrostatics == ElectrostaticsSpec::Plain;
    let is_pme = matches!(draft.plan.forces.electrostatics, ElectrostaticsSpec::Pme(_));
    let modifier = draft.word("coulomb-modifier");
    draft.plan.forces.coulomb_modifier = match modifier.as_str() {
        "none" | "exactcutoff" if is_pme || is_plain => Modifier::None,
        _ => Modifier::PotentialShift,
    };
    if is_plain && draft.plan.forces.coulomb_modifier == Modifier::PotentialShift {
        let words = "the potential of interacting pairs is zero at the cutoff; GROMACS also shifts the energies of excluded \
                     pairs and of each atom with itself, a constant";
        draft.carried_as(key, &["coulombtype"], words);
    }
    if is_pme || is_plain {
        draft.carried("forces.coulomb_modifier", &["coulomb-modifier"]);
        if !["none", "exactcutoff", "potentialshift", "potentialshiftverlet"].contains(&modifier.as_str()) {
            draft.differs("coulomb-modifier", "the potential is shifted to zero at the cutoff");
        }
    }
}

fn reaction_field(draft: &mut Draft<'_>, fixed: Option<f64>) -> ElectrostaticsSpec {
    let text = "the reaction field of md acts only on interacting pairs; in GROMACS it also acts on excluded pairs and \
                on each atom itself";
    draft.differs("coulombtype", text);
    let permittivity = fixed.unwrap_or_else(|| permittivity(draft));
    ElectrostaticsSpec::ReactionField { permittivity }
}

/// Returns the relative permittivity beyond the cutoff. The force constant of the reaction field of GROMACS is
/// k = (ε_rf − ε_r)/(2 ε_rf + ε_r)/r³ (manual, "Coulomb interaction with reaction field"), which is that of `md` with
/// the permittivity ε_rf/ε_r.
fn permittivity(draft: &mut Draft<'_>) -> f64 {
    let [within, beyond] = ["epsilon-r", "epsilon-rf"].map(|name| draft.real(name));
    let permittivity = if beyond == 0.0 { f64::INFINITY } else { beyond };
    if within == 1.0 || within <= 0.0 || permittivity.is_infinite() {
        draft.admitted("forces.permittivity", "epsilon-rf", permittivity);
        draft.carried("forces.permittivity", &["epsilon-rf"]);
        return permittivity;
    }
    let ratio = beyond / within;
    if ratio < 1.0 {
        let message = format!("epsilon-rf = {beyond} is less than epsilon-r = {within}");
        draft.problem("epsilon-rf", message, "expected epsilon-rf = 0, which is infinity, or at least epsilon-r");
    }
    draft.carried_as("forces.permittivity", &["epsilon-rf", "epsilon-r"], "epsilon-rf / epsilon-r");
    let text = "md uses a relative permittivity of 1: divide the charges of the topology by the square root of \
                epsilon-r; the permittivity of the reaction field is epsilon-rf / epsilon-r, as these charges need";
    draft.differs("epsilon-r", text);
    ratio
}

/// Returns the smallest spline order of `md` that is at least the order in the file. If the file has a larger order
/// than `md` supports, returns the largest order of `md`.
fn spline_order(draft: &mut Draft<'_>) -> usize {
    let asked = draft.count("pme-order") as usize;
    let order = ORDERS.into_iter().find(|&order| order >= asked).unwrap_or(ORDERS[ORDERS.len() - 1]);
    if order != asked {
        draft.differs("pme-order", format!("B-splines of order {order} are used"));
    }
    order
}

/// Returns the Ewald tolerance (`ewald-rtol` or `ewald-rtol-lj`) from the key `name`.
fn tolerance(draft: &mut Draft<'_>, name: &'static str) -> Option<f64> {
    let tolerance = draft.real(name);
    if tolerance > 0.0 && tolerance < 0.1 {
        return Some(tolerance);
    }
    draft.problem(name, format!("{name} = {tolerance} is out of range"), "expected a number between 0 and 0.1");
    None
}

const FOURIER: [&str; 3] = ["fourier-nx", "fourier-ny", "fourier-nz"];

/// Returns the numbers of grid points along a, b and c; `None` unless the file sets all three numbers.
fn grid(draft: &mut Draft<'_>) -> Option<[usize; 3]> {
    let grid = FOURIER.map(|name| draft.count(name) as usize);
    if grid.contains(&0) {
        for (name, _) in FOURIER.iter().zip(grid).filter(|(_, points)| *points > 0) {
            draft.differs(name, "md takes the numbers of grid points of all three directions or of none");
        }
        return None;
    }
    Some(grid)
}

/// Translates LJ-PME, which in GROMACS uses the grid of electrostatics.
fn lj_pme(draft: &mut Draft<'_>, cutoff: f64) {
    let order = spline_order(draft);
    let Some(tolerance) = tolerance(draft, "ewald-rtol-lj") else { return };
    let alpha = readable(beta_for_tolerance(cutoff, tolerance));
    let spec = if let Some(grid) = grid(draft) {
        let names = [&FOURIER[..], &["pme-order", "ewald-rtol-lj", "rvdw"]].concat();
        draft.carried_as("forces.lj_pme", &names, "alpha follows from the tolerance");
        LjPmeSpec::Explicit(PmeParameters { alpha, grid, order })
    } else {
        let spacing = draft.real("fourierspacing");
        draft.admitted("forces.lj_pme.spacing", "fourierspacing", spacing);
        draft.carried("forces.lj_pme", &["fourierspacing", "pme-order", "ewald-rtol-lj"]);
        if tolerance != LJ_SPACING_TOLERANCE {
            let text = format!(
                "together with spacing, md uses a tolerance of 1e-3 for alpha; this tolerance gives alpha = \"{alpha} \
                 1/nm\", which can be set with grid"
            );
            draft.differs("ewald-rtol-lj", text);
        }
        LjPmeSpec::Spacing { spacing, order }
    };
    if draft.word("lj-pme-comb-rule") == "geometric" {
        draft.carried("forces.dispersion_correction", &["vdwtype", "lj-pme-comb-rule"]);
    } else {
        let text =
            "md uses the combination rule of the force field within the cutoff, and geometric means of c6 on the mesh";
        draft.differs("lj-pme-comb-rule", text);
        draft.carried("forces.dispersion_correction", &["vdwtype"]);
    }
    draft.no_use("DispCorr", "LJ-PME needs no dispersion correction");
    draft.plan.forces.dispersion_correction = Setting::Given(DispersionCorrection::Pme(spec));
}

fn pme(draft: &mut Draft<'_>, cutoff: f64) -> ElectrostaticsSpec {
    let order = spline_order(draft);
    let Some(tolerance) = tolerance(draft, "ewald-rtol") else { return draft.plan.forces.electrostatics };
    let alpha = readable(alpha_for_tolerance(cutoff, tolerance));
    if let Some(grid) = grid(draft) {
        draft.carried_as(
            "forces.pme",
            &[&FOURIER[..], &["pme-order", "ewald-rtol", "rcoulomb"]].concat(),
            "alpha follows from the tolerance",
        );
        return ElectrostaticsSpec::Pme(PmeSpec::Explicit { alpha, grid, order });
    }
    let spacing = draft.real("fourierspacing");
    draft.admitted("forces.pme.spacing", "fourierspacing", spacing);
    draft.carried("forces.pme", &["fourierspacing", "pme-order", "ewald-rtol"]);
    if tolerance != TOLERANCE {
        let text = format!(
            "together with spacing, md uses a tolerance of 1e-5 for alpha; this tolerance gives alpha = \"{alpha} \
             1/nm\", which can be set with grid"
        );
        draft.differs("ewald-rtol", text);
    }
    ElectrostaticsSpec::Pme(PmeSpec::Spacing { spacing, order })
}

fn lennard_jones(draft: &mut Draft<'_>, cutoff: f64) {
    let word = draft.word("vdwtype");
    let modifier = draft.word("vdw-modifier");
    let (key, ending) = match word.as_str() {
        "cutoff" => ("vdw-modifier", modifier),
        "shift" => ("vdwtype", "forceswitch".to_owned()),
        "switch" => ("vdwtype", "potentialswitch".to_owned()),
        "pme" => ("vdw-modifier", modifier),
        "encadshift" | "user" => {
            draft.differs("vdwtype", "md does not have this potential: Lennard-Jones interactions end at the cutoff");
            ("vdw-modifier", modifier)
        }
        word => return draft.unsupported("vdwtype", word, "expected Cut-off, Shift, Switch or PME"),
    };
    let names: &[&str] = if key == "vdwtype" { &["vdwtype"] } else { &["vdwtype", "vdw-modifier"] };
    draft.carried("forces.lj_modifier", names);
    draft.plan.forces.lj_modifier = Setting::Given(match ending.as_str() {
        "none" | "exactcutoff" => LjModifier::None,
        "potentialshift" | "potentialshiftverlet" => LjModifier::PotentialShift,
        "forceswitch" => LjModifier::ForceSwitch { from: switch(draft, cutoff) },
        "potentialswitch" => LjModifier::PotentialSwitch { from: switch(draft, cutoff) },
        other => {
            return draft.unsupported(key, other, "expected Potential-shift, Force-switch, Potential-switch or None");
        }
    });
    if word == "pme" {
        lj_pme(draft, cutoff);
        return;
    }
    draft.carried("forces.dispersion_correction", &["DispCorr"]);
    let correction = match draft.word("DispCorr").as_str() {
        "no" => DispersionCorrection::Off,
        "enerpres" => DispersionCorrection::NonExcluded,
        "ener" => {
            draft.differs("DispCorr", "md corrects both energy and pressure");
            DispersionCorrection::NonExcluded
        }
        "allener" | "allenerpres" => {
            draft.differs("DispCorr", "md corrects energy and pressure for dispersion, not for repulsion");
            DispersionCorrection::NonExcluded
        }
        word => return draft.unsupported("DispCorr", word, "expected no, Ener, EnerPres, AllEner or AllEnerPres"),
    };
    draft.plan.forces.dispersion_correction = Setting::Given(correction);
}

fn switch(draft: &mut Draft<'_>, cutoff: f64) -> f64 {
    let from = draft.real("rvdw-switch");
    draft.carried("forces.lj_switch", &["rvdw-switch"]);
    if !(0.0..cutoff).contains(&from) {
        let message = format!("rvdw-switch = {from} nm is not between zero and rvdw = {cutoff} nm");
        draft.problem("rvdw-switch", message, "a switch must begin before the cutoff");
    }
    from.max(SHORTEST_SWITCH)
}

fn lists(draft: &mut Draft<'_>, cutoff: f64) {
    let tolerance = draft.real("verlet-buffer-tolerance");
    if tolerance < 0.0 {
        let buffer = draft.real("rlist") - cutoff;
        if buffer > 0.0 {
            let buffer = readable(buffer);
            let words = "buffer beyond the cutoff; md rebuilds lists before a pair can be missed";
            draft.carried_as("forces.list", &["rlist", "verlet-buffer-tolerance"], words);
            draft.plan.forces.list = ListPolicy::Exact { buffer };
        } else {
            let text = "a list without a buffer misses pairs: md uses the buffer that its default tolerance needs";
            draft.differs("verlet-buffer-tolerance", text);
        }
        return;
    }
    draft.admitted("forces.list.tolerance", "verlet-buffer-tolerance", tolerance);
    let pressure = draft.real("verlet-buffer-pressure-tolerance");
    let ListPolicy::Drift { mut pressure_tolerance, .. } = draft.plan.forces.list else { return };
    let mut names = vec!["verlet-buffer-tolerance"];
    if pressure > 0.0 {
        pressure_tolerance = pressure * BAR;
        names.push("verlet-buffer-pressure-tolerance");
    } else {
        draft.differs("verlet-buffer-pressure-tolerance", "md limits the pressure error to 0.5 bar");
    }
    draft.carried("forces.list", &names);
    draft.plan.forces.list = ListPolicy::Drift { tolerance, pressure_tolerance, interval: None };
}

fn constraints(draft: &mut Draft<'_>) {
    draft.carried("forces.constraints", &["constraints"]);
    let kind = match draft.word("constraints").as_str() {
        "none" => ConstraintKind::None,
        "hbonds" => ConstraintKind::HBonds,
        "allbonds" => ConstraintKind::AllBonds,
        "hangles" => ConstraintKind::HAngles,
        "allangles" => {
            draft.differs("constraints", "all bonds are constrained, but no angles");
            ConstraintKind::AllBonds
        }
        word => return draft.unsupported("constraints", word, "expected none, h-bonds, all-bonds or h-angles"),
    };
    draft.plan.forces.constraints = kind;
    // waters with [ settles ] in the topology are rigid for every value of `constraints`
    let flexible = draft.plan.system.define.iter().any(|name| name == "FLEXIBLE");
    let rigid = kind != ConstraintKind::None && !flexible;
    draft.plan.forces.rigid_water = rigid;
    let words = match rigid {
        true => "waters without [ settles ] in the topology become rigid, too",
        false => "waters with [ settles ] in the topology remain rigid",
    };
    draft.carried_as("forces.rigid_water", if flexible { &["constraints", "define"] } else { &["constraints"] }, words);
    let factor = draft.real("mass-repartition-factor");
    if factor > 1.0 {
        let mass = HYDROGEN * factor;
        draft.admitted("forces.hydrogen_mass", "mass-repartition-factor", mass);
        let words = if rigid { "mass of hydrogen, except in rigid water" } else { "mass of hydrogen" };
        draft.carried_as("forces.hydrogen_mass", &["mass-repartition-factor"], words);
        if rigid {
            let text = "rigid water keeps its masses; GROMACS makes its hydrogens heavier, too, which changes only how \
                        fast water moves";
            draft.differs("mass-repartition-factor", text);
        }
        draft.plan.forces.hydrogen_mass = Some(mass);
    }
}
