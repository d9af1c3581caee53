//! Tests of the cells of coordinate files: the cell of the file is used, unless the input states a cell, and notes say
//! where the cell differs from the file.

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

/// Tests space groups. GROMACS, OpenMM, VMD, AMBER, CHARMM-GUI and others write the space group of a simulation cell. A
/// space group with symmetry means that the file contains only one of several copies of the atoms in a crystal.
#[test]
fn a_space_group_with_symmetry_is_seen() {
    let read = |name: &str, text: &str| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(name), text).unwrap();
        read_coordinates(&folder.path().join(name), None, None).unwrap().left_out.symmetry
    };
    let atom = "ATOM      1  CA  ALA A   1       1.000  10.000  10.000  1.00  0.00           C\nEND\n";
    let edges = "   50.840   42.770   28.950";
    for (end, expected) in [
        (" P 1           1", false),
        (" P 1", false),
        (" P 1         1", false),
        (" P1            1", false),
        ("", false),
        ("                ", false),
        (" P 1           2", false),
        (" P 21 21 21    1", false),
        (" P 21 21 21    4", true),
        (" P 21 21 21", true),
        (" C 1 2 1       8", true),
        (" P -1          2", true),
    ] {
        let text = |edges: &str| format!("CRYST1{edges}  90.00  90.00  90.00{end}\n{atom}");
        assert_eq!(read("x.pdb", &text(edges)), expected, "{end}");
        // edges of 1 Å mean that the file has no cell
        assert!(!read("x.pdb", &text("    1.000    1.000    1.000")));
    }
    let mmcif = |items: &str| {
        let angles = "_cell.angle_alpha 90\n_cell.angle_beta 90\n_cell.angle_gamma 90\n";
        let site = "loop_\n_atom_site.Cartn_x\n_atom_site.Cartn_y\n_atom_site.Cartn_z\n1 2 3\n";
        format!("data_x\n_cell.length_a 50\n_cell.length_b 40\n_cell.length_c 30\n{angles}{items}{site}")
    };
    for (items, expected) in [
        ("", false),
        ("_symmetry.space_group_name_H-M 'P 1'\n", false),
        ("_symmetry.space_group_name_H-M ?\n", false),
        ("_symmetry.space_group_name_H-M 'P 21 21 21'\n_cell.Z_PDB 4\n", true),
        ("_space_group.name_H-M_alt 'P 21 21 21'\n", true),
        ("_symmetry.space_group_name_H-M 'P 21 21 21'\n_cell.Z_PDB 1\n", false),
    ] {
        assert_eq!(read("x.cif", &mmcif(items)), expected, "{items}");
    }
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

/// Tests a cell of 30 Å, 40 Å and 50 Å with γ = 120°. Its vector b = (-20, 34.64) Å is replaced by a + b = (10, 34.64)
/// Å, which has 36.06 Å and is at 73.9° from a.
#[test]
fn other_lattice_vectors_of_the_same_lattice_are_told() {
    let pdb = |gamma: &str| {
        format!(
            "CRYST1   30.000   40.000   50.000  90.00  90.00 {gamma} P 1           1\n\
             ATOM      1  CA  ALA A   1       1.000  10.000  10.000  1.00  0.00           C\nEND\n"
        )
    };
    let cif = |gamma: &str| {
        format!(
            "data_x\n_cell.length_a 30\n_cell.length_b 40\n_cell.length_c 50\n_cell.angle_alpha 90\n_cell.angle_beta 90\n\
             _cell.angle_gamma {gamma}\nloop_\n_atom_site.Cartn_x\n_atom_site.Cartn_y\n_atom_site.Cartn_z\n1 2 3\n"
        )
    };
    let rst7 = |gamma: &str| {
        let numbers =
            |values: [&str; 6]| values.map(|value| format!("{:>12.7}", value.parse::<f64>().unwrap())).concat();
        let positions = numbers(["1", "2", "3", "4", "5", "6"]);
        let cell = numbers(["30", "40", "50", "90", "90", gamma]);
        format!("x\n    3\n{positions}\n{}\n{cell}\n", &positions[..36])
    };
    let gro = |gamma: &str| {
        let cosine = gamma.parse::<f64>().unwrap().to_radians().cos();
        let [x, y] = [4.0 * cosine, 4.0 * (1.0 - cosine * cosine).sqrt()];
        format!("x\n1\n    1ALA     CA    1   0.100   0.200   0.300\n3.0 {y:.5} 5.0 0 0 {x:.5} 0 0 0\n")
    };
    let folder = tempfile::tempdir().unwrap();
    for (gamma, is_replaced, expected) in [("120.00", true, [3.605_551, 73.897_886]), ("70.00", false, [4.0, 70.0])] {
        for (name, text) in
            [("x.pdb", pdb(gamma)), ("x.cif", cif(gamma)), ("x.rst7", rst7(gamma)), ("x.gro", gro(gamma))]
        {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            let found = read_coordinates(&path, None, None).unwrap();
            let ([_, b, _], [_, _, gamma]) = found.cell.unwrap().lengths_angles();
            // five decimals of the box in the .gro file
            assert!((b - expected[0]).abs() < 1e-5 && (gamma - expected[1]).abs() < 2e-4, "{name}: {b} {gamma}");
            assert_eq!(found.left_out.vectors, is_replaced, "{name}");
            for (arguments, output) in [(&["info"][..], None), (&["convert", "--force"], Some("y.trr"))] {
                let mut command = assert_cmd::Command::cargo_bin("md").unwrap();
                command.args(arguments).arg(name).args(output).current_dir(folder.path());
                let done = command.output().unwrap();
                let text = [done.stdout, done.stderr].concat();
                let is_told = String::from_utf8(text).unwrap().contains("other lattice vectors");
                assert_eq!((done.status.success(), is_told), (true, is_replaced), "{arguments:?} {name}");
            }
        }
    }
}

/// Tests the cube of 2 nm that OpenMM writes for systems without a box.
#[test]
fn the_default_box_of_openmm_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.xml");
    for (edge, is_default) in [("2", true), ("2.1", false)] {
        let text = format!(
            "<?xml version=\"1.0\" ?>\n<State openmmVersion=\"8.2\" time=\"0\" type=\"State\" version=\"1\">\
             <PeriodicBoxVectors><A x=\"{edge}\" y=\"0\" z=\"0\"/><B x=\"0\" y=\"{edge}\" z=\"0\"/>\
             <C x=\"0\" y=\"0\" z=\"{edge}\"/></PeriodicBoxVectors>\
             <Positions><Position x=\"0.1\" y=\"0.2\" z=\"0.3\"/></Positions></State>\n"
        );
        std::fs::write(&path, text).unwrap();
        let found = read_coordinates(&path, None, None).unwrap();
        assert_eq!((found.cell.is_none(), found.left_out.default_box), (is_default, is_default));
        assert_eq!(found.left_out.of_cell().any(|note| note.contains("cube of 2 nm")), is_default);
    }
}
