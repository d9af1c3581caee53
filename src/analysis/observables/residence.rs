//! Residence of atoms near a group: number over time, and survival probability.

use super::presence::{Correlation, Presence, add_correlation, add_numbers};
use super::{Input, Options, check_distance};
use crate::analysis::findings::Findings;
use crate::analysis::pass::{FrameObserver, Observable, Passed};
use crate::analysis::system::Group;
use crate::error::{Problem, Result};
use crate::neighbours::Neighbours;
use crate::observe::trajectory::StoredFrame;

/// Results: number over time; survival probability of all atoms, and of those that come or leave (relaxation), by lag
/// (ps)
#[derive(Debug, clap::Args)]
pub(super) struct ResidenceOptions {
    /// Selection of atoms that define the region
    #[arg(long, value_name = "TEXT", default_value = "protein and heavy")]
    select: String,
    /// Selection of atoms that visit the region
    #[arg(long, value_name = "TEXT", default_value = "water and element O")]
    with: String,
    /// Largest distance from the nearest atom of --select
    #[arg(long, value_name = "LENGTH", value_parser = super::length, default_value = "0.35 nm")]
    cutoff: f64,
}

impl Options for ResidenceOptions {
    fn observable(&self, input: &mut Input<'_>) -> Result<Box<dyn FrameObserver>> {
        let groups = [input.system.group(&self.select)?, input.system.group(&self.with)?];
        if let Some(atom) = groups[1].atoms.iter().find(|atom| groups[0].atoms.binary_search(atom).is_ok()) {
            let atom = input.system.topology().atom_name(*atom);
            let problem = Problem::new(format!("{atom} is selected by both --select and --with"));
            let help = "exclude the atoms of --select from --with, because they never leave the region";
            return Err(problem.help(help).into());
        }
        Ok(Box::new(Residence { groups, cutoff: self.cutoff, presence: Presence::new() }))
    }
}

/// Observable of the atoms of a group within a cutoff of another group.
///
/// The survival probability P(τ) is the fraction of the atoms in the region at a time t that are in the region in all
/// frames from t to t+τ, averaged over all times t (Liu, Harder & Berne, J. Phys. Chem. B 108, 6595 (2004),
/// doi:10.1021/jp0375057). The residence time is its integral for the atoms that are not in the region in all frames.
struct Residence {
    groups: [Group; 2],
    cutoff: f64,
    presence: Presence<u32>,
}

impl Observable for Residence {
    /// atoms (0-based) in the region
    type Sample = Vec<u32>;

    fn memory(&self, frames: usize) -> f64 {
        // estimate: the number of atoms in the region is about the size of the smaller group, because a hydration shell
        // has about as many atoms as the solute
        Presence::<u32>::bytes(self.groups[0].atoms.len().min(self.groups[1].atoms.len()), frames)
    }

    fn measure(&self, frame: &StoredFrame) -> Result<Self::Sample> {
        check_distance(frame, self.cutoff, "--cutoff")?;
        let [centers, visitors] = self.groups.each_ref().map(|group| group.stored(frame));
        let grid = Neighbours::new(frame.cell.as_ref(), &visitors, self.cutoff);
        let mut near = vec![false; visitors.len()];
        centers.into_iter().for_each(|center| grid.visit(center, |visitor, _| near[visitor as usize] = true));
        let atoms = self.groups[1].atoms.iter().zip(near);
        Ok(atoms.filter(|(_, near)| *near).map(|(atom, _)| *atom).collect())
    }

    fn add(&mut self, atoms: Self::Sample) -> Result<()> {
        self.presence.add(&atoms);
        Ok(())
    }

    fn finish(&mut self, passed: &Passed) -> Result<Findings> {
        let [center, visitor] = self.groups.each_ref().map(|group| group.text.clone());
        let visits = format!("{visitor} within {} nm of {center}", self.cutoff);
        let mut findings = Findings::default();
        add_numbers(&mut findings, passed, self.presence.numbers(), &format!("Number of {visits}"));
        let correlation = Correlation {
            name: "survival",
            quantity: "survival probability",
            label: "P(τ)",
            title: format!("Survival of {visits}"),
            suffix: "survival",
            values: self.presence.continuous(),
            relaxation: self.presence.continuous_of_transient(),
            of_relaxation: "P(τ) of atoms that come or leave",
        };
        add_correlation(&mut findings, passed, correlation);
        let atoms = self.presence.occupancies().len();
        findings.summary.push(format!("visitors     {atoms} different atoms"));
        findings.settings = vec![("select", center), ("with", visitor), ("cutoff", format!("{} nm", self.cutoff))];
        Ok(findings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::findings::Values;
    use crate::analysis::system::{AnalysedSystem, Images};
    use crate::cell::PeriodicCell;
    use crate::system::{Atom, Name, Topology};
    use crate::vec3::vec3;

    /// An atom is in the region for two frames, leaves the region for one frame and returns for two frames; in some
    /// frames the atom is beyond a face of the cell. Without the last frame, the atom is in the region in three frames.
    /// In two of the three cases, the atom is also in the region in the next frame. The survival probability is
    /// therefore 2/3 at a lag of one frame, and zero at a lag of two frames.
    #[test]
    fn an_atom_leaves_and_returns() {
        let name = Name::new("X");
        let atom = Atom { name, type_name: name, element: 8, mass: 1.0, charge: 0.0, lj_type: 0, residue: 0 };
        let topology = Topology { atoms: vec![atom; 2], ..Topology::default() };
        let system = AnalysedSystem::new(&topology, Images::Gathered);
        let groups = [system.group_of("index 0", vec![0]), system.group_of("index 1", vec![1])];
        let mut residence = Residence { groups, cutoff: 0.35, presence: Presence::new() };
        let mut passed = Passed::default();
        // the distances are 0.4, 0.3, 0.2, 0.4, 0.2 and 0.3 nm
        for (t, x) in [2.7, 2.8, 0.3, 0.5, 0.3, 2.8].into_iter().enumerate() {
            let positions = vec![vec3(0.1, 0.0, 0.0), vec3(x, 0.0, 0.0)];
            let cell = Some(PeriodicCell::orthorhombic([3.0; 3]));
            residence.observe(&[StoredFrame { cell, positions, ..StoredFrame::default() }]).unwrap();
            passed.times.push(t as f64 * 2.0);
        }
        assert_eq!(residence.presence.numbers(), [0, 1, 1, 0, 1, 1]);
        let findings = residence.finish(&passed).unwrap();
        let of = |name| findings.arrays.iter().find(|array| array.name == name).unwrap().values.clone();
        assert_eq!(of("lag"), Values::Double(vec![0.0, 2.0, 4.0, 6.0, 8.0, 10.0]));
        let Values::Double(survival) = of("survival") else { panic!("f64") };
        assert_eq!(survival[..5], [1.0, 2.0 / 3.0, 0.0, 0.0, 0.0]);
        assert!(survival[5].is_nan(), "no atom is in the region in the first frame");
    }
}
