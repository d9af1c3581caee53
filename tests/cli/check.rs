//! Tests of the description that `md check` prints, and of the faults that it finds.

use std::path::Path;
use std::process::{Command, Stdio};

use super::{MINIMIZE, failure, success, system, write_input};

/// Returns the message of an error without the line breaks and the frame of its lines.
fn words(message: &str) -> String {
    message.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

/// Tests that the sizes are upper bounds, for files with few and with many frames.
#[test]
fn files_are_not_larger_than_the_check_says() {
    let files = [
        "file = \"a.h5md\"",
        "file = \"b.h5md\", velocities = true, forces = true, images = true",
        "file = \"c.h5md\", select = \"index 0 to 2\"",
        "file = \"d.xtc\", precision = \"0.0001 nm\"",
        "file = \"e.dcd\"",
        "file = \"f.trr\", velocities = true, forces = true",
        "file = \"g.nc\", velocities = true",
        "file = \"h.pdb\", precision = \"0.0001 nm\"",
    ];
    let files: Vec<String> = files.iter().map(|file| format!("{{ every = \"1 steps\", {file} }}")).collect();
    for (name, forces, steps) in
        [("peptide-vacuum", "cutoff = \"none\"\nelectrostatics = \"plain\"", 300), ("water", "cutoff = \"0.9 nm\"", 2)]
    {
        let folder = tempfile::tempdir().unwrap();
        let output = format!("[output]\nreport = false\ntrajectory = [{}]\n", files.join(", "));
        let stage = "[[stage]]\nkind = \"dynamics\"\ntimestep = \"0.1 fs\"\nvelocities = \"generate\"\n\
                     temperature = \"300 K\"\n";
        write_input(folder.path(), &system(name), &format!("{forces}\n{output}{stage}steps = {steps}"));
        let text = success(folder.path(), &["check", "input.toml"]);
        success(folder.path(), &["run", "input.toml", "--quiet", "--threads", "1"]);
        let list = text.lines().find_map(|line| line.strip_prefix("output ")).unwrap();
        let list = list.split_once(": ").unwrap().1;
        assert_eq!(list.split("; ").count(), files.len(), "{list}");
        for said in list.split("; ") {
            let (file, most) = said.split_once(" in ").unwrap().1.split_once(", at most ").unwrap();
            let (number, unit) = most.split_once(' ').unwrap();
            let bytes = number.parse::<f64>().unwrap() * if unit == "kB" { 1e3 } else { 1e6 };
            let size = folder.path().join("out").join(file).metadata().unwrap().len() as f64;
            // XTC packs positions to less than a third of the bound, and the static part of H5MD is at most 60 kB
            assert!(size <= bytes && bytes < 4.0 * size + 60e3, "{said}: {size} bytes");
        }
    }
}

#[test]
fn a_folder_that_the_run_cannot_create_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    write_input(folder.path(), &system("water"), &format!("cutoff = \"0.9 nm\"{MINIMIZE}"));
    std::fs::write(folder.path().join("file"), "").unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path().join("link")).unwrap();
    for (output, part) in [
        ("file", "file: this is a file, expected a folder"),
        ("file/under/it", "file: this is a file, expected a folder"),
        ("link", "link: the link points to nothing, expected a folder"),
        ("link/under/it", "link: the link points to nothing, expected a folder"),
    ] {
        let set = format!("output.directory=\"{output}\"");
        let [check, run] =
            ["check", "run"].map(|command| failure(folder.path(), &[command, "input.toml", "--set", &set]));
        assert!(check.0 == 5 && check.1.contains(part), "{check:?}");
        assert_eq!(check, run);
    }
    success(folder.path(), &["check", "input.toml", "--set", "output.directory=\"new/under/it\""]);
}

/// Tests an input file that comes from a redirection. Its name has no ending, and its text resembles a topology.
#[test]
fn a_redirected_input_file_is_read() {
    let folder = tempfile::tempdir().unwrap();
    write_input(folder.path(), &system("water"), "cutoff = \"0.9 nm\"");
    let input = folder.path().join("input.toml");
    let check = |path: &Path| {
        let file = std::fs::File::open(path).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_md"));
        let output = command.args(["check", "/dev/stdin"]).stdin(Stdio::from(file)).output().unwrap();
        (output.status.success(), words(&String::from_utf8_lossy(&output.stderr)))
    };
    let (done, message) = check(&input);
    assert!(done, "{message}");
    let text = std::fs::read_to_string(&input).unwrap();
    let faulty = folder.path().join("faulty.txt");
    std::fs::write(&faulty, text.replace("cutoff", "cutof")).unwrap();
    let (done, message) = check(&faulty);
    assert!(!done && message.contains("did you mean \"cutoff\"?"), "{message}");
    let message = words(&failure(folder.path(), &["check", "faulty.txt"]).1);
    assert!(message.contains("did you mean \"cutoff\"?"), "{message}");
}

#[test]
fn folders_are_not_suggested_as_files() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("bin")).unwrap();
    let text = "[system]\ntopology = \"nin\"\ncoordinates = \"nin\"\n";
    std::fs::write(folder.path().join("input.toml"), text).unwrap();
    let suggests = || failure(folder.path(), &["check", "input.toml"]).1.contains("did you mean \"bin\"?");
    assert!(!suggests());
    std::fs::remove_dir(folder.path().join("bin")).unwrap();
    std::fs::write(folder.path().join("bin"), "").unwrap();
    assert!(suggests());
}

#[test]
#[expect(clippy::zombie_processes, reason = "wait4 waits for it, and tells its memory")]
fn the_memory_said_before_a_run_is_right_to_a_factor_of_two() {
    let folder = tempfile::tempdir().unwrap();
    write_input(folder.path(), &system("water"), "pme = { alpha = \"3 1/nm\", grid = [128, 128, 128], order = 4 }");
    let options = ["input.toml", "--set", "run.threads=8", "--set", "run.device=\"cpu\""];
    let text = success(folder.path(), &[&["check"], &options[..]].concat());
    let said = text.lines().find_map(|line| line.strip_prefix("memory       about ")).unwrap();
    let said: f64 = said.trim_end_matches(" MB").parse().unwrap();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_md"));
    let child = child.current_dir(folder.path()).arg("energy").args(options);
    let child = child.stdout(std::process::Stdio::null()).spawn().unwrap();
    let (mut status, pid) = (0, libc::pid_t::try_from(child.id()).unwrap());
    // SAFETY: a `rusage` with all bytes zero is valid, and `wait4` fills it; the child was just started and not
    // waited for.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::wait4(pid, &mut status, 0, &mut usage), pid);
        usage
    };
    assert_eq!(status, 0);
    // `ru_maxrss` is in kilobytes on Linux
    let peak = usage.ru_maxrss as f64 * 1024.0 / 1e6;
    assert!(said / peak < 2.0 && peak / said < 2.0, "said {said} MB, took {peak:.0} MB");
}
