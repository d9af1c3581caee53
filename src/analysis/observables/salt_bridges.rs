//! Salt bridges between charged side chains of proteins.

use std::collections::BTreeMap;

use super::presence::{Presence, add_numbers, add_residue_pairs, residue_name};
use super::{Input, Options, check_distance};
use crate::analysis::findings::Findings;
use crate::analysis::pass::{FrameObserver, Observable, Passed};
use crate::analysis::system::{AnalysedSystem, Group};
use crate::error::{Problem, Result};
use crate::neighbours::Neighbours;
use crate::observe::trajectory::StoredFrame;
use crate::system::Topology;
use crate::vec3::Vec3;

/// Results: number over time; pairs of residues (from 0), acid first, with occupancy
#[derive(Debug, clap::Args)]
pub(super) struct SaltBridgesOptions {
    /// Selection of atoms; an acid or base is considered if one of its atoms is selected
    #[arg(long, value_name = "TEXT", default_value = "protein")]
    select: String,
    /// Largest distance of an oxygen of the acid and a nitrogen of the base
    #[arg(long, value_name = "LENGTH", value_parser = super::length, default_value = "0.4 nm")]
    cutoff: f64,
}

impl Options for SaltBridgesOptions {
    fn observable(&self, input: &mut Input<'_>) -> Result<Box<dyn FrameObserver>> {
        let group = input.system.group(&self.select)?;
        Ok(Box::new(SaltBridges::new(input.system, group, self.cutoff)?))
    }
}

/// Observable of salt bridges: a carboxylate oxygen of ASP or GLU is within the cutoff of NZ of LYS, of NE, NH1 or NH2
/// of ARG, or of ND1 or NE2 of a doubly protonated histidine (Barlow & Thornton, J. Mol. Biol. 168, 867 (1983),
/// doi:10.1016/S0022-2836(83)80079-5).
///
/// Residues whose hydrogens make them neutral are left out: acids with a hydrogen on a carboxyl oxygen, LYS with fewer
/// than three hydrogens on NZ, and histidine without a hydrogen on each ring nitrogen. If the topology has no hydrogens
/// on the charged atoms of a residue, the name of the residue decides whether the residue is charged.
struct SaltBridges {
    group: Group,
    cutoff: f64,
    /// charged atoms of acids and of bases, each with its residue
    sites: [Vec<(u32, u32)>; 2],
    names: BTreeMap<u32, String>,
    presence: Presence<[u32; 2]>,
}

/// Names of histidine residues in force fields. [`CHARGED_HISTIDINES`] has the names of doubly protonated histidine.
const HISTIDINES: [&str; 11] = ["HIS", "HID", "HIE", "HIP", "HSD", "HSE", "HSP", "HISD", "HISE", "HISH", "HISP"];
const CHARGED_HISTIDINES: [&str; 4] = ["HIP", "HSP", "HISH", "HISP"];

/// Returns the kind of the charged group of a residue (0 for acids, 1 for bases) and the names of its charged atoms;
/// `None` for other residues.
fn charged(name: &str) -> Option<(usize, &'static [&'static str])> {
    // force fields of AMBER put N or C before the names of terminal residues
    let inner = name.strip_prefix(['N', 'C']).filter(|inner| inner.len() >= 3).unwrap_or(name);
    match inner {
        "ASP" => Some((0, &["OD1", "OD2"])),
        "GLU" => Some((0, &["OE1", "OE2"])),
        "LYS" | "LYP" | "LYSH" => Some((1, &["NZ"])),
        "ARG" => Some((1, &["NE", "NH1", "NH2"])),
        name if HISTIDINES.contains(&name) => Some((1, &["ND1", "NE2"])),
        _ => None,
    }
}

/// Whether a residue is charged, by its name and by the number of hydrogens on each of its charged atoms.
fn is_charged(name: &str, hydrogens: &[u32]) -> bool {
    let inner = name.strip_prefix(['N', 'C']).filter(|inner| inner.len() >= 3).unwrap_or(name);
    let none = hydrogens.iter().all(|number| *number == 0);
    match inner {
        "ASP" | "GLU" => none,
        "ARG" => true,
        name if HISTIDINES.contains(&name) => match none {
            true => CHARGED_HISTIDINES.contains(&name),
            false => hydrogens.len() == 2 && hydrogens.iter().all(|number| *number > 0),
        },
        _ => none || hydrogens[0] == 3,
    }
}

/// Returns the charged atoms of the acids and of the bases that have an atom in the group, each with its residue.
fn sites(topology: &Topology, group: &Group) -> [Vec<(u32, u32)>; 2] {
    let mut hydrogens = vec![0; topology.atoms.len()];
    for &[a, b] in &topology.connectivity {
        for [from, to] in [[a, b], [b, a]] {
            hydrogens[from as usize] += u32::from(topology.atoms[to as usize].element == 1);
        }
    }
    let residue = |atom: &u32| topology.atoms[*atom as usize].residue;
    let mut found = [vec![], vec![]];
    for atoms in group.atoms.chunk_by(|a, b| residue(a) == residue(b)) {
        let residue = residue(&atoms[0]);
        let name = topology.residues[residue as usize].name;
        let Some((kind, names)) = charged(name.as_str()) else { continue };
        let all = topology.residue_atoms(residue as usize);
        let own: Vec<usize> = all.filter(|&atom| names.contains(&topology.atoms[atom].name.as_str())).collect();
        let numbers: Vec<u32> = own.iter().map(|&atom| hydrogens[atom]).collect();
        if !own.is_empty() && is_charged(name.as_str(), &numbers) {
            found[kind].extend(own.into_iter().map(|atom| (atom as u32, residue)));
        }
    }
    found
}

impl SaltBridges {
    /// Creates the observable for the residues of a group.
    fn new(system: &AnalysedSystem<'_>, group: Group, cutoff: f64) -> Result<Self> {
        let topology = system.topology();
        let sites = sites(topology, &group);
        let [acids, bases] = &sites;
        if acids.is_empty() || bases.is_empty() {
            let missing = if acids.is_empty() { "charged ASP or GLU" } else { "charged LYS, ARG or HIS" };
            let problem = Problem::new(format!(
                "no salt bridge is possible: no {missing} is in the selection \"{}\"",
                group.text
            ));
            return Err(problem.help("select residues of both charges by --select").into());
        }
        let residues = sites.iter().flatten().map(|(_, residue)| (*residue, residue_name(topology, *residue)));
        Ok(SaltBridges { cutoff, names: residues.collect(), sites, group, presence: Presence::new() })
    }
}

impl Observable for SaltBridges {
    type Sample = Vec<[u32; 2]>;

    fn memory(&self, frames: usize) -> f64 {
        Presence::<[u32; 2]>::bytes(self.names.len() / 2, frames)
    }

    fn measure(&self, frame: &StoredFrame) -> Result<Self::Sample> {
        check_distance(frame, self.cutoff, "--cutoff")?;
        let [acids, bases] = &self.sites;
        let at = |atom: u32| frame.positions[atom as usize];
        let nitrogens: Vec<Vec3> = bases.iter().map(|(atom, _)| at(*atom)).collect();
        let grid = Neighbours::new(frame.cell.as_ref(), &nitrogens, self.cutoff);
        let mut found = vec![];
        for &(oxygen, acid) in acids {
            grid.visit(at(oxygen), |nitrogen, _| found.push([acid, bases[nitrogen as usize].1]));
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    fn add(&mut self, pairs: Self::Sample) -> Result<()> {
        self.presence.add(&pairs);
        Ok(())
    }

    fn finish(&mut self, passed: &Passed) -> Result<Findings> {
        let mut findings = Findings::default();
        add_numbers(&mut findings, passed, self.presence.numbers(), &format!("Salt bridges: {}", self.group.text));
        add_residue_pairs(&mut findings, &self.presence, &self.names, " – ");
        findings.settings = vec![("select", self.group.text.clone()), ("cutoff", format!("{} nm", self.cutoff))];
        Ok(findings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::system::Images;
    use crate::system::{Atom, Name, Residue};
    use crate::vec3::vec3;

    /// Creates a topology of residues from the names of their atoms. Each hydrogen is bonded to the last heavy atom
    /// before it.
    fn topology(residues: &[(&str, &[&str])]) -> Topology {
        let mut topology = Topology::default();
        for (index, (name, atoms)) in residues.iter().enumerate() {
            let first = topology.atoms.len() as u32;
            topology.residues.push(Residue { name: Name::new(name), number: 1 + index as i32, first });
            let mut heavy = first;
            for atom in *atoms {
                let number = topology.atoms.len() as u32;
                let element = match &atom[..1] {
                    "H" => 1,
                    "N" => 7,
                    _ => 8,
                };
                match element {
                    1 => topology.connectivity.push([heavy, number]),
                    _ => heavy = number,
                }
                let (name, residue) = (Name::new(atom), index as u32);
                let atom = Atom { name, type_name: name, element, mass: 1.0, charge: 0.0, lj_type: 0, residue };
                topology.atoms.push(atom);
            }
        }
        topology
    }

    #[test]
    fn neutral_residues_are_left_out() {
        let topology = topology(&[
            ("ASP", &["OD1", "OD2"]),
            ("ASP", &["OD1", "OD2", "HD2"]),
            ("CGLU", &["OE1", "OE2", "O"]),
            ("LYS", &["N", "NZ", "HZ1", "HZ2", "HZ3"]),
            ("LYS", &["NZ", "HZ1", "HZ2"]),
            ("HIS", &["ND1", "HD1", "NE2", "HE2"]),
            ("HIS", &["ND1", "NE2", "HE2"]),
            ("HIP", &["ND1", "NE2"]),
            ("ALA", &["N", "O"]),
        ]);
        let system = AnalysedSystem::new(&topology, Images::Gathered);
        let [acids, bases] = sites(&topology, &system.group("all").unwrap());
        let residues = |sites: Vec<(u32, u32)>| sites.into_iter().map(|(_, residue)| residue).collect::<Vec<u32>>();
        assert_eq!((residues(acids), residues(bases)), (vec![0, 0, 2, 2], vec![3, 5, 5, 7, 7]));
    }

    /// The two oxygens of an acid are within the cutoff of one lysine and beyond the cutoff of another lysine. The acid
    /// and the first lysine count as one salt bridge.
    #[test]
    fn pairs_of_residues_count_once() {
        let topology = topology(&[("ASP", &["OD1", "OD2"]), ("LYS", &["NZ"]), ("LYS", &["NZ"])]);
        let system = AnalysedSystem::new(&topology, Images::Gathered);
        let bridges = SaltBridges::new(&system, system.group("all").unwrap(), 0.4).unwrap();
        let at = [[0.0, 0.1], [0.0, -0.1], [0.38, 0.0], [-0.39, 0.0]].map(|[x, y]| vec3(x, y, 0.0)).to_vec();
        // distances of oxygen and nitrogen: √(0.38² + 0.1²) = 0.393 and √(0.39² + 0.1²) = 0.403 nm
        assert_eq!(bridges.measure(&StoredFrame { positions: at, ..StoredFrame::default() }).unwrap(), [[0, 1]]);
    }
}
