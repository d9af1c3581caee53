//! Hydrogen bonds between two groups: number, pairs with their occupancy, and lifetime.

use std::collections::BTreeMap;

use super::hydrogen_bonds::{Criterion, CriterionOptions, Sites};
use super::presence::{Correlation, Presence, add_correlation, add_numbers, add_occupancies};
use super::{Input, Options};
use crate::analysis::findings::{Array, Findings};
use crate::analysis::pass::{FrameObserver, Observable, Passed};
use crate::analysis::system::{AnalysedSystem, Group};
use crate::error::{Problem, Result};
use crate::observe::trajectory::StoredFrame;

/// Results: number over time; donor, hydrogen, acceptor (atoms, from 0) and occupancy of each bond; C(t) and the
/// autocorrelation of the fluctuations (relaxation) by lag (ps)
#[derive(Debug, clap::Args)]
pub(super) struct HbondsOptions {
    /// Selection of the donors; their hydrogens need not be selected
    #[arg(long, value_name = "TEXT", default_value = "protein or nucleic")]
    select: String,
    /// Selection of the acceptors; default: the same as --select
    #[arg(long, value_name = "TEXT")]
    with: Option<String>,
    /// Also count bonds from donors in --with to acceptors in --select
    #[arg(long)]
    both: bool,
    #[command(flatten)]
    criterion: CriterionOptions,
}

impl Options for HbondsOptions {
    fn observable(&self, input: &mut Input<'_>) -> Result<Box<dyn FrameObserver>> {
        let first = input.system.group(&self.select)?;
        let second = input.system.group(self.with.as_ref().unwrap_or(&self.select))?;
        let criterion = self.criterion.criterion();
        Ok(Box::new(HydrogenBonds::new(input.system, [first, second], self.both, self.criterion.fluorine, criterion)?))
    }
}

/// Observable of hydrogen bonds from donors of one group to acceptors of another group.
///
/// C(t) is ⟨h(0) h(t)⟩ / ⟨h⟩ with h = 1 while a pair is bonded (Luzar, J. Chem. Phys. 113, 10663 (2000),
/// doi:10.1063/1.1320826). A bond that breaks and forms again between the same atoms counts as the same bond. C(t)
/// decays to ⟨h⟩, and the lifetime of a hydrogen bond is the integral of the part that decays to zero, the
/// autocorrelation of the fluctuations h − ⟨h⟩ ([`Presence::fluctuations`]).
struct HydrogenBonds {
    groups: [Group; 2],
    both: bool,
    criterion: Criterion,
    searches: Vec<Sites>,
    /// names of donors and acceptors
    names: BTreeMap<u32, String>,
    presence: Presence<[u32; 3]>,
}

impl HydrogenBonds {
    /// Creates the observable for the groups of the donors and of the acceptors. `both` adds the bonds from donors of
    /// the second group to acceptors of the first group.
    fn new(
        system: &AnalysedSystem<'_>,
        groups: [Group; 2],
        both: bool,
        fluorine: bool,
        criterion: Criterion,
    ) -> Result<Self> {
        let topology = system.topology();
        let [first, second] = &groups;
        let mut searches = vec![Sites::between(system, [first, second], fluorine)?];
        if both {
            searches.push(Sites::between(system, [second, first], fluorine)?);
        }
        if searches.iter().all(Sites::is_empty) {
            let Sites { donors, acceptors } = &searches[0];
            let message = format!(
                "no hydrogen bond is possible: {} bonds of N, O or S to hydrogen in \"{}\", {} acceptors in \"{}\"",
                donors.len(),
                first.text,
                acceptors.len(),
                second.text
            );
            let help = "choose other atoms by --select and --with; hydrogens and bonds come from the topology";
            return Err(Problem::new(message).help(help).into());
        }
        let ends = |sites: &Sites| {
            let donors = sites.donors.iter().map(|[donor, _]| *donor);
            donors.chain(sites.acceptors.iter().copied()).collect::<Vec<u32>>()
        };
        let names = searches.iter().flat_map(ends).map(|atom| (atom, topology.atom_name(atom))).collect();
        Ok(HydrogenBonds { groups, both, criterion, searches, names, presence: Presence::new() })
    }
}

impl Observable for HydrogenBonds {
    type Sample = Vec<[u32; 3]>;

    fn memory(&self, frames: usize) -> f64 {
        Presence::<[u32; 3]>::bytes(self.searches.iter().map(|sites| sites.donors.len()).sum(), frames)
    }

    fn atoms_used(&self) -> usize {
        self.searches.iter().map(Sites::end).max().unwrap_or(0)
    }

    fn measure(&self, frame: &StoredFrame) -> Result<Self::Sample> {
        let mut found = vec![];
        for sites in &self.searches {
            found.extend(self.criterion.bonds(frame, sites)?);
        }
        // if both directions are searched, bonds between atoms that are in both groups are found twice
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    fn add(&mut self, bonds: Self::Sample) -> Result<()> {
        self.presence.add(&bonds);
        Ok(())
    }

    fn finish(&mut self, passed: &Passed) -> Result<Findings> {
        let [first, second] = self.groups.each_ref().map(|group| group.text.clone());
        let between = if first == second { first.clone() } else { format!("{first} – {second}") };
        let mut findings = Findings::default();
        add_numbers(&mut findings, passed, self.presence.numbers(), &format!("Hydrogen bonds: {between}"));
        let values = self.presence.intermittent();
        let correlation = Correlation {
            name: "correlation",
            quantity: "autocorrelation",
            label: "C(t)",
            title: format!("Persistence of hydrogen bonds: {between}"),
            suffix: "correlation",
            relaxation: self.presence.fluctuations(&values),
            of_relaxation: "the autocorrelation of the fluctuations",
            values,
        };
        add_correlation(&mut findings, passed, correlation);
        let bonds = self.presence.occupancies();
        let name = |atom: &u32| self.names.get(atom).map_or("", String::as_str);
        let named = bonds.iter().map(|([d, _, a], occupancy)| (format!("{} … {}", name(d), name(a)), *occupancy));
        add_occupancies(&mut findings, named.collect());
        for (index, array) in ["donor", "hydrogen", "acceptor"].into_iter().enumerate() {
            let atoms: Vec<u32> = bonds.iter().map(|(bond, _)| bond[index]).collect();
            findings.arrays.push(Array::new(array, [("pair", bonds.len())], atoms, ""));
        }
        findings.settings = vec![("select", first), ("with", second), ("both", self.both.to_string())];
        findings.settings.extend(self.criterion.settings());
        Ok(findings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::findings::Values;
    use crate::analysis::observables::hydrogen_bonds::Kind;
    use crate::analysis::system::Images;
    use crate::system::{Atom, Name, Residue, Topology};
    use crate::vec3::vec3;

    /// A hydrogen of a first water points to the oxygen of a second water, which is 0.3 nm away in every second frame
    /// and 0.5 nm away in the other frames. At even lags, C(t) is 1/⟨h⟩ = 2 times the fraction of pairs of frames in
    /// which both frames have the bond. At odd lags, C(t) is zero.
    #[test]
    fn a_bond_that_breaks_in_every_second_frame() {
        let atom = |element: u8, residue| {
            let name = Name::new(if element == 8 { "O" } else { "H" });
            Atom { name, type_name: name, element, mass: 1.0, charge: 0.0, lj_type: 0, residue }
        };
        let residue = |first| Residue { name: Name::new("WAT"), number: 1 + first as i32 / 3, first };
        let topology = Topology {
            atoms: vec![atom(8, 0), atom(1, 0), atom(1, 0), atom(8, 1), atom(1, 1), atom(1, 1)],
            residues: vec![residue(0), residue(3)],
            connectivity: vec![[0, 1], [0, 2], [1, 2], [3, 4], [3, 5]],
            ..Topology::default()
        };
        let system = AnalysedSystem::new(&topology, Images::Gathered);
        let groups = || [system.group("all").unwrap(), system.group("water and element O").unwrap()];
        let options = CriterionOptions { criterion: Kind::LuzarChandler, distance: None, angle: None, fluorine: false };
        let mut found = HydrogenBonds::new(&system, groups(), true, false, options.criterion()).unwrap();
        let water = [vec3(0.0, 0.0, 0.0), vec3(0.1, 0.0, 0.0), vec3(-0.03, 0.09, 0.0)];
        // the second water turns its hydrogens away
        let other = [vec3(0.0, 0.0, 0.0), vec3(0.06, 0.08, 0.0), vec3(0.06, -0.08, 0.0)];
        let mut passed = Passed::default();
        for t in 0..8 {
            let apart = vec3(if t % 2 == 0 { 0.3 } else { 0.5 }, 0.0, 0.0);
            let positions = water.into_iter().chain(other.map(|r| r + apart)).collect();
            found.observe(&[StoredFrame { positions, ..StoredFrame::default() }]).unwrap();
            passed.times.push(f64::from(t));
        }
        assert_eq!(found.presence.occupancies(), [([0, 1, 3], 0.5)]);
        let expected = [1.0, 0.0, 3.0 / 6.0 * 2.0, 0.0, 2.0 / 4.0 * 2.0, 0.0, 1.0 / 2.0 * 2.0, 0.0];
        assert_eq!(found.presence.intermittent(), expected);
        let findings = found.finish(&passed).unwrap();
        let of = |name| findings.arrays.iter().find(|array| array.name == name).unwrap();
        assert_eq!(of("number").values, Values::Whole(vec![1, 0, 1, 0, 1, 0, 1, 0]));
        assert_eq!(of("pair").values, Values::Text(vec!["O of WAT 1 … O of WAT 2".to_owned()]));
        let hydrogens = system.group("hydrogen").unwrap();
        assert!(
            HydrogenBonds::new(&system, [hydrogens.clone(), hydrogens], false, false, options.criterion()).is_err()
        );
    }
}
