//! Undamaged files of every format, and the function with which `md` reads each group of files.

use std::path::{Path, PathBuf};

use md::config::Config;
use md::error::{Error, Result};
use md::format::{TopologyOptions, read_coordinates, read_topology_with};
use md::observe::trajectory::{Format, StoredFrame};
use md::prepare::ConstrainedTerms;
use md::run::load;
use tempfile::TempDir;

/// Environment variable with the path of a folder whose files form the last family.
pub(crate) const GIVEN: &str = "MD_MUTATION_FILES";
/// Maximum size in bytes of a file from the folder of [`GIVEN`].
const LARGEST: u64 = 1 << 22;

/// Undamaged files that are read together, such as a topology and coordinates.
pub(crate) struct Original {
    /// name and contents of each file; the tests damage only the first `changed` files
    pub(crate) files: Vec<(String, Vec<u8>)>,
    pub(crate) changed: usize,
    pub(crate) reader: Reader,
}

/// Reader of a group of files.
#[derive(Clone)]
pub(crate) enum Reader {
    /// reads the files of a system with the given input, as `md check` does
    System(String),
    Topology,
    Coordinates,
    Trajectory,
}

impl Original {
    /// Reads the files in `folder`. Returns the number of atoms or frames.
    pub(crate) fn read(&self, folder: &Path) -> Result<usize> {
        let first = folder.join(&self.files[0].0);
        match &self.reader {
            Reader::System(input) => {
                let plan = Config::parse(input, &folder.join("input.toml"), &[]).map_err(Error::Input)?.plan;
                load(&plan, ConstrainedTerms::Keep).map(|prepared| prepared.system.topology.atoms.len())
            }
            Reader::Topology => {
                let options = TopologyOptions { include: vec![folder.to_owned()], ..TopologyOptions::default() };
                read_topology_with(&first, &options).map(|found| found.topology.atoms.len())
            }
            Reader::Coordinates => read_coordinates(&first, None, None).map(|found| found.positions.len()),
            Reader::Trajectory => read_trajectory(&first),
        }
    }

    /// Returns the number of atoms that a topology claims to have. GROMACS files, for example, state the number of
    /// copies of a molecule.
    pub(crate) fn claimed_atoms(&self, folder: &Path) -> usize {
        match self.reader {
            Reader::Topology => self.read(folder).unwrap_or(0),
            _ => 0,
        }
    }

    /// Writes the files to a new folder.
    pub(crate) fn copies(&self) -> TempDir {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        for (name, bytes) in &self.files {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        folder
    }

    /// Whether the files can be read and contain data. The function reads copies, because reading may repair and
    /// replace a trajectory.
    fn is_good(&self) -> bool {
        self.read(self.copies().path()).is_ok_and(|count| count > 0)
    }

    fn one(path: &Path, reader: Reader) -> Self {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        Original { files: vec![(name, contents(path))], changed: 1, reader }
    }
}

/// Reads every frame of a trajectory, and verifies, repairs and describes the file as commands do. Returns the number
/// of frames.
fn read_trajectory(path: &Path) -> Result<usize> {
    let files = Format::of_file(path)?.files;
    let described = files.describe(path);
    let mut read = files.open(path).and_then(|mut source| {
        let mut frame = StoredFrame::default();
        (0..source.frames()).try_for_each(|index| source.read(index, &mut frame))?;
        Ok(source.frames())
    });
    let verified = files.verify(path);
    // a file with a bad frame is replaced by its repaired copy
    let repaired = files.repair(path);
    for error in [described.err(), verified.err(), repaired.err()] {
        read = read.and_then(|frames| error.map_or(Ok(frames), Err));
    }
    read
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn contents(path: &Path) -> Vec<u8> {
    md::format::read(path).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns files of one folder under their names without `.xz`: first the topology, then the coordinates. The tests
/// damage only the first `changed` files.
fn system(folder: &str, names: &[&str], changed: usize, more: &str) -> Original {
    let plain = |name: &&str| name.trim_end_matches(".xz").to_owned();
    let files: Vec<(String, Vec<u8>)> =
        names.iter().map(|name| (plain(name), contents(&root().join(folder).join(name)))).collect();
    let (topology, coordinates) = (&files[0].0, &files[1].0);
    let input = format!("[system]\ntopology = {topology:?}\ncoordinates = {coordinates:?}\n{more}");
    Original { files, changed, reader: Reader::System(input) }
}

/// Force settings that are valid for cells of 2 nm and any force field.
const CELL: &str = "[forces]\ncutoff = \"0.7 nm\"\nlj_modifier = \"potential-shift\"\n";
const VACUUM: &str = "[forces]\ncutoff = \"none\"\nelectrostatics = \"plain\"\n";

fn amber() -> Vec<Original> {
    ["peptide-charmm36", "peptide-nbfix", "tip4pew", "tip5p", "octahedron", "peptide-vacuum"]
        .map(|name| {
            let names = ["prmtop", "rst7"].map(|extension| format!("{name}.{extension}.xz"));
            let more = if name == "peptide-vacuum" { VACUUM } else { CELL };
            system(&format!("systems/{name}"), &[&names[0], &names[1]], 2, more)
        })
        .into()
}

/// Returns a GROMACS topology in one file, and the same topology divided into several included files.
fn gromacs() -> Vec<Original> {
    let mut all = vec![];
    for name in ["functions", "leap", "rings", "rule1", "rule2", "rule3", "sites", "types"] {
        let names = ["top", "gro"].map(|extension| format!("{name}.{extension}"));
        all.push(system("format/gromacs", &[&names[0], &names[1]], 1, CELL));
    }
    let peptide = || system("systems/peptide-charged", &["peptide-charged.top.xz", "peptide-charged.gro.xz"], 1, CELL);
    all.push(peptide());
    let mut peptide = peptide();
    let text = String::from_utf8(peptide.files[0].1.clone()).unwrap();
    let (types, rest) = text.split_once("[ moleculetype ]").unwrap();
    let at = rest.rfind("[ system ]").unwrap();
    let top = format!("#include \"types.itp\"\n#ifndef POSRES\n#include \"molecules.itp\"\n#endif\n{}", &rest[at..]);
    peptide.files[0].1 = top.into();
    peptide.files.insert(1, ("types.itp".into(), types.into()));
    peptide.files.insert(2, ("molecules.itp".into(), format!("[ moleculetype ]{}", &rest[..at]).into()));
    peptide.changed = 3;
    all.push(peptide);
    all
}

fn charmm() -> Vec<Original> {
    let parameters = ["charmm.rtf", "charmm.prm", "charmm.str"];
    let input = format!("parameters = {parameters:?}\n{VACUUM}");
    ["charmm.psf", "charmm.numbers.psf"]
        .map(|psf| {
            let names: Vec<&str> = [psf, "charmm.crd"].into_iter().chain(parameters).collect();
            system("systems/charmm", &names, 5, &input)
        })
        .into()
}

fn openmm() -> Vec<Original> {
    ["peptide-vacuum", "peptide-charmm36", "tip4pew", "tip5p"]
        .map(|name| {
            let names = ["xml", "rst7"].map(|extension| format!("{name}.{extension}.xz"));
            let more = if name == "peptide-vacuum" { VACUUM } else { CELL };
            system(&format!("systems/{name}"), &[&names[0], &names[1]], 1, more)
        })
        .into()
}

fn coordinates(paths: &[&str]) -> Vec<Original> {
    paths.iter().map(|path| Original::one(&root().join(path), Reader::Coordinates)).collect()
}

/// Returns files of other programs whose extension begins with `extension`.
fn trajectories(extension: &str) -> Vec<Original> {
    let of_extension =
        |path: &Path| path.extension().is_some_and(|found| found.to_string_lossy().starts_with(extension));
    let files = in_folder(&root().join("trajectory/golden")).into_iter().filter(|path| of_extension(path));
    files.map(|path| Original::one(&path, Reader::Trajectory)).filter(Original::is_good).collect()
}

/// Returns the readable files in the folder of [`GIVEN`].
fn given() -> Vec<Original> {
    let Ok(folder) = std::env::var(GIVEN) else { return vec![] };
    let readers = [Reader::Topology, Reader::Coordinates, Reader::Trajectory];
    let all = in_folder(Path::new(&folder)).into_iter();
    let all = all.flat_map(|path| readers.clone().map(|reader| Original::one(&path, reader)));
    all.filter(Original::is_good).collect()
}

/// Returns the files in a folder that are not larger than [`LARGEST`].
fn in_folder(path: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.retain(|path| path.metadata().is_ok_and(|found| found.is_file() && (1..LARGEST).contains(&found.len())));
    files
}

/// A family of files: the name of the family, and a function that returns the undamaged files.
type Family = (&'static str, fn() -> Vec<Original>);

/// All families.
pub(crate) const FAMILIES: [Family; 15] = [
    ("AMBER prmtop with rst7", amber),
    ("GROMACS top and itp with gro", gromacs),
    ("GROMACS gro, g96", || {
        let given = ["functions.gro", "sites.gro", "sites.g96"].map(|name| format!("format/gromacs/{name}"));
        coordinates(&[&given[0], &given[1], &given[2], "systems/peptide-charged/peptide-charged.gro.xz"])
    }),
    ("CHARMM psf, rtf, prm, str with crd", charmm),
    ("CHARMM crd", || coordinates(&["systems/charmm/charmm.crd"])),
    ("OpenMM XML with rst7", openmm),
    ("PDB", || coordinates(&["trajectory/golden/mdanalysis.pdb", "trajectory/golden/mdtraj.pdb"])),
    ("AMBER rst7", || {
        coordinates(&["systems/peptide-vacuum/peptide-vacuum.rst7.xz", "systems/tip4pew/tip4pew.rst7.xz"])
    }),
    ("AMBER NetCDF restart", || coordinates(&["reliability/parmed.ncrst", "reliability/mdtraj.ncrst"])),
    ("XTC trajectory", || trajectories("xtc")),
    ("TRR trajectory", || trajectories("trr")),
    ("DCD trajectory", || trajectories("dcd")),
    ("AMBER NetCDF trajectory", || trajectories("nc")),
    ("PDB trajectory", || trajectories("pdb")),
    ("given files", given),
];
