//! Tests of `md energy`: coordinates that the stages of the input file cannot start from, and files that are written.

use super::{failure, success, system, write_input};

/// Tests that `md energy`, which needs positions only, accepts files without the velocities or the cell that a stage
/// needs.
#[test]
fn energy_needs_neither_the_velocities_nor_the_cell_of_a_stage() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let vacuum = "cutoff = \"none\"\nelectrostatics = \"plain\"\n";
    write_input(here, &system("peptide-vacuum"), vacuum);
    let bare = std::fs::read_to_string(here.join("input.toml")).unwrap();
    let expected = success(here, &["energy", "input.toml"]);
    let [topology, coordinates] =
        ["prmtop", "rst7"].map(|kind| system("peptide-vacuum/peptide-vacuum").with_extension(format!("{kind}.xz")));
    let convert = ["convert", coordinates.to_str().unwrap(), "bare.pdb", "--topology", topology.to_str().unwrap()];
    success(here, &convert);
    let stage = "[[stage]]\nkind = \"dynamics\"\nsteps = 1\ntimestep = \"1 fs\"\nvelocities = \"file\"\nthermostat = { temperature = \"300 K\" }\nbarostat = {}\n";
    // the positions have the same precision with and without a stage
    let of_pdb = bare.replace(coordinates.to_str().unwrap(), "bare.pdb");
    std::fs::write(here.join("bare.toml"), &of_pdb).unwrap();
    std::fs::write(here.join("staged.toml"), format!("{of_pdb}{stage}")).unwrap();
    let refused = failure(here, &["check", "staged.toml"]).1;
    let refused = refused.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
    assert!(refused.contains("needs velocities") && refused.contains("the barostat of stage"), "{refused}");
    let staged = success(here, &["energy", "staged.toml"]);
    assert_eq!(staged, success(here, &["energy", "bare.toml"]));
    assert_eq!(staged.lines().count(), expected.lines().count());
}

/// Tests that an output option cannot name a file that the command reads, also behind a link.
#[test]
fn energy_does_not_overwrite_its_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::fs::create_dir(here.join("files")).unwrap();
    for kind in ["prmtop", "rst7"] {
        let name = format!("peptide-vacuum.{kind}.xz");
        std::fs::copy(system("peptide-vacuum").join(&name), here.join("files").join(&name)).unwrap();
    }
    let files = here.join("files").canonicalize().unwrap();
    let text = "[system]\ntopology = \"files/peptide-vacuum.prmtop.xz\"\ncoordinates = \"files/peptide-vacuum.rst7.xz\"\n\
                [forces]\ncutoff = \"none\"\nelectrostatics = \"plain\"\n";
    std::fs::write(here.join("input.toml"), text).unwrap();
    std::os::unix::fs::symlink("input.toml", here.join("link.json")).unwrap();
    std::fs::hard_link(files.join("peptide-vacuum.rst7.xz"), here.join("hard.npy")).unwrap();
    let topology = files.join("peptide-vacuum.prmtop.xz");
    for (option, output) in [
        ("--json", "input.toml"),
        ("--json", "link.json"),
        ("--json", topology.to_str().unwrap()),
        ("--forces", "files/../files/peptide-vacuum.rst7.xz"),
        ("--forces", "hard.npy"),
    ] {
        let (code, message) = failure(here, &["energy", "input.toml", option, output]);
        assert!(code == 2 && message.contains("input and output are the same file"), "{output}: {message}");
    }
    let written = ["energy", "input.toml", "--json", "energy.json", "--forces", "forces.npy"];
    assert_eq!(success(here, &written), success(here, &written));
}
