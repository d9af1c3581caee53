//! Runs the commands of the page "A first run" in order, with shorter stages, and the commands of the page "From a
//! structure to a system". Their output must equal the output on the page, apart from numbers. A line "..." on the page
//! stands for any lines.

use std::path::Path;

use crate::{md, page};

/// Commands of a page, each with the lines that the page shows below it.
fn commands(text: &str) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = vec![];
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            found.push((command.to_owned(), vec![]));
        } else if let Some((_, shown)) = found.last_mut().filter(|_| inside) {
            shown.push(line.to_owned());
        }
    }
    found
}

/// Returns a line with every number replaced by "#" and without repeated blanks.
fn masked(line: &str) -> String {
    let mut masked = String::new();
    for word in line.split_whitespace() {
        let mut rest = word;
        masked.push(' ');
        while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
            let end = rest[start..]
                .find(|c: char| !(c.is_ascii_digit() || ".,e-+".contains(c)))
                .map_or(rest.len(), |end| start + end);
            let number = rest[start..end].trim_end_matches([',', '.', 'e', '-', '+']);
            masked.push_str(rest[..start].trim_end_matches(['-', '+']));
            masked.push('#');
            rest = &rest[start + number.len()..];
        }
        masked.push_str(rest);
    }
    masked.trim().to_owned()
}

/// Whether the printed lines match the lines that the page shows.
fn is_shown(printed: &[String], shown: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((line, rest)) if line == "..." => (0..=printed.len()).any(|start| is_shown(&printed[start..], rest)),
        Some((line, rest)) => {
            printed.split_first().is_some_and(|(first, others)| first == line && is_shown(others, rest))
        }
    }
}

/// Copies an input file, with shorter stages and more frequent output. The data files of the input lie in the same
/// folder.
fn shorten(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file()) {
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
    let input = std::fs::read_to_string(from.join("input.toml")).unwrap();
    let mut short = input.clone();
    for (long, brief) in [
        ("\"10 ps\"", "\"0.1 ps\""),
        ("\"100 ps\"", "\"0.4 ps\""),
        ("\"1 ps\", file", "\"0.1 ps\", file"),
        ("steps = 100", "steps = 20"),
    ] {
        assert!(short.contains(long), "{long}");
        short = short.replace(long, brief);
    }
    std::fs::write(to.join("input.toml"), short).unwrap();
}

/// Runs the commands of a page in a folder and compares their output with the page. Fails if the page has fewer than
/// `least` commands.
fn run_page(name: &str, folder: &Path, least: usize) {
    let commands = commands(&page(name));
    assert!(commands.len() >= least, "{commands:?}");
    for (command, shown) in commands {
        let words: Vec<String> = words(&command);
        let Some(arguments) = words.strip_prefix(&["md".to_owned()]) else {
            panic!("{command} is not run by this test")
        };
        let output = md(folder).args(arguments).output().unwrap();
        let printed = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
        assert!(output.status.success(), "{command}: {printed}");
        let [printed, shown] =
            [printed.lines().map(masked).collect(), shown.iter().map(|line| masked(line)).collect::<Vec<_>>()];
        assert!(
            is_shown(&printed, &shown),
            "{command}\nprinted:\n{}\nshown:\n{}",
            printed.join("\n"),
            shown.join("\n")
        );
    }
}

#[test]
fn a_first_run_goes_as_the_page_says() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = "inputs/helix-gromacs";
    shorten(&Path::new(env!("CARGO_MANIFEST_DIR")).join(inputs), &folder.path().join(inputs));
    run_page("first-run.md", folder.path(), 5);
    for file in ["rmsd.png", "hbonds.csv", "inputs/helix-gromacs/out/report.html"] {
        assert!(folder.path().join(file).exists(), "{file}");
    }
    assert_eq!(masked("energy -9.5e4 kJ/mol, 10 of 20. 3 x 4"), "energy # kJ/mol, # of #. # x #");
}

#[test]
fn a_system_is_built_as_the_page_says() {
    let folder = tempfile::tempdir().unwrap();
    let entry = "inputs/ubiquitin/1ubi.pdb.xz";
    std::fs::create_dir_all(folder.path().join("inputs/ubiquitin")).unwrap();
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join(entry), folder.path().join(entry)).unwrap();
    run_page("build.md", folder.path(), 1);
}

/// Words of a command line; a word in quotes may contain blanks.
fn words(command: &str) -> Vec<String> {
    let parts = command.split('"').enumerate();
    parts
        .flat_map(|(index, part)| match index % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        })
        .collect()
}
