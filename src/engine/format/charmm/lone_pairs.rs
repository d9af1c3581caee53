//! Lone pairs (`NUMLP NUMLPH`): massless sites that are placed relative to other atoms, which are called hosts.
//!
//! The heading of the section `NUMLP NUMLPH` has two counts. The heading is followed by a line for each site, with the
//! number of hosts, an index into the list at the end of the section, a flag and three numbers (Å, degrees). The list
//! at the end of the section gives for each site the atom number of the site and the atom numbers of its hosts.
//! According to the documentation of CHARMM (`lonepair.doc`) and the reader of OpenMM, the kinds of sites are
//!
//! - colinear, two hosts: the site is at the given distance from the first host, away from the second host (`COLI`);
//! - relative, three hosts, distance above zero: the site is at the given distance, angle and dihedral from the
//!   first, second and third host (`RELA`);
//! - bisector, three hosts, distance below zero: the site is placed as in the relative kind, with the midpoint of the
//!   second and third host in place of the second host (`BISE`).
//!
//! Unsupported lone pairs are an error: lone pairs at centers of geometry or mass, and lone pairs whose distance is
//! given as a multiple of the distance of the hosts.

use super::Parsed;
use super::psf::{Heading, Lines, Psf, index, numbers};
use crate::format::number;
use crate::system::{Construction, VirtualSite};
use crate::units::ANGSTROM;

/// Row of the section of lone pairs, which describes one lone pair.
struct Row {
    hosts: usize,
    /// index of the site in the list of atom numbers at the end of the section, from 0
    at: usize,
    /// distance (Å), angle and dihedral (degrees); for colinear sites the second number is a factor of the distance
    /// between the hosts
    values: [f64; 3],
    /// 1-based line number of the row in the PSF file
    line: usize,
}

/// Reads the section of lone pairs below its heading. `atoms` is the number of atoms in the file.
pub(super) fn read(lines: &mut Lines<'_>, heading: &Heading, atoms: usize) -> Parsed<Vec<VirtualSite>> {
    let [count, listed] = heading.counts[..] else {
        return Err(lines.problem("expected two counts: the number of lone pairs, and the length of the list of atoms"));
    };
    let mut rows = vec![];
    for index in 0..count {
        let line = lines.next().ok_or_else(|| lines.cut(&format!("lone pair {} of {count}", index + 1)))?;
        rows.push(row(line, lines)?);
    }
    let list = numbers(lines)?;
    if list.len() != listed {
        let message = format!("NUMLPH is {listed}, but {} atoms follow", list.len());
        return Err(lines.problem(message).at_line(heading.line).help("the file is damaged or cut off"));
    }
    let mut sites = vec![];
    for row in rows {
        let problem = |message: String| lines.problem(message).at_line(row.line);
        let members = list.get(row.at..).and_then(|list| list.get(..=row.hosts));
        let members = members.ok_or_else(|| {
            problem(format!("the hosts of the lone pair are not among the {listed} atoms of the list"))
        })?;
        let index = |&(number, line): &(i32, usize)| index(lines, number, line, atoms);
        let members = members.iter().map(index).collect::<Parsed<Vec<u32>>>()?;
        let construction = construction(&members[1..], row.values);
        let construction = construction.map_err(|what| problem(what).help(KINDS))?;
        sites.push(VirtualSite { site: members[0], construction });
    }
    Ok(sites)
}

/// Returns an error if a lone pair has a mass, or if another atom has no mass. Removes the bonds of lone pairs.
pub(super) fn check(lines: &Lines<'_>, psf: &mut Psf) -> Parsed<()> {
    let mut is_site = vec![false; psf.atoms.len()];
    psf.sites.iter().for_each(|site| is_site[site.site as usize] = true);
    let wrong = psf.atoms.iter().zip(&is_site).position(|(atom, &is_site)| (atom.mass == 0.0) != is_site);
    if let Some(wrong) = wrong {
        let atom = &psf.atoms[wrong];
        let problem = lines.problem(format!("atom {} ({}) has the mass {}", wrong + 1, atom.name, atom.mass));
        let help = "lone pairs have no mass and are listed in the section NUMLP NUMLPH; all other atoms have a mass";
        return Err(problem.at_line(atom.line).help(help));
    }
    psf.bonds.retain(|bond| bond.iter().all(|&atom| !is_site[atom as usize]));
    Ok(())
}

/// Parses a row such as `3 1 F -0.15 0.0 0.0`: number of hosts, index in the list, a flag for weights by mass, and
/// three numbers.
fn row(line: &[u8], lines: &Lines<'_>) -> Parsed<Row> {
    let words: Vec<&[u8]> = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
    let read = || {
        let [hosts, at, weighted, values @ ..] = &words[..] else { return None };
        let count = |word| number::integer(word).and_then(|n| usize::try_from(n).ok());
        let [a, b, c] = *values else { return None };
        let values = [number::real(a)?, number::real(b)?, number::real(c)?];
        Some((*weighted, Row { hosts: count(hosts)?, at: count(at)?.checked_sub(1)?, values, line: lines.at() }))
    };
    match read() {
        Some((b"F" | b"f", row)) => Ok(row),
        Some((b"T" | b"t", _)) => Err(lines.problem("a lone pair at a center of mass").help(KINDS)),
        _ => {
            let message = format!("expected a lone pair such as `3 1 F -0.15 0.0 0.0`, found {}", number::quoted(line));
            Err(lines
                .problem(message)
                .help("the line has the number of hosts, the index in the list, F, distance, angle and dihedral"))
        }
    }
}

const KINDS: &str = "md supports colinear, relative and bisector lone pairs with a distance in Å";

/// Returns the construction of a site from its hosts. The error names the kind of site that is not supported.
fn construction(hosts: &[u32], [distance, second, third]: [f64; 3]) -> Result<Construction, String> {
    let length = distance.abs() * ANGSTROM;
    match *hosts {
        [_, _] if second != 0.0 => Err(format!("a lone pair at {second} times the distance of its hosts")),
        _ if distance == 0.0 => Err("a lone pair whose distance is 0".into()),
        // a positive distance places the site on the side of the first host away from the second host
        [i, j] => Ok(Construction::FixedDistance2 { atoms: [i, j], distance: -distance * ANGSTROM }),
        [i, j, k] => {
            // x̂ points from the first host to the second host if the distance is positive, and to the midpoint of the
            // second and third host if the distance is negative; ŷ points from the third host to the second host
            let along = if distance > 0.0 { [-1.0, 1.0, 0.0] } else { [-1.0, 0.5, 0.5] };
            let (angle, dihedral) = (second.to_radians(), (180.0 - third).to_radians());
            let across = length * angle.sin();
            Ok(Construction::LocalFrame {
                atoms: vec![i, j, k],
                weights: vec![[1.0, along[0], 0.0], [0.0, along[1], 1.0], [0.0, along[2], -1.0]],
                position: [length * angle.cos(), across * dihedral.cos(), across * dihedral.sin()],
            })
        }
        _ => Err(format!("a lone pair of {} hosts", hosts.len())),
    }
}
