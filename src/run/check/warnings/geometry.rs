//! Warnings about the positions at the start: violated constraints, an unlikely density, and rounded positions.

use crate::constraint::most_violated;
use crate::run::plan::{Plan, StageKind};
use crate::system::{State, System};

/// Relative deviation of a constrained distance above which the run gets a warning. Structures from X-ray diffraction
/// have bonds to hydrogen that are 12 % shorter (0.096 nm) than those of force fields (0.109 nm), and positions with
/// three decimals have errors of 1 %.
const VIOLATED: f64 = 0.2;
/// Range of mass densities (g/cm³) without a warning. Water at its boiling point has 0.958 g/cm³, its saturated vapour
/// 0.0006 g/cm³, and osmium, the densest element, 22.6 g/cm³. Positions in a wrong unit, nm for Å or Å for nm, change
/// the density by a factor of a thousand.
const DENSITIES: [f64; 2] = [0.01, 25.0];
/// Inverse of the resolution of positions with three decimals, 1/nm. A coordinate counts as a multiple of 0.001 nm if
/// its distance from the nearest multiple is less than [`WHOLE`], in units of 0.001 nm. Rounding errors of coordinates
/// in `f64` are far smaller than [`WHOLE`].
const POSITIONS_PER_NM: f64 = 1000.0;
const WHOLE: f64 = 1e-6;

/// Warns if the positions violate constraints so much that they cannot be those of the topology. The run moves atoms
/// until the constraints are satisfied, which may place atoms upon each other.
pub(super) fn violated_constraints(system: &System, state: &State) -> Option<String> {
    let ([i, j], deviation) = most_violated(&system.constraints, &state.positions)?;
    (deviation > VIOLATED).then(|| {
        format!(
            "constrained distances (including rigid water) deviate from their lengths by up to {:.0} %, most between \
             the atoms {} and {}. The run starts by moving these atoms; check that the coordinates belong to the \
             topology, have its order of atoms, and are in the unit of their format",
            100.0 * deviation,
            system.topology.numbered_name(i),
            system.topology.numbered_name(j)
        )
    })
}

/// Warns of a density that no liquid or solid has.
pub(super) fn unlikely_density(system: &System, state: &State) -> Option<String> {
    let density = system.topology.density(state.cell?.volume());
    let [least, most] = DENSITIES;
    (!(least..=most).contains(&density)).then(|| {
        format!(
            "the density is {density:.2e} g/cm3, which no liquid or solid has. Unless this is a gas, check the unit of \
             positions and cell: GROMACS files are in nm, and PDB, AMBER and CHARMM files in Å"
        )
    })
}

/// Warns if dynamics start from positions with three decimals, as in `.gro` files of GROMACS, because the rounding
/// changes bond lengths by up to 0.001 nm. The warning is given if more than half of all atoms have positions with
/// three decimals. The other atoms may have more decimals, because molecules are made whole by adding lattice vectors,
/// which may have more than three decimals. Systems without unconstrained bonds, such as rigid water, get no warning,
/// because the constraints restore the lengths.
pub(super) fn rounded_positions(plan: &Plan, system: &System, state: &State) -> Option<String> {
    let StageKind::Dynamics(_) = &plan.stages.first()?.kind else { return None };
    system.topology.bonded.bond_lengths().next()?;
    let whole = |value: f64| (value * POSITIONS_PER_NM - (value * POSITIONS_PER_NM).round()).abs() < WHOLE;
    let rounded = state.positions.iter().filter(|position| position.to_array().into_iter().all(whole)).count();
    (2 * rounded > state.positions.len()).then(|| {
        "positions are rounded to 0.001 nm, and the first stage is dynamics. Each stiff bond therefore releases a few \
         kJ/mol as heat; begin with a stage of kind \"minimize\", or use a coordinate file with more decimals (gmx \
         trjconv -ndec 6, or g96)"
            .to_owned()
    })
}
