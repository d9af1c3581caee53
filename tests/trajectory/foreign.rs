//! Tests of H5MD files as other programs write them: with intervals instead of arrays of times, fixed boxes, atoms in
//! any order of their ids, and other units.

use std::path::{Path, PathBuf};

use hdf5::types::{FixedAscii, VarLenUnicode};
use hdf5::{File, Group, Location};
use md::observe::trajectory::{StoredFrame, open};
use md::vec3::{Vec3, vec3};

const ATOMS: usize = 4;
const FRAMES: usize = 3;
/// Relative tolerance for a few rounding errors of f64 in conversions of Å, ps and kcal/mol.
const ROUNDING: f64 = 1e-12;

/// Position (nm) of the atom with number `id`.
fn position(id: usize, frame: usize) -> Vec3 {
    vec3(0.1 * id as f64, 0.2 + 0.01 * frame as f64, 0.3 * (id % 2) as f64)
}

fn unit(location: &Location, name: &str) {
    let text: VarLenUnicode = name.parse().unwrap();
    location.new_attr::<VarLenUnicode>().create("unit").unwrap().write_scalar(&text).unwrap();
}

/// Writes values of all atoms in the order of `ids`.
fn values(group: &Group, frames: &[usize], ids: [usize; ATOMS], value: impl Fn(usize, usize) -> Vec3) -> hdf5::Dataset {
    let numbers: Vec<f64> =
        frames.iter().flat_map(|&frame| ids.map(|id| value(id, frame).to_array())).flatten().collect();
    let array = ndarray::Array3::from_shape_vec((frames.len(), ATOMS, 3), numbers).unwrap();
    group.new_dataset_builder().with_data(&array).create("value").unwrap()
}

fn scalar<T: hdf5::H5Type>(group: &Group, name: &str, value: T, offset: T) -> hdf5::Dataset {
    let dataset = group.new_dataset::<T>().create(name).unwrap();
    dataset.write_scalar(&value).unwrap();
    dataset.new_attr::<T>().create("offset").unwrap().write_scalar(&offset).unwrap();
    dataset
}

/// Creates a file with positions in Å, at every 50th step from step 100 and every 2 ps from 10 ps. `ids` is the order
/// in which the atoms are stored.
fn create(path: &Path, ids: [usize; ATOMS], length: Option<&str>) -> Group {
    let file = File::create(path).unwrap();
    let group = file.create_group("particles/all").unwrap();
    let element = group.create_group("position").unwrap();
    let dataset = values(&element, &[0, 1, 2], ids, |id, frame| position(id, frame) * 10.0);
    length.iter().for_each(|name| unit(&dataset, name));
    scalar(&element, "step", 50i32, 100);
    unit(&scalar(&element, "time", 2000f64, 10_000.0), "fs");
    let ids = ids.map(|id| 7 + 2 * id as i64);
    group.new_dataset_builder().with_data(&ids).create("id").unwrap();
    group
}

fn read(path: &Path) -> Vec<StoredFrame> {
    crate::sample::all_frames(open(path))
}

fn refused(path: &Path) -> String {
    let found = open(path).and_then(|mut trajectory| trajectory.read(0, &mut StoredFrame::default()));
    found.unwrap_err().to_string()
}

fn place(folder: &Path, name: &str) -> PathBuf {
    folder.join(name)
}

#[test]
fn intervals_numbers_and_units_are_taken_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = place(folder.path(), "all.h5md");
    let ids = [2, 0, 3, 1];
    {
        let group = create(&path, ids, Some("Angstrom"));
        let velocity = group.create_group("velocity").unwrap();
        // only every second frame has velocities
        let dataset = values(&velocity, &[0, 2], ids, |id, frame| position(id, frame) * 0.01);
        let name = FixedAscii::<16>::from_ascii("Angstrom fs-1").unwrap();
        dataset.new_attr::<FixedAscii<16>>().create("unit").unwrap().write_scalar(&name).unwrap();
        velocity.new_dataset_builder().with_data(&[100i64, 200]).create("step").unwrap();
        let force = group.create_group("force").unwrap();
        unit(&values(&force, &[0, 1, 2], ids, position), "kcal mol-1 Angstrom-1");
        scalar(&force, "step", 50i64, 100);
        // all frames have the same rectangular box
        let edges = group.create_group("box").unwrap().new_dataset_builder().with_data(&[30f32, 40.0, 50.0]);
        unit(&edges.create("edges").unwrap(), "Angstrom");
    }
    let found = read(&path);
    assert_eq!(found.len(), FRAMES);
    for (index, frame) in found.iter().enumerate() {
        assert_eq!((frame.step, frame.time), (100 + 50 * index as i64, 10.0 + 2.0 * index as f64));
        for id in 0..ATOMS {
            assert!((frame.positions[id] - position(id, index)).norm() < ROUNDING, "{frame:?}");
            // 1 kcal/mol/Å is 41.84 kJ/mol/nm, 1 Å/fs is 100 nm/ps
            assert!((frame.forces[id] - position(id, index) * 41.84).norm() < 100.0 * ROUNDING);
            if index != 1 {
                assert!((frame.velocities[id] - position(id, index)).norm() < 100.0 * ROUNDING, "{frame:?}");
            }
        }
        assert_eq!(frame.velocities.is_empty(), index == 1);
        let (lengths, angles) = frame.cell.unwrap().lengths_angles();
        assert!(lengths.iter().zip([3.0, 4.0, 5.0]).all(|(a, b)| (a - b).abs() < ROUNDING) && angles == [90.0; 3]);
    }
}

#[test]
fn boxes_in_any_orientation_are_turned_with_the_atoms() {
    let folder = tempfile::tempdir().unwrap();
    let path = place(folder.path(), "turned.h5md");
    {
        let group = create(&path, [0, 1, 2, 3], Some("A"));
        let edges = group.create_group("box/edges").unwrap();
        // lattice vectors along y, z and x: the reader must rotate (x, y, z) to (y, z, x)
        let rows = [[0.0, 30.0, 0.0], [0.0, 10.0, 40.0], [50.0, 0.0, 0.0]];
        let array = ndarray::Array3::from_shape_fn((FRAMES, 3, 3), |(_, i, j)| rows[i][j]);
        edges.new_dataset_builder().with_data(&array).create("value").unwrap();
        scalar(&edges, "step", 50i32, 100);
    }
    for (index, frame) in read(&path).iter().enumerate() {
        let rows = frame.cell.unwrap().rows();
        let expected = [vec3(3.0, 0.0, 0.0), vec3(1.0, 4.0, 0.0), vec3(0.0, 0.0, 5.0)];
        assert!(rows.iter().zip(expected).all(|(a, b)| (*a - b).norm() < ROUNDING), "{rows:?}");
        for (id, found) in frame.positions.iter().enumerate() {
            let r = position(id, index);
            assert!((*found - vec3(r.y, r.z, r.x)).norm() < ROUNDING, "{found:?}");
        }
    }
}

#[test]
fn boxes_that_are_not_periodic_are_no_cells() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, boundary: [&str; 3]| {
        let path = place(folder.path(), name);
        let group = create(&path, [0, 1, 2, 3], Some("nm")).create_group("box").unwrap();
        let boundary = boundary.map(|word| word.parse::<VarLenUnicode>().unwrap());
        group.new_attr_builder().with_data(&boundary).create("boundary").unwrap();
        unit(&group.new_dataset_builder().with_data(&[3f32, 4.0, 5.0]).create("edges").unwrap(), "nm");
        path
    };
    let cells = |path: &Path| read(path).iter().map(|frame| frame.cell.is_some()).collect::<Vec<bool>>();
    assert_eq!(cells(&file("periodic.h5md", ["periodic"; 3])), [true; FRAMES]);
    assert_eq!(cells(&file("none.h5md", ["none"; 3])), [false; FRAMES]);
    let message = refused(&file("slab.h5md", ["periodic", "periodic", "none"]));
    assert!(message.contains("periodic in some directions only"), "{message}");
    let message = refused(&file("other.h5md", ["periodic", "periodic", "mirror"]));
    assert!(message.contains("the boundary `mirror`"), "{message}");
}

#[test]
fn what_cannot_be_known_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = place(folder.path(), "none.h5md");
    drop(create(&path, [0, 1, 2, 3], None));
    let message = refused(&path);
    assert!(message.contains("has no unit") && message.contains("attrs[\"unit\"]"), "{message}");
    let path = place(folder.path(), "reduced.h5md");
    drop(create(&path, [0, 1, 2, 3], Some("sigma")));
    assert!(refused(&path).contains("has the unit \"sigma\", expected a unit like nm"));
    let path = place(folder.path(), "scaled.h5md");
    {
        let position = create(&path, [0, 1, 2, 3], Some("nm")).dataset("position/value").unwrap();
        position.new_attr::<f64>().create("scale_factor").unwrap().write_scalar(&2.0).unwrap();
    }
    assert!(refused(&path).contains("has the attribute `scale_factor`"));
    let path = place(folder.path(), "amber.h5");
    {
        let file = File::create(&path).unwrap();
        let name: VarLenUnicode = "AMBER".parse().unwrap();
        file.new_attr::<VarLenUnicode>().create("Conventions").unwrap().write_scalar(&name).unwrap();
        let array = ndarray::Array3::<f32>::zeros((FRAMES, ATOMS, 3));
        file.new_dataset_builder().with_data(&array).create("coordinates").unwrap();
    }
    assert!(refused(&path).contains("AMBER's convention, but is stored as HDF5"));
    let path = place(folder.path(), "twice.h5md");
    drop(create(&path, [0, 1, 1, 3], Some("nm")));
    assert!(refused(&path).contains("two atoms have the number (id) 9"));
    let path = place(folder.path(), "groups.h5md");
    drop(create(&path, [0, 1, 2, 3], Some("nm")).create_group("/particles/solvent").unwrap());
    assert!(refused(&path).contains("expected only one group, or a group with the name `trajectory`"));
    // the HDF5 file is not a trajectory
    let path = place(folder.path(), "other.h5md");
    drop(File::create(&path).unwrap().create_group("results").unwrap());
    assert!(refused(&path).contains("not a trajectory of md"));
}
