//! Tests that results of `md energy`, `md analyze`, `md convert` and `md run` do not depend on the periodic images in
//! the files. The systems are chains of six beads in small cells. Expected values are closed forms, unless a comment
//! names GROMACS as the source.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod properties;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use assert_cmd::cargo::CommandCargoExt;
use md::vec3::{Vec3, vec3};
use tempfile::TempDir;

const BEADS: usize = 6;

/// Returns a zigzag chain around the origin: bonds whose projections on the xy plane are 0.153 nm long, and whose z
/// components increase along the chain.
fn chain() -> Vec<Vec3> {
    let half = 56f64.to_radians();
    let (dx, dy) = (0.153 * half.sin(), 0.153 * half.cos());
    let mut chain = vec![Vec3::ZERO];
    for bead in 1..BEADS {
        let up = if bead % 2 == 1 { dy } else { -dy };
        chain.push(chain[bead - 1] + vec3(dx, up, 0.03 * bead as f64));
    }
    let center = chain.iter().copied().sum::<Vec3>() / BEADS as f64;
    chain.into_iter().map(|r| r - center).collect()
}

/// Returns `r` rotated by 90° about z.
fn turned(r: Vec3) -> Vec3 {
    vec3(-r.y, r.x, r.z)
}

fn moved(chain: &[Vec3], by: Vec3) -> Vec<Vec3> {
    chain.iter().map(|r| *r + by).collect()
}

fn gro(positions: &[Vec3], edge: f64) -> String {
    let mut text = format!("chains\n{:5}\n", positions.len());
    for (index, r) in positions.iter().enumerate() {
        let (residue, name) = (index / BEADS + 1, format!("C{}", index % BEADS + 1));
        let _ = writeln!(text, "{residue:5}{:<5}{name:>5}{:5}{:10.5}{:10.5}{:10.5}", "CHN", index + 1, r.x, r.y, r.z);
    }
    text + &format!("{edge:10.5}{edge:10.5}{edge:10.5}\n")
}

fn topology(chains: usize) -> String {
    let mut text = "[ defaults ]\n1 2 yes 0.5 0.8333\n[ atomtypes ]\nCX 6 14.027 0.0 A 0.39 0.45\n\
        [ moleculetype ]\nCHN 3\n[ atoms ]\n"
        .to_owned();
    (1..=BEADS).for_each(|bead| text += &format!("{bead} CX 1 CHN C{bead} 1 0.0 14.027\n"));
    text += "[ bonds ]\n";
    (1..BEADS).for_each(|bead| text += &format!("{bead} {} 1 0.153 250000\n", bead + 1));
    text + &format!("[ system ]\nchains\n[ molecules ]\nCHN {chains}\n")
}

fn input(start: &str, cutoff: f64, stage: &str) -> String {
    format!(
        "[system]\ntopology = \"chains.top\"\ncoordinates = \"{start}\"\n[forces]\ncutoff = \"{cutoff} nm\"\n\
         electrostatics = \"plain\"\nconstraints = \"none\"\n[[stage]]\nname = \"r\"\nkind = \"dynamics\"\nsteps = 2\n\
         timestep = \"1 fs\"\nvelocities = \"generate\"\ntemperature = \"300 K\"\n{stage}\n"
    )
}

/// Creates a folder with files of the given names and contents.
fn folder(files: &[(&str, String)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, text)| std::fs::write(folder.path().join(name), text).unwrap());
    folder
}

fn md(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::cargo_bin("md").unwrap().current_dir(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Energy (kJ/mol) that `md energy` prints in `row` at the start of stage r.
fn energy(folder: &Path, input: &str, row: &str) -> f64 {
    std::fs::write(folder.join("input.toml"), input).unwrap();
    let text = md(folder, &["energy", "input.toml", "--stage", "r"]);
    let value = text.lines().filter_map(|line| line.split_once(char::is_whitespace)).find(|(name, _)| *name == row);
    value.and_then(|(_, value)| value.trim().parse().ok()).unwrap_or_else(|| panic!("{row} in {text}"))
}

/// Returns the numbers in the row `row` of a summary.
fn numbers(text: &str, row: &str) -> Vec<f64> {
    let line = text.lines().find(|line| line.starts_with(row)).unwrap_or_else(|| panic!("{row} in {text}"));
    line.split(|c: char| !(c.is_ascii_digit() || c == '.')).filter_map(|word| word.parse().ok()).collect()
}

/// Tolerance in kJ/mol. Coordinate files have five decimals in nm, so an atom at its reference position has a restraint
/// energy of up to 1e-7 kJ/mol with a force constant of 1000 kJ/mol/nm².
const ROUNDING: f64 = 1e-6;

#[test]
fn a_reference_may_be_turned_and_moved() {
    let [a, b] = [moved(&chain(), vec3(2.2, 1.5, 1.5)), chain().into_iter().map(turned).collect()];
    let start = [a, moved(&b, vec3(2.85, 1.5, 1.5))].concat();
    let mut wrapped = start.clone();
    wrapped[BEADS..].iter_mut().for_each(|r| r.x -= 3.0);
    let references = [
        start.iter().map(|r| vec3(0.5 - r.x, 0.5 - r.y, r.z)).collect::<Vec<_>>(),
        moved(&start.iter().map(|r| turned(*r)).collect::<Vec<_>>(), vec3(0.4, -1.1, 0.8)),
        wrapped.clone(),
    ];
    for start in [start, wrapped] {
        for reference in &references {
            let folder = folder(&[
                ("chains.top", topology(2)),
                ("start.gro", gro(&start, 3.0)),
                ("reference.gro", gro(reference, 3.0)),
            ]);
            let restraint = "restraints = [{ kind = \"rmsd\", groups = [\"all\"], reference = \"reference.gro\", at = \"0 nm\", \
                force_constant = \"1000 kJ/mol/nm^2\" }]";
            let found = energy(folder.path(), &input("start.gro", 1.0, restraint), "restraint");
            assert!(found < ROUNDING, "{found}");
        }
    }
}

/// Compares a pulled distance with GROMACS: `gmx mdrun` with the same pull coordinate prints 1.47054 nm for both
/// starting structures.
#[test]
fn a_group_of_two_molecules_has_one_center() {
    let places = [vec3(3.3, 2.0, 2.0), vec3(3.9, 2.9, 2.0), vec3(2.2, 2.0, 2.0)];
    let start = places.map(|place| moved(&chain(), place)).concat();
    let mut wrapped = start.clone();
    wrapped[BEADS..2 * BEADS].iter_mut().for_each(|r| r.x -= 4.0);
    for start in [start, wrapped] {
        let folder = folder(&[("chains.top", topology(3)), ("start.gro", gro(&start, 4.0))]);
        let restraint = "restraints = [{ kind = \"distance\", groups = [\"index 0-11\", \"index 12-17\"], at = \"1 nm\", \
            force_constant = \"1000 kJ/mol/nm^2\" }]";
        let found = energy(folder.path(), &input("start.gro", 1.0, restraint), "restraint");
        let value = 1.0 + (found / 500.0).sqrt();
        assert!((value - 1.47054).abs() < 1e-5, "{value}");
    }
}

/// Compares restraint energies with GROMACS: `gmx grompp -r` and `gmx mdrun` with refcoord-scaling no, com and all give
/// 507.227, 109.427 and 0 kJ/mol.
#[test]
fn references_of_another_cell_are_scaled_as_in_gromacs() {
    let turned: Vec<Vec3> = chain().into_iter().map(turned).collect();
    let start = [
        moved(&chain(), vec3(2.2, 1.5, 1.5)),
        moved(&turned.iter().map(|r| vec3(-r.x, -r.y, r.z)).collect::<Vec<_>>(), vec3(0.9, 2.5, 0.6)),
    ]
    .concat();
    let reference: Vec<Vec3> = start.iter().map(|r| *r * 1.1).collect();
    let mut wrapped = start.clone();
    wrapped[..BEADS].iter_mut().for_each(|r| r.y += 6.0);
    for start in [start, wrapped] {
        let folder = folder(&[
            ("chains.top", topology(2)),
            ("start.gro", gro(&start, 3.0)),
            ("reference.gro", gro(&reference, 3.3)),
        ]);
        for (scaling, expected) in [("none", 507.227), ("center-of-mass", 109.427), ("all", 0.0)] {
            let restraint = format!(
                "position_restraints = {{ select = \"all\", force_constant = \"1000 kJ/mol/nm^2\", \
                 reference = \"reference.gro\", reference_scaling = \"{scaling}\" }}"
            );
            let found = energy(folder.path(), &input("start.gro", 1.2, &restraint), "position_restraint");
            // GROMACS prints energies with three decimals, and positions in the files have five
            assert!((found - expected).abs() < 1e-3, "{scaling}: {found}");
        }
    }
}

/// Tests three chains in a row, 1.99 nm apart. The third is 3.98 nm from the first in a cell of 7.9 nm, which is more
/// than half of the cell, so the radius of gyration must follow from the positions as built.
#[test]
fn a_long_complex_stays_together() {
    let row = [0.0, 1.99, 3.98].map(|x| moved(&chain(), vec3(1.0 + x, 4.0, 4.0))).concat();
    let center = row.iter().copied().sum::<Vec3>() / row.len() as f64;
    let expected = (row.iter().map(|r| (*r - center).norm_squared()).sum::<f64>() / row.len() as f64).sqrt();
    let mut stored = moved(&row, vec3(3.0, 0.0, 0.0));
    stored[2 * BEADS..].iter_mut().for_each(|r| r.x -= 7.9);
    let folder =
        folder(&[("chains.top", topology(3)), ("whole.gro", gro(&row, 7.9)), ("stored.gro", gro(&stored, 7.9))]);
    let here = folder.path();
    for name in ["whole", "stored"] {
        md(here, &["convert", &format!("{name}.gro"), &format!("{name}.trr"), "--topology", "chains.top"]);
        let analyze = |more: &[&str]| {
            let words =
                ["analyze", "rg", &format!("{name}.trr"), "--topology", "chains.top", "--select", "all", "--force"];
            numbers(&md(here, &[&words[..], more].concat()), "mean")[0]
        };
        assert!((analyze(&[]) - expected).abs() < 2e-5, "{name}: {expected}");
        assert_eq!((analyze(&["--as-stored"]) - expected).abs() < 2e-5, name == "whole");
    }
    // the complex is in the middle of the cell, and in one piece
    md(here, &["convert", "stored.gro", "centered.gro", "--topology", "chains.top", "--center", "all"]);
    let centered = md::format::read_coordinates(&here.join("centered.gro"), None, None).unwrap().positions;
    let offset = vec3(3.95, 3.95, 3.95) - center;
    assert!(centered.iter().zip(&row).all(|(a, b)| (*a - (*b + offset)).norm() < 2e-3), "{centered:?}");
}

/// Tests two chains for which the gap within the cell is as wide as the gap across a face of the cell. One chain moves
/// by 0.02 nm, so that its nearest image is on the left in some frames and on the right in the remaining frames. Frames
/// must be compared in the arrangement that fits the reference.
#[test]
fn frames_are_compared_in_the_arrangement_that_fits() {
    const FRAMES: usize = 5;
    // the chains are 0.64 nm long along x, and 1 nm apart in a cell of 2 nm
    let first = moved(&chain(), vec3(0.5, 1.0, 1.0));
    let at = |frame: usize| {
        let shift = [0.01, -0.01, 0.02, -0.02, 0.01][frame];
        [first.clone(), moved(&chain(), vec3(1.5 + shift, 1.0, 1.0))].concat()
    };
    let models: String = (0..FRAMES).map(|frame| pdb_model(frame, &at(frame), 2.0)).collect();
    let folder = folder(&[("chains.top", topology(2)), ("run.pdb", models), ("first.gro", gro(&at(0), 2.0))]);
    let here = folder.path();
    let analyze = |name: &str, row: &str| {
        let words = ["analyze", name, "run.pdb", "--topology", "chains.top", "--select", "all", "--force"];
        numbers(&md(here, &words), row)
    };
    // both chains keep their shape: if one chain is shifted by d, the RMSD after superposition is at most d/2
    let largest = analyze("rmsd", "range")[1];
    assert!(largest > 0.005 && largest < 0.0151, "{largest}");
    assert!(analyze("rmsd-matrix", "largest")[0] < 0.021);
    assert!(analyze("rmsf", "largest")[0] < 0.011);
    assert!(analyze("pca", "variance")[0] < 1e-2);
    md(here, &["convert", "run.pdb", "aligned.xtc", "--topology", "chains.top", "--align", "all"]);
    let mut aligned = md::observe::trajectory::open(&here.join("aligned.xtc")).unwrap();
    assert_eq!(aligned.frames(), FRAMES);
    let read = |index| {
        let mut frame = md::observe::trajectory::StoredFrame::default();
        aligned.read(index, &mut frame).map(|()| frame.positions).unwrap()
    };
    let frames: Vec<Vec<Vec3>> = (0..FRAMES).map(read).collect();
    for frame in &frames {
        let away = frame.iter().zip(&frames[0]).map(|(a, b)| (*a - *b).norm()).fold(0.0, f64::max);
        assert!(away < 0.03, "{away} nm");
    }
}

/// Returns a model of a PDB file.
fn pdb_model(number: usize, positions: &[Vec3], edge: f64) -> String {
    let edge = 10.0 * edge;
    let mut text = format!("CRYST1{edge:9.3}{edge:9.3}{edge:9.3}  90.00  90.00  90.00 P 1           1\n");
    let _ = writeln!(text, "MODEL     {:4}", number + 1);
    for (index, r) in positions.iter().enumerate() {
        let (residue, name) = (index / BEADS + 1, format!("C{}", index % BEADS + 1));
        let [x, y, z] = (*r * 10.0).to_array();
        let _ = writeln!(
            text,
            "ATOM  {:5} {name:>3}  CHN A{residue:4}    {x:8.3}{y:8.3}{z:8.3}  1.00  0.00           C",
            index + 1
        );
    }
    text + "ENDMDL\n"
}

/// Tests that the 3 nm unit cell of a crystal structure that serves as a reference does not decide which atoms are
/// close in a simulation cell of 8 nm.
#[test]
fn a_reference_may_come_from_a_crystal() {
    let second: Vec<Vec3> = chain().into_iter().map(turned).collect();
    let whole = [moved(&chain(), vec3(1.0, 4.0, 4.0)), moved(&second, vec3(3.0, 4.2, 4.1))].concat();
    let mut crystal = "CRYST1   30.000   30.000   30.000  90.00  90.00  90.00 P 1           1\n".to_owned();
    for (index, r) in whole.iter().enumerate() {
        let (bead, residue) = (index % BEADS + 1, index / BEADS);
        let [x, y, z] = (*r * 10.0).to_array();
        let name = ["A", "B"][residue];
        let number = index + 1;
        let _ = writeln!(
            crystal,
            "ATOM  {number:5}  C{bead}  CHN {name}{:4}    {x:8.3}{y:8.3}{z:8.3}  1.00  0.00           C",
            residue + 1
        );
    }
    let folder = folder(&[
        ("chains.top", topology(2)),
        ("run.gro", gro(&moved(&whole, vec3(0.3, 0.0, 0.1)), 8.0)),
        ("crystal.pdb", crystal),
    ]);
    let here = folder.path();
    md(here, &["convert", "run.gro", "run.trr", "--topology", "chains.top"]);
    let words =
        ["analyze", "rmsd", "run.trr", "--topology", "chains.top", "--select", "all", "--reference", "crystal.pdb"];
    let deviation = numbers(&md(here, &words), "mean")[0];
    // coordinates in the crystal file are rounded to 5e-5 nm in each component
    assert!(deviation < 1e-4, "{deviation}");
    let words = [
        "convert",
        "run.trr",
        "aligned.gro",
        "--topology",
        "chains.top",
        "--align",
        "all",
        "--reference",
        "crystal.pdb",
    ];
    md(here, &words);
    let aligned = md::format::read_coordinates(&here.join("aligned.gro"), None, None).unwrap().positions;
    assert!(aligned.iter().zip(&whole).all(|(a, b)| (*a - *b).norm() < 2e-3), "{aligned:?}");
}

/// Tests the volume of an ideal gas of dumbbells, ⟨V⟩ = (N + 1) kT/P = 125.2 nm³ for N = 64 molecules at 300 K and 21.5
/// bar, for each type of constraint.
#[test]
fn constraints_without_a_bond_make_molecules() {
    let mut positions = vec![];
    for i in 0..64 {
        let place = vec3((i % 4) as f64, (i / 4 % 4) as f64, (i / 16) as f64) * 1.25 + Vec3::splat(0.3);
        // one molecule is stored broken across the boundary of the cell
        let far = if i == 7 { 0.2 - 5.0 } else { 0.2 };
        positions.extend([place, place + vec3(far, 0.0, 0.0)]);
    }
    let topology = "[ defaults ]\n1 2 no 1.0 1.0\n[ atomtypes ]\nX 18 20.0 0.0 A 0.3 0.0\n[ moleculetype ]\nCHN 1\n[ atoms ]\n\
        1 X 1 CHN C1 1 0.0 20.0\n2 X 1 CHN C2 1 0.0 20.0\n[ constraints ]\n1 2 2 0.2\n[ exclusions ]\n1 2\n[ system ]\ngas\n\
        [ molecules ]\nCHN 64\n";
    let mut start = format!("gas\n{:5}\n", positions.len());
    for (index, r) in positions.iter().enumerate() {
        let (residue, name) = (index / 2 + 1, format!("C{}", index % 2 + 1));
        let _ = writeln!(start, "{residue:5}{:<5}{name:>5}{:5}{:10.5}{:10.5}{:10.5}", "CHN", index + 1, r.x, r.y, r.z);
    }
    start += "   5.00000   5.00000   5.00000\n";
    let input = "[system]\ntopology = \"gas.top\"\ncoordinates = \"start.gro\"\n[forces]\ncutoff = \"0.9 nm\"\n\
        electrostatics = \"off\"\nconstraints = \"none\"\nrigid_water = false\ndispersion_correction = false\n[run]\nthreads = 1\n\
        [output]\nenergies = { every = \"0.2 ps\" }\n[[stage]]\nkind = \"dynamics\"\nduration = \"600 ps\"\ntimestep = \"10 fs\"\n\
        velocities = \"generate\"\nthermostat = { kind = \"langevin\", temperature = \"300 K\", friction = \"2 1/ps\" }\n\
        barostat = { kind = \"monte-carlo\", pressure = \"21.5 bar\", every = 10, compressibility = \"4e-2 1/bar\" }\n";
    let folder = folder(&[("gas.top", topology.to_owned()), ("start.gro", start), ("input.toml", input.to_owned())]);
    md(folder.path(), &["run", "input.toml"]);
    let table = std::fs::read_to_string(folder.path().join("out/energies.csv")).unwrap();
    let mut lines = table.lines();
    let column = lines.next().unwrap().split(',').position(|name| name == "volume (nm^3)").unwrap();
    let volumes: Vec<f64> = lines.map(|line| line.split(',').nth(column).unwrap().parse().unwrap()).collect();
    let settled = &volumes[volumes.len() / 10..];
    let mean = settled.iter().sum::<f64>() / settled.len() as f64;
    // the standard deviation of the volume is √(N + 1) kT/P = 15.5 nm³ with kT/P = 1.927 nm³. With a correlation time
    // of a few ps, the standard error of the mean over 540 ps is 1 nm³
    assert!((mean - 65.0 * 1.926_5).abs() < 5.0, "{mean}");
}

#[test]
fn a_start_of_several_models_is_told() {
    let chain = moved(&chain(), Vec3::splat(1.5));
    let model = |number: usize| {
        let mut text = format!("MODEL     {number:4}\n");
        for (bead, r) in chain.iter().enumerate() {
            let [x, y, z] = (*r * 10.0).to_array();
            let serial = bead + 1;
            let _ = writeln!(
                text,
                "ATOM  {serial:5}  C{serial}  CHN A   1    {x:8.3}{y:8.3}{z:8.3}  1.00  0.00           C"
            );
        }
        text + "ENDMDL\n"
    };
    let cell = "CRYST1   30.000   30.000   30.000  90.00  90.00  90.00 P 1           1\n";
    for count in [1, 2] {
        let models: String = (1..=count).map(model).collect();
        let text = input("start.pdb", 1.0, "");
        let folder =
            folder(&[("chains.top", topology(1)), ("start.pdb", cell.to_owned() + &models), ("input.toml", text)]);
        let told = md(folder.path(), &["check", "input.toml"]);
        assert_eq!(told.contains("contains 2 models"), count == 2, "{told}");
        assert!(!told.contains("alternative locations"), "{told}");
        // the second bead is displaced from its start position
        let start = std::fs::read_to_string(folder.path().join("start.pdb")).unwrap();
        let second = start.lines().find(|line| line.contains("  C2  ")).unwrap();
        let [first, other] = ["C2 A", "C2 B"].map(|name| second.replacen("C2  ", name, 1));
        std::fs::write(folder.path().join("start.pdb"), start.replacen(second, &format!("{first}\n{other}"), 1))
            .unwrap();
        let told = md(folder.path(), &["check", "input.toml"]);
        assert!(told.contains("contains 1 atoms at alternative locations"), "{told}");
        let written = md(folder.path(), &["convert", "start.pdb", "all.trr"]);
        assert!(written.contains("1 atoms at alternative locations are left out"), "{written}");
    }
}
