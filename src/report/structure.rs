//! Observables of the trajectory of a run, chosen by the kinds of molecules in the system.
//!
//! The number of analysed frames is limited so that the report is written quickly; the larger the system, the fewer
//! frames are analysed. Each observable has an `md analyze` command that computes the same result; the report shows
//! this command.

use super::folder::RunFolder;
use super::picture::Picture;
use crate::analysis::observables::{Choice, Input, ObservableEntry};
use crate::analysis::{AnalysedSystem, Findings, FrameObserver, FrameRange, Images, Passed, Plot, pass};
use crate::error::{Error, Problem, Result};
use crate::format::{Names, read_names};
use crate::observe::trajectory::{Chain, FrameSource, StoredFrame};
use crate::run::{TrajectoryOptions, parts};

/// Maximum number of atoms, summed over all analysed frames, for observables that need no neighbour search. At most
/// [`FRAMES`] frames are analysed.
const ATOMS: usize = 8_000_000;
const FRAMES: usize = 400;
/// Maximum number of atoms, summed over all analysed frames, for observables that need a neighbour search, such as
/// radial distribution functions. At most [`PAIR_FRAMES`] frames are analysed.
const PAIR_ATOMS: usize = 500_000;
const PAIR_FRAMES: usize = 40;
/// Minimum number of analysed frames for a large system, even if these frames together have more atoms than the
/// maximum.
const LEAST: usize = 4;

/// Results of the analysis of the trajectory of a run.
#[derive(Debug, Default)]
pub(super) struct Structure {
    /// results of all observables that were computed
    pub(super) results: Vec<ObservableResult>,
    /// picture of the last frame; `None` if no picture could be made
    pub(super) picture: Option<Picture>,
    /// number of frames in the trajectory
    pub(super) frames: usize,
    /// reasons why observables or the picture are missing
    pub(super) notes: Vec<String>,
}

/// Result of one observable.
#[derive(Debug)]
pub(super) struct ObservableResult {
    /// `md analyze` command that computes the result
    pub(super) command: String,
    /// lines of text that summarise the result
    pub(super) summary: Vec<String>,
    /// plots of the result
    pub(super) plots: Vec<Plot>,
}

/// Name of the observable of membranes, which needs lipids in two leaflets.
const MEMBRANE: &str = "membrane";

/// Maximum distance (nm) of a radial distribution function. In a small cell the maximum distance is the fraction
/// [`RANGE_PART`] of half of the shortest height of the cell. The fraction is below 1, because only the cells of the
/// first and the last frame are known, and the cell may be smaller in between.
const RANGE: f64 = 1.0;
const RANGE_PART: f64 = 0.95;

/// Observable that a report contains if the selection `needs` has at least `least` atoms.
struct Request {
    name: &'static str,
    words: Vec<String>,
    /// selection of the atoms that the observable needs
    needs: &'static str,
    /// minimum number of atoms in the selection `needs`
    least: usize,
}

impl Request {
    fn new(name: &'static str, words: &[&str], needs: &'static str, least: usize) -> Self {
        Request { name, words: words.iter().map(|&word| word.to_owned()).collect(), needs, least }
    }

    fn fits(&self, system: &AnalysedSystem<'_>) -> bool {
        system.group(self.needs).is_ok_and(|group| group.atoms.len() >= self.least)
    }
}

/// Observable whose first error ends only its own measurements, and not those of other observables in the same pass.
struct Separate {
    inner: Box<dyn FrameObserver>,
    /// first error of a measurement, which [`FrameObserver::results`] returns
    error: Option<Error>,
}

impl FrameObserver for Separate {
    fn bytes(&self, frames: usize) -> f64 {
        self.inner.bytes(frames)
    }

    fn first_atoms(&self) -> usize {
        self.inner.first_atoms()
    }

    fn follows(&self) -> bool {
        self.inner.follows()
    }

    fn observe_used(&mut self, frames: &[StoredFrame], is_used: &[bool]) -> Result<()> {
        if self.error.is_none() {
            self.error = self.inner.observe_used(frames, is_used).err();
        }
        Ok(())
    }

    fn results(&mut self, passed: &Passed) -> Result<Findings> {
        match self.error.take() {
            Some(error) => Err(error),
            None => self.inner.results(passed),
        }
    }
}

/// Returns the observables that need no neighbour search.
fn of_frames() -> Vec<Request> {
    vec![
        Request::new("rmsd", &["--select", "backbone"], "backbone", 1),
        // an RMSF needs at least three atoms, because fewer atoms always superpose exactly
        Request::new("rmsf", &["--select", "protein and name CA"], "protein and name CA", 3),
        Request::new("rg", &["--select", "protein"], "protein", 1),
        Request::new("dihedrals", &[], "protein and name CA", 1),
        // DSSP needs at least five residues, because the shortest helix consists of three residues with one further
        // residue on each side
        Request::new("dssp", &[], "protein and name CA", 5),
        Request::new("rmsd", &["--select", "nucleic and heavy"], "nucleic", 1),
        Request::new(MEMBRANE, &[], "lipid", 1),
    ]
}

/// Returns the observables that need a neighbour search, with a range that fits into the cells of the first and the
/// last frame. Returns an empty list if the first or the last frame has no cell.
fn of_neighbours(trajectory: &mut dyn FrameSource) -> Result<Vec<Request>> {
    let (mut range, mut frame) = (RANGE, StoredFrame::default());
    for index in [0, trajectory.frames() - 1] {
        trajectory.read(index, &mut frame)?;
        let Some(cell) = &frame.cell else { return Ok(vec![]) };
        range = range.min(RANGE_PART * cell.max_cutoff());
    }
    let range = format!("{} nm", (100.0 * range).floor() / 100.0);
    Ok(vec![Request::new("rdf", &["--range", &range, "--between-molecules"], "water", 1)])
}

impl Structure {
    /// Analyses the trajectory of a run. Errors become notes.
    pub(super) fn of(run: &RunFolder) -> Self {
        let mut found = Structure::default();
        if let Err(error) = found.analyse(run) {
            found.notes.push(error.to_string());
        }
        found
    }

    fn analyse(&mut self, run: &RunFolder) -> Result<()> {
        let Some((options, mut trajectory)) = trajectory(run)? else {
            let what = match run.plan.output.trajectories.is_empty() {
                true => "The run writes no trajectory",
                false => "The folder has no trajectory of the run",
            };
            self.notes.push(format!("{what}, so there are no observables of its frames."));
            return Ok(());
        };
        self.frames = trajectory.frames();
        if self.frames == 0 {
            self.notes.push("The trajectory has no frames yet.".to_owned());
            return Ok(());
        }
        let Names { topology, has_bonds } = topology(run, options, &trajectory)?;
        let images = if has_bonds { Images::Gathered } else { Images::Unbonded };
        let system = AnalysedSystem::new(&topology, images).at_first(&mut trajectory)?;
        let passes = [(of_frames(), [ATOMS, FRAMES]), (of_neighbours(&mut trajectory)?, [PAIR_ATOMS, PAIR_FRAMES])];
        let source = self.source(run, options, &trajectory);
        for (requests, [atoms, frames]) in passes {
            let most = (atoms / topology.atoms.len().max(1)).clamp(LEAST, frames);
            let stride = self.frames.div_ceil(most);
            if let Err(error) = self.observe(&requests, &mut trajectory, &system, stride, &source) {
                self.notes.push(error.to_string());
            }
        }
        self.notes.extend(trajectory.warnings());
        self.picture = Picture::of_last(&mut trajectory, &system)?;
        Ok(())
    }

    /// Returns the last words of an `md analyze` command: the path of the trajectory, preceded by the option
    /// `--topology` if the trajectory contains no topology.
    fn source(&mut self, run: &RunFolder, options: &TrajectoryOptions, trajectory: &Chain) -> String {
        let file = run.words(&options.file);
        if trajectory.topology().is_some() {
            return file;
        }
        if options.select.is_some() {
            let note = "The trajectory has no atom names; in the captions, FILE stands for a topology of its atoms.";
            self.notes.push(note.to_owned());
            return format!("--topology FILE {file}");
        }
        let path = &run.plan.system.topology;
        let path = path.canonicalize().unwrap_or_else(|_| path.clone());
        format!("--topology {} {file}", quoted(&path.display().to_string()))
    }

    /// Computes the observables in `requests` for which the system has enough atoms, in one pass over every `stride`-th
    /// frame.
    fn observe(
        &mut self,
        requests: &[Request],
        trajectory: &mut dyn FrameSource,
        system: &AnalysedSystem<'_>,
        stride: usize,
        source: &str,
    ) -> Result<()> {
        let mut requested: Vec<(&str, String)> = vec![];
        let mut observers: Vec<Box<dyn FrameObserver>> = vec![];
        for Request { name, words, .. } in requests.iter().filter(|request| request.fits(system)) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            if *name == MEMBRANE && !has_leaflets(&words, trajectory, system) {
                continue;
            }
            match observer(name, &words, trajectory, system) {
                Ok(inner) => observers.push(Box::new(Separate { inner, error: None })),
                Err(error) => {
                    self.notes.push(format!("{name}: {error}"));
                    continue;
                }
            }
            let words: String = words.iter().map(|word| format!(" {}", quoted(word))).collect();
            let every = if stride > 1 { format!(" --stride {stride}") } else { String::new() };
            requested.push((*name, format!("md analyze {name}{words}{every} {source}")));
        }
        if observers.is_empty() {
            return Ok(());
        }
        let range = FrameRange { stride, ..FrameRange::default() };
        let passed: Passed = pass(trajectory, system, range, &mut observers, &mut |_, _| ())?;
        for ((name, command), mut observer) in requested.into_iter().zip(observers) {
            match observer.results(&passed) {
                Ok(Findings { mut summary, warnings, plots, .. }) => {
                    summary.extend(warnings.into_iter().map(|words| format!("warning      {words}")));
                    self.results.push(ObservableResult { command, summary, plots });
                }
                Err(error) => self.notes.push(format!("{name}: {error}")),
            }
        }
        Ok(())
    }
}

/// Whether the lipids of the first frame form the two leaflets of a membrane. A lipid that is bound to a protein does
/// not. Also true if the observable cannot be created, so that the reason is reported.
fn has_leaflets(words: &[&str], trajectory: &mut dyn FrameSource, system: &AnalysedSystem<'_>) -> bool {
    let (Some(first), Ok(mut membrane)) = (system.first_frame(), observer(MEMBRANE, words, trajectory, system)) else {
        return true;
    };
    let mut frame = first.clone();
    system.make_whole(&mut frame);
    membrane.observe(&[frame]).is_ok()
}

/// Returns a word of a command line, in quotes if it contains a blank.
pub(super) fn quoted(word: &str) -> String {
    if word.contains(' ') { format!("\"{word}\"") } else { word.to_owned() }
}

/// Creates the observable that `md analyze` computes for the subcommand `name` with the arguments `words`.
pub(super) fn observer(
    name: &str,
    words: &[&str],
    trajectory: &mut dyn FrameSource,
    system: &AnalysedSystem<'_>,
) -> Result<Box<dyn FrameObserver>> {
    let unknown = || Problem::new(format!("there is no observable {name}"));
    let entry = ObservableEntry::named(name).ok_or_else(unknown)?;
    match entry.choose(words).map_err(|error| Problem::new(error.to_string()))? {
        Choice::OfFrames(options) => options.observable(&mut Input { trajectory, system }),
        Choice::OfTable(_) => Err(Problem::new(format!("{name} is an observable of an energy table")).into()),
    }
}

/// Opens the first trajectory of the run in the format H5MD, which contains a topology. If there is no H5MD trajectory,
/// opens the first trajectory; `None` if there is no trajectory.
fn trajectory(run: &RunFolder) -> Result<Option<(&TrajectoryOptions, Chain)>> {
    let mut there: Vec<&TrajectoryOptions> =
        run.plan.output.trajectories.iter().filter(|options| !parts(&run.path, &options.file).is_empty()).collect();
    there.sort_by_key(|options| !options.file.ends_with(".h5md"));
    let Some(options) = there.first() else { return Ok(None) };
    Ok(Some((options, Chain::open(&parts(&run.path, &options.file))?)))
}

/// Returns the topology that the trajectory contains. If the trajectory contains no topology, returns the topology of
/// the written atoms, taken from the topology file of the run.
fn topology(run: &RunFolder, options: &TrajectoryOptions, trajectory: &Chain) -> Result<Names> {
    if let Some(topology) = trajectory.topology() {
        return Ok(Names::of_stored(topology.clone()));
    }
    let system = &run.plan.system;
    let Names { topology, has_bonds } = read_names(&system.topology, &system.topology_options())?;
    let topology = match options.selected(&topology)? {
        Some(atoms) => topology.subset(&atoms),
        None => topology,
    };
    if topology.atoms.len() != trajectory.atoms() {
        let message = "the number of atoms in the topology file has changed, so the trajectory has no atom names";
        return Err(Problem::new(message).into());
    }
    Ok(Names { topology, has_bonds })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::PeriodicCell;
    use crate::system::{Atom, Name, Residue, Topology};
    use crate::vec3::{Vec3, vec3};

    /// Trajectory in memory.
    struct Memory(Vec<StoredFrame>);

    impl FrameSource for Memory {
        fn atoms(&self) -> usize {
            self.0[0].positions.len()
        }

        fn frames(&self) -> usize {
            self.0.len()
        }

        fn read(&mut self, index: usize, frame: &mut StoredFrame) -> Result<()> {
            frame.clone_from(&self.0[index]);
            Ok(())
        }
    }

    /// Creates two lipids of a phosphorus and a carbon each. The phosphorus atoms are at z = 7 nm and 3 nm; the carbon
    /// atoms are 1 nm below (−1) or above (1) them.
    fn frame(time: f64, carbons: [f64; 2]) -> StoredFrame {
        let lipid = |z: f64, carbon: f64| [vec3(1.0, 1.0, z), vec3(1.0, 1.0, z + carbon)];
        let positions: Vec<Vec3> = [lipid(7.0, carbons[0]), lipid(3.0, carbons[1])].concat();
        let cell = Some(PeriodicCell::orthorhombic([2.0, 2.0, 10.0]));
        StoredFrame { time, cell, positions, ..StoredFrame::default() }
    }

    fn observed(frames: Vec<StoredFrame>) -> Structure {
        let atom = |index: u32| Atom {
            name: Name::new(if index.is_multiple_of(2) { "P" } else { "C1" }),
            type_name: Name::new("X"),
            element: if index.is_multiple_of(2) { 15 } else { 6 },
            mass: 12.0,
            charge: 0.0,
            lj_type: 0,
            residue: index / 2,
        };
        let topology = Topology {
            atoms: (0..4).map(atom).collect(),
            residues: [0, 1].map(|lipid| Residue { name: Name::new("POPC"), number: 1, first: 2 * lipid }).into(),
            connectivity: vec![[0, 1], [2, 3]],
            ..Topology::default()
        };
        let mut trajectory = Memory(frames);
        let system = AnalysedSystem::new(&topology, Images::Gathered).at_first(&mut trajectory).unwrap();
        let requests = [Request::new(MEMBRANE, &[], "lipid", 1), Request::new("rg", &["--select", "all"], "all", 1)];
        let mut found = Structure::default();
        found.observe(&requests, &mut trajectory, &system, 1, "out").unwrap();
        found
    }

    #[test]
    fn an_observable_that_fails_leaves_the_others() {
        let commands = |found: &Structure| -> Vec<String> {
            found.results.iter().map(|result| result.command.split(' ').nth(2).unwrap_or_default().to_owned()).collect()
        };
        let bilayer = |time| frame(time, [-1.0, 1.0]);
        let found = observed(vec![bilayer(0.0), bilayer(1.0)]);
        assert_eq!((commands(&found), found.notes.len()), (vec!["membrane".to_owned(), "rg".to_owned()], 0));
        // both heads point up in the second frame
        let found = observed(vec![bilayer(0.0), frame(1.0, [-1.0, -1.0])]);
        assert_eq!(commands(&found), ["rg"]);
        assert!(found.notes.len() == 1 && found.notes[0].starts_with("membrane: "), "{:?}", found.notes);
        assert!(found.notes[0].contains("in the frame at 1 ps"), "{:?}", found.notes);
        // both heads point up in all frames, so that the lipids are no membrane
        let found = observed(vec![frame(0.0, [-1.0, -1.0]); 2]);
        assert_eq!((commands(&found), found.notes.len()), (vec!["rg".to_owned()], 0));
    }
}
