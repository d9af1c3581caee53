//! A small system whose frames are given by closed-form expressions.

use md::cell::PeriodicCell;
use md::observe::trajectory::{
    Contents, Fields, Frame, FrameSource, Observable, Placement, Precision, Provenance, Spacing, StoredFrame,
};
use md::system::{Atom, Name, Residue, Topology};
use md::vec3::{Vec3, vec3};

/// Number of waters with which a frame is divided into several HDF5 chunks.
pub(crate) const DIVIDED: usize = 2800;

/// Kinds of cell that the tests use.
pub(crate) const CELLS: [&str; 3] = ["orthorhombic", "triclinic", "none"];

/// Reads all frames of an open trajectory.
#[track_caller]
pub(crate) fn all_frames(trajectory: md::error::Result<Box<dyn FrameSource>>) -> Vec<StoredFrame> {
    let mut trajectory = trajectory.unwrap_or_else(|error| panic!("{error}"));
    let count = trajectory.frames();
    let read = |index| {
        let mut frame = StoredFrame::default();
        trajectory.read(index, &mut frame).unwrap();
        frame
    };
    (0..count).map(read).collect()
}

/// Returns the topology of a dipeptide-like chain, `waters` waters and an ion. The atoms of each molecule are
/// consecutive.
pub(crate) fn topology(waters: usize) -> Topology {
    let mut topology = Topology { title: "chain in water".into(), ..Topology::default() };
    let mut residue = |name: &str, atoms: &[(&str, u8, f64, f64)]| {
        let first = topology.atoms.len() as u32;
        let index = topology.residues.len() as u32;
        topology.residues.push(Residue { name: Name::new(name), number: index as i32 + 1, first });
        for &(name, element, mass, charge) in atoms {
            let atom = Atom {
                name: Name::new(name),
                type_name: Name::default(),
                element,
                mass,
                charge,
                lj_type: 0,
                residue: index,
            };
            topology.atoms.push(atom);
        }
        first
    };
    residue("ALA", &[("N", 7, 14.01, -0.4), ("CA", 6, 12.01, 0.1), ("C", 6, 12.01, 0.3)]);
    residue("GLY", &[("N", 7, 14.01, -0.4), ("CA", 6, 12.01, 0.1), ("C", 6, 12.01, 0.3)]);
    let water = [("O", 8, 15.999, -0.834), ("H1", 1, 1.008, 0.417), ("H2", 1, 1.008, 0.417)];
    let oxygens: Vec<u32> = (0..waters).map(|_| residue("WAT", &water)).collect();
    residue("Na+", &[("Na+", 11, 22.99, 1.0)]);
    topology.connectivity = vec![[0, 1], [2, 1], [2, 3], [3, 4], [4, 5]];
    topology.connectivity.extend(oxygens.iter().flat_map(|&o| [[o, o + 1], [o, o + 2]]));
    topology
}

/// Cell of frame number `frame`. The size of the cell varies with the frame, as under a barostat.
pub(crate) fn cell(kind: &str, frame: usize) -> Option<PeriodicCell> {
    let rows = match kind {
        "orthorhombic" => [vec3(3.0, 0.0, 0.0), vec3(0.0, 4.0, 0.0), vec3(0.0, 0.0, 5.0)],
        "triclinic" => [vec3(3.0, 0.0, 0.0), vec3(1.0, 4.0, 0.0), vec3(-1.0, 1.0, 5.0)],
        _ => return None,
    };
    PeriodicCell::from_rows(rows).map(|cell| cell.scaled(1.0 + 0.001 * frame as f64))
}

/// First atom of the molecule that contains `atom`.
fn first_of_molecule(atom: usize) -> usize {
    if atom < 6 { 0 } else { atom - atom % 3 }
}

/// Pseudo-random number between 0 and 1 for a key.
fn scatter(key: usize) -> f64 {
    (key as f64 * 0.754_877_666).fract()
}

/// Positions (nm) that the file must contain: whole molecules inside the cell.
pub(crate) fn placed(kind: &str, frame: usize, atoms: usize) -> Vec<Vec3> {
    let unit = PeriodicCell::orthorhombic([3.0, 4.0, 5.0]);
    let cell = cell(kind, frame).unwrap_or(unit);
    let position = |atom: usize| {
        let first = first_of_molecule(atom);
        // the mean position of each molecule is inside the cell: no atom is further than 0.35 nm from the first, no
        // cell edge is shorter than 3 nm, and the first atom is at fractional coordinates from 0.2 to 0.8
        let s = vec3(scatter(first + 1), scatter(3 * first + 2), scatter(7 * first + 3)) * 0.6 + Vec3::splat(0.2);
        let member = (atom - first) as f64;
        let local = vec3(0.07 * member, 0.05 * (member % 2.0), -0.01 * member * (1.0 + 0.1 * frame as f64));
        cell.to_cartesian(s) + local
    };
    (0..atoms).map(position).collect()
}

/// Positions (nm) in the form that the engine provides: the same atoms scattered over lattice images.
pub(crate) fn unwrapped(kind: &str, frame: usize, atoms: usize) -> (Vec<Vec3>, Vec<[i32; 3]>) {
    let cell = cell(kind, frame);
    let image = |atom: usize| match cell {
        Some(_) => [(atom % 3) as i32 - 1, (atom % 2) as i32, frame as i32 - 2],
        None => [0; 3],
    };
    let images: Vec<[i32; 3]> = (0..atoms).map(image).collect();
    let shift = |&image: &[i32; 3]| cell.map_or(Vec3::ZERO, |cell| cell.shift(image));
    (placed(kind, frame, atoms).into_iter().zip(&images).map(|(r, n)| r + shift(n)).collect(), images)
}

/// Velocities (nm/ps) of a frame.
pub(crate) fn velocities(frame: usize, atoms: usize) -> Vec<Vec3> {
    (0..atoms).map(|i| vec3(scatter(i) - 0.5, 0.01 * frame as f64, -0.3 * scatter(5 * i))).collect()
}

/// Forces (kJ/mol/nm) of a frame.
pub(crate) fn forces(frame: usize, atoms: usize) -> Vec<Vec3> {
    velocities(frame + 7, atoms).into_iter().map(|v| v * -1234.5).collect()
}

/// Observables of a frame, in the order of [`observables`].
pub(crate) fn values(frame: usize) -> [f64; 4] {
    let f = frame as f64;
    [300.0 + f, -1000.5 - f, 200.25 + f, 1.0 / (1.0 + f)]
}

/// Observables whose order of creation is not alphabetical.
pub(crate) fn observables() -> Vec<Observable> {
    [("temperature", "K"), ("potential_energy", "kJ mol-1"), ("kinetic_energy", "kJ mol-1"), ("pressure", "bar")]
        .map(|(name, unit)| Observable { name: name.into(), unit: unit.into() })
        .to_vec()
}

/// Step of a frame.
pub(crate) fn step(frame: usize) -> u64 {
    100 * frame as u64 + 7
}

/// Time (ps) of a frame.
pub(crate) fn time(frame: usize) -> f64 {
    0.5 + 0.2 * frame as f64
}

/// All contents of a trajectory that are fixed when the file is created.
pub(crate) fn contents<'a>(
    topology: &'a Topology,
    kind: &str,
    precision: Precision,
    observables: &'a [Observable],
    provenance: &'a Provenance,
) -> Contents<'a> {
    let fields = Fields { velocities: true, forces: true, image: true };
    let spacing = Spacing { steps: 100, timestep: 0.002 };
    Contents {
        topology,
        placement: Placement::WHOLE,
        periodic: kind != "none",
        fields,
        precision,
        observables,
        provenance,
        spacing,
    }
}

/// Provenance of the trajectory; the input has a letter beyond ASCII and no final newline.
pub(crate) fn provenance() -> Provenance {
    Provenance {
        run_id: "0123456789abcdef".into(),
        version: "0.1.0".into(),
        commit: "0123abc".into(),
        host: "somewhere".into(),
        author: String::new(),
        input: "[system]\ncutoff = \"9 Å\"".into(),
        seed: u64::MAX,
    }
}

/// Passes the frame with number `frame` to `write`.
pub(crate) fn with_frame<R>(kind: &str, frame: usize, atoms: usize, write: impl FnOnce(&Frame<'_>) -> R) -> R {
    let (positions, velocities, forces) =
        (unwrapped(kind, frame, atoms).0, velocities(frame, atoms), forces(frame, atoms));
    write(&Frame {
        step: step(frame),
        time: time(frame),
        cell: cell(kind, frame),
        positions: &positions,
        velocities: &velocities,
        forces: &forces,
        observables: &values(frame),
    })
}
