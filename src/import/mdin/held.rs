//! Translation of AMBER's position restraints (`ntr`) and of atoms that do not move (`ibelly`).

use std::collections::BTreeSet;

use super::{Draft, PER_NM, masks};
use crate::format::{TopologyOptions, read_names, read_topology};
use crate::restraint::ReferenceScaling;
use crate::run::PositionRestraint;
use crate::select::select;
use crate::units::KCAL;

pub(super) fn translate(draft: &mut Draft<'_>) {
    if draft.whole("ntr") == 0 && draft.whole("ibelly") == 0 {
        draft.no_use("restraintmask", "ntr is off");
        draft.no_use("restraint_wt", "ntr is off");
        draft.no_use("bellymask", "ibelly is off");
        return;
    }
    // the topology tells how residues are numbered; without it, residues are numbered from 1, as in most files of AMBER
    let names = read_names(&draft.plan.system.topology, &TopologyOptions::default()).ok();
    let selection = |draft: &mut Draft<'_>, switch: &'static str, mask: &'static str, instead: &str| {
        let text = draft.text(mask).to_owned();
        let found = match text.trim() {
            "" => Err(format!("there is no {mask}")),
            mask => masks::selection(mask, names.as_ref().map(|names| &names.topology)),
        };
        found.map_err(|reason| draft.differs(switch, format!("{reason}: {instead}"))).ok()
    };
    // the cards of group input, which AMBER reads without a mask, have weights of their own
    if draft.whole("ntr") != 0 && draft.real("restraint_wt") == 0.0 && !draft.text("restraintmask").trim().is_empty() {
        draft.no_use("ntr", "restraint_wt is zero: no atom is restrained");
    } else if draft.whole("ntr") != 0 {
        let instead = "set position_restraints in the stage, with a force_constant of twice restraint_wt";
        if let Some(select) = selection(draft, "ntr", "restraintmask", instead) {
            restrain(draft, select);
        }
    }
    if draft.whole("ibelly") != 0 {
        let instead = "set \"frozen\" in the stage to the atoms outside bellymask";
        if let Some(select) = selection(draft, "ibelly", "bellymask", instead) {
            draft.frozen = Some(format!("not ({select})"));
            draft.carried("stage.frozen", &["ibelly", "bellymask"]);
        }
    }
}

/// Adds position restraints. The energy is k d² with k = `restraint_wt` (kcal/mol/Å²) in AMBER, and ½ k d² in `md`.
fn restrain(draft: &mut Draft<'_>, select: String) {
    let weight = draft.real("restraint_wt");
    let force_constant = 2.0 * weight * KCAL * PER_NM * PER_NM;
    draft.admitted("stage.position_restraints.force_constant", "restraint_wt", force_constant);
    let reference = draft.files.reference.clone();
    let is_coupled = draft.whole("ntp") != 0;
    let scaling = if is_coupled { ReferenceScaling::CenterOfMass } else { ReferenceScaling::None };
    let words = match (&reference, is_coupled) {
        (None, false) => "reference: the initial positions",
        (None, true) => "reference: the initial positions, whose common center of mass scales with the cell",
        (Some(_), false) => "",
        (Some(_), true) => "the common center of mass of the reference scales with the cell",
    };
    if is_coupled && spans_molecules(draft, &select) {
        let text =
            "the references move with their common center of mass; AMBER scales the center of mass of each molecule";
        draft.differs("restraintmask", text);
    }
    draft.position_restraints.push(PositionRestraint {
        select,
        force_constant: force_constant.into(),
        flat_radius: 0.0,
        reference,
        reference_scaling: scaling,
    });
    draft.carried_as("stage.position_restraints", &["ntr", "restraintmask", "restraint_wt"], words);
}

/// Whether a selection has atoms of several molecules; false if the topology cannot be read.
fn spans_molecules(draft: &Draft<'_>, selection: &str) -> bool {
    let Ok(found) = read_topology(&draft.plan.system.topology) else { return false };
    let molecules = found.topology.molecules();
    let atoms = select(&found.topology, selection).unwrap_or_default();
    let of: BTreeSet<usize> = atoms.iter().map(|&atom| molecules.of_atom(atom as usize)).collect();
    of.len() > 1
}
