//! A structure in a lipid bilayer.

use md_engine::error::Problem;
use md_engine::vec3::Vec3;

use super::solvate::{WATER, new_chain, numbers, residue};
use crate::entry::{Decision, Subject};
use crate::solvent::{Bilayer, CellPlan, Embedded, Enclosed, Leaflet, Patch, Placement, Shape, Size};
use crate::structure::Structure;

/// Largest ratio of the area per lipid in a leaflet to that in the equilibrated patch that is not a warning. Areas per
/// lipid of the same lipid differ by a few per cent between force fields and experiments.
const LOOSE: f64 = 1.1;
/// Names of the leaflets.
const LEAFLETS: [&str; 2] = ["upper leaflet", "lower leaflet"];

/// A structure with lipids around it.
pub(super) struct InMembrane {
    pub(super) structure: Structure,
    /// the cell, and the positions of solute and lipids in it
    pub(super) enclosed: Enclosed,
    pub(super) bilayer: Bilayer,
    pub(super) decisions: Vec<Decision>,
}

/// Returns the equilibrated patch of `lipid` and the padding (nm) of the cell `plan`; `None` without a membrane.
/// Refuses a cell that cannot contain a membrane.
pub(super) fn plan(
    lipid: Option<&str>,
    plan: Option<&CellPlan>,
    ions: Placement,
) -> Result<Option<(Patch, f64)>, Problem> {
    let Some(lipid) = lipid else { return Ok(None) };
    let patch = Patch::read(lipid)?;
    let refused = |message: &str, help: &str| Err(Problem::new(message).help(help));
    match plan {
        None => refused("a membrane needs a periodic cell with water", "leave out --vacuum, or --membrane"),
        Some(plan) if plan.shape != Shape::Rectangular => {
            refused("a membrane needs a rectangular cell", "leave out --shape, or give --shape rectangular")
        }
        Some(plan) if plan.orient => refused(
            "a membrane needs the orientation of the entry, in which z is the normal of the membrane",
            "leave out --orient",
        ),
        Some(_) if ions == Placement::Electrostatic => refused(
            "the potential of a membrane that extends through the cell is not computed, so that it cannot decide the \
             places of ions",
            "leave out --ions, or give --ions random",
        ),
        Some(CellPlan { size: Size::Padding(padding), .. }) => Ok(Some((patch, *padding))),
        Some(_) => refused("a membrane needs a padding instead of a cell size", "give a padding such as 1 nm"),
    }
}

/// Puts a structure with positions (nm) into a bilayer. `padding` is the smallest distance (nm) between the outermost
/// atoms and the faces of the cell.
pub(super) fn embed(
    mut structure: Structure,
    positions: &[Vec3],
    patch: &Patch,
    padding: f64,
) -> Result<InMembrane, Problem> {
    let solute: Vec<Embedded> = (0..structure.residues.len())
        .flat_map(|index| {
            let is_water = structure.residues[index].name == WATER;
            structure.residue_atoms(index).map(move |atom| (atom, is_water))
        })
        .map(|(atom, is_water)| Embedded {
            position: positions[atom],
            element: structure.atoms[atom].element,
            is_water,
        })
        .collect();
    let bilayer = Bilayer::around(patch, &solute, padding)?;
    let mut positions: Vec<Vec3> = positions.iter().map(|&position| position + bilayer.shift).collect();
    let chain = new_chain(&mut structure);
    for (number, lipid) in numbers().zip(&bilayer.lipids) {
        let first = structure.atoms.len();
        structure.residues.push(residue(patch.name, number, chain, first));
        structure.bonds.extend(patch.bonds.iter().map(|bond| bond.map(|atom| atom + first as u32)));
        structure.atoms.extend(patch.atoms.iter().cloned());
        positions.extend(lipid);
    }
    let decisions = decisions(patch, &bilayer);
    let enclosed = Enclosed { cell: bilayer.cell, positions };
    Ok(InMembrane { structure, enclosed, bilayer, decisions })
}

fn decisions(patch: &Patch, bilayer: &Bilayer) -> Vec<Decision> {
    let decision = |place: &str, what: String, why: String| Decision::new(Subject::Membrane, place, what, why);
    let [a, b, _] = bilayer.cell.face_distances();
    let [nx, ny] = bilayer.copies;
    let whole = "the membrane";
    let mut list = vec![
        decision(
            whole,
            format!(
                "the normal is z, and the middle of the membrane was moved from z = 0 to z = {:.3} nm",
                bilayer.shift.z
            ),
            "entries with a membrane are oriented in this way, as in the database OPM".to_owned(),
        ),
        decision(
            whole,
            format!(
                "{nx} x {ny} equilibrated patches of {} form the membrane and cover {a:.3} x {b:.3} nm",
                patch.name
            ),
            "whole patches keep the equilibrated contacts of lipids across the periodic boundary".to_owned(),
        ),
    ];
    for (place, leaflet) in LEAFLETS.iter().zip(&bilayer.leaflets) {
        let Leaflet { lipids, refitted, clashing, enclosed, balanced, solute_area } = leaflet;
        let area = (a * b - solute_area) / *lipids as f64;
        let equilibrated = patch.area_per_lipid();
        list.push(decision(
            place,
            format!("the leaflet has {lipids} lipids with an area of {area:.3} nm2 each"),
            format!("the solute occupies {solute_area:.2} nm2; a lipid of the patch occupies {equilibrated:.3} nm2"),
        ));
        list.extend(loose(place, area, equilibrated));
        list.push(decision(
            place,
            format!("gave {refitted} lipids next to the solute another conformation"),
            "their own conformation clashed with the solute, and a conformation of another lipid of the patch fits"
                .to_owned(),
        ));
        list.push(decision(
            place,
            format!("removed {} lipids", clashing + enclosed + balanced),
            format!(
                "{clashing} had a heavy atom within 0.2 nm of a heavy atom of the solute, or any atom within 0.1 nm; {enclosed} \
                 were in pores; {balanced} were removed so that lipids and solute have the same area in both leaflets"
            ),
        ));
    }
    list.push(decision(
        whole,
        format!("no water is added within {:.3} nm of the middle, except in pores of the solute", bilayer.core),
        "the carbonyl carbons, where the hydrocarbon core begins, are at this mean distance from the middle".to_owned(),
    ));
    list
}

/// Returns the decision about a leaflet whose lipids have a much larger area than in the equilibrated patch; `None` for
/// other leaflets. Areas are in nm².
fn loose(place: &str, area: f64, equilibrated: f64) -> Option<Decision> {
    (area > LOOSE * equilibrated).then(|| {
        let what = format!("warning: the leaflet has gaps, since {area:.3} nm2 per lipid are {:.0} % more than in the patch", 100.0 * (area / equilibrated - 1.0));
        let why = "lipids that overlap with the solute are left out as a whole; look for water in the gaps, and equilibrate \
                   until the area per lipid is constant";
        Decision::new(Subject::Membrane, place, what, why)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaflets_with_gaps_are_told() {
        let said = loose("upper leaflet", 0.82, 0.666).unwrap().to_string();
        assert!(said.contains("0.820 nm2 per lipid are 23 % more than in the patch"), "{said}");
        assert_eq!(loose("upper leaflet", 0.73, 0.666), None);
    }
}
