//! Random seeds: `run.seed = "random"` is replaced by a random number from the operating system.

use super::raw::{Node, Raw};
use crate::error::Problem;

/// Word in the input file that requests a random seed.
pub(super) const RANDOM: &str = "random";
/// Number of random bits of a seed, chosen so that every seed is exact as a JSON number and the replicas of an
/// ensemble can use consecutive seeds.
const BITS: u32 = 53;

/// Draws a seed if the input file requests a random seed, and replaces the word [`RANDOM`] by the seed. Returns `None`
/// if the file does not request a random seed.
pub(super) fn draw(root: &mut Raw) -> Result<Option<u64>, Problem> {
    let Some(seed) = member(root, "run").and_then(|run| member(run, "seed")) else { return Ok(None) };
    if !matches!(&seed.node, Node::Text(text) if text == RANDOM) {
        return Ok(None);
    }
    let drawn = getrandom::u64().map(|bits| bits >> (u64::BITS - BITS)).map_err(|error| {
        let problem = Problem::new(format!("run.seed: the operating system provides no random numbers: {error}"));
        seed.place.problem(problem.help("write a number, for example seed = 1"))
    })?;
    seed.node = Node::Number { text: drawn.to_string(), integer: i64::try_from(drawn).ok(), value: drawn as f64 };
    Ok(Some(drawn))
}

/// Returns the value of `name` in a table; `None` if the table does not have this key.
fn member<'a>(table: &'a mut Raw, name: &str) -> Option<&'a mut Raw> {
    let Node::Table(members) = &mut table.node else { return None };
    members.iter_mut().find(|member| member.name == name).map(|member| &mut member.value)
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Override};
    use std::path::Path;

    const FILE: &str = "[system]\ntopology = \"t\"\ncoordinates = \"c\"\n[run]\nseed = \"random\"\n[[stage]]\n\
        kind = \"dynamics\"\nsteps = 9\ntimestep = \"2 fs\"\nvelocities = \"generate\"\ntemperature = \"300 K\"\n";

    fn read(text: &str, options: &[Override]) -> Config {
        Config::parse(text, Path::new("/base/input.toml"), options).unwrap()
    }

    #[test]
    fn a_drawn_seed_is_another_each_time_and_stands_as_number_in_the_effective_file() {
        let [one, other] = [read(FILE, &[]), read(FILE, &[])];
        let seed = one.plan.run.seed;
        assert!(one.drawn_seed == Some(seed) && other.drawn_seed == Some(other.plan.run.seed));
        // the probability that both seeds are equal is 2⁻⁵³
        assert_ne!(seed, other.plan.run.seed);
        assert!(one.effective.contains(&format!("\nseed = {seed}\n")), "{}", one.effective);
        let again = read(&one.effective, &[]);
        assert_eq!((again.plan, again.drawn_seed), (one.plan, None));
    }

    #[test]
    fn an_option_takes_the_place_of_the_word_and_replicas_follow_the_drawn_seed() {
        let set = read(FILE, &[Override::set("run.seed=7").unwrap()]);
        assert_eq!((set.plan.run.seed, set.drawn_seed), (7, None));
        let drawn = read(&FILE.replace("\"random\"", "7"), &[Override::set("run.seed=\"random\"").unwrap()]);
        assert_eq!(drawn.drawn_seed, Some(drawn.plan.run.seed));
        let shared = read(&format!("{FILE}[ensemble]\nreplicas = 2\n"), &[]);
        let replicas = shared.ensemble.unwrap().replicas;
        for (index, replica) in (0..).zip(&replicas) {
            let seed = shared.plan.run.seed + index;
            assert_eq!(replica.seed_after_first, Some(index));
            assert!(replica.description.contains(&format!("seed {seed}")));
        }
    }

    #[test]
    fn other_words_are_refused() {
        let text = FILE.replace("random", "chance");
        let problems = Config::parse(&text, Path::new("/base/input.toml"), &[]).unwrap_err();
        assert!(problems.iter().any(|problem| problem.to_string().contains("run.seed")), "{problems:?}");
    }
}
