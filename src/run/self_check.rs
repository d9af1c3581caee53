//! Whether a GPU computes what the CPU computes: forces and energies of one state, before a run relies on them.

use crate::backend::{Backend, Evaluation, ForceField, Workload};
use crate::error::{Error, Result};
use crate::system::State;
use crate::vec3::Vec3;

/// RMS difference of the forces over their RMS. Either side is within 2·10⁻⁵ of the exact forces, the project's bar for
/// interactions in `f32` (`tests/forces.rs`), and so within twice that of the other.
const FORCE: f64 = 4e-5;
/// On a perfect lattice forces cancel, and roundings stay: then the RMS difference itself, kJ/mol/nm. That of one side is
/// 10⁻³ at most in the tests, where forces are right to 2·10⁻⁵ of the ones that cancel.
const LATTICE_FORCE: f64 = 2e-3;
/// Difference of any energy over the sum of the absolute terms: twice the bar of 10⁻⁶, as for the forces.
const ENERGY: f64 = 2e-6;

/// What a comparison has shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict {
    /// both give the same, and how nearly
    Agrees(String),
    /// they do not, and by how much
    Differs(String),
    /// forces are beyond what a GPU takes, as those of overlapping atoms: nothing has been compared
    Undecided,
}

/// Compares a GPU with a force field of the CPU at `state`.
pub(super) fn compare(gpu: &mut impl Backend, cpu: &mut impl ForceField, state: &State) -> Result<Verdict> {
    let workload = Workload { energy: true, virial: false };
    gpu.upload(state)?;
    gpu.rebuild_pairs();
    gpu.prune_pairs();
    match gpu.forces(workload) {
        Err(Error::Unstable { .. }) => return Ok(Verdict::Undecided),
        outcome => outcome?,
    }
    let (cell, positions, mut expected) = (state.cell.as_ref(), &state.positions, Evaluation::default());
    cpu.rebuild(cell, positions);
    cpu.prune(cell, positions);
    cpu.evaluate(cell, positions, workload, &mut expected)?;
    Ok(judge(gpu.evaluation(), &expected))
}

/// The forces first: energies are their sums.
fn judge(found: &Evaluation, expected: &Evaluation) -> Verdict {
    let (error, scale) = (rms_difference(&found.forces, &expected.forces), rms(expected.forces.iter().copied()));
    let relative = error / scale.max(f64::MIN_POSITIVE);
    // what is not a number is within no bar
    let forces_agree = error <= FORCE * scale || error <= LATTICE_FORCE;
    if !forces_agree {
        return Verdict::Differs(format!(
            "the GPU's forces differ from the CPU's by {relative:.1e} of their RMS, bar {FORCE:.0e}"
        ));
    }
    let e = &expected.energies;
    let terms = [e.bond, e.angle, e.urey_bradley, e.proper, e.improper, e.cmap, e.lj, e.coulomb];
    let total = terms.iter().map(|term| term.abs()).sum::<f64>().max(f64::MIN_POSITIVE);
    let mut largest: f64 = 0.0;
    for ((name, ours), (_, theirs)) in found.energies.named().into_iter().zip(e.named()) {
        let off = (ours - theirs).abs() / total;
        let agrees = off <= ENERGY;
        if !agrees {
            let what = format!("the GPU's energy \"{name}\" is {ours:.6e} kJ/mol and the CPU's {theirs:.6e}");
            return Verdict::Differs(format!("{what}: {off:.1e} of all terms apart, bar {ENERGY:.0e}"));
        }
        largest = largest.max(off);
    }
    Verdict::Agrees(format!("forces are within {relative:.1e} and energies within {largest:.1e} of the CPU's"))
}

fn rms(vectors: impl ExactSizeIterator<Item = Vec3>) -> f64 {
    let number = vectors.len().max(1) as f64;
    (vectors.map(|v| v.norm_squared()).sum::<f64>() / number).sqrt()
}

fn rms_difference(a: &[Vec3], b: &[Vec3]) -> f64 {
    rms(a.iter().zip(b).map(|(a, b)| *a - *b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cuda::{Emulated, Kernel, Sample};
    use crate::backend::{Cpu, CpuOptions};
    use crate::simd::Level;
    use crate::team::Team;
    use crate::vec3::vec3;

    fn compared(sample: &Sample, device: Emulated) -> Verdict {
        let options = CpuOptions { parts: 1, level: Level::Portable, schedule: sample.schedule() };
        let mut cpu = Cpu::new(&sample.system, options, Team::single()).expect("a supported system");
        compare(&mut sample.on(device), &mut cpu, &sample.state).expect("two backends that work")
    }

    #[test]
    fn a_device_that_works_agrees() {
        for name in ["peptide-charged", "peptide-vacuum", "argon"] {
            let verdict = compared(&Sample::load(name), Emulated::new(0));
            assert!(matches!(verdict, Verdict::Agrees(_)), "{name}: {verdict:?}");
        }
    }

    #[test]
    fn a_device_that_forgets_a_kernel_is_found_out() {
        // parts of the force from less than a thousandth of all to nearly everything
        for kernel in [Kernel::BondedSums, Kernel::PairLorentzBerthelotSums, Kernel::Gather5, Kernel::SolveSums] {
            let verdict = compared(&Sample::load("peptide-charged"), Emulated::without(kernel));
            let Verdict::Differs(what) = verdict else { panic!("{kernel:?}: {verdict:?}") };
            assert!(what.contains("bar"), "{what}");
        }
    }

    #[test]
    fn overlapping_atoms_tell_nothing() {
        let mut sample = Sample::load("water");
        sample.state.positions[30] = sample.state.positions[300] + vec3(0.02, 0.0, 0.0);
        assert_eq!(compared(&sample, Emulated::new(0)), Verdict::Undecided);
    }

    #[test]
    fn a_wrong_energy_is_named() {
        let forces = vec![vec3(100.0, 0.0, 0.0); 3];
        let mut right = Evaluation { forces, ..Evaluation::default() };
        (right.energies.angle, right.energies.coulomb) = (1000.0, -9000.0);
        let mut wrong = right.clone();
        wrong.energies.angle += 0.019;
        assert!(matches!(judge(&wrong, &right), Verdict::Agrees(_)));
        wrong.energies.angle += 0.002;
        assert!(matches!(judge(&wrong, &right), Verdict::Differs(what) if what.contains("\"angle\"")));
        wrong.energies.angle = f64::NAN;
        assert!(matches!(judge(&wrong, &right), Verdict::Differs(_)));
        wrong.forces[1].x = f64::NAN;
        assert!(matches!(judge(&wrong, &right), Verdict::Differs(what) if what.contains("forces")));
    }
}
