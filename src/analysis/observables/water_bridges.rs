//! Water bridges: waters that are hydrogen bonded to two residues.

use std::collections::BTreeMap;

use super::hydrogen_bonds::{Criterion, CriterionOptions, Sites};
use super::presence::{Presence, add_numbers, add_residue_pairs, residue_name};
use super::{Input, Options};
use crate::analysis::findings::{Array, Findings, TIME};
use crate::analysis::pass::{FrameObserver, Observable, Passed};
use crate::analysis::system::{AnalysedSystem, Group};
use crate::error::{Problem, Result};
use crate::observe::trajectory::StoredFrame;

/// Results: number of bridging waters and of bridged pairs of residues over time; pairs of residues with occupancy
#[derive(Debug, clap::Args)]
pub(super) struct WaterBridgesOptions {
    /// Selection of the atoms whose residues are bridged
    #[arg(long, value_name = "TEXT", default_value = "protein or nucleic")]
    select: String,
    /// Selection of the waters
    #[arg(long, value_name = "TEXT", default_value = "water")]
    water: String,
    #[command(flatten)]
    criterion: CriterionOptions,
}

impl Options for WaterBridgesOptions {
    fn observable(&self, input: &mut Input<'_>) -> Result<Box<dyn FrameObserver>> {
        let groups = [input.system.group(&self.select)?, input.system.group(&self.water)?];
        let criterion = self.criterion.criterion();
        Ok(Box::new(WaterBridges::new(input.system, groups, self.criterion.fluorine, criterion)?))
    }
}

/// Observable of water bridges of first order: a water has hydrogen bonds, as donor or acceptor, to two residues.
struct WaterBridges {
    groups: [Group; 2],
    criterion: Criterion,
    /// two searches for hydrogen bonds: donors of the residues with acceptors of waters, and donors of waters with
    /// acceptors of the residues
    searches: [Sites; 2],
    /// residue of each atom
    residues: Vec<u32>,
    /// names of the residues that may be bridged
    names: BTreeMap<u32, String>,
    presence: Presence<[u32; 2]>,
    waters: Vec<u32>,
}

impl WaterBridges {
    /// Creates the observable for the groups of the bridged residues and of the waters.
    fn new(system: &AnalysedSystem<'_>, groups: [Group; 2], fluorine: bool, criterion: Criterion) -> Result<Self> {
        let topology = system.topology();
        let [bridged, water] = &groups;
        if let Some(&atom) = bridged.atoms.iter().find(|atom| water.atoms.binary_search(atom).is_ok()) {
            let message = format!("{} is selected by both --select and --water", topology.atom_name(atom));
            return Err(Problem::new(message).help("leave waters out of --select").into());
        }
        let sites = |groups| Sites::between(system, groups, fluorine);
        let searches = [sites([bridged, water])?, sites([water, bridged])?];
        if searches.iter().all(Sites::is_empty) {
            let message = format!(
                "no hydrogen bond is possible between the selections \"{}\" and \"{}\"",
                bridged.text, water.text
            );
            let help = "choose other atoms by --select and --water; hydrogens and bonds come from the topology";
            return Err(Problem::new(message).help(help).into());
        }
        let residues: Vec<u32> = topology.atoms.iter().map(|atom| atom.residue).collect();
        let name = |&atom: &u32| (residues[atom as usize], residue_name(topology, residues[atom as usize]));
        let names = bridged.atoms.iter().map(name).collect();
        Ok(WaterBridges { groups, criterion, searches, residues, names, presence: Presence::new(), waters: vec![] })
    }
}

impl Observable for WaterBridges {
    /// number of bridging waters, and bridged pairs of residues
    type Sample = (u32, Vec<[u32; 2]>);

    fn memory(&self, frames: usize) -> f64 {
        Presence::<[u32; 2]>::bytes(self.names.len(), frames)
    }

    fn atoms_used(&self) -> usize {
        self.searches.iter().map(Sites::end).max().unwrap_or(0)
    }

    fn measure(&self, frame: &StoredFrame) -> Result<Self::Sample> {
        let [given, taken] = &self.searches;
        let residue = |atom: u32| self.residues[atom as usize];
        // each hydrogen bond as a pair: the residue of the water, and the residue of the group
        let mut bonds: Vec<[u32; 2]> =
            self.criterion.bonds(frame, given)?.iter().map(|&[d, _, a]| [residue(a), residue(d)]).collect();
        bonds.extend(self.criterion.bonds(frame, taken)?.iter().map(|&[d, _, a]| [residue(d), residue(a)]));
        bonds.sort_unstable();
        bonds.dedup();
        let (mut waters, mut pairs) = (0, vec![]);
        for bonds in bonds.chunk_by(|a, b| a[0] == b[0]).filter(|bonds| bonds.len() > 1) {
            waters += 1;
            for (index, first) in bonds.iter().enumerate() {
                pairs.extend(bonds[index + 1..].iter().map(|second| [first[1], second[1]]));
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        Ok((waters, pairs))
    }

    fn add(&mut self, (waters, pairs): Self::Sample) -> Result<()> {
        self.waters.push(waters);
        self.presence.add(&pairs);
        Ok(())
    }

    fn finish(&mut self, passed: &Passed) -> Result<Findings> {
        let [bridged, water] = self.groups.each_ref().map(|group| group.text.clone());
        let mut findings = Findings::default();
        add_numbers(&mut findings, passed, &self.waters, &format!("Bridging waters: {bridged}"));
        add_residue_pairs(&mut findings, &self.presence, &self.names, " – ");
        let pairs = self.presence.numbers().to_vec();
        findings.arrays.push(Array::new("bridged_pairs", [(TIME, pairs.len())], pairs, ""));
        findings.settings = vec![("select", bridged), ("water", water)];
        findings.settings.extend(self.criterion.settings());
        Ok(findings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::observables::hydrogen_bonds::Kind;
    use crate::analysis::system::Images;
    use crate::system::{Atom, Name, Residue, Topology};
    use crate::vec3::{Vec3, vec3};

    /// A water donates a hydrogen bond to the oxygen of one residue and accepts a hydrogen bond from the nitrogen of
    /// another residue. If the hydrogen of the nitrogen points elsewhere, or if oxygen and nitrogen are in one residue,
    /// there is no water bridge.
    #[test]
    fn a_water_between_a_donor_and_an_acceptor() {
        let found = |of_nitrogen: u32, hydrogen: Vec3| {
            let atom = |element: u8, residue| {
                let name = Name::new("X");
                Atom { name, type_name: name, element, mass: 1.0, charge: 0.0, lj_type: 0, residue }
            };
            let residue = |name, first| Residue { name: Name::new(name), number: 1 + first as i32, first };
            let topology = Topology {
                atoms: vec![atom(8, 0), atom(7, of_nitrogen), atom(1, of_nitrogen), atom(8, 2), atom(1, 2), atom(1, 2)],
                residues: vec![residue("ALA", 0), residue("GLY", 1), residue("WAT", 3)],
                connectivity: vec![[1, 2], [3, 4], [3, 5]],
                ..Topology::default()
            };
            let system = AnalysedSystem::new(&topology, Images::Gathered);
            let groups = [system.group_of("solute", vec![0, 1, 2]), system.group_of("water", vec![3, 4, 5])];
            let options =
                CriterionOptions { criterion: Kind::LuzarChandler, distance: None, angle: None, fluorine: false };
            let bridges = WaterBridges::new(&system, groups, false, options.criterion()).unwrap();
            let nitrogen = vec3(-0.28, 0.0, 0.0);
            let water = [vec3(0.0, 0.0, 0.0), vec3(0.1, 0.0, 0.0), vec3(-0.03, 0.09, 0.0)];
            let positions = [vec3(0.28, 0.0, 0.0), nitrogen, nitrogen + hydrogen].into_iter().chain(water).collect();
            bridges.measure(&StoredFrame { positions, ..StoredFrame::default() }).unwrap()
        };
        assert_eq!(found(1, vec3(0.1, 0.0, 0.0)), (1, vec![[0, 1]]));
        assert_eq!(found(0, vec3(0.1, 0.0, 0.0)), (0, vec![]));
        assert_eq!(found(1, vec3(-0.1, 0.0, 0.0)), (0, vec![]));
    }
}
