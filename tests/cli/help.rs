//! Tests of the descriptions of commands and keys in the help texts and in shell completions.

use crate::{failure, success};

#[test]
fn help_explains_keys_and_commands() {
    let folder = tempfile::tempdir().unwrap();
    assert!(success(folder.path(), &["--help"]).contains("3  stopped early on request"));
    assert!(success(folder.path(), &["help"]).contains("stage.thermostat.coupling_time"));
    assert!(success(folder.path(), &["help", "timestep"]).contains("example: timestep = \"2 fs\""));
    assert!(success(folder.path(), &["help", "energy"]).contains("--json"));
    let (code, message) = failure(folder.path(), &["help", "timestpe"]);
    assert!(code == 2 && message.contains("stage.timestep"), "{message}");
}

#[test]
fn seed_and_threads_accept_the_words_of_their_keys() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t"), "").unwrap();
    let text = "[system]\ntopology = \"t\"\ncoordinates = \"t\"\n[[stage]]\nkind = \"minimize\"\n";
    std::fs::write(folder.path().join("input.toml"), text).unwrap();
    let refusal = |options: &[&str]| {
        let (code, message) = failure(folder.path(), &[&["run", "input.toml"], options].concat());
        assert_eq!(code, 2, "{message}");
        message.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
    };
    // the options are accepted, and the empty topology is refused
    assert!(refusal(&["--seed", "random", "--threads", "auto"]).contains("unknown format of a topology file"));
    assert!(refusal(&["--seed", "auto"]).contains("'--seed <N>': expected a whole number or random"));
    assert!(refusal(&["--threads", "1.5"]).contains("'--threads <N>': expected a whole number or auto"));
    let too_large = refusal(&["--seed", "18446744073709551615"]);
    assert!(too_large.contains("run.seed must be a whole number from 0 to 9223372036854775807"), "{too_large}");
    assert!(refusal(&["--seed", "-1"]).contains("run.seed must be a whole number, at least 0"));
}

#[test]
fn a_help_text_that_cannot_be_written_is_an_error() {
    let full = || std::process::Stdio::from(std::fs::File::options().write(true).open("/dev/full").unwrap());
    for arguments in [&["--help"][..], &["--version"], &["run", "--help"], &["help"]] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_md"));
        let output = command.args(arguments).stdout(full()).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(5) && message.contains("standard output"), "{arguments:?}: {message}");
    }
}

#[test]
fn shells_complete_commands_and_options() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = success(folder.path(), &["completions", shell]);
        assert!(script.contains("analyze") && script.contains("max-hours"), "{shell}");
        std::fs::write(folder.path().join(shell), script).unwrap();
    }
    // words that bash offers: commands, options, observables, keys
    for (words, offered) in [
        ("md an", "analyze"),
        ("md run --max", "--max-hours"),
        ("md analyze rms", "rmsd"),
        ("md help forces.cut", "forces.cutoff"),
        ("md help ener", "energy"),
    ] {
        let script = format!(
            "source ./bash; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _md md \"${{COMP_WORDS[-1]}}\" \"${{COMP_WORDS[-2]}}\"; echo \"${{COMPREPLY[@]}}\""
        );
        let output =
            std::process::Command::new("bash").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
        let found = String::from_utf8(output.stdout).unwrap();
        assert!(found.split_whitespace().any(|word| word == offered), "{words}: {found}");
    }
}
