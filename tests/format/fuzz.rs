//! Tests that readers accept or refuse arbitrary bytes, and never panic.

use std::sync::LazyLock;

use md::format::{read_coordinates, read_topology};
use proptest::prelude::*;

use crate::damage::{Damage, apply, damage};
use crate::gromacs_text::{G96, GRO, TOP};
use crate::literal::{PRMTOP, RST7};

/// A valid NetCDF restart.
static NETCDF: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.ncrst");
    crate::restart::write_netcdf(&path, netcdf3::Version::Offset64Bit, "angstrom/picosecond", false);
    std::fs::read(&path).unwrap()
});

/// Reads damaged copies of a file. If a copy is refused, the error must be an input error (exit code 2) and name the
/// file.
fn check(original: &[u8], damages: &[Damage], read: impl Fn(&std::path::Path) -> md::error::Result<usize>) {
    let (_folder, path) = crate::literal::file("damaged", &apply(original, damages));
    match read(&path) {
        Ok(atoms) => assert!(atoms > 0),
        Err(error) => {
            assert_eq!(error.exit_code(), 2, "{error}");
            assert!(error.to_string().contains("damaged"), "{error}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_topologies_never_panic(damages in damage()) {
        check(PRMTOP.as_bytes(), &damages, |path| read_topology(path).map(|amber| amber.topology.atoms.len()));
    }

    #[test]
    fn damaged_coordinates_never_panic(damages in damage()) {
        check(RST7.as_bytes(), &damages, |path| read_coordinates(path, None, None).map(|c| c.positions.len()));
    }

    #[test]
    fn damaged_gromacs_topologies_never_panic(damages in damage()) {
        check(TOP.as_bytes(), &damages, |path| read_topology(path).map(|found| found.topology.atoms.len()));
    }

    #[test]
    fn damaged_gromacs_coordinates_never_panic(damages in damage()) {
        for text in [GRO, G96] {
            check(text.as_bytes(), &damages, |path| read_coordinates(path, None, None).map(|c| c.positions.len()));
        }
    }

    #[test]
    fn damaged_xml_never_panics(damages in damage()) {
        let read = |path: &std::path::Path| read_topology(path).map(|read| read.topology.atoms.len());
        check(crate::openmm::XML.as_bytes(), &damages, read);
    }

    #[test]
    fn damaged_charmm_files_never_panic(file in 0..5usize, damages in damage()) {
        crate::charmm::read_damaged(file, &damages);
    }

    #[test]
    fn damaged_cards_never_panic(damages in damage()) {
        check(crate::charmm::CARD.as_bytes(), &damages, |path| read_coordinates(path, None, None).map(|c| c.positions.len()));
    }

    #[test]
    fn damaged_restarts_never_panic(damages in damage()) {
        check(&NETCDF, &damages, |path| read_coordinates(path, None, None).map(|c| c.positions.len()));
    }

    #[test]
    fn damaged_archives_never_panic(damages in damage()) {
        let zstd = ruzstd::encoding::compress_to_vec(RST7.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut gzip, RST7.as_bytes()).unwrap();
        for packed in [zstd, gzip.finish().unwrap()] {
            check(&packed, &damages, |path| read_coordinates(path, None, None).map(|c| c.positions.len()));
        }
    }
}

#[test]
fn damaged_chamber_topologies_never_panic() {
    let Some(root) = crate::shared_systems() else { return };
    let path = crate::system_file(&root.join("charmm36-ala3"), "prmtop");
    let bytes = md::format::read(&path).unwrap();
    let packed = std::fs::read(&path).unwrap();
    // the damage is near the CHARMM sections, which the file in `literal.rs` does not contain
    let text = String::from_utf8(bytes.clone()).unwrap();
    let places = ["%FLAG CHARMM_UREY", "%FLAG CHARMM_IMPROPERS", "%FLAG CHARMM_CMAP_COUNT", "%FLAG CHARMM_CMAP_PARA"];
    for place in places {
        let start = text.find(place).unwrap();
        for step in 0..60 {
            let mut damaged = bytes.clone();
            damaged[start + 7 * step] = b"9-*% "[step % 5];
            check(&damaged, &[], |path| read_topology(path).map(|amber| amber.topology.atoms.len()));
        }
    }
    for step in 0..200 {
        let mut damaged = packed.clone();
        damaged[step * packed.len() / 200] ^= 1 << (step % 8);
        let (_folder, path) = crate::literal::file("damaged.xz", &damaged);
        let _ = read_topology(&path);
    }
}
