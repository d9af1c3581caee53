//! Tests that truncated files are refused, unless the missing part contains no data.

use std::path::{Path, PathBuf};

use md::config::Config;
use md::format::{read_coordinates, read_topology};
use md::prepare::ConstrainedTerms;
use md::run::load;
use md::system::Description;

use crate::literal::file;

/// Returns the test systems that have a file with the given extension.
fn systems(extension: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems");
    let folders = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.map(|folder| {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        folder.join(format!("{name}.{extension}.xz"))
    });
    let mut files: Vec<PathBuf> = files.filter(|path| path.exists()).collect();
    files.sort();
    files
}

/// Positions at which a file is cut: every `step`-th byte, each of the last `all` bytes, and before and after every
/// `lines`-th newline.
fn cuts(bytes: &[u8], step: usize, all: usize, lines: usize) -> Vec<usize> {
    let newlines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
    let ends = newlines.step_by(lines).flat_map(|at| [at, at + 1]);
    let every = (0..bytes.len()).step_by(step).chain(bytes.len().saturating_sub(all)..bytes.len());
    let mut cuts: Vec<usize> = every.chain(ends).filter(|&at| at < bytes.len()).collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// Returns a text with all data on which forces depend.
fn meaning(amber: &Description) -> String {
    format!("{:?} {:?}", amber.topology, amber.nonbonded)
}

/// Truncates a topology at many positions. Each truncated file must be refused as an input error or give the same
/// system as the whole file.
fn cut_topology(bytes: &[u8], cuts: &[usize]) {
    let (_folder, path) = file("whole.prmtop", bytes);
    let whole = meaning(&read_topology(&path).unwrap_or_else(|error| panic!("{error}")));
    for &cut in cuts {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        match read_topology(&path) {
            Ok(part) => {
                let end = String::from_utf8_lossy(&bytes[cut.saturating_sub(80)..cut]);
                assert!(meaning(&part) == whole, "cut at byte {cut} of {}, behind {end}", bytes.len());
            }
            Err(error) => assert_eq!(error.exit_code(), 2, "{error}"),
        }
    }
}

#[test]
fn a_topology_with_cmap_cut_anywhere_keeps_its_cmap_or_is_refused() {
    let path = systems("prmtop").into_iter().find(|path| path.to_string_lossy().contains("ff19sb")).unwrap();
    let bytes = md::format::read(&path).unwrap();
    cut_topology(&bytes, &cuts(&bytes, 401, 2000, 2));
    // LEaP writes correction maps at the end of the file. If the maps are cut off, only the name of the force field
    // shows that they are missing
    let leap = as_leap_writes(std::str::from_utf8(&bytes).unwrap());
    let start = leap.find("%FLAG CMAP_COUNT").unwrap();
    let cuts = cuts(leap.as_bytes(), 1999, 500, 20).into_iter().chain([start - 1, start]).collect::<Vec<_>>();
    cut_topology(leap.as_bytes(), &cuts);
}

/// Returns the topology as LEaP writes it: correction maps are at the end of the file, and α carbons have the atom type
/// of ff19SB.
fn as_leap_writes(text: &str) -> String {
    let column = |section: &str| {
        let start = text.find(&format!("%FLAG {section}")).unwrap();
        let start = start + text[start..].find("(20a4)").unwrap();
        start + text[start..].find('\n').unwrap() + 1
    };
    let (names, types) = (column("ATOM_NAME"), column("AMBER_ATOM_TYPE"));
    let mut leap = text.to_owned();
    // the peptides are in the first two lines of twenty atoms
    for line in 0..2 {
        for at in (81 * line..81 * line + 80).step_by(4).filter(|at| &text[names + at..][..4] == "CA  ") {
            leap.replace_range(types + at..types + at + 4, "XC  ");
        }
    }
    let (start, end) = (leap.find("%FLAG CMAP_COUNT").unwrap(), leap.find("%FLAG SOLVENT_POINTERS").unwrap());
    let maps = leap[start..end].to_owned();
    leap.replace_range(start..end, "");
    leap + &maps
}

#[test]
fn other_topologies_cut_are_refused_or_mean_the_same() {
    let mut seen = 0;
    for path in systems("prmtop") {
        println!("{}", path.display());
        let bytes = md::format::read(&path).unwrap();
        // files with virtual sites are refused even if they are whole
        if path.to_string_lossy().contains("tip4pew") {
            continue;
        }
        cut_topology(&bytes, &cuts(&bytes, 1999, 300, 41));
        seen += 1;
    }
    assert!(seen >= 10, "only {seen} systems");
}

#[test]
fn coordinates_cut_anywhere_lose_nothing_unnoticed() {
    for path in systems("rst7") {
        let topology = path.to_string_lossy().replace(".rst7.", ".prmtop.");
        if topology.contains("tip4pew") {
            continue;
        }
        println!("{}", path.display());
        let bytes = md::format::read(&path).unwrap();
        let whole = read_coordinates(&path, None, None).unwrap();
        let text = std::str::from_utf8(&bytes).unwrap();
        // the box is in the last three lines, so that every byte of these lines is a cut position
        let last = text.trim_end().lines().rev().take(3).map(|line| line.len() + 1).sum();
        let (_folder, part) = file("part.rst7", &bytes);
        for cut in cuts(&bytes, 499, last, 7) {
            std::fs::write(&part, &bytes[..cut]).unwrap();
            let Ok(found) = read_coordinates(&part, Some(whole.positions.len()), None) else { continue };
            let place = format!("cut at byte {cut} of {}", bytes.len());
            assert!(found.positions == whole.positions, "{place}");
            // a cut may remove the velocities: a stage that needs velocities then reports the missing velocities
            assert!(found.velocities.is_none() || found.velocities == whole.velocities, "{place}");
            if found.cell != whole.cell {
                let input = format!("[system]\ntopology = {topology:?}\ncoordinates = {part:?}\n");
                let plan = Config::parse(&input, Path::new("input.toml"), &[]).unwrap().plan;
                let error = load(&plan, ConstrainedTerms::Keep).map(|_| ()).expect_err(&place).to_string();
                assert!(error.contains("the coordinates have no cell"), "{place}: {error}");
            }
        }
    }
}
