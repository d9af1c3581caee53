//! Tests of failures on the device: errors name the atoms, and the last valid positions are kept.

use crate::backend::cuda::model;
use crate::backend::{Backend, Leapfrog, Workload};
use crate::ensemble::barostat::{BoxScaling, Relaxation};
use crate::ensemble::rescaling::Rescaling;
use crate::error::Error;
use crate::system::{Electrostatics, G96Angle, G96Bond, State};
use crate::testing::{EVERYTHING, Sample};
use crate::vec3::vec3;

fn atoms_of(error: Error) -> Vec<u32> {
    match error {
        Error::Unstable { atoms, .. } => atoms,
        other => panic!("another error: {other}"),
    }
}

#[test]
fn overlapping_atoms() {
    let mut sample = Sample::load("water");
    // two oxygens 0.02 nm apart: 12 c12/r¹³ is 10¹⁷ kJ/mol/nm
    sample.state.positions[30] = sample.state.positions[300] + vec3(0.02, 0.0, 0.0);
    let error = sample.emulated(0).forces(EVERYTHING).expect_err("forces beyond all bounds");
    assert_eq!(atoms_of(error), [30]);
}

#[test]
fn a_failure_without_output_halts_the_run_and_is_reported_later() {
    let mut sample = Sample::load("water").rigid();
    sample.state.velocities[30] = vec3(500.0, 0.0, 0.0);
    let mut cuda = sample.emulated(0);
    for _ in 0..3 {
        cuda.forces(Workload::default()).unwrap();
        cuda.integrate(Leapfrog { timestep: 0.002, ..Leapfrog::default() }, None).unwrap();
    }
    assert!(cuda.download(&mut State::default()).is_err(), "no checkpoint of a state that has failed");
    let error = cuda.forces(EVERYTHING).expect_err("a water torn apart");
    assert_eq!(atoms_of(error)[0], 30);
    assert_eq!(cuda.previous_positions().1, sample.state.positions);
}

#[test]
fn a_barostat_does_not_scale_a_failed_step() {
    let mut sample = Sample::load("water").rigid();
    sample.state.velocities[30] = vec3(500.0, 0.0, 0.0);
    let mut cuda = sample.emulated(0);
    cuda.forces(Workload { energy: false, virial: true, ..Workload::FORCES }).unwrap();
    cuda.integrate(Leapfrog { timestep: 0.002, virial: true, ..Leapfrog::default() }, None).unwrap();
    // amplitude of the noise for which one step scales the cell by 0.1 percent
    let noise = 0.003 * sample.state.cell.unwrap().volume().sqrt();
    cuda.scale_box(BoxScaling::isotropic(Relaxation { noise, ..Relaxation::default() })).unwrap();
    let error = cuda.forces(EVERYTHING).expect_err("a water torn apart");
    assert_eq!(atoms_of(error)[0], 30);
    assert!(cuda.previous_positions() == (sample.state.cell, &sample.state.positions[..]));
}

#[test]
fn coupled_constraints_that_fail_name_the_worst_bond_and_keep_positions() {
    let mut sample = Sample::load("peptide-vacuum").all_bonds();
    let bond = sample.system.constraints.bonds[40].atoms;
    let away = sample.state.positions[bond[1] as usize] - sample.state.positions[bond[0] as usize];
    sample.state.velocities[bond[1] as usize] = away * 1e5;
    let mut cuda = sample.emulated(0);
    cuda.forces(EVERYTHING).unwrap();
    let error = cuda
        .integrate(Leapfrog { timestep: 0.002, virial: true, kinetic: true, ..Leapfrog::default() }, None)
        .expect_err("a chain torn apart");
    assert!(atoms_of(error).contains(&bond[1]));
    assert_eq!(cuda.previous_positions().1, sample.state.positions);
}

#[test]
fn a_thermostat_does_not_cool_what_flies_off() {
    let mut sample = Sample::load("water");
    // the velocity of this atom corresponds to a mean temperature of the system of 5·10⁷ K
    sample.state.velocities[30] = vec3(2e5, 0.0, 0.0);
    let mut cuda = sample.emulated(0);
    cuda.forces(Workload::default()).unwrap();
    cuda.integrate(Leapfrog { timestep: 1e-9, coupled: true, ..Leapfrog::default() }, None).unwrap();
    cuda.rescale_velocities(Rescaling { kept: 0.0, along: 0.0, across: 1.0 }).unwrap();
    let error = cuda.download(&mut State::default()).expect_err("a state that is not to be kept");
    assert_eq!(atoms_of(error), [30]);
}

/// Makes four steps with a barostat and without output.
fn quiet_barostat(sample: &Sample, box_scaling: BoxScaling) -> (Error, State) {
    let mut cuda = sample.emulated(0);
    for _ in 0..4 {
        cuda.forces(Workload { energy: false, virial: true, ..Workload::FORCES }).unwrap();
        cuda.integrate(Leapfrog { timestep: 1e-4, virial: true, ..Leapfrog::default() }, None).unwrap();
        cuda.scale_box(box_scaling).unwrap();
    }
    let error = cuda.forces(EVERYTHING).expect_err("a cell that is torn");
    let (cell, positions) = cuda.previous_positions();
    (error, State { cell, positions: positions.to_vec(), ..State::default() })
}

#[test]
fn a_barostat_that_tears_the_cell_is_stopped() {
    let sample = Sample::load("water").rigid();
    let by = |noise| BoxScaling::isotropic(Relaxation { noise, ..Relaxation::default() });
    let root = sample.state.cell.unwrap().volume().sqrt();
    // a barostat that would scale the lengths by 12 percent in one step
    let (error, state) = quiet_barostat(&sample, by(-0.3 * root));
    assert!(error.to_string().contains("would scale the cell by a factor of 0.888"), "{error}");
    assert!(state.cell == sample.state.cell && state.positions == sample.state.positions);
    // repeated scaling by 7 to 9 percent, until the cell is too small for the cutoff
    let (error, state) = quiet_barostat(&sample, by(-0.2 * root));
    assert!(error.to_string().contains("the cell has shrunk:"), "{error}");
    let half = 0.5 * state.cell.unwrap().rows()[0].x;
    assert!(half < 0.9 && 0.9 < half / 0.9, "half a cell of {half} nm");
}

#[test]
fn terms_without_a_kernel_are_refused() {
    let sample = Sample::load("peptide-charged");
    let mut bonds = sample.system.clone();
    bonds.topology.bonded.g96_bonds = vec![G96Bond { atoms: [0, 1], length: 0.1, force_constant: 1e7 }];
    let mut angles = sample.system.clone();
    angles.topology.bonded.g96_angles = vec![G96Angle { atoms: [0, 1, 2], angle: 1.9, force_constant: 500.0 }];
    for (system, name) in [(bonds, "GROMOS-96 bonds"), (angles, "GROMOS-96 angles")] {
        let problem = model::check(&system).expect_err("no kernel").to_string();
        assert!(problem.contains(name) && problem.contains("run.device = \"cpu\""), "{problem}");
    }
    assert!(model::check(&sample.system).is_ok());
}

#[test]
fn a_mesh_beyond_the_kernels_is_refused() {
    let mut sample = Sample::load("peptide-charged");
    if let Electrostatics::Pme(parameters) = &mut sample.system.settings.electrostatics {
        parameters.grid[1] = 2048;
    }
    let problem = model::check(&sample.system).expect_err("grid points have ten bits");
    assert!(problem.to_string().contains("run.device = \"cpu\""), "{problem}");
}
