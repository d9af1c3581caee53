//! Tests that MDAnalysis, MDTraj and h5py read the same numbers. The test is skipped if Python or one of these packages
//! is missing, unless `MD_REQUIRE_PYTHON=1`.

use std::path::Path;
use std::process::Command;

use md::observe::trajectory::Precision;
use md::observe::trajectory::h5md::repair;
use md::vec3::Vec3;
use serde_json::json;

use crate::probe::python_has;
use crate::round_trip::{create, write};
use crate::sample;

const FRAMES: usize = 6;
const WATERS: usize = 4;

fn expected(file: &Path, kind: &str) -> serde_json::Value {
    let topology = sample::topology(WATERS);
    let atoms = topology.atoms.len();
    let arrays = |vectors: Vec<Vec3>| vectors.into_iter().map(Vec3::to_array).collect::<Vec<_>>();
    let frame = |frame: usize| {
        json!({
            "step": sample::step(frame),
            "time": sample::time(frame),
            "cell": sample::cell(kind, frame).map(|cell| cell.rows().map(Vec3::to_array)),
            "positions": arrays(sample::placed(kind, frame, atoms)),
            "unwrapped": arrays(sample::unwrapped(kind, frame, atoms).0),
            "velocities": arrays(sample::velocities(frame, atoms)),
            "forces": arrays(sample::forces(frame, atoms)),
            "observables": sample::values(frame),
        })
    };
    json!({
        "file": file,
        "frames": (0..FRAMES).map(frame).collect::<Vec<_>>(),
        "observables": sample::observables().iter().map(|o| o.name.clone()).collect::<Vec<_>>(),
        "atom_names": topology.atoms.iter().map(|a| a.name.as_str()).collect::<Vec<_>>(),
        "residue_names": topology.residues.iter().map(|r| r.name.as_str()).collect::<Vec<_>>(),
        "elements": topology.atoms.iter().map(|a| a.element).collect::<Vec<_>>(),
        "masses": topology.atoms.iter().map(|a| a.mass).collect::<Vec<_>>(),
        "bonds": topology.connectivity,
        "chains": 2,
        "input": sample::provenance().input,
        // tolerance of a position, as in the tests of `round_trip.rs`, with a margin for readers that compute in f32
        "position_tolerance": 0.5e-3 + 1e-6,
    })
}

#[test]
fn python_readers_agree() {
    if !python_has("MDAnalysis, mdtraj, h5py, tables") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut cases = vec![];
    for kind in sample::CELLS {
        let path = directory.path().join(format!("{kind}.h5md"));
        let (mut writer, atoms) = create(&path, kind, Precision::Decimals3, WATERS);
        write(&mut writer, kind, 0..FRAMES, atoms);
        writer.sync().unwrap();
        // the file was repaired after its writer was killed
        let crashed = directory.path().join(format!("{kind}-crashed.h5md"));
        std::fs::copy(&path, &crashed).unwrap();
        std::os::unix::fs::symlink(&crashed, crashed.with_extension("h5")).unwrap();
        repair(&crashed).unwrap();
        writer.close().unwrap();
        cases.extend([expected(&path, kind), expected(&crashed, kind)]);
    }
    let numbers = directory.path().join("expected.json");
    std::fs::write(&numbers, serde_json::to_string(&cases).unwrap()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/read_trajectory.py");
    let output = Command::new("python3").arg(script).arg(&numbers).output().unwrap();
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}{errors}");
    assert_eq!(text.matches(": same").count(), cases.len(), "{text}");
}
