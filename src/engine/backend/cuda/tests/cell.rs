//! Tests that compare quantities that the device derives from a cell with the functions of the host.

use crate::backend::cuda::Cuda;
use crate::backend::cuda::device::{read, read_one};
use crate::backend::cuda::emulator::device::Emulated;
use crate::backend::cuda::layout::{CENTRAL_SHIFT, Lattice, ORIGIN_QUANTUM, SHIFTS};
use crate::backend::{Backend, Leapfrog, Workload};
use crate::cell::PeriodicCell;
use crate::ensemble::barostat::{BoxScaling, Relaxation};
use crate::pair::shift_image;
use crate::pme::reciprocal_rows;
use crate::system::State;
use crate::testing::Sample;
use crate::units::COULOMB;

/// Rounding error of a few operations in double precision on numbers up to 10.
const ROUNDINGS: f64 = 1e-14;
/// Relative rounding error of one operation in single precision.
const SINGLE: f64 = 6e-8;

fn found(cuda: &Cuda<Emulated>) -> (Lattice, Vec<[f32; 4]>) {
    let mut shifts = vec![[0.0; 4]; 2 * SHIFTS as usize];
    read(&cuda.device, cuda.arguments.shifts, &mut shifts).expect("an array");
    (read_one(&cuda.device, cuda.arguments.cell).expect("a cell"), shifts)
}

fn check(cuda: &Cuda<Emulated>, cell: &PeriodicCell) {
    let (lattice, shifts) = found(cuda);
    for (inverse, distance) in lattice.inverse_width.into_iter().zip(cell.face_distances()) {
        assert!((inverse * distance - 1.0).abs() < ROUNDINGS);
    }
    let [a, b, c] = reciprocal_rows(cell);
    for (ours, theirs) in lattice.reciprocal.into_iter().zip([a.x, a.y, a.z, b.y, b.z, c.z]) {
        assert!((f64::from(ours) - theirs).abs() <= SINGLE * theirs.abs() + ROUNDINGS, "{ours} for {theirs}");
    }
    let factor = f64::from(lattice.coulomb_over_pi_volume) * std::f64::consts::PI * cell.volume() / COULOMB;
    assert!((factor - 1.0).abs() <= SINGLE);
    for (index, parts) in shifts.chunks(2).enumerate() {
        let exact = cell.shift(shift_image(index)).to_array();
        for k in 0..3 {
            let (high, low) = (f64::from(parts[0][k]), f64::from(parts[1][k]));
            // tolerance: half of the quantum of block centers, times the rounding error of 24 bits
            assert!((high + low - exact[k]).abs() < ORIGIN_QUANTUM / 2.0 / 16_777_216.0 + ROUNDINGS);
            assert_eq!((high / ORIGIN_QUANTUM).fract(), 0.0);
        }
    }
    assert_eq!(shift_image(CENTRAL_SHIFT as usize), [0; 3]);
}

#[test]
fn what_follows_from_a_cell() {
    for name in ["octahedron", "water"] {
        let sample = Sample::load(name);
        check(&sample.emulated(0), &sample.state.cell.expect("a periodic system"));
    }
    let mut sample = Sample::load("water");
    let cell = PeriodicCell::from_lengths_angles([2.2, 2.5, 3.0], [80.0, 95.0, 100.0]).expect("a cell");
    sample.state.cell = Some(cell);
    check(&sample.emulated(0), &cell);
}

#[test]
fn a_cell_that_is_read_and_written_gives_the_same_bits() {
    let sample = Sample::load("octahedron");
    let mut cuda = sample.emulated(0);
    cuda.forces(Workload { energy: false, virial: true, ..Workload::FORCES }).unwrap();
    cuda.integrate(Leapfrog { timestep: 0.001, virial: true, ..Leapfrog::default() }, None).unwrap();
    let (rate, pressure, thermal, noise, stochastic) = (1e-6, 1.0, 1.0, 0.01, true);
    cuda.scale_box(BoxScaling::isotropic(Relaxation { rate, pressure, thermal, noise, stochastic })).unwrap();
    let (before, shifts) = found(&cuda);
    let mut state = State::default();
    cuda.download(&mut state).unwrap();
    let change = state.cell.unwrap().volume() / sample.state.cell.unwrap().volume() - 1.0;
    assert!((1e-4..0.1).contains(&change.abs()), "a change of {change} tells nothing");
    check(&cuda, &state.cell.unwrap());
    cuda.upload(&state).unwrap();
    let (after, same) = found(&cuda);
    assert!(bytemuck::bytes_of(&before) == bytemuck::bytes_of(&after) && shifts == same);
}
