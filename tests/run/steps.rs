//! Tests of `--steps N`, which ends every stage after a total of N steps.

use crate::case::Case;

fn input(minimize: u32, heat: u32, production: u32) -> String {
    let stage = |name: &str, steps: u32, rest: &str| {
        let bath = "thermostat = { temperature = \"300 K\", coupling_time = \"0.1 ps\" }";
        format!(
            "[[stage]]\nname = \"{name}\"\nkind = \"dynamics\"\nsteps = {steps}\ntimestep = \"2 fs\"\n{bath}\n{rest}\n"
        )
    };
    format!(
        "[run]\nthreads = 1\n[forces]\ncutoff = \"0.8 nm\"\n[output]\nenergies = {{ every = \"10 steps\" }}\n\
         [[stage]]\nname = \"relax\"\nkind = \"minimize\"\nsteps = {minimize}\n{}{}",
        stage("heat", heat, "velocities = \"generate\""),
        stage("production", production, "")
    )
}

#[test]
fn every_stage_is_capped_and_the_last_goes_on() {
    let case = Case::new("water", &input(30, 500, 90));
    let messages = case.ends_with(0, &["--steps", "20"]);
    assert!(messages.contains("stopped at the maximum number of steps after 20 steps"), "{messages}");
    // minimisation does not advance the time
    assert_eq!(case.state("out").step, 20 + 20);
    let messages = case.ends_with(0, &["--steps", "40"]);
    assert_eq!(case.state("out").step, 20 + 40);
    for part in [
        "continuing stage 3 after 20 steps",
        "ended stage relax after 20 of 30 steps, and this stage is not completed",
        "ended stage heat after 20 of 500 steps",
    ] {
        assert!(messages.contains(part), "{part} in {messages}");
    }
    for fewer in ["40", "10"] {
        let messages = case.ends_with(0, &["--steps", fewer]);
        assert!(messages.contains("already finished"), "{messages}");
    }
    let messages = case.ends_with(0, &[]);
    assert!(messages.contains("ended stage heat after 20 of 500 steps"), "{messages}");
    // stages of the same lengths in the input file make the same run, without a warning
    let whole = Case::new("water", &input(20, 20, 90));
    let messages = whole.ends_with(0, &[]);
    assert!(!messages.contains("--steps"), "{messages}");
    let left = |case: &Case| {
        let energies = std::fs::read_to_string(case.path("out/energies.csv")).unwrap();
        (case.summary("out").final_state_hash.unwrap(), energies)
    };
    assert_eq!(left(&whole), left(&case));
}
