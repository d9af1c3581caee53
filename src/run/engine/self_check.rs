//! Comparison of a GPU with the CPU before a run uses the GPU. First the forces and energies of one state are compared,
//! and then the positions after one step from this state.

use crate::backend::{Backend, Energies, Evaluation, Leapfrog, Workload, accuracy};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::system::State;
use crate::vec3::{Vec3, rms, rms_difference};

// GPU and CPU may each have an error up to the limit, so that their difference may be twice as large.

/// Largest RMS difference between the forces on GPU and CPU, relative to the RMS force.
const FORCE: f64 = 2.0 * accuracy::FORCE;
/// Largest RMS difference (kJ/mol/nm) between the forces on GPU and CPU on a perfect lattice.
const LATTICE_FORCE: f64 = 2.0 * accuracy::LATTICE_FORCE;
/// Largest difference between an energy term on the GPU and on the CPU, relative to the sum of the absolute energy
/// terms.
const ENERGY: f64 = 2.0 * accuracy::ENERGY;

/// Time step with which the positions on GPU and CPU are compared, ps.
const TIMESTEP: f64 = 0.002;
/// Largest RMS difference between the positions on GPU and CPU after a step from rest, relative to the RMS
/// displacement. Usual forces move an atom by 10⁻⁴ nm in a step. The constraint tolerances of 10⁻⁶ on GPU and CPU allow
/// differences of a thousandth of the usual displacement. The compared step uses the kernels that compute forces
/// without energies. A fault in such a kernel causes a difference above this limit.
const MOVE: f64 = 1e-2;
/// Largest RMS difference (nm) between the positions on GPU and CPU if atoms hardly move. The limit follows from the
/// constraints: a constraint length of 0.1 nm has a relative tolerance of 10⁻⁶ on GPU and on CPU.
const LEAST_MOVE: f64 = 2e-7;

/// Result of the comparison of GPU and CPU.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::run) enum Verdict {
    /// all differences between GPU and CPU are within the limits; the text states the differences
    Agrees(String),
    /// a difference between GPU and CPU exceeds its limit; the text states the differences
    Differs(String),
    /// interacting atoms overlap, so forces cannot be compared
    Undecided,
}

/// Compares forces, energies and one step of a GPU and the CPU, starting from `state`.
pub(in crate::run) fn compare(
    gpu: &mut Context<impl Backend + ?Sized>,
    cpu: &mut Context<impl Backend + ?Sized>,
    state: &State,
) -> Result<Verdict> {
    let (positions, velocities) = (state.positions.clone(), vec![Vec3::ZERO; state.positions.len()]);
    let still = State { cell: state.cell, positions, velocities, ..State::default() };
    let found = match evaluate(gpu, &still) {
        Err(Error::Unstable { .. }) => return Ok(Verdict::Undecided),
        outcome => outcome?,
    };
    let verdict = judge(found, evaluate(cpu, &still)?);
    let Verdict::Agrees(how) = verdict else { return Ok(verdict) };
    let expected = match step(cpu) {
        // the run itself will become unstable, and its error message is more helpful than a message of this check
        Err(Error::Unstable { .. }) => return Ok(Verdict::Agrees(how)),
        outcome => outcome?,
    };
    Ok(judge_move(&step(gpu)?, &expected, &still.positions, &how))
}

/// Evaluates forces, energies and virial of a state.
fn evaluate<'a>(context: &'a mut Context<impl Backend + ?Sized>, state: &State) -> Result<&'a Evaluation> {
    context.set_state(state)?;
    context.forces(Workload { energy: true, virial: false, ..Workload::FORCES })
}

/// Does one step without computing energies or the virial, and returns the new positions.
fn step(context: &mut Context<impl Backend + ?Sized>) -> Result<Vec<Vec3>> {
    context.forces(Workload::default())?;
    context.integrate(Leapfrog { timestep: TIMESTEP, ..Leapfrog::default() }, None)?;
    let mut state = State::default();
    context.flush()?;
    context.backend().download(&mut state)?;
    Ok(state.positions)
}

fn judge_move(found: &[Vec3], expected: &[Vec3], start: &[Vec3], how: &str) -> Verdict {
    let (off, moved) = (rms_difference(found, expected), rms_difference(expected, start));
    let relative = off / moved.max(f64::MIN_POSITIVE);
    // a NaN difference counts as a disagreement
    let agrees = off <= MOVE * moved || off <= LEAST_MOVE;
    if !agrees {
        return Verdict::Differs(format!(
            "positions on GPU and CPU after a step differ by {relative:.1e} of the RMS displacement; the \
             limit is {MOVE:.0e}"
        ));
    }
    Verdict::Agrees(format!("{how}, {relative:.1e} (displacement in a step)"))
}

/// Compares the forces and then the energies of GPU and CPU with the limits of this module.
fn judge(found: &Evaluation, expected: &Evaluation) -> Verdict {
    let (error, scale) = (rms_difference(&found.forces, &expected.forces), rms(expected.forces.iter().copied()));
    let relative = error / scale.max(f64::MIN_POSITIVE);
    // a NaN difference counts as a disagreement
    let forces_agree = error <= FORCE * scale || error <= LATTICE_FORCE;
    if !forces_agree {
        return Verdict::Differs(format!(
            "forces on GPU and CPU differ by {relative:.1e} of the RMS force; the limit is {FORCE:.0e}"
        ));
    }
    let least = accuracy::least_energy_scale(expected.forces.len());
    match compare_energies(&found.energies, &expected.energies, [ENERGY, least], 0.0, "the CPU's") {
        Ok(largest) => Verdict::Agrees(format!(
            "relative differences from the CPU: {relative:.1e} (forces), {largest:.1e} (energies)"
        )),
        Err(what) => Verdict::Differs(what),
    }
}

/// Compares the energy terms of `found` with the expected energy terms. Returns the largest difference, relative to the
/// sum of the absolute terms; a sum below `least` (kJ/mol) counts as `least`. Returns an error that names the first
/// term whose difference exceeds `slack` (kJ/mol) plus `bar` times this sum. `whose` names the source of the expected
/// energies in the message.
pub(in crate::run) fn compare_energies(
    found: &Energies,
    expected: &Energies,
    [bar, least]: [f64; 2],
    slack: f64,
    whose: &str,
) -> std::result::Result<f64, String> {
    let total = expected.magnitude().max(least);
    let mut largest: f64 = 0.0;
    for ((name, ours), (_, theirs)) in found.named().zip(expected.named()) {
        let off = (ours - theirs).abs() / total;
        let agrees = off <= bar + slack / total;
        if !agrees {
            let what = format!("the energy \"{name}\" is {ours:.6e} kJ/mol, and {whose} is {theirs:.6e} kJ/mol");
            return Err(format!(
                "{what}. The difference is {off:.1e} of the sum of all absolute terms; the limit is {bar:.0e}"
            ));
        }
        largest = largest.max(off);
    }
    Ok(largest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cuda::{Emulated, Kernel};
    use crate::backend::{Cpu, CpuOptions, Host};
    use crate::simd::Level;
    use crate::team::Team;
    use crate::testing::Sample;
    use crate::vec3::vec3;

    fn compared(sample: &Sample, device: Emulated) -> Verdict {
        let options = CpuOptions { parts: 1, level: Level::Portable, schedule: sample.schedule() };
        let cpu = Cpu::new(&sample.system, options, Team::single()).expect("a supported system");
        let host = Host::new(&sample.system, cpu, Level::Portable, Team::single()).expect("a supported system");
        let (mut gpu, mut cpu) = (
            Context::new(Box::new(sample.on(device)), sample.schedule()),
            Context::new(Box::new(host), sample.schedule()),
        );
        compare(&mut gpu, &mut cpu, &sample.state).expect("two backends that work")
    }

    #[test]
    fn a_device_that_works_agrees() {
        let rigid = |name| Sample::load(name).rigid();
        let samples = ["peptide-charged", "peptide-vacuum", "argon"].map(Sample::load);
        for sample in samples.into_iter().chain(["peptide-charged", "peptide-vacuum", "opc"].map(rigid)) {
            let verdict = compared(&sample, Emulated::new(0));
            assert!(matches!(&verdict, Verdict::Agrees(how) if how.contains("a step")), "{verdict:?}");
        }
    }

    #[test]
    fn a_device_that_forgets_a_kernel_is_found_out() {
        // the test omits each of four kernels, whose contributions range from less than a thousandth of the force to
        // nearly all of the force
        for kernel in [Kernel::Spread5, Kernel::PairLorentzBerthelotSums, Kernel::Gather5, Kernel::SolveLinesSums] {
            let verdict = compared(&Sample::load("peptide-charged"), Emulated::without(kernel));
            let Verdict::Differs(what) = verdict else { panic!("{kernel:?}: {verdict:?}") };
            assert!(what.contains("the limit is"), "{what}");
        }
    }

    #[test]
    fn a_device_that_moves_atoms_otherwise_is_found_out() {
        let kernels = [Kernel::PairLorentzBerthelot, Kernel::SolveLines, Kernel::Advance];
        for kernel in kernels {
            let verdict = compared(&Sample::load("peptide-charged").rigid(), Emulated::without(kernel));
            let Verdict::Differs(what) = verdict else { panic!("{kernel:?}: {verdict:?}") };
            assert!(what.contains("positions"), "{what}");
        }
        for (kernel, how) in
            [(Kernel::SpreadSitesSums, "forces"), (Kernel::SpreadSites, "positions"), (Kernel::PlaceSites, "positions")]
        {
            let verdict = compared(&Sample::load("tip4pew").rigid(), Emulated::without(kernel));
            let Verdict::Differs(what) = verdict else { panic!("{kernel:?}: {verdict:?}") };
            assert!(what.contains(how), "{kernel:?}: {what}");
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

    #[test]
    fn energies_that_cancel_may_be_rounded() {
        // two atoms with ε = 5 kJ/mol at the distance σ: the energy is zero, the sum of two terms of 20 kJ/mol, which
        // 16 roundings of 2⁻²⁴ of one of the terms change by 1.9e-5 kJ/mol
        let right = Evaluation { forces: vec![vec3(400.0, 0.0, 0.0); 2], ..Evaluation::default() };
        let mut wrong = right.clone();
        wrong.energies.lj = 20.0 * 16.0 * 2_f64.powi(-24);
        assert!(matches!(judge(&wrong, &right), Verdict::Agrees(_)));
        wrong.energies.lj *= 10.0;
        assert!(matches!(judge(&wrong, &right), Verdict::Differs(what) if what.contains("\"lj\"")));
    }
}
