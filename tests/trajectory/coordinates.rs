//! Tests of files that are given as `system.coordinates`: trajectories, and states and checkpoints of other programs.

use std::path::Path;

use assert_cmd::Command;

fn md(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::cargo_bin("md").unwrap();
    let output = command.current_dir(folder).env("NO_COLOR", "1").args(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
    let words: Vec<&str> = text.split_whitespace().filter(|word| *word != "│").collect();
    (output.status.code(), words.join(" "))
}

/// Writes the topology of two carbon atoms without charges, and coordinates in a cell of 3 nm.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let atoms: String = (1..=2).map(|k| format!("{k} C 1 MOL C{k} 1 0.0 12.01\n")).collect();
    let topology = format!(
        "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nC 12.01 0.0 A 0.3 0.1\n[ moleculetype ]\nMOL 0\n[ atoms ]\n{atoms}\
         [ system ]\nx\n[ molecules ]\nMOL 1\n"
    );
    let coordinates = "x\n    2\n    1MOL     C1    1   1.000   1.000   1.000\n    1MOL     C2    2   1.450   1.000   1.000\n   \
                       3.0 3.0 3.0\n";
    std::fs::write(folder.path().join("x.top"), topology).unwrap();
    std::fs::write(folder.path().join("x.gro"), coordinates).unwrap();
    std::fs::write(folder.path().join("x.toml"), "[system]\ntopology = \"x.top\"\ncoordinates = \"x.gro\"\n").unwrap();
    folder
}

/// Returns the result of `md energy` with other coordinates.
fn energy(folder: &Path, coordinates: &str) -> (Option<i32>, String) {
    md(folder, &["energy", "x.toml", "--set", &format!("system.coordinates=\"{coordinates}\"")])
}

#[test]
fn trajectories_are_named_with_the_command_that_writes_a_frame() {
    let folder = folder();
    let here = folder.path();
    for name in ["a.xtc", "a.trr", "a.dcd", "a.h5md"] {
        assert_eq!(md(here, &["convert", "x.gro", name]).0, Some(0));
        let (code, text) = energy(here, name);
        let command = format!("{name} start.rst7 --frame 0`");
        assert!(code == Some(2) && text.contains("found a trajectory (") && text.contains(&command), "{text}");
        assert_eq!(md(here, &["convert", name, "start.rst7", "--frame", "0", "--force"]).0, Some(0));
        assert_eq!(energy(here, "start.rst7").0, Some(0), "{name}");
    }
}

/// Tests a state as OpenMM 8.6 writes it.
#[test]
fn states_of_openmm_are_coordinates() {
    let folder = folder();
    let here = folder.path();
    let state = |edge: &str, velocities: &str| {
        format!(
            "<?xml version=\"1.0\" ?>\n<State openmmVersion=\"8.6.1\" stepCount=\"5\" time=\"1.5\" type=\"State\" version=\"1\">\n\
             <PeriodicBoxVectors><A x=\"{edge}\" y=\"0\" z=\"0\"/><B x=\"0\" y=\"{edge}\" z=\"0\"/>\
             <C x=\"0\" y=\"0\" z=\"{edge}\"/></PeriodicBoxVectors>\n<Parameters/>\n<Positions>\n\
             <Position x=\"1\" y=\"1\" z=\"1\"/>\n<Position x=\"1.45\" y=\"1\" z=\"1\"/>\n</Positions>\n\
             <Velocities>{velocities}</Velocities>\n<IntegratorParameters/>\n</State>\n"
        )
    };
    let velocity = "<Velocity x=\".5\" y=\"-.25\" z=\"0\"/>";
    std::fs::write(here.join("a.xml"), state("3", &velocity.repeat(2))).unwrap();
    // the box vectors that OpenMM sets for systems without a box
    std::fs::write(here.join("vacuum.xml"), state("2", &velocity.repeat(2))).unwrap();
    std::fs::write(here.join("bad.xml"), state("3", velocity)).unwrap();
    std::fs::write(here.join("number.xml"), state("3", &velocity.repeat(2)).replace("1.45", "nan")).unwrap();
    let info =
        "OpenMM state (XML) title OpenMM state atoms 2 time 1.5 ps velocities yes cell 3.0000 x 3.0000 x 3.0000 nm";
    let (code, text) = md(here, &["info", "a.xml"]);
    assert!(code == Some(0) && text.contains(info), "{text}");
    assert!(md(here, &["info", "vacuum.xml"]).1.contains("velocities yes cell none"));
    let line = |(_, text): (_, String)| {
        text.split(" potential ").nth(1).map(|rest| rest.split(' ').next().unwrap().to_owned())
    };
    let found = line(energy(here, "a.xml"));
    assert!(found.is_some() && found == line(energy(here, "x.gro")), "{found:?}");
    let (code, text) = energy(here, "bad.xml");
    assert!(code == Some(2) && text.contains("the state has 2 positions, but 1 velocities"), "{text}");
    let (code, text) = energy(here, "number.xml");
    assert!(code == Some(2) && text.contains("number.xml:7: <Position>: x is"), "{text}");
}

/// Tests the description of structures: a PDB file of one model is a structure, and packed models are counted.
#[test]
fn structures_are_described_as_structures() {
    let folder = folder();
    let here = folder.path();
    assert_eq!(md(here, &["convert", "x.gro", "one.pdb"]).0, Some(0));
    let text = std::fs::read_to_string(here.join("one.pdb")).unwrap();
    let model: String = text.lines().filter(|line| line.contains(" MOL ")).map(|line| format!("{line}\n")).collect();
    let (_, said) = md(here, &["info", "one.pdb"]);
    assert!(said.starts_with("PDB title") && said.contains("cell 3.0000 x 3.0000 x 3.0000 nm"), "{said}");
    let models = format!("MODEL        1\n{model}ENDMDL\nMODEL        2\n{model}ENDMDL\n");
    std::fs::write(here.join("two.pdb"), &models).unwrap();
    let (_, said) = md(here, &["info", "two.pdb"]);
    assert!(said.starts_with("PDB trajectory atoms 2 frames 2"), "{said}");
    let file = std::fs::File::create(here.join("two.pdb.gz")).unwrap();
    let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::default());
    std::io::Write::write_all(&mut packed, models.as_bytes()).unwrap();
    packed.finish().unwrap();
    let (_, said) = md(here, &["info", "two.pdb.gz"]);
    assert!(said.starts_with("PDB atoms 2 models 2, the first is described"), "{said}");
    let (_, said) = md(here, &["convert", "two.pdb.gz", "two.xtc"]);
    assert!(said.contains("two.pdb.gz gives no times: the index of a frame is used as its time in ps"), "{said}");
}

#[test]
fn faults_of_options_and_files_are_those_of_the_user() {
    let folder = folder();
    let here = folder.path();
    for (name, text) in [("exchange.csv", "attempt,step\n"), ("run.log", "md\n"), ("ensemble.json", "{}\n")] {
        std::fs::write(here.join(name), text).unwrap();
    }
    for (arguments, expected) in [
        (vec!["verify", "none.xtc"], "none.xtc: the file does not exist"),
        (vec!["repair", "none.xtc"], "none.xtc: the file does not exist"),
        (vec!["convert", "x.gro", "o.gro", "--frame", "-1"], "invalid value '-1' for '--frame <N>'"),
        (vec!["convert", "x.gro", "o.xtc", "--precision", "-0.01 nm"], "--precision: "),
        (vec!["convert", "x.gro", "o.gro", "--as-stored"], "--as-stored applies only with --center or --align"),
        (vec!["run", "x.toml", "--seed", "-3"], "--seed -3: run.seed must be a whole number, at least 0"),
        (vec!["select", "all", "x.gro", "--index", "A B"], "--index: \"A B\" cannot be the name of a group"),
        (vec!["info", "exchange.csv"], "`md demux` sorts trajectories by state"),
        (vec!["info", "run.log"], "the log of a run"),
        (vec!["info", "ensemble.json"], "replica-1/summary.json"),
        (vec!["info", "x.toml.txt"], "the file does not exist"),
    ] {
        let (code, text) = md(here, &arguments);
        assert!(code == Some(2) && text.contains(expected), "{arguments:?}: {text}");
    }
    std::fs::write(here.join("noise"), "nothing\n").unwrap();
    let (_, text) = md(here, &["info", "noise"]);
    assert!(text.contains("summary.json") && text.matches("GROMACS coordinates (gro)").count() == 1, "{text}");
}

/// Tests the status of a run whose process does not exist any more, a damaged checkpoint, and the title of the final
/// coordinates of a system without a title.
#[test]
fn killed_runs_and_damaged_checkpoints_are_told() {
    let folder = folder();
    let here = folder.path();
    let topology = std::fs::read_to_string(here.join("x.top")).unwrap().replace("[ system ]\nx\n", "[ system ]\n;\n");
    std::fs::write(here.join("x.top"), topology).unwrap();
    let stage = "[run]\nthreads = 1\n[[stage]]\nkind = \"dynamics\"\nsteps = 4\ntimestep = \"1 fs\"\n\
                 velocities = \"generate\"\ntemperature = \"300 K\"\n";
    let input = std::fs::read_to_string(here.join("x.toml")).unwrap();
    std::fs::write(here.join("x.toml"), format!("{input}{stage}")).unwrap();
    let (code, text) = md(here, &["run", "x.toml", "--output-dir", "out"]);
    assert_eq!(code, Some(0), "{text}");
    let status: serde_json::Value =
        serde_json::from_slice(&std::fs::read(here.join("out/status.json")).unwrap()).unwrap();
    for (process, is_gone) in [(u32::MAX, true), (std::process::id(), false)] {
        let mut status = status.clone();
        (status["state"], status["process"]) = ("running".into(), process.into());
        std::fs::write(here.join("status.json"), status.to_string()).unwrap();
        let (_, text) = md(here, &["info", "status.json"]);
        assert_eq!(text.contains("the process does not exist any more"), is_gone, "{text}");
    }
    let title = std::fs::read_to_string(here.join("out/final.rst7")).unwrap();
    assert!(title.starts_with("velocities half a step before final positions\n"), "{title}");
    let path = here.join("out/checkpoint.md");
    let mut bytes = std::fs::read(&path).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let (code, text) = md(here, &["verify", "out/checkpoint.md"]);
    assert!(code == Some(5) && text.matches("out/checkpoint.md:").count() == 1, "{text}");
    assert!(text.contains("the previous checkpoint out/checkpoint.prev.md is intact"), "{text}");
}
