//! Cache of compiled kernels. Compiled kernels are kept in memory for other GPUs of the same process, and on disk for
//! later processes.
//!
//! The cache has one file for each compiled program. The name of the file is a hash of all inputs of the compilation. A
//! failure of the cache never stops the run. A cache file is replaced by the result of a new compilation if the file is
//! truncated, damaged or not written by this cache. If the disk cannot be used, compiled programs are kept only in
//! memory. A folder that belongs to another user, or to which other users may write, is not used, because other users
//! could put programs there.

use crate::error::Result;
use crate::team::locked;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

/// Maximum number of cached programs: enough for several kinds of GPUs, compilers and versions of this program.
const MOST: usize = 16;
/// Length of a hash in bytes.
const HASH: usize = 32;
/// Suffix of the file names of cached programs.
const ENDING: &str = ".cubin";
/// File name prefix of a file that is still being written.
const UNFINISHED: &str = ".unfinished-";
/// File mode of the cache folder: access for the owner of the folder only.
const PRIVATE: u32 = 0o700;
/// Mode bits that give write permission to the group or to all other users.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// All inputs of the compilation, which together determine the compiled program.
#[derive(Clone, Copy)]
pub(super) struct Recipe<'a> {
    /// whole source text of the kernels
    pub(super) source: &'a str,
    /// options of the compiler, including the architecture
    pub(super) options: &'a [&'a str],
    /// version of the compiler
    pub(super) compiler: [i32; 2],
    /// version of this program
    pub(super) version: &'a str,
}

impl Recipe<'_> {
    fn hash(&self) -> [u8; HASH] {
        let compiler = format!("{:?}", self.compiler);
        let parts = [self.version, compiler.as_str(), self.source].into_iter().chain(self.options.iter().copied());
        let mut hash = Sha256::new();
        for part in parts {
            // the length of each part is hashed too, so that different lists of parts never give the same bytes
            hash.update(part.len().to_le_bytes());
            hash.update(part);
        }
        hash.finalize().into()
    }
}

/// Cache of compiled GPU programs, in memory and on disk.
#[derive(Default)]
pub struct Programs {
    folder: Option<PathBuf>,
    /// hash and machine code of the programs that this process has compiled or loaded
    here: Mutex<Vec<([u8; HASH], Vec<u8>)>>,
}

impl Programs {
    /// Creates a cache with a folder on disk, which need not exist yet. With `None` the cache is in memory only.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Programs { folder, here: Mutex::default() }
    }

    /// Returns the cached program, or the result of `compile`, which is then cached.
    pub(super) fn get(&self, recipe: &Recipe, compile: impl FnOnce() -> Result<Vec<u8>>) -> Result<Vec<u8>> {
        let key = recipe.hash();
        let mut here = locked(&self.here);
        if let Some((_, program)) = here.iter().find(|(other, _)| *other == key) {
            return Ok(program.clone());
        }
        let program = cached(self.folder.as_deref(), &key, compile)?;
        here.push((key, program.clone()));
        Ok(program)
    }
}

/// Returns the program stored in `folder`, or the result of `compile`, which is then stored in `folder`.
fn cached(folder: Option<&Path>, key: &[u8; HASH], compile: impl FnOnce() -> Result<Vec<u8>>) -> Result<Vec<u8>> {
    let Some(folder) = folder else { return compile() };
    if folder.exists() && !is_private(folder) {
        return compile();
    }
    let name: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    let path = folder.join(name + ENDING);
    if let Some(program) = fs::read(&path).ok().and_then(|bytes| checked(key, &bytes)) {
        return Ok(program);
    }
    let program = compile()?;
    // a failure to write to the folder is ignored, because the cache only saves time
    let _ = keep(folder, &path, key, &program);
    Ok(program)
}

/// Returns whether the folder belongs to this user and no other user may write to it.
fn is_private(folder: &Path) -> bool {
    // SAFETY: `geteuid` has no arguments, touches no memory and cannot fail
    let user = unsafe { libc::geteuid() };
    folder.metadata().is_ok_and(|found| found.is_dir() && found.uid() == user && found.mode() & WRITABLE_BY_OTHERS == 0)
}

/// Returns the header of a cache file, which is a hash of the file name and the program. The header detects any change
/// or truncation of the file.
fn checksum(key: &[u8; HASH], program: &[u8]) -> [u8; HASH] {
    Sha256::new().chain_update(key).chain_update(program).finalize().into()
}

/// Returns the program in a cache file if the header of the file is correct.
fn checked(key: &[u8; HASH], bytes: &[u8]) -> Option<Vec<u8>> {
    let (found, program) = bytes.split_first_chunk::<HASH>()?;
    (*found == checksum(key, program)).then(|| program.to_vec())
}

/// Writes a file of the cache atomically, and removes old files.
fn keep(folder: &Path, path: &Path, key: &[u8; HASH], program: &[u8]) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(PRIVATE).create(folder)?;
    if !is_private(folder) {
        return Ok(());
    }
    let mut file = tempfile::Builder::new().prefix(UNFINISHED).suffix(ENDING).tempfile_in(folder)?;
    file.write_all(&checksum(key, program))?;
    file.write_all(program)?;
    file.persist(path)?;
    prune(folder)
}

/// Removes the oldest files of the cache, including unfinished files of killed processes.
fn prune(folder: &Path) -> io::Result<()> {
    let mut files: Vec<_> = fs::read_dir(folder)?.flatten().filter(is_own).collect();
    files.sort_by_key(|file| file.metadata().and_then(|data| data.modified()).unwrap_or(SystemTime::UNIX_EPOCH));
    let extra = files.len().saturating_sub(MOST);
    files[..extra].iter().try_for_each(|file| fs::remove_file(file.path()))
}

/// Returns whether a file has a name that the cache gives to its files.
fn is_own(file: &fs::DirEntry) -> bool {
    let name = file.file_name();
    let Some(stem) = name.to_str().and_then(|name| name.strip_suffix(ENDING)) else { return false };
    let is_hash = stem.len() == 2 * HASH && stem.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_hash || stem.starts_with(UNFINISHED)) && file.file_type().is_ok_and(|kind| kind.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use std::os::unix::fs::PermissionsExt;

    const RECIPE: Recipe = Recipe { source: "kernel", options: &["--a", "sm_90"], compiler: [12, 9], version: "1.0.0" };
    const PROGRAM: &[u8] = b"\x7fELF and so on";

    /// Returns the program, and whether it was compiled by this call.
    fn get(programs: &Programs, recipe: &Recipe) -> (Vec<u8>, bool) {
        let mut compiled = false;
        let program = programs.get(recipe, || {
            compiled = true;
            Ok(PROGRAM.to_vec())
        });
        (program.expect("a program"), compiled)
    }

    /// Returns the result of [`get`] with a new cache that uses `folder`, as another process would.
    fn through(folder: &Path, recipe: &Recipe) -> (Vec<u8>, bool) {
        get(&Programs::new(Some(folder.to_owned())), recipe)
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path()).collect()
    }

    fn only_file(folder: &Path) -> PathBuf {
        let [file] = &files(folder)[..] else { panic!("one file") };
        file.clone()
    }

    #[test]
    fn a_program_is_compiled_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let below = folder.path().join("not/yet/there");
        assert_eq!(through(&below, &RECIPE), (PROGRAM.to_vec(), true));
        assert_eq!(through(&below, &RECIPE), (PROGRAM.to_vec(), false));
        assert_eq!(only_file(&below).extension(), Some("cubin".as_ref()));
    }

    #[test]
    fn everything_that_decides_makes_another_program() {
        let others = [
            Recipe { source: "Kernel", ..RECIPE },
            Recipe { options: &["--a", "sm_80"], ..RECIPE },
            Recipe { options: &["--asm_90"], ..RECIPE },
            Recipe { options: &[], ..RECIPE },
            Recipe { compiler: [12, 8], ..RECIPE },
            Recipe { compiler: [13, 9], ..RECIPE },
            Recipe { version: "1.0.1", ..RECIPE },
        ];
        let folder = tempfile::tempdir().expect("a folder");
        assert!(through(folder.path(), &RECIPE).1);
        for (index, other) in others.iter().enumerate() {
            assert!(through(folder.path(), other).1, "recipe {index} is taken for another recipe");
        }
        assert_eq!(files(folder.path()).len(), 1 + others.len());
        assert!(!through(folder.path(), &RECIPE).1);
    }

    #[test]
    fn a_file_that_is_not_as_it_was_written_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        through(folder.path(), &RECIPE);
        let path = only_file(folder.path());
        let whole = fs::read(&path).expect("a file");
        let flipped = |at: usize| {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            bytes
        };
        let longer = [&whole[..], b"x"].concat();
        let damaged = [flipped(0), flipped(HASH), flipped(whole.len() - 1), longer];
        let short = (0..whole.len()).map(|length| whole[..length].to_vec());
        for bytes in damaged.into_iter().chain(short) {
            fs::write(&path, &bytes).expect("a file");
            assert_eq!(through(folder.path(), &RECIPE), (PROGRAM.to_vec(), true), "{} bytes", bytes.len());
            assert_eq!(fs::read(&path).expect("a file"), whole);
        }
        // a valid cache file of another program, copied to this file name, is also rejected
        through(folder.path(), &Recipe { version: "2.0.0", ..RECIPE });
        let other = files(folder.path()).into_iter().find(|file| *file != path).expect("the other file");
        fs::copy(other, &path).expect("a copy");
        assert!(through(folder.path(), &RECIPE).1);
    }

    #[test]
    fn a_process_compiles_once_where_no_folder_can_be_used() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        fs::write(&file, "no folder").expect("a file");
        for unusable in [file.as_path(), &file.join("below"), Path::new("/proc/md")] {
            assert_eq!(through(unusable, &RECIPE), (PROGRAM.to_vec(), true));
            assert_eq!(through(unusable, &RECIPE), (PROGRAM.to_vec(), true));
        }
        for programs in [Programs::new(Some(file)), Programs::default()] {
            assert_eq!(get(&programs, &RECIPE), (PROGRAM.to_vec(), true));
            assert_eq!(get(&programs, &RECIPE), (PROGRAM.to_vec(), false));
            assert!(get(&programs, &Recipe { version: "2.0.0", ..RECIPE }).1);
        }
    }

    #[test]
    fn what_does_not_compile_is_not_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let programs = Programs::new(Some(folder.path().to_owned()));
        assert!(programs.get(&RECIPE, || Err(Error::Device("does not compile".into()))).is_err());
        assert_eq!(files(folder.path()).len(), 0);
    }

    #[test]
    fn the_oldest_go_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = |n: usize| folder.path().join(format!("{UNFINISHED}{n}{ENDING}"));
        let foreign = ["notes.txt", "other.cubin", "0.tmp"].map(|name| folder.path().join(name));
        for path in &foreign {
            let file = fs::File::create(path).expect("a file");
            file.set_modified(SystemTime::UNIX_EPOCH).expect("a time");
        }
        for n in 0..MOST + 3 {
            let file = fs::File::create(name(n)).expect("a file");
            // the file with the highest number is the oldest
            let age = std::time::Duration::from_secs(3600 * (n as u64 + 1));
            file.set_modified(SystemTime::now() - age).expect("a time");
        }
        through(folder.path(), &RECIPE);
        let mut left = files(folder.path());
        assert!(foreign.iter().all(|path| left.contains(path)), "{left:?}");
        left.retain(|file| file.file_name().expect("a name").to_string_lossy().starts_with(UNFINISHED));
        left.sort();
        let mut expected: Vec<PathBuf> = (0..MOST - 1).map(name).collect();
        expected.sort();
        assert_eq!(left, expected);
        assert!(!through(folder.path(), &RECIPE).1);
    }

    #[test]
    fn a_folder_that_others_may_write_to_is_not_used() {
        let folder = tempfile::tempdir().expect("a folder");
        through(folder.path(), &RECIPE);
        let path = only_file(folder.path());
        for (mode, compiled) in [(0o700, false), (0o755, false), (0o775, true), (0o757, true), (0o777, true)] {
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).expect("a mode");
            assert_eq!(through(folder.path(), &RECIPE), (PROGRAM.to_vec(), compiled), "{mode:o}");
        }
        fs::remove_file(&path).expect("a file");
        through(folder.path(), &RECIPE);
        assert_eq!(files(folder.path()).len(), 0);
        // a folder that the cache creates is accessible to its owner only
        let own = folder.path().join("own");
        through(&own, &RECIPE);
        assert_eq!(own.metadata().expect("a folder").mode() & 0o777, PRIVATE);
    }
}
