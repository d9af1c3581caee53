//! The output directory of a run: paths, lock, and treatment of existing files.

use crate::error::{Error, Problem, Result};
use crate::observe::checkpoint;
use crate::observe::files::{CHECKPOINT, ENERGIES, SUMMARY, UNSTABLE};
use crate::observe::lock::OutputLock;
use crate::observe::replace::{behind_link, unless_missing, unused};
use crate::observe::trajectory::Format;
use crate::run::plan::{OutputOptions, Plan};
use std::fs;
use std::path::{Path, PathBuf};

/// Advice to the user about existing files, at the end of an error message.
const ASIDE: &str = "move this file away, choose another output.directory, or use --force to rename the folder with \
                     the old output";

/// Texts of the operating system in errors of a full disk (`ENOSPC`, `EDQUOT`). The errors of HDF5 contain these texts
/// among others.
const FULL: [&str; 2] = ["No space left on device", "Disk quota exceeded"];
/// Advice to the user about a full disk.
const FREE_SPACE: &str = "free some space, then the same command continues from the last checkpoint";

/// Output directory of a run, locked until dropped.
#[derive(Debug)]
pub(in crate::run) struct Directory {
    root: PathBuf,
    lock: OutputLock,
}

impl Directory {
    /// Creates and locks the output directory of a plan. With `force`, renames an existing directory first. If the path
    /// is a symbolic link, the directory to which it leads is renamed, and the link is kept.
    pub(in crate::run) fn open(plan: &Plan, force: bool) -> Result<Self> {
        let root = plan.output.directory.clone();
        let mut directory = Directory { lock: OutputLock::acquire(&root)?, root };
        if force && directory.is_used(&plan.output) {
            let folder = behind_link(&directory.root)?;
            fs::rename(&folder, aside(&folder)).map_err(|e| Error::io(&folder, e))?;
            // a link is kept, and leads to a new directory; another process may have created this directory already
            fs::create_dir_all(&folder).map_err(|e| Error::io(&folder, e))?;
            // the renamed old directory stays locked until the new directory is locked
            directory.lock = OutputLock::acquire(&directory.root)?;
        }
        Ok(directory)
    }

    /// Returns the path of the file `name` in the output directory.
    pub(in crate::run) fn file(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Returns an error if the path no longer leads to the locked directory, for example because the directory was
    /// moved.
    pub(in crate::run) fn check(&self) -> Result<()> {
        self.lock.check()
    }

    /// Returns the error of [`Directory::check`] if the check fails: if the directory was moved after an earlier check,
    /// its files can no longer be read or written, and the error for a file would be misleading. Otherwise returns
    /// `error`, with advice if the disk is full.
    pub(in crate::run) fn explain(&self, error: Error) -> Error {
        let Error::Io { path, reason } = &error else { return error };
        if let Err(moved) = self.check() {
            return moved;
        }
        match FULL.iter().find(|words| reason.contains(**words)) {
            Some(words) => Error::io(path, format!("{words}; {FREE_SPACE}")),
            None => error,
        }
    }

    /// Whether the directory holds output of a run, or files whose names a new run would use.
    fn is_used(&self, output: &OutputOptions) -> bool {
        let previous = checkpoint::previous(&self.file(CHECKPOINT));
        let names = [CHECKPOINT, SUMMARY, ENERGIES].map(str::to_owned).into_iter().chain(output.names());
        previous.exists() || names.into_iter().any(|name| self.file(&name).exists())
    }

    /// Removes the files that the run `run_id` wrote before its first step. Returns an error if there are
    /// trajectories of other runs.
    pub(in crate::run) fn clear(&self, run_id: &str, output: &OutputOptions) -> Result<()> {
        let mut names = output.names();
        for name in output.names() {
            let Ok(format) = Format::of_name(&name) else { continue };
            let path = self.file(&name);
            if format.files.run_id(&path).is_some_and(|found| found != run_id) {
                return Err(Problem::new("this file is a trajectory of another run").in_file(&path).help(ASIDE).into());
            }
            names.extend(format.files.companions(&name));
        }
        names.push(UNSTABLE.to_owned());
        for name in names {
            unless_missing(fs::remove_file(self.file(&name)), &self.file(&name))?;
        }
        Ok(())
    }

    /// Returns an error if an output file of the plan exists already.
    pub(in crate::run) fn check_absent(&self, output: &OutputOptions) -> Result<()> {
        match output.names().iter().map(|name| self.file(name)).find(|path| path.exists()) {
            Some(path) => Err(Problem::new("this file exists already").in_file(&path).help(ASIDE).into()),
            None => Ok(()),
        }
    }

    /// Renames files, for example `energies.csv` to `energies.part1.csv`, so that new files with the old names can be
    /// created. Symbolic links are not renamed, because the target of a link may be another output file. If the target
    /// is renamed, the link leads to the new file that gets the name of the target.
    pub(in crate::run) fn rename_as_part(&self, names: &[String]) -> Result<()> {
        let part = |n: u32, name: &str| self.file(&part_name(name, n));
        let is_free = |n: &u32| names.iter().all(|name| !part(*n, name).exists());
        let number = (1..).find(is_free).expect("at least one number is not used yet");
        for name in names.iter().filter(|name| !self.file(name).is_symlink()) {
            unless_missing(fs::rename(self.file(name), part(number, name)), &self.file(name))?;
        }
        Ok(())
    }

    /// Returns an error if the directory contains output but no usable checkpoint. `reason` says why an existing
    /// checkpoint cannot be used.
    pub(in crate::run) fn check_unused(&self, output: &OutputOptions, reason: Option<String>) -> Result<()> {
        if !self.is_used(output) {
            return Ok(());
        }
        let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
        Err(Problem::new(format!("this directory contains output, but no checkpoint to continue from{reason}"))
            .in_file(&self.root)
            .help("choose another output.directory, or use --force to rename the folder with the old output")
            .into())
    }
}

/// Returns an unused name, to which `--force` renames an existing output directory.
fn aside(directory: &Path) -> PathBuf {
    unused(|n| {
        let mut name = directory.to_owned().into_os_string();
        name.push(format!(".bak{n}"));
        PathBuf::from(name)
    })
}

/// Returns the name of the file of an earlier part of a run, for example `energies.part1.csv`. Parts are numbered from
/// 1.
pub fn part_name(name: &str, number: u32) -> String {
    let (stem, rest) = name.split_at(name[1..].find('.').map_or(name.len(), |dot| dot + 1));
    format!("{stem}.part{number}{rest}")
}

/// Returns the paths of the file `name` in the output folder of a run, in the order of time: first the earlier parts
/// ([`part_name`]), then the file itself. Files that do not exist are left out.
pub fn parts(folder: &Path, name: &str) -> Vec<PathBuf> {
    let number = |entry: fs::DirEntry| {
        let file = entry.file_name().into_string().ok()?;
        let numbers = file.split('.').filter_map(|word| word.strip_prefix("part")?.parse().ok());
        numbers.into_iter().find(|&number| part_name(name, number) == file)
    };
    let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut numbers: Vec<u32> = fs::read_dir(listed).into_iter().flatten().flatten().filter_map(number).collect();
    numbers.sort_unstable();
    let earlier = numbers.into_iter().map(|number| folder.join(part_name(name, number)));
    earlier.chain([folder.join(name)]).filter(|path| path.is_file()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    /// Tests the error for a file that cannot be written. If the output directory was moved, the error must say that
    /// the directory was moved. If the directory was not moved, the error for the file must be returned unchanged.
    #[test]
    fn a_moved_directory_explains_missing_files() {
        let parent = tempfile::tempdir().unwrap();
        let plan = plan(parent.path());
        let directory = Directory::open(&plan, false).unwrap();
        let missing = || Error::io(&directory.file("checkpoint.md"), "No such file or directory");
        let full =
            Error::io(&directory.file("t.h5md"), "H5Dflush(): errno = 28, 'No space left on device', buf = 0x7f");
        assert!(directory.explain(full).to_string().ends_with(&format!("t.h5md: {}; {FREE_SPACE}", FULL[0])));
        assert!(directory.explain(missing()).to_string().contains("checkpoint.md: No such file"));
        fs::rename(parent.path().join("out"), parent.path().join("moved")).unwrap();
        assert!(directory.explain(missing()).to_string().contains("the folder was moved, removed or replaced"));
        let unstable = directory.explain(Error::unstable("atoms fly apart", []));
        assert!(matches!(unstable, Error::Unstable { .. }));
    }

    /// Tests an output directory that is a symbolic link, as to a disk with more space: new output must go to the same
    /// disk, not into a directory in the place of the link.
    #[test]
    fn a_linked_directory_stays_a_link() {
        let parent = tempfile::tempdir().unwrap();
        let (link, scratch) = (parent.path().join("out"), parent.path().join("scratch"));
        let old = scratch.with_file_name("scratch.bak1");
        fs::create_dir(&scratch).unwrap();
        std::os::unix::fs::symlink("scratch", &link).unwrap();
        let mut plan = plan(parent.path());
        for name in ["out", "out/"] {
            fs::write(scratch.join("checkpoint.md"), name).unwrap();
            plan.output.directory = parent.path().join(name);
            drop(Directory::open(&plan, true).unwrap());
            assert!(link.is_symlink() && !scratch.join("checkpoint.md").exists(), "{name}");
            assert_eq!(fs::read_to_string(old.join("checkpoint.md")).unwrap(), name);
            fs::remove_dir_all(&old).unwrap();
        }
    }

    fn plan(parent: &std::path::Path) -> Plan {
        let text = "[system]\ntopology = \"a\"\ncoordinates = \"b\"\n[output]\ndirectory = \"out\"\n";
        Config::parse(text, &parent.join("input.toml"), &[]).unwrap().plan
    }

    /// Tests several threads that rename the same directory at the same time, as several processes may do. Each thread
    /// must get its own directory, or an error which says that the directory is in use.
    #[test]
    fn no_two_move_the_same_directory_aside() {
        let parent = tempfile::tempdir().unwrap();
        let plan = plan(parent.path());
        let begin = |who: usize| {
            for attempt in 0..50 {
                let directory = match Directory::open(&plan, true) {
                    Ok(directory) => directory,
                    Err(error) => {
                        assert!(error.to_string().contains("in use by"), "{error}");
                        continue;
                    }
                };
                let mine = format!("{who} {attempt}");
                fs::write(directory.file("checkpoint.md"), &mine).unwrap();
                std::thread::yield_now();
                directory.check().unwrap();
                assert_eq!(fs::read_to_string(directory.file("checkpoint.md")).unwrap(), mine);
            }
        };
        std::thread::scope(|scope| (0..4).for_each(|who| drop(scope.spawn(move || begin(who)))));
    }
}
