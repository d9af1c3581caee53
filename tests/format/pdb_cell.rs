//! PDB and PDBx/mmCIF coordinates of a CHARMM system: the cell of the file is used, unless the input gives a cell.

use std::path::Path;

use md::cell::PeriodicCell;
use md::config::Config;
use md::format::{Coordinates, read_coordinates, read_topology_with, write_mmcif, write_pdb};
use md::prepare::ConstrainedTerms;
use md::run::load;

use crate::charmm::options;

/// Returns the cell edges (pm) of the CHARMM system of `tests/systems/build/charmm.py` with the coordinates `text`;
/// `None` without a cell.
fn edges(coordinates: &str, text: &str, keys: &str) -> Option<[i64; 3]> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/charmm");
    let files = tempfile::tempdir().unwrap();
    std::fs::write(files.path().join(coordinates), text).unwrap();
    let parameters: Vec<_> = ["rtf", "prm", "str"].iter().map(|file| folder.join(format!("charmm.{file}"))).collect();
    let vacuum = "[forces]\ncutoff = \"none\"\nelectrostatics = \"plain\"";
    let topology = folder.join("charmm.psf");
    let input = |forces: &str| {
        let system = format!("topology = {topology:?}\nparameters = {parameters:?}\ncoordinates = {coordinates:?}\n");
        let plan = Config::parse(&format!("[system]\n{system}{keys}\n{forces}"), &files.path().join("input.toml"), &[]);
        load(&plan.unwrap().plan, ConstrainedTerms::Keep)
    };
    let periodic = input("");
    let found = if periodic.is_ok() { periodic } else { input(vacuum) }.unwrap();
    found.state.cell.map(|cell| cell.lengths_angles().0.map(|edge| (edge * 1e3).round() as i64))
}

#[test]
fn the_cell_is_that_of_the_file_unless_the_input_has_one() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/charmm");
    let parameters = options(&folder, &["charmm.rtf", "charmm.prm", "charmm.str"]);
    let topology = read_topology_with(&folder.join("charmm.psf"), &parameters).unwrap().topology;
    let Coordinates { positions, .. } = read_coordinates(&folder.join("charmm.crd"), None, None).unwrap();
    let cell = PeriodicCell::orthorhombic([3.0, 3.5, 4.0]);
    let written = |name: &str, cell: Option<&PeriodicCell>| {
        let mut out = vec![];
        match name {
            "x.pdb" => write_pdb(&topology, &positions, cell, "", &mut out),
            _ => write_mmcif(&topology, 0..positions.len(), &positions, cell, "", &mut out),
        }
        .unwrap();
        String::from_utf8(out).unwrap()
    };
    let key = "cell = [\"5 nm\", \"6 nm\", \"7 nm\"]";
    let dummies = [
        ("x.pdb", "CRYST1    1.000    1.000    1.000  90.00  90.00  90.00 P 1           1\n"),
        (
            "x.cif",
            "data_x\n_cell.length_a 1\n_cell.length_b 1\n_cell.length_c 1\n_cell.angle_alpha 90\n_cell.angle_beta 90\n\
             _cell.angle_gamma 90\n",
        ),
    ];
    for (name, dummy) in dummies {
        let without = written(name, None);
        let dummy = dummy.to_owned() + without.trim_start_matches("data_md");
        assert_eq!(edges(name, &written(name, Some(&cell)), ""), Some([3000, 3500, 4000]), "{name}");
        assert_eq!(edges(name, &written(name, Some(&cell)), key), Some([5000, 6000, 7000]), "{name}");
        assert_eq!((edges(name, &without, ""), edges(name, &dummy, "")), (None, None), "{name}");
        assert_eq!(edges(name, &dummy, key), Some([5000, 6000, 7000]), "{name}");
    }
}
