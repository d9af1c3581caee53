//! Tests of rules for the source text: layers of modules, lengths of files and functions, and forbidden text.

mod graph;
mod picture;
mod prose;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Layers of modules from the bottom up. A module may use only modules of its own row and of rows before its own row in
/// the list.
const LAYERS: [&[&str]; 21] = [
    &["arrays", "units", "error", "memory", "team", "ranks"],
    &["vec3", "cell", "neighbours", "rng", "superpose", "fft", "xtc"],
    &["simd"],
    &["term"],
    &["system", "image"],
    &["select", "format"],
    &["pair", "compute", "pme", "constraint", "restraint", "virtual_sites", "ensemble"],
    &["prepare"],
    &["backend"],
    &["context"],
    &["structure", "ion_charges", "geometry"],
    &["entry", "forcefield", "hydrogens", "solvent"],
    &["complete"],
    &["pipeline"],
    &["observe"],
    &["run"],
    &["config"],
    &["analysis", "bench"],
    &["report", "convert", "import"],
    &["cli"],
    &["main", "lib"],
];

/// Folders of `src/run` from the lowest layer to the highest, each with the question that it answers.
const ROOMS: [(&str, &str); 10] = [
    ("plan", "what is asked for: plain data"),
    ("control", "who stops the run, and how long has it taken?"),
    ("minimize", "how is an energy minimised?"),
    ("dynamics", "what happens in a step?"),
    ("engine", "which device, threads and pair lists compute it?"),
    ("check", "what is refused, and what is warned of?"),
    ("checkpoint", "what does a restart need?"),
    ("output", "what is written?"),
    ("session", "how do the stages of a run follow each other?"),
    ("replicas", "how do several runs go side by side?"),
];
/// Maximum number of files directly in a folder of [`ROOMS`].
const FLOOR: usize = 16;

/// Maximum number of lines of a file. Longer files should be split by topic.
const FILE_LINES: usize = 500;
/// Maximum number of lines of a function. Longer functions should be split.
const FUNCTION_LINES: usize = 70;
/// Words in the comment above a longer function that introduce the reason for its length.
const LONG_BECAUSE: &str = "Long because";

/// Text that must not appear in code, the modules in which the text is allowed, and the reason for the rule.
const DENIED: [(&str, &[&str], &str); 10] = [
    ("println!", &["cli", "main"], "the library prints nothing"),
    ("print!", &["cli", "main"], "the library prints nothing"),
    ("dbg!", &[], "left over from debugging"),
    ("todo!", &[], "unfinished"),
    ("unimplemented!", &[], "unfinished"),
    ("env::var", &["cli", "main"], "the environment is read in cli only"),
    ("static mut", &[], "no global mutable state"),
    ("thread_local!", &[], "no global mutable state"),
    ("process::exit", &["cli", "main"], "only the command line ends the process"),
    ("_within_cutoff(", &["cell", "backend", "pair", "pme"], "periodic images are decided in src/engine/image"),
];

/// Attribute of an item that is compiled only for unit tests.
const TESTS_ONLY: &str = "#[cfg(test)]";

/// A source file: path in the package, and text.
struct Source {
    path: PathBuf,
    text: String,
}

impl Source {
    fn new(path: &str, text: &str) -> Self {
        Source { path: path.into(), text: text.into() }
    }

    /// Returns the module of the file: `run` for `src/run/plan.rs`, `pair` for `src/engine/pair/list.rs` and
    /// `src/engine/pair.rs`, and `forcefield` for `src/build/forcefield/mod.rs`.
    fn module(&self) -> String {
        let below = self.path.iter().skip(1).find(|name| *name != "engine" && *name != "build");
        let name = below.expect("every path is src/…").to_string_lossy();
        name.trim_end_matches(".rs").to_owned()
    }

    /// Returns numbered lines of code, without comments and without items that are compiled only for unit tests.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut tested: Option<usize> = None;
        let mut of_program = move |line: &str| {
            let (text, indent) = (line.trim(), line.len() - line.trim_start().len());
            if text == TESTS_ONLY {
                tested = Some(indent);
            }
            let Some(start) = tested else { return true };
            // rustfmt ends an item in the column in which the item began
            let ends = indent == start && !text.starts_with('#') && (text.ends_with(';') || text.ends_with('}'));
            tested = tested.filter(|_| !ends);
            false
        };
        let numbered = self.text.lines().enumerate().filter(move |(_, line)| of_program(line));
        numbered.map(|(i, line)| (i + 1, line.split("//").next().unwrap_or("")))
    }

    /// Returns the files of modules that are declared only for unit tests, as paths without extension.
    fn test_modules(&self) -> Vec<PathBuf> {
        let stem = self.path.file_stem().expect("every source has a name");
        let inside = ["mod", "lib", "main"].iter().any(|name| stem == *name);
        let folder = if inside { self.path.with_file_name("") } else { self.path.with_extension("") };
        let lines: Vec<&str> = self.text.lines().map(str::trim).collect();
        let declared = lines.windows(2).filter(|pair| pair[0] == TESTS_ONLY).filter_map(|pair| {
            let name = pair[1].strip_suffix(';')?.split("mod ").nth(1)?;
            Some(folder.join(name))
        });
        declared.collect()
    }

    fn at(&self, line: usize, fault: &str) -> String {
        format!("{}:{line}: {fault}", self.path.display())
    }
}

/// Returns all files with one of the extensions in a folder of the package and its subfolders. The result is empty if
/// the folder does not exist.
fn sources(folder: &str, extensions: &[&str]) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut found, mut pending) = (vec![], vec![root.join(folder)]);
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(fs::read_dir(&path).expect("folder is readable").map(|entry| entry.expect("entry").path()));
        } else if path.extension().is_some_and(|e| extensions.iter().any(|x| e == *x)) {
            let text = fs::read_to_string(&path).expect("source is text");
            found.push(Source { path: path.strip_prefix(root).expect("below the package").to_owned(), text });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|row| row.contains(&module))
}

/// Returns the first path segment after each `crate::`, with line numbers. The function also handles `crate::{a, b::{c,
/// d}}` over several lines.
fn imports(source: &Source) -> Vec<(usize, String)> {
    let (mut text, mut starts) = (String::new(), vec![]);
    for (number, line) in source.code() {
        starts.push((text.len(), number));
        text.push_str(line);
        text.push('\n');
    }
    let line_of = |offset: usize| starts[starts.partition_point(|(start, _)| *start <= offset) - 1].1;
    let word = |s: &str| s.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut found = vec![];
    for (offset, matched) in text.match_indices("crate::") {
        let rest = &text[offset + matched.len()..];
        let Some(group) = rest.strip_prefix('{') else {
            found.push((line_of(offset), word(rest)));
            continue;
        };
        let (mut depth, mut fresh) = (0, true);
        for (i, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => fresh = true,
                c if fresh && !c.is_whitespace() => {
                    found.push((line_of(offset), word(&group[i..])));
                    fresh = false;
                }
                _ => {}
            }
        }
    }
    // names that begin with a capital letter, and names of macros, are items of the crate root, not modules
    found
        .retain(|(_, name)| name.starts_with(|c: char| c.is_lowercase()) && !text.contains(&format!("crate::{name}!")));
    found
}

/// Returns the sources of the program: all files in `src`, except modules that are declared only for unit tests.
fn program() -> Vec<Source> {
    let mut all = sources("src", &["rs"]);
    let tests: Vec<PathBuf> = all.iter().flat_map(Source::test_modules).collect();
    all.retain(|source| !tests.iter().any(|module| source.path.with_extension("").starts_with(module)));
    all
}

fn layer_faults(source: &Source) -> Vec<String> {
    let module = source.module();
    let Some(own) = layer(&module) else { return vec![source.at(1, &format!("module {module} has no layer"))] };
    let fault = |(line, name): (usize, String)| match layer(&name) {
        None => Some(source.at(line, &format!("module {name} has no layer"))),
        Some(other) if other > own => Some(source.at(line, &format!("{module} must not use {name}, a higher layer"))),
        Some(_) => None,
    };
    imports(source).into_iter().filter_map(fault).collect()
}

fn denied_faults(source: &Source) -> Vec<String> {
    let module = source.module();
    let mut faults = vec![];
    for (line, code) in source.code() {
        for (text, allowed, why) in DENIED {
            if code.contains(text) && !allowed.contains(&module.as_str()) {
                faults.push(source.at(line, &format!("{text}: {why}")));
            }
        }
    }
    faults
}

fn length_faults(source: &Source) -> Vec<String> {
    let lines: Vec<&str> = source.text.lines().collect();
    let mut faults = vec![];
    if lines.len() > FILE_LINES {
        faults.push(source.at(lines.len(), &format!("more than {FILE_LINES} lines")));
    }
    for (start, line) in lines.iter().enumerate().filter(|(_, line)| is_function(line)) {
        // rustfmt puts the closing brace in the column of the `fn` line
        let indent = line.len() - line.trim_start().len();
        let closing = |l: &&str| l.len() > indent && l.trim_end() == format!("{}}}", " ".repeat(indent));
        let length = lines[start..].iter().position(closing).map_or(0, |end| end + 1);
        let head = lines[..start].iter().rev().take_while(|l| l.trim_start().starts_with(['/', '#']));
        if length > FUNCTION_LINES && !head.into_iter().any(|l| l.contains(LONG_BECAUSE)) {
            faults.push(source.at(start + 1, &format!("function of {length} lines without \"{LONG_BECAUSE} …\"")));
        }
    }
    faults
}

/// Whether a line opens the body of a function, or an argument list over several lines.
fn is_function(line: &str) -> bool {
    let opens = line.ends_with('{') || line.ends_with('(');
    opens && line.split_whitespace().take(5).any(|word| word == "fn") && !line.trim_start().starts_with("//")
}

fn ignore_faults(source: &Source) -> Vec<String> {
    let bare = source.text.lines().enumerate().filter(|(_, line)| line.trim() == "#[ignore]");
    bare.map(|(i, _)| source.at(i + 1, "an ignored test must give its reason: #[ignore = \"…\"]")).collect()
}

fn assert_none(faults: Vec<String>) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn lower_layers_do_not_use_higher_ones() {
    assert_none(program().iter().filter(|s| s.module() != "lib").flat_map(layer_faults).collect());
}

#[test]
fn the_documented_layers_are_those_of_the_test() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let rows = text.lines().skip_while(|line| *line != "//! | modules | purpose |").skip(2);
    let rows = rows.map_while(|line| line.strip_prefix("//! | ")?.split(" | ").next());
    // names are in backticks, as `cell` or [`format`](mod@format)
    let documented: BTreeSet<&str> = rows.flat_map(|names| names.split('`').skip(1).step_by(2)).collect();
    let layers: BTreeSet<&str> = LAYERS[..LAYERS.len() - 1].iter().flat_map(|row| row.iter().copied()).collect();
    assert_eq!(documented, layers);
}

/// Folders of the sources of all packages.
const PACKAGES: [&str; 5] = ["src/build", "src/engine", "src/fft", "src/xtc", "src"];

#[test]
fn files_do_not_use_each_other_in_circles() {
    let sources = program();
    assert_none(PACKAGES.iter().flat_map(|root| graph::circle_faults(&sources, root)).collect());
}

/// Returns violations of the order of [`ROOMS`]: uses of a folder by a lower folder, and files of `src/run` outside of
/// these folders.
fn room_faults(source: &Source) -> Vec<String> {
    let place = |name: &str| ROOMS.iter().position(|(room, _)| *room == name);
    let below: Vec<_> = source.path.iter().skip(2).map(|name| name.to_string_lossy().into_owned()).collect();
    let own = match below.as_slice() {
        [file] if file == "mod.rs" => return vec![],
        [room, _, ..] => place(room),
        _ => None,
    };
    let Some(own) = own else { return vec![source.at(1, "a file of src/run is in a room of ROOMS")] };
    let mut faults = vec![];
    for (line, code) in source.code() {
        for (_, rest) in code.match_indices("crate::run::").map(|(at, found)| code[at..].split_at(found.len())) {
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if place(&name).is_some_and(|other| other > own) {
                faults.push(source.at(line, &format!("{} must not use {name}, a higher room", ROOMS[own].0)));
            }
        }
    }
    faults
}

#[test]
fn rooms_of_a_run_use_only_those_below_and_have_few_files() {
    let sources: Vec<Source> = program().into_iter().filter(|source| source.module() == "run").collect();
    assert_none(sources.iter().flat_map(room_faults).collect());
    for (room, question) in ROOMS {
        let folder = Path::new("src/run").join(room);
        let count = sources.iter().filter(|source| source.path.parent() == Some(&folder)).count();
        assert!((1..=FLOOR).contains(&count), "{room} ({question}) has {count} files, at most {FLOOR} fit on a floor");
    }
}

#[test]
fn denied_text_is_absent() {
    assert_none(program().iter().flat_map(denied_faults).collect());
}

#[test]
fn files_and_functions_are_short() {
    let folders = ["src", "tests", "benches", "examples", "kernels"];
    let all = folders.iter().flat_map(|folder| sources(folder, &["rs", "cu", "cuh", "py"]));
    assert_none(all.flat_map(|source| length_faults(&source)).collect());
}

/// Maximum size of a file of the repository in bytes. The largest coordinates of `inputs/benchmarks` have 1.4 MB.
const FILE_BYTES: u64 = 3_000_000;

/// Returns the files in a list that are too large. Files that were removed are left out.
fn large_files(folder: &Path, names: &[String]) -> Vec<String> {
    let size = |name: &str| folder.join(name).symlink_metadata().map_or(0, |file| file.len());
    let large = names.iter().filter(|name| size(name) > FILE_BYTES);
    large.map(|name| format!("{name}: {} bytes, more than {FILE_BYTES}", size(name))).collect()
}

/// Tests the files that git knows; without git, a source package has been checked before it was made.
#[test]
fn files_are_small() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(folder).output();
    if let Ok(listed) = listed.map(|output| output.stdout) {
        let names: Vec<String> = String::from_utf8_lossy(&listed).split_terminator('\0').map(str::to_owned).collect();
        assert_none(large_files(folder, &names));
    }
    let path = std::env::temp_dir().join(format!("md-tidy-{}", std::process::id()));
    fs::File::create(&path).and_then(|file| file.set_len(FILE_BYTES + 1)).expect("a large file");
    let found = large_files(folder, &[path.display().to_string()]);
    fs::remove_file(&path).expect("the file is there");
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn ignored_tests_give_their_reason() {
    let all = ["src", "tests", "benches"].iter().flat_map(|folder| sources(folder, &["rs"]));
    assert_none(all.flat_map(|source| ignore_faults(&source)).collect());
}

/// Tests that the checks of this module detect violations. Without this test, a mistake in the checks would pass
/// unnoticed.
#[test]
fn checks_can_fail() {
    let upward =
        Source::new("src/cell.rs", "use crate::{\n    vec3::Vec3,\n    run::{Plan, plan},\n};\nuse crate::cli::x;");
    assert_eq!(imports(&upward), [(1, "vec3".into()), (1, "run".into()), (5, "cli".into())]);
    assert_eq!(layer_faults(&upward).len(), 2);
    assert_eq!(layer_faults(&Source::new("src/cell.rs", "// use crate::cli\nuse crate::units::BAR;")), [""; 0]);
    assert_eq!(layer_faults(&Source::new("src/unheard_of.rs", "")).len(), 1);
    assert_eq!(layer_faults(&Source::new("src/cell.rs", "#[cfg(test)]\nmod tests { use crate::cli; }")), [""; 0]);
    let tests = "#[cfg(test)]\nmod tests {\n    use crate::cli;\n    fn f() {}\n}\n";
    for between in ["", "#[cfg(test)]\nmod more;\n", "#[cfg(test)]\nuse crate::{\n    cli, run,\n};\n"] {
        let source = format!("{between}use crate::cli;\n{tests}use crate::run;\n");
        assert_eq!(layer_faults(&Source::new("src/cell.rs", &source)).len(), 2, "{source}");
    }
    let declaring = |path: &str| Source::new(path, "#[cfg(test)]\nmod x;\nmod y;\n").test_modules();
    assert_eq!(declaring("src/run/mod.rs"), [PathBuf::from("src/run/x")]);
    assert_eq!(declaring("src/run/step.rs"), [PathBuf::from("src/run/step/x")]);

    let rooms = |path: &str, text: &str| room_faults(&Source::new(path, text)).len();
    assert_eq!(rooms("src/run/plan/a.rs", "use crate::run::engine::Engine;\nuse crate::run::plan::Plan;"), 1);
    assert_eq!(rooms("src/run/session/a.rs", "use crate::run::{plan};\nuse crate::run::engine::X;"), 0);
    assert_eq!([rooms("src/run/a.rs", ""), rooms("src/run/cellar/a.rs", ""), rooms("src/run/mod.rs", "")], [1, 1, 0]);

    assert_eq!(denied_faults(&Source::new("src/run/mod.rs", "fn f() { eprintln!(); }")).len(), 1);
    assert_eq!(denied_faults(&Source::new("src/cli/run.rs", "fn f() { eprintln!(); }")), [""; 0]);

    let body = "    x();\n".repeat(FUNCTION_LINES);
    let long = format!("    pub fn f() {{\n{body}    }}\n");
    assert_eq!(length_faults(&Source::new("src/cell.rs", &long)).len(), 1);
    let excused = format!("    /// {LONG_BECAUSE} it is a table.\n{long}");
    assert_eq!(length_faults(&Source::new("src/cell.rs", &excused)), [""; 0]);
    assert_eq!(length_faults(&Source::new("src/cell.rs", &"\n".repeat(FILE_LINES + 1))).len(), 1);

    assert_eq!(ignore_faults(&Source::new("tests/a.rs", "#[ignore]\nfn f() {}")).len(), 1);
    assert_eq!(ignore_faults(&Source::new("tests/a.rs", "#[ignore = \"an hour\"]\nfn f() {}")), [""; 0]);
}
