//! CHARMM lone pairs: positions, energies and forces are compared with OpenMM, and faulty files must be refused.

use std::path::{Path, PathBuf};

use md::error::Result;
use md::format::{Coordinates, read_coordinates, read_topology_with};
use md::system::Description;
use md::team::Team;
use md::virtual_sites::SitePlan;

use crate::charmm::{agree, evaluate, options};

/// Folder of the system that `tests/systems/build/lone_pairs.py` writes.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/lone-pairs")
}

fn read(psf: &Path) -> Result<Description> {
    read_topology_with(psf, &options(&folder(), &["lone-pairs.prm"]))
}

#[test]
fn places_energies_and_forces_agree_with_openmm() {
    let description = read(&folder().join("lone-pairs.psf")).unwrap();
    let Coordinates { positions: theirs, .. } = read_coordinates(&folder().join("lone-pairs.crd"), None, None).unwrap();
    let sites = description.topology.virtual_sites.clone();
    assert_eq!(sites.iter().map(|site| site.site).collect::<Vec<_>>(), [4, 6, 7, 12, 16]);
    let mut positions = theirs.clone();
    sites.iter().for_each(|site| positions[site.site as usize] = md::vec3::Vec3::ZERO);
    SitePlan::new(&description.topology).place(&Team::single(), &mut positions);
    for site in sites {
        let away = (positions[site.site as usize] - theirs[site.site as usize]).norm();
        // positions in the file have ten decimals in Å
        assert!(away < 1e-10, "site {}: {away} nm", site.site);
    }
    agree(&folder(), "lone-pairs.psf", 7, &evaluate(description, &positions));
}

#[test]
fn a_lone_pair_has_the_exclusions_of_its_host() {
    let topology = read(&folder().join("lone-pairs.psf")).unwrap().topology;
    let excluded = |i: u32, j: u32| topology.exclusions.contains(i, j);
    // a lone pair excludes its host, the other lone pairs of the host, and atoms one and two bonds from the host, but
    // not atoms three bonds away
    assert!([3, 0, 1].iter().all(|&i| excluded(i, 4)) && !excluded(2, 4));
    assert!(excluded(6, 7) && excluded(6, 8) && excluded(2, 7) && excluded(1, 7) && !excluded(0, 7));
    assert!(excluded(5, 0) && topology.bonded.pairs14.iter().any(|pair| pair.atoms == [0, 5]));
    let of_sites = [4, 6, 7, 12, 16];
    assert!(topology.connectivity.iter().flatten().all(|atom| !of_sites.contains(atom)));
    assert!(topology.bonded.pairs14.iter().flat_map(|pair| pair.atoms).all(|atom| !of_sites.contains(&atom)));
}

/// Asserts that the changed file is refused with a message that names the line containing `place`, and that contains
/// every word of `words`.
#[track_caller]
fn refused(from: &str, to: &str, place: &str, words: &[&str]) {
    let text = std::fs::read_to_string(folder().join("lone-pairs.psf")).unwrap();
    assert_eq!(text.matches(from).count(), 1, "{from}");
    let text = text.replacen(from, to, 1);
    let line = text.lines().position(|line| line.contains(place)).unwrap() + 1;
    let (_folder, path) = crate::literal::file("lone-pairs.psf", text.as_bytes());
    let error = read(&path).err().map(|error| error.to_string()).unwrap_or_else(|| panic!("{words:?} is accepted"));
    assert!(error.contains(&format!("lone-pairs.psf:{line}: ")), "expected line {line} in: {error}");
    for word in words {
        assert!(error.contains(word), "expected {word:?} in: {error}");
    }
}

#[test]
fn what_is_not_supported_is_refused_with_its_line() {
    let coli = "         2         1   F          1.64             0             0";
    let row = |text: &str, words: &[&str]| refused(coli, text, text, words);
    row("         2         1   T   1.64 0 0", &["center of mass", "colinear, relative and bisector"]);
    row("         2         1   F   1.64 0.5 0", &["0.5 times the distance of its hosts"]);
    row("         2         1   F   0.0 0.5 0", &["0.5 times the distance of its hosts"]);
    row("         2         1   F   0.0 0 0", &["whose distance is 0"]);
    row("         1         1   F   1.64 0 0", &["a lone pair of 1 hosts"]);
    row("         4         1   F   1.64 0 0", &["a lone pair of 4 hosts"]);
    row("         2        18   F   1.64 0 0", &["the hosts of the lone pair are not among the 19 atoms of the list"]);
    row("         2         0   F   1.64 0 0", &["expected a lone pair such as"]);
    row("         2         1   F   1.64 0", &["expected a lone pair such as"]);
    refused("5      19 !NUMLP", "5      20 !NUMLP", "!NUMLP", &["NUMLPH is 20, but 19 atoms follow"]);
    refused("5      19 !NUMLP", "5 !NUMLP", "!NUMLP", &["expected two counts"]);
    refused(
        "      14      15      16\n",
        "      14      15      18\n",
        "      14      15      18",
        &["atom number 18 is not between"],
    );
    let lp1 = "0.050000      0.000000";
    refused(lp1, "0.050000      1.000000", "1.000000 ", &["atom 5 (LP1) has the mass 1"]);
    let massless = "-0.300000      0.000000";
    refused("-0.300000     15.999000", massless, massless, &["atom 6 (O) has the mass 0", "NUMLP NUMLPH"]);
}
