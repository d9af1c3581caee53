//! Tests that the page about files names every column, field and dataset that runs write.

use std::collections::BTreeSet;
use std::path::Path;

use crate::{md, page};
use md::observe::summary::Summary;

/// Returns all names in code spans on the page about files.
fn names() -> BTreeSet<String> {
    page("files.md").split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Returns the names of the columns in a CSV file, without units.
fn columns(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let header = text.lines().next().unwrap().split(',');
    header.map(|column| column.split(" (").next().unwrap().to_owned()).collect()
}

/// Returns the names of all fields of a JSON value. The fields of the objects under the keys `skipped` are left out,
/// because their names are data.
fn fields(value: &serde_json::Value, skipped: &[&str], found: &mut Vec<String>) {
    if let Some(list) = value.as_array() {
        list.iter().for_each(|value| fields(value, skipped, found));
    }
    for (name, value) in value.as_object().into_iter().flatten() {
        found.push(name.clone());
        match (skipped.contains(&name.as_str()), value) {
            (false, _) => fields(value, skipped, found),
            (true, value) => {
                value.as_object().into_iter().flatten().for_each(|(_, value)| fields(value, skipped, found))
            }
        }
    }
}

/// Collects the paths of all datasets in an HDF5 group.
fn datasets(group: &hdf5::Group, above: &str, found: &mut Vec<String>) {
    for name in group.member_names().unwrap() {
        let path = format!("{above}/{name}");
        match group.group(&name) {
            Ok(inner) => datasets(&inner, &path, found),
            Err(_) => found.push(path),
        }
    }
}

fn json(path: &Path, skipped: &[&str]) -> Vec<String> {
    let (text, mut found) = (std::fs::read_to_string(path).unwrap(), vec![]);
    fields(&serde_json::from_str(&text).unwrap(), skipped, &mut found);
    found
}

fn assert_named(file: &str, found: Vec<String>) {
    let names = names();
    assert!(found.len() > 3, "{file}: {found:?}");
    let missing: BTreeSet<_> = found.into_iter().filter(|name| !names.contains(name)).collect();
    assert!(missing.is_empty(), "{file}: docs/files.md does not name {missing:?}");
}

#[test]
fn every_name_in_the_files_of_a_run_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("inputs");
    let run = |input: &str, arguments: &[&str]| {
        let mut command = md(folder.path());
        command.arg("run").arg(inputs.join(input)).args(["--quiet", "--output-dir"]).args(arguments);
        command.assert().success();
    };
    let trajectory = "output.trajectory={every=\"4 steps\",velocities=true,forces=true,images=true}";
    let restraint = "stage.production.restraints=[{kind=\"distance\", groups=[\"index 1\", \"index 10\"], at=\"0.5 nm\", \
                     force_constant=\"100 kJ/mol/nm^2\"}]";
    run(
        "ala2-water/input.toml",
        &[
            "run",
            "--steps",
            "8",
            "--set",
            trajectory,
            "--set",
            "output.energies={every=\"4 steps\"}",
            "--set",
            restraint,
        ],
    );
    run("ala2-vacuum/exchange.toml", &["ensemble", "--steps", "500"]);
    run("helix-gromacs/input.toml", &["minimisation", "--steps", "2"]);
    let path = |name: &str| folder.path().join(name);
    assert_named("minimisation.csv", columns(&path("minimisation/minimisation.csv")));
    assert_named("energies.csv", columns(&path("run/energies.csv")));
    assert_named("restraints.csv", columns(&path("run/restraints.csv")));
    assert_named("summary.json", json(&path("run/summary.json"), &["files"]));
    // only a run on several ranks has rows of this table
    let (communication, mut found) =
        (Summary { communication: vec![Default::default()], ..Summary::default() }, vec![]);
    fields(&serde_json::to_value(communication).unwrap(), &["files"], &mut found);
    assert_named("summary.json", found);
    assert_named("status.json", json(&path("run/status.json"), &[]));
    assert_named("ensemble.json", json(&path("ensemble/ensemble.json"), &["set"]));
    let counted = |column: String| column.replace(|c: char| c.is_ascii_digit(), "N");
    assert_named("exchange.csv", columns(&path("ensemble/exchange.csv")).into_iter().map(counted).collect());
    let (file, mut found) = (hdf5::File::open(path("run/trajectory.h5md")).unwrap(), vec![]);
    datasets(&file, "", &mut found);
    // the page has one row for the values of all observables, and one row for the steps and times stored with each
    // observable
    let observable = |path: String| match path.strip_prefix("/observables/").and_then(|rest| rest.split_once('/')) {
        Some((name, _)) => name.to_owned(),
        None => path.replace("/particles/system/", "/particles/trajectory/"),
    };
    let beside = |path: &String| !path.contains("/particles/") || !(path.ends_with("/step") || path.ends_with("/time"));
    assert_named("trajectory.h5md", found.into_iter().filter(beside).map(observable).collect());
}
