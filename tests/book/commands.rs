//! Runs the commands of the guide and of the README: the tests run every block whose fence names `sh` or `console`.
//!
//! The blocks of a page run in order, in a folder that has the inputs of the project with shorter stages. Each command
//! must succeed. The output of a command of a block `console` must equal the lines that the page shows below the
//! command, apart from numbers. A line "..." on the page stands for any lines.
//!
//! Commands that install or compile `md` are left out here; the scripts of `.ci` read these commands from the pages and
//! run them.

use std::path::Path;

use assert_cmd::Command;

use crate::fences::{Block, blocks_of_all_pages};
use crate::helix::helix;
use crate::{isolated, page};

/// Languages of the blocks that hold commands.
const LANGUAGES: &[&str] = &["sh", "console"];

/// Scripts that run commands of pages. `.ci/commands` finds each block by a text that the block contains.
const SCRIPTS: &[&str] = &["../.ci/run", "../.ci/try-release"];

/// Settings of inputs and options of commands, each with the replacement that makes the test shorter.
const SHORTER: &[(&str, &str)] = &[
    ("\"10 ps\"", "\"0.1 ps\""),
    ("\"100 ps\"", "\"0.4 ps\""),
    ("every = \"1 ps\"", "every = \"0.1 ps\""),
    ("steps = 100", "steps = 20"),
    ("--steps 500", "--steps 50"),
];

/// Files that commands of pages read but that are not below `inputs`, each with a file of the project that replaces the
/// file in the test.
const FILES: &[(&str, &str)] = &[
    ("em.mdp", "validation/gromacs-tutorial/mdp/em.mdp"),
    ("nvt.mdp", "validation/gromacs-tutorial/mdp/nvt.mdp"),
    ("npt.mdp", "validation/gromacs-tutorial/mdp/npt.mdp"),
    ("md.mdp", "validation/gromacs-tutorial/mdp/md.mdp"),
    ("prod.mdin", "tests/import/files/tutorial-prod.mdin"),
];

/// Index file with the two groups that the mdp files of [`FILES`] name.
const INDEX: &str = "[ Protein ]\n1 2\n[ Non-Protein ]\n3 4\n";

/// Path of the checkout in the output that pages show.
const SHOWN_HOME: &str = "/home/me/md";

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

/// Returns a text in which settings and options are replaced as in [`SHORTER`].
fn shortened(text: &str) -> String {
    SHORTER.iter().fold(text.to_owned(), |text, (long, brief)| text.replace(long, brief))
}

/// Fills a folder with the files that commands of pages read. The inputs have shorter stages.
fn fill(folder: &Path) {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let entries = |path: &Path| std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let files =
        entries(&project.join("inputs")).into_iter().filter(|path| path.is_dir()).flat_map(|path| entries(&path));
    for from in files.filter(|path| path.is_file()) {
        let to = folder.join(from.strip_prefix(project).unwrap());
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        if from.extension().is_some_and(|extension| extension == "toml") {
            std::fs::write(to, shortened(&std::fs::read_to_string(from).unwrap())).unwrap();
        } else {
            std::fs::copy(from, to).unwrap();
        }
    }
    for (name, stand_in) in FILES {
        std::fs::copy(project.join(stand_in), folder.join(name)).unwrap();
    }
    std::fs::write(folder.join("index.ndx"), INDEX).unwrap();
    // the helix replaces a file of OPM, and like that file it spans the membrane along z
    std::fs::write(folder.join("1afo.pdb"), helix(0.0)).unwrap();
}

/// Runs a shell script in a folder, with `md` on the search path. Returns all printed lines except progress lines,
/// which depend on the speed of the machine. Fails if a command of the script fails.
fn run(script: &str, folder: &Path, place: &str) -> Vec<String> {
    let programs = Path::new(env!("CARGO_BIN_EXE_md")).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths([programs].into_iter().chain(std::env::split_paths(&path))).unwrap();
    let mut shell = isolated(Command::new("sh"), folder);
    let output = shell.env("PATH", path).args(["-euc", &shortened(script)]).output().unwrap();
    let printed = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
    assert!(output.status.success(), "{place}: {script}\n{printed}");
    let home = folder.canonicalize().unwrap();
    let printed = printed.replace(home.to_str().unwrap(), SHOWN_HOME);
    printed.lines().filter(|line| !line.contains(" left (until ")).map(str::to_owned).collect()
}

/// Returns the commands of a block `console`, each with the lines that the page shows below it.
fn sessions(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut found: Vec<(&str, Vec<&str>)> = vec![];
    for line in text.lines() {
        match (line.strip_prefix("$ "), found.last_mut()) {
            (Some(command), _) => found.push((command, vec![])),
            (None, Some((_, shown))) => shown.push(line),
            (None, None) => panic!("{line} is below no command"),
        }
    }
    found
}

/// Runs the commands of a block, and compares their output with the page if the block shows it.
fn run_block(block: &Block, folder: &Path) {
    let place = block.place();
    if block.language == "sh" {
        run(&block.text, folder, &place);
        return;
    }
    for (command, shown) in sessions(&block.text) {
        let printed: Vec<String> = run(command, folder, &place).iter().map(|line| masked(line)).collect();
        let shown: Vec<String> = shown.into_iter().map(masked).collect();
        let both = format!("printed:\n{}\nshown:\n{}", printed.join("\n"), shown.join("\n"));
        assert!(is_shown(&printed, &shown), "{place}: {command}\n{both}");
    }
}

/// Returns the texts by which the scripts of [`SCRIPTS`] find the blocks of a page that they run.
fn keys_of_scripts(name: &str) -> Vec<String> {
    let scripts: String = SCRIPTS.iter().map(|script| page(script)).collect();
    let call = format!(".ci/commands {name} '");
    scripts.split(&call).skip(1).filter_map(|rest| rest.split('\'').next()).map(str::to_owned).collect()
}

/// Whether a script of [`SCRIPTS`] runs a block. The block may be on a different page than the page that the script
/// reads, if the text of the block is the same.
fn is_run_by_a_script(block: &Block, all: &[Block]) -> bool {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut same = all.iter().filter(|other| other.text == block.text);
    same.any(|same| {
        let page = same.page.strip_prefix(project).unwrap();
        keys_of_scripts(page.to_str().unwrap()).iter().any(|key| same.text.contains(key))
    })
}

#[test]
fn every_command_of_the_guide_runs_as_its_page_says() {
    let all = blocks_of_all_pages(LANGUAGES);
    let here: Vec<&Block> = all.iter().filter(|block| !is_run_by_a_script(block, &all)).collect();
    assert!(here.len() >= 12 && here.len() < all.len(), "{} of {} blocks", here.len(), all.len());
    for page in here.chunk_by(|a, b| a.page == b.page) {
        let folder = tempfile::tempdir().unwrap();
        fill(folder.path());
        page.iter().for_each(|block| run_block(block, folder.path()));
    }
}

#[test]
fn numbers_are_masked() {
    assert_eq!(masked("energy -9.5e4 kJ/mol, 10 of 20. 3 x 4"), "energy # kJ/mol, # of #. # x #");
}

/// Runs a block of a language in an empty folder.
fn run_text(language: &str, text: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (page, language, text) = ("page.md".into(), language.to_owned(), text.to_owned());
    run_block(&Block { page, language, line: 3, text }, folder.path());
}

#[test]
#[should_panic(expected = "page.md:3: md check no-such-file")]
fn a_wrong_command_is_found() {
    run_text("sh", "md check no-such-file\nmd --version\n");
}

#[test]
#[should_panic(expected = "page.md:3: echo 'two 5'")]
fn a_wrong_output_is_found() {
    run_text("console", "$ echo one 3\none 4\n$ echo 'two 5'\n...\nthree 5\n");
}
