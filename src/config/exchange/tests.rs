use crate::config::{Config, Override};
use std::path::Path;

const LANGEVIN: &str = "thermostat = { kind = \"langevin\", temperature = \"300 K\", friction = \"2 1/ps\" }";
const LIST: &str = "temperature = [\"300 K\", \"305 K\"]";

const PRESSURES: &str = "pressure = [\"1 bar\", \"200 bar\"]";
const SOLUTES: &str = "solute_temperature = [\"300 K\", \"330 K\"]";
const SOLUTE: &str = "scaled_solute = { select = \"protein\" }";
const GRID: &str = "pme = { alpha = \"3.4 1/nm\", grid = [30, 30, 30] }";
const NPT: &str = "barostat = { kind = \"monte-carlo\" }";

/// Returns a thermostat at 300 K with one temperature group.
fn grouped(group: &str) -> String {
    format!("thermostat = {{ kind = \"v-rescale\", temperature = \"300 K\", groups = [{{ {group} }}] }}")
}

/// Returns the problems of an ensemble with the last stage `stage` and exchange attempts at intervals of `every`.
fn problems(stage: &str, ensemble: &str, every: &str) -> Vec<String> {
    let text = format!(
        "[system]\ntopology = \"t\"\ncoordinates = \"c\"\n[[stage]]\nname = \"npt\"\nkind = \"dynamics\"\nsteps = 90\n\
         timestep = \"2 fs\"\nvelocities = \"generate\"\ntemperature = \"300 K\"\n{stage}\n\
         [ensemble]\n{ensemble}\nexchange = {{ every = \"{every}\" }}\n"
    );
    match Config::parse(&text, Path::new("/base/input.toml"), &[]) {
        Ok(config) => {
            assert!(config.ensemble.unwrap().is_exchange());
            vec![]
        }
        Err(problems) => problems.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn what_has_no_known_ensemble_is_refused_with_its_reason() {
    let rescale =
        LANGEVIN.replace("langevin", "v-rescale").replace("friction = \"2 1/ps\"", "coupling_time = \"1 ps\"");
    let andersen = rescale.replace("v-rescale", "andersen");
    for (stage, ensemble) in [
        (LANGEVIN.to_owned(), LIST),
        (format!("{rescale}\nbarostat = {{ pressure = \"1 bar\" }}"), LIST),
        (format!("{rescale}\nbarostat = {{ pressure = \"1 bar\" }}"), "pressure = [\"1 bar\", \"200 bar\"]"),
        (format!("{LANGEVIN}\nbarostat = {{ kind = \"monte-carlo\", pressure = \"1 bar\" }}"), LIST),
        (andersen, LIST),
        (format!("{}\n{NPT}", grouped("select = \"water\", temperature = \"300 K\"")), PRESSURES),
        (format!("{}\n{NPT}", grouped("select = \"water\", coupling_time = \"2 ps\"")), PRESSURES),
        (format!("{LANGEVIN}\n[run]\ntuning = \"measure\"\n[forces]\nelectrostatics = \"reaction-field\""), LIST),
        (format!("{LANGEVIN}\n[run]\ntuning = \"measure\"\n[forces]\n{GRID}"), LIST),
        (format!("{LANGEVIN}\n[run]\ntuning = \"off\"\n[forces]\n{SOLUTE}\n{GRID}"), SOLUTES),
    ] {
        assert_eq!(problems(&stage, ensemble, "20 fs"), [""; 0], "{stage}");
    }
    let weak = rescale.replace("v-rescale", "berendsen");
    let chain = rescale.replace("v-rescale", "nose-hoover");
    let moving = "restraints = [{ kind = \"distance\", groups = [\"atom 1\", \"atom 2\"], force_constant = \
        \"10 kJ/mol/nm^2\", center = \"1 nm\", rate = \"0.1 nm/ns\" }]";
    let annealed =
        "thermostat = { temperature = [[\"0 ps\", \"10 K\"], [\"1 ps\", \"300 K\"]], coupling_time = \"1 ps\" }";
    for (stage, ensemble, every, reason) in [
        (weak, LIST, "20 fs", "weak coupling, whose energies"),
        (chain, LIST, "20 fs", "Nosé-Hoover chain"),
        (format!("{LANGEVIN}\nbarostat = {{ kind = \"berendsen\" }}"), LIST, "20 fs", "weak-coupling barostat"),
        (
            format!("{LANGEVIN}\nbarostat = {{ coupling = \"semi-isotropic\", surface_tension = \"60 mN/m\" }}"),
            LIST,
            "20 fs",
            "no surface tension",
        ),
        (format!("{LANGEVIN}\n{moving}"), LIST, "20 fs", "with a moving center"),
        (
            format!("{annealed}\nbarostat = {{ pressure = \"1 bar\" }}"),
            "pressure = [\"1 bar\", \"2 bar\"]",
            "20 fs",
            "changes its temperature",
        ),
        (
            format!("{}\n{NPT}", grouped("select = \"water\", temperature = \"330 K\"")),
            PRESSURES,
            "20 fs",
            "temperature groups at different temperatures",
        ),
        (grouped("select = \"water\""), LIST, "20 fs", "each exchanged state has one temperature"),
        (LANGEVIN.to_owned(), LIST, "21 fs", "not a whole number of steps"),
        (LANGEVIN.to_owned(), "temperature = \"300 K\"", "20 fs", "needs at least two replicas"),
        (LANGEVIN.to_owned(), "replicas = 3", "20 fs", "needs a list of states"),
        (
            format!("{LANGEVIN}\n[[stage]]\nkind = \"minimize\"\nname = \"end\""),
            LIST,
            "20 fs",
            "the last stage, which must be a stage of dynamics",
        ),
        (format!("{LANGEVIN}\n[run]\ntuning = \"measure\""), LIST, "20 fs", "its own PME grid"),
        (format!("{LANGEVIN}\n[run]\ntuning = \"off\"\n[forces]\n{SOLUTE}"), SOLUTES, "20 fs", "its own PME grid"),
        (format!("{LANGEVIN}\n{NPT}\n{}", last("")), PRESSURES, "20 fs", "has no barostat"),
        (LANGEVIN.to_owned(), LIST, "182 fs", "ends before the first attempt"),
        (format!("{LANGEVIN}\n{NPT}\n{}", last("")), LIST, "20 fs", "would give each replica its own volume"),
    ] {
        let found = problems(&stage, ensemble, every);
        assert!(found.iter().any(|problem| problem.contains(reason)), "{stage}: {found:?}");
    }
}

/// Returns a second stage with the given settings.
fn last(settings: &str) -> String {
    format!("[[stage]]\nkind = \"dynamics\"\nname = \"last\"\nsteps = 90\ntimestep = \"2 fs\"\n{LANGEVIN}\n{settings}")
}

#[test]
fn replicas_with_their_own_starts_have_the_same_restraints_and_selections() {
    let own = format!("{LIST}\nreplica = [{{}}, {{ set = {{ \"system.coordinates\" = \"d\" }} }}]");
    let rmsd =
        "restraints = { kind = \"rmsd\", groups = [\"all\"], at = \"0.1 nm\", force_constant = \"9 kJ/mol/nm^2\"";
    for (settings, reason) in [
        ("position_restraints = { select = \"protein\" }", "to the start of the run"),
        (&*format!("{rmsd} }}"), "to the start of the run"),
        ("frozen = \"protein\"", "has frozen atoms"),
        (
            "position_restraints = { select = \"within 1 nm of protein\", reference = \"r\" }",
            "select the atoms without",
        ),
    ] {
        let stage = format!("{LANGEVIN}\n{}", last(settings));
        assert_eq!(problems(&stage, LIST, "20 fs"), [""; 0], "{settings}");
        let found = problems(&stage, &own, "20 fs");
        assert!(found.len() == 1 && found[0].contains(reason), "{settings}: {found:?}");
    }
    let referred =
        format!("position_restraints = {{ select = \"protein\", reference = \"r\" }}\n{rmsd}, reference = \"r\" }}");
    assert_eq!(problems(&format!("{LANGEVIN}\n{}", last(&referred)), &own, "20 fs"), [""; 0]);
}

#[test]
fn states_are_those_of_the_replicas() {
    let text = format!(
        "[system]\ntopology = \"t\"\ncoordinates = \"c\"\n[run]\nseed = 9\n[[stage]]\nname = \"npt\"\nkind = \"dynamics\"\n\
         steps = 90\ntimestep = \"2 fs\"\n{LANGEVIN}\nbarostat = {{ pressure = \"2 bar\" }}\n\
         [ensemble]\n{LIST}\nexchange = {{ every = \"5 steps\" }}\n"
    );
    let path = Path::new("/base/input.toml");
    let shared = Config::parse(&text, path, &[]).unwrap();
    let ensemble = shared.ensemble.unwrap();
    let read = |overrides: &[Override]| {
        let reading = crate::config::Reading { files: false, replica: true };
        Config::parse_with(&text, path, overrides, reading).unwrap()
    };
    let mut configs: Vec<Config> = ensemble.replicas.iter().map(|replica| read(&replica.overrides)).collect();
    assert_eq!(configs[0].plan.exchange, None);
    ensemble.join(&mut configs);
    for config in &configs {
        let exchange = config.plan.exchange.as_ref().unwrap();
        assert_eq!((exchange.every, exchange.seed, exchange.states.len()), (5, 9, 2));
        assert_eq!([0, 1].map(|state| exchange.states[state].temperature), [300.0, 305.0]);
        assert!((exchange.states[1].pressure.unwrap() / crate::units::BAR - 2.0).abs() < 1e-12);
        assert!(config.effective.starts_with("# This replica exchanges states"));
    }
}
