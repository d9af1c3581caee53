//! Tests of `md energy` on coordinates that the stages of the input file cannot start from.

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
