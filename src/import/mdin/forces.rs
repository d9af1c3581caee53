//! Translation of AMBER's cutoffs, PME, and constraints.

use super::{Draft, PER_NM, unexpected};
use crate::constraint::ConstraintKind;
use crate::format::read_topology;
use crate::import::readable;
use crate::pme::{ORDERS, alpha_for_tolerance};
use crate::run::{ElectrostaticsSpec, LjPmeSpec, PmeSpec, Setting};
use crate::system::{DispersionCorrection, ListPolicy, LjModifier, Modifier};

/// Smallest cutoff (Å) that means "no cutoff" in a system without a cell. `md` has no longer cutoffs.
const BEYOND: f64 = 150.0;
/// Default cutoffs of AMBER in Å: the first with a cell, the second without a cell.
const USUAL: [f64; 2] = [8.0, 9999.0];
/// Value of `vdwmeth` with which AMBER uses PME for Lennard-Jones interactions.
const LJ_PME: i64 = 3;
/// Grid spacing of AMBER's PME for Lennard-Jones interactions: 1 Å, in nm.
const LJ_SPACING: f64 = 0.1;
/// Value of `igb` for vacuum; the value 0 means explicit solvent.
const VACUUM: i64 = 6;

pub(super) fn translate(draft: &mut Draft<'_>) {
    let igb = draft.whole("igb");
    if igb != 0 && igb != VACUUM {
        unexpected(
            draft,
            "igb",
            "md has no implicit solvent: set up a system in explicit solvent, or use another program",
        );
    }
    let periodic = cell(draft, igb);
    let usual = if periodic { USUAL[0] } else { USUAL[1] };
    let [coulomb, lj] = cutoffs(draft, usual);
    draft.plan.forces.coulomb_modifier = Modifier::None;
    draft.plan.forces.lj_modifier = Setting::Given(LjModifier::None);
    if !periodic && coulomb >= BEYOND && lj >= BEYOND {
        draft.all_pairs();
        draft.carried("forces.electrostatics", &["ntb"]);
    } else {
        draft.plan.forces.cutoff = Setting::Given(Some(coulomb / PER_NM));
        draft.plan.forces.cutoff_lj = Setting::Given(Some(lj / PER_NM));
        draft.plan.forces.electrostatics = if periodic { pme(draft, coulomb) } else { ElectrostaticsSpec::Plain };
        draft.carried("forces.electrostatics", &["ntb"]);
        lennard_jones(draft, lj, periodic);
        lists(draft);
    }
    constraints(draft);
    ion_terms(draft);
}

/// Whether the system is periodic. Adds a remark on `ntb` if the system is not periodic.
fn cell(draft: &mut Draft<'_>, igb: i64) -> bool {
    let periodic = draft.whole("ntb") != 0 && (igb == 0 || draft.is_given("ntb"));
    if !periodic {
        draft.differs("ntb", "md has no cell if the coordinates have none (no box at the end of an rst7 file)");
    }
    periodic
}

fn cutoffs(draft: &mut Draft<'_>, usual: f64) -> [f64; 2] {
    let cut = if draft.is_given("cut") { draft.real("cut") } else { usual };
    let [coulomb, lj] = [("forces.cutoff", "es_cutoff"), ("forces.cutoff_lj", "vdw_cutoff")].map(|(key, name)| {
        let source = if draft.is_given(name) { name } else { "cut" };
        let value = if draft.is_given(name) { draft.real(name) } else { cut };
        draft.admitted(key, source, value);
        let words = if draft.is_given(source) { "in A" } else { "8 A with a cell, all pairs without a cell" };
        draft.carried_as(key, &[source], words);
        value
    });
    [coulomb, lj]
}

/// Returns PME with AMBER's parameters if the file sets them, and otherwise PME with the default accuracy of `md`.
fn pme(draft: &mut Draft<'_>, cutoff: f64) -> ElectrostaticsSpec {
    let names = ["nfft1", "nfft2", "nfft3"];
    let grid = names.map(|name| draft.count(name) as usize);
    let order = draft.count("order") as usize;
    let [coefficient, tolerance] = ["ew_coeff", "dsum_tol"].map(|name| draft.real(name));
    if !(tolerance > 0.0 && tolerance < 0.1) {
        unexpected(draft, "dsum_tol", "expected a number between 0 and 0.1");
        return draft.plan.forces.electrostatics;
    }
    // AMBER's tolerance is the direct-space potential at the cutoff, erfc(α·cut)/cut, with cut in Å
    let is_given = coefficient > 0.0;
    let alpha = if is_given { coefficient * PER_NM } else { alpha_for_tolerance(cutoff / PER_NM, tolerance * cutoff) };
    let alpha = readable(alpha);
    if grid.contains(&0) || !ORDERS.contains(&order) {
        let text = "md chooses alpha, grid and order unless forces.pme sets alpha, grid and an order of 4, 5, 6 or 8";
        let asked = ["order", "dsum_tol", "ew_coeff"].iter().chain(&names);
        let asked: Vec<&&str> = asked.filter(|name| draft.is_given(name)).collect();
        asked.into_iter().for_each(|name| draft.differs(name, text));
        let text = format!("md uses its default; AMBER uses alpha = {alpha} 1/nm, a grid of 1 A and order {order}");
        draft.carried_as("forces.pme", &[], &text);
        return draft.plan.forces.electrostatics;
    }
    let splitting = if is_given { "ew_coeff" } else { "dsum_tol" };
    draft.carried_as("forces.pme", &[&names[..], &["order", splitting]].concat(), "alpha in 1/A");
    ElectrostaticsSpec::Pme(PmeSpec::Explicit { alpha, grid, order })
}

fn lennard_jones(draft: &mut Draft<'_>, cutoff: f64, periodic: bool) {
    let switch = draft.real("fswitch");
    if switch > 0.0 {
        if switch >= cutoff {
            unexpected(draft, "fswitch", "a switch must begin before the cutoff");
        }
        draft.plan.forces.lj_modifier = Setting::Given(LjModifier::ForceSwitch { from: switch / PER_NM });
        draft.differs(
            "fswitch",
            "md switches the force by the polynomial of GROMACS, and AMBER by that of Steinbach and Brooks (J. Comput. \
             Chem. 15, 667 (1994)): forces differ between fswitch and cut, and energies by a small constant",
        );
        draft.carried_as("forces.lj_switch", &["fswitch"], "in A");
        draft.carried("forces.lj_modifier", &["fswitch"]);
    } else {
        draft.carried_as("forces.lj_modifier", &[], "AMBER truncates the potential");
    }
    draft.carried_as("forces.coulomb_modifier", &[], "AMBER truncates the potential");
    let method = draft.whole("vdwmeth");
    // the dispersion correction needs the density and therefore a cell
    let correction = match method {
        LJ_PME if periodic => lj_pme(draft),
        0 | 1 | LJ_PME => {
            draft.carried("forces.dispersion_correction", &["vdwmeth"]);
            if switch > 0.0 && periodic && method == 1 {
                let text = "md corrects the energy and pressure that the switch takes away, too; AMBER corrects as if the \
                            potential were only truncated at the cutoff";
                draft.differs("vdwmeth", text);
            }
            if periodic && method == 1 { DispersionCorrection::AllPairs } else { DispersionCorrection::Off }
        }
        _ => return unexpected(draft, "vdwmeth", "expected 0 (none), 1 (a correction) or 3 (PME)"),
    };
    draft.plan.forces.dispersion_correction = Setting::Given(correction);
}

/// Returns the dispersion correction by LJ-PME. AMBER's LJ-PME uses the grid of electrostatics, whose spacing is about
/// 1 Å.
fn lj_pme(draft: &mut Draft<'_>) -> DispersionCorrection<LjPmeSpec> {
    draft.carried_as("forces.dispersion_correction", &["vdwmeth"], "LJ-PME");
    let asked = draft.count("order") as usize;
    let order = ORDERS.into_iter().find(|&order| order >= asked).unwrap_or(ORDERS[ORDERS.len() - 1]);
    draft.carried_as("forces.lj_pme", &["order"], "alpha follows from the cutoff");
    DispersionCorrection::Pme(LjPmeSpec::Spacing { spacing: LJ_SPACING, order })
}

fn lists(draft: &mut Draft<'_>) {
    if !draft.is_given("skinnb") {
        return;
    }
    let buffer = draft.real("skinnb") / PER_NM;
    draft.admitted("forces.list.buffer", "skinnb", buffer);
    draft.carried_as("forces.list", &["skinnb"], "buffer in A; md rebuilds lists before a pair can be missed");
    draft.plan.forces.list = ListPolicy::Exact { buffer };
}

fn constraints(draft: &mut Draft<'_>) {
    let (ntc, ntf) = (draft.whole("ntc"), draft.whole("ntf"));
    draft.plan.forces.constraints = match ntc {
        1 => ConstraintKind::None,
        2 => ConstraintKind::HBonds,
        3 => ConstraintKind::AllBonds,
        _ => return unexpected(draft, "ntc", "expected 1 (none), 2 (bonds to hydrogen) or 3 (all bonds)"),
    };
    draft.plan.forces.rigid_water = ntc != 1;
    draft.carried("forces.constraints", &["ntc"]);
    draft.carried("forces.rigid_water", &["ntc"]);
    if ntf > 3 {
        draft.differs("ntf", "md computes all bonded terms except constrained bonds");
    } else if ntf != ntc {
        draft.differs("ntf", "in md constrained bonds have no energy, and all other bonds have an energy");
    } else if draft.is_given("ntf") {
        draft.no_use("ntf", "constrained bonds have no energy in md either");
    }
    if ntc != 1 && draft.is_given("tol") {
        draft.plan.forces.constraint_tolerance = draft.quantity("forces.constraint_tolerance", "tol");
    }
}

/// Records a remark if the file switches off 12-6-4 terms that the topology has. If the topology cannot be read, it may
/// have such terms.
fn ion_terms(draft: &mut Draft<'_>) {
    if !draft.is_given("lj1264") || draft.whole("lj1264") != 0 {
        return;
    }
    let lacks_terms = |path| read_topology(path).is_ok_and(|found| found.nonbonded.c4.is_empty());
    if !lacks_terms(&draft.plan.system.topology) {
        let text = "md computes the 12-6-4 terms of the topology: to leave them out, remove the section \
                    LENNARD_JONES_CCOEF from the prmtop";
        draft.differs("lj1264", text);
    }
}
