//! Result files of observables: HDF5, CSV tables and pictures.

mod base64;
mod csv;
mod hdf5;
mod json;
mod plot;

pub use base64::base64;
pub use json::to_json;
pub use plot::{inline_svg, svg_rules};

use std::path::{Path, PathBuf};

use super::findings::Findings;
use super::pass::Passed;
use crate::error::{Error, Result};
use crate::observe::replace::directory;

/// Provenance of results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// paths of the trajectories
    pub trajectories: Vec<String>,
    /// command line or function call that made the results
    pub command: String,
}

/// Returns the names of the files that [`write()`] may create for results with the stem `stem`, such as `out/rdf` for
/// `out/rdf.h5`. The names of further tables (`rdf.DIMENSION.csv`) and pictures (`rdf-SUFFIX.svg`) depend on the
/// results. The list contains the further files that exist in the folder. A picture `rdf-SUFFIX.svg` is left out if
/// `rdf-SUFFIX.h5` exists, because the picture then belongs to other results.
pub fn files(stem: &Path) -> Vec<PathBuf> {
    let main = [".h5", ".csv"].into_iter().chain(plot::ENDINGS).map(|ending| with_ending(stem, ending));
    let mut files: Vec<PathBuf> = main.collect();
    let folder = directory(stem);
    let name = stem.file_name().unwrap_or_default().to_string_lossy();
    let there = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let further = there.filter_map(|entry| {
        let found = entry.file_name().into_string().ok()?;
        let rest = found.strip_prefix(&*name)?;
        let is_word = |word: &str| {
            !word.is_empty() && word.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter))
        };
        let table = || rest.strip_prefix('.')?.strip_suffix(".csv").filter(|word| is_word(word));
        let picture = || {
            let word = rest.strip_prefix('-')?.split_once('.').filter(|(word, _)| is_word(word))?;
            let own = with_ending(stem, &format!("-{}.h5", word.0));
            (plot::ENDINGS.iter().any(|ending| ending[1..] == *word.1) && !own.exists()).then_some(word.0)
        };
        table().or_else(picture)?;
        Some(with_ending(stem, rest))
    });
    files.extend(further);
    files
}

/// Writes the results of an observable to files with the stem `stem`, such as `out/rdf` for `out/rdf.h5`: all arrays as
/// HDF5, arrays of one and two dimensions as CSV, and pictures if there are any. Returns the paths of the files. The
/// files are written into a temporary folder, and replace earlier files when all are complete. After an error the
/// earlier files are unchanged.
pub fn write(stem: &Path, origin: &Origin, passed: &Passed, findings: &Findings) -> Result<Vec<PathBuf>> {
    let temporary = tempfile::Builder::new().prefix(".md-").tempdir_in(directory(stem));
    let temporary = temporary.map_err(|error| Error::io(&with_ending(stem, ".h5"), error))?;
    let beside = temporary.path().join(stem.file_name().unwrap_or_default());
    let mut written = vec![with_ending(&beside, ".h5")];
    hdf5::write(&written[0], origin, passed, findings)?;
    csv::write(&beside, passed, findings, &mut written)?;
    plot::write(&beside, &findings.plots, &mut written)?;
    let place = |path: PathBuf| {
        let target = stem.with_file_name(path.file_name().unwrap_or_default());
        std::fs::rename(&path, &target).map_err(|error| Error::io(&target, error))?;
        Ok(target)
    };
    written.into_iter().map(place).collect()
}

/// Returns the name of a result file: the stem with an ending.
fn with_ending(stem: &Path, ending: &str) -> PathBuf {
    let mut name = stem.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::findings::{Array, TIME};

    /// `files` lists existing files of a result, but not the files of a result with a longer name.
    #[test]
    fn files_of_a_result() {
        let folder = tempfile::tempdir().expect("a folder");
        let stem = folder.path().join("rmsd");
        let further = ["rmsd.residue.csv", "rmsd-map.svg", "rmsd-map.dark.png"];
        for name in further.iter().chain(&["rmsd-heavy.h5", "rmsd-heavy.svg", "rmsd.toml", "rmsd2.csv"]) {
            std::fs::write(folder.path().join(name), "").expect("a file");
        }
        let mut names: Vec<String> =
            files(&stem).iter().filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect();
        names.sort_unstable();
        let mut expected = vec!["rmsd.csv", "rmsd.dark.png", "rmsd.h5", "rmsd.png", "rmsd.svg"];
        expected.extend(further);
        expected.sort_unstable();
        assert_eq!(names, expected);
    }

    /// Arrays that disagree on the extent of a dimension are refused, and no file is left.
    #[test]
    fn nothing_is_left_after_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let passed = Passed { steps: vec![0, 1], times: vec![0.0, 0.5], ..Passed::default() };
        let arrays = vec![Array::new("rg", [(TIME, 3)], vec![1.0f64; 3], "nm")];
        let findings = Findings { arrays, ..Findings::default() };
        let error = write(&folder.path().join("rg"), &Origin::default(), &passed, &findings).expect_err("refused");
        assert!(error.to_string().contains("rg has 3 values along the dimension time of extent 2"), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }
}
