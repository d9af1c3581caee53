//! Whatever bytes come: an answer or a refusal, never a panic.

use std::sync::LazyLock;

use md::format::{read_coordinates, read_prmtop};
use proptest::prelude::*;

use crate::literal::{PRMTOP, RST7};

/// A valid NetCDF restart.
static NETCDF: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.ncrst");
    crate::restart::write_netcdf(&path, netcdf3::Version::Offset64Bit, "angstrom/picosecond", false);
    std::fs::read(&path).unwrap()
});

/// Changes to a file: overwrite a byte, cut out a range, repeat a range, cut the end.
#[derive(Clone, Debug)]
enum Damage {
    Overwrite(prop::sample::Index, u8),
    Remove(prop::sample::Index, usize),
    Repeat(prop::sample::Index, usize),
    Cut(prop::sample::Index),
}

fn damage() -> impl Strategy<Value = Vec<Damage>> {
    let index = any::<prop::sample::Index>;
    // digits, signs and separators reach deeper than arbitrary bytes
    let byte = prop_oneof![any::<u8>(), prop::sample::select(b"0123456789-+.*%E \n".to_vec())];
    let one = prop_oneof![
        4 => (index(), byte).prop_map(|(at, byte)| Damage::Overwrite(at, byte)),
        1 => (index(), 1..100usize).prop_map(|(at, length)| Damage::Remove(at, length)),
        1 => (index(), 1..100usize).prop_map(|(at, length)| Damage::Repeat(at, length)),
        1 => index().prop_map(Damage::Cut),
    ];
    prop::collection::vec(one, 1..6)
}

fn apply(original: &[u8], damages: &[Damage]) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for damage in damages {
        if bytes.is_empty() {
            break;
        }
        match damage {
            Damage::Overwrite(at, byte) => {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            Damage::Remove(at, length) => {
                let at = at.index(bytes.len());
                bytes.drain(at..(at + length).min(bytes.len()));
            }
            Damage::Repeat(at, length) => {
                let at = at.index(bytes.len());
                let piece = bytes[at..(at + length).min(bytes.len())].to_vec();
                bytes.splice(at..at, piece);
            }
            Damage::Cut(at) => bytes.truncate(at.index(bytes.len())),
        }
    }
    bytes
}

/// Read damaged copies; a refusal must be the input's fault (exit 2) and name the file.
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
        check(PRMTOP.as_bytes(), &damages, |path| read_prmtop(path).map(|amber| amber.topology.atoms.len()));
    }

    #[test]
    fn damaged_coordinates_never_panic(damages in damage()) {
        check(RST7.as_bytes(), &damages, |path| read_coordinates(path, None, None).map(|c| c.positions.len()));
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
    // damage near the CHARMM sections, which the literal file has not
    let text = String::from_utf8(bytes.clone()).unwrap();
    let places = ["%FLAG CHARMM_UREY", "%FLAG CHARMM_IMPROPERS", "%FLAG CHARMM_CMAP_COUNT", "%FLAG CHARMM_CMAP_PARA"];
    for place in places {
        let start = text.find(place).unwrap();
        for step in 0..60 {
            let mut damaged = bytes.clone();
            damaged[start + 7 * step] = b"9-*% "[step % 5];
            check(&damaged, &[], |path| read_prmtop(path).map(|amber| amber.topology.atoms.len()));
        }
    }
    for step in 0..200 {
        let mut damaged = packed.clone();
        damaged[step * packed.len() / 200] ^= 1 << (step % 8);
        let (_folder, path) = crate::literal::file("damaged.xz", &damaged);
        let _ = read_prmtop(&path);
    }
}
