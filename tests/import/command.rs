//! Tests of the command `md import`.

use std::path::Path;

use assert_cmd::Command;

use super::folder;

fn import(folder: &Path, arguments: &[&str]) -> std::process::Output {
    Command::cargo_bin("md").unwrap().current_dir(folder).arg("import").args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn the_result_goes_to_standard_output_and_the_list_to_standard_error() {
    let place = tempfile::tempdir().unwrap();
    let path = folder().join("tutorial-npt.mdp");
    let output = import(place.path(), &[path.to_str().unwrap(), "-p", "sub/a.top", "-c", "/data/a.gro"]);
    assert!(output.status.success());
    let (result, list) = (text(&output.stdout), text(&output.stderr));
    assert!(result.contains("topology = \"sub/a.top\"\ncoordinates = \"/data/a.gro\"\n"), "{result}");
    for expected in
        ["differences:\n", "  pull = yes, line 24: ", "settings that md does not need:\n", "refcoord_scaling"]
    {
        assert!(list.contains(expected), "{list}");
    }
}

#[test]
fn nothing_is_overwritten_unasked() {
    let place = tempfile::tempdir().unwrap();
    let path = folder().join("tutorial-prod.mdin");
    let arguments = [path.to_str().unwrap(), "-p", "x/system.prmtop", "-c", "x/system.rst7", "-o", "x/input.toml"];
    std::fs::create_dir(place.path().join("x")).unwrap();
    let output = import(place.path(), &arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "x/input.toml written; next: md check x/input.toml\n");
    let written = std::fs::read_to_string(place.path().join("x/input.toml")).unwrap();
    assert!(written.contains("topology = \"system.prmtop\"\ncoordinates = \"system.rst7\"\n"), "{written}");
    let again = import(place.path(), &arguments);
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("the file already exists"), "{}", text(&again.stderr));
    assert!(import(place.path(), &[&arguments[..], &["--force"]].concat()).status.success());
}

#[test]
fn several_files_go_on_from_a_finished_run() {
    let place = tempfile::tempdir().unwrap();
    let paths = ["tutorial-nvt.mdp", "tutorial-npt.mdp"].map(|name| folder().join(name).display().to_string());
    let arguments = [&paths[0], &paths[1], "--after", "done", "-o", "input.toml"];
    let missing = import(place.path(), &arguments);
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing.stderr).contains("because it has not finished"), "{}", text(&missing.stderr));
    std::fs::create_dir(place.path().join("done")).unwrap();
    std::fs::write(place.path().join("done/final.rst7"), "").unwrap();
    let output = import(place.path(), &arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let written = std::fs::read_to_string(place.path().join("input.toml")).unwrap();
    assert!(written.contains("coordinates = \"done/final.rst7\"\n"), "{written}");
    let order = ["name = \"tutorial-nvt\"", "name = \"tutorial-npt\""].map(|name| written.find(name).unwrap());
    assert!(order[0] < order[1], "{written}");
}

#[test]
fn a_wrong_file_is_named_with_its_line() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("wrong.mdp"), "dt = 0.002\nrvwd = 1.0\n").unwrap();
    let output = import(place.path(), &["wrong.mdp", "-o", "input.toml"]);
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(message.contains("wrong.mdp") && message.contains("rvdw") && message.contains('2'), "{message}");
    assert!(!place.path().join("input.toml").exists());
}
