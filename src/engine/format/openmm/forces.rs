//! Reader of the bonded forces of OpenMM systems.

use std::f64::consts::PI;

use super::Parsed;
use crate::error::Problem;
use crate::format::number;
use crate::format::xml::Node;
use crate::system::{Angle, Bond, Cmap, CmapGrid, HarmonicImproper, RyckaertBellemans, Topology, Torsion};

/// Energy expression of harmonic impropers, without blanks, in the form that OpenMM's readers of CHARMM and AMBER files
/// write. [`GROMACS`] is the expression that OpenMM's reader of GROMACS files writes.
const CHARMM: &str = "k*min(dtheta,2*pi-dtheta)^2;dtheta=abs(theta-theta0)";
const GROMACS: &str =
    "0.5*k*(thetap-theta0)^2;thetap=step(-(theta-theta0+pi))*2*pi+theta+step(theta-theta0-pi)*(-2*pi)";
/// Energy expression of harmonic impropers in older force-field files of OpenMM.
const UNWRAPPED: &str = "k*(theta-theta0)^2";

/// Tolerance for the value of π that the energy expression of a harmonic improper contains.
const PI_TOLERANCE: f64 = 1e-6;

/// Adds the bonded terms of a force of the given kind. The system has `count` particles.
pub(super) fn add(force: &Node<'_>, kind: &str, count: usize, topology: &mut Topology) -> Parsed<()> {
    let bonded = &mut topology.bonded;
    match kind {
        "HarmonicBondForce" => {
            for node in force.list("Bonds")? {
                let atoms = node.particles(["p1", "p2"], count)?;
                let [length, force_constant] = node.reals(["d", "k"])?;
                bonded.bonds.push(Bond { atoms, length, force_constant });
            }
        }
        "HarmonicAngleForce" => {
            for node in force.list("Angles")? {
                let atoms = node.particles(["p1", "p2", "p3"], count)?;
                let [angle, force_constant] = node.reals(["a", "k"])?;
                bonded.angles.push(Angle { atoms, angle, force_constant });
            }
        }
        "PeriodicTorsionForce" => {
            for node in force.list("Torsions")? {
                let (atoms, periodicity) = (quadruple(&node, count)?, node.index("periodicity", 256)? as u8);
                let [phase, force_constant] = node.reals(["phase", "k"])?;
                bonded.propers.push(Torsion { atoms, periodicity, phase, force_constant });
            }
        }
        "RBTorsionForce" => {
            for node in force.list("Torsions")? {
                let coefficients = node.reals(["c0", "c1", "c2", "c3", "c4", "c5"])?;
                bonded.ryckaert_bellemans.push(RyckaertBellemans { atoms: quadruple(&node, count)?, coefficients });
            }
        }
        "CMAPTorsionForce" => maps(force, count, topology)?,
        "CustomTorsionForce" => match harmonic(force)? {
            Some(form) => harmonic_impropers(force, form, count, topology)?,
            None => {
                return Err(unsupported(force, "CustomTorsionForce whose energy is not that of harmonic impropers"));
            }
        },
        kind => return Err(unsupported(force, kind)),
    }
    Ok(())
}

pub(super) fn unsupported(force: &Node<'_>, kind: &str) -> Problem {
    let problem = force.problem(format!("a force of the kind {kind} is not supported"));
    problem.help(
        "md does not support it, and without it energies would be wrong: make the system from a force field without such forces, \
         or start from a prmtop, a top, or a psf with parameters",
    )
}

fn quadruple(node: &Node<'_>, count: usize) -> Parsed<[u32; 4]> {
    node.particles(["p1", "p2", "p3", "p4"], count)
}

/// Reads correction maps.
fn maps(force: &Node<'_>, count: usize, topology: &mut Topology) -> Parsed<()> {
    let bonded = &mut topology.bonded;
    let first = bonded.cmap_grids.len();
    for node in force.list("Maps")? {
        let energies = node.children().map(|energy| energy.real("e")).collect::<Parsed<Vec<f64>>>()?;
        let size = node.index("size", CmapGrid::SIZES.end() + 1)? as usize;
        if !CmapGrid::SIZES.contains(&size) || !size.is_multiple_of(2) || energies.len() != size * size {
            let message = format!("a map of size {size} with {} energies", energies.len());
            return Err(node.problem(message).help("expected an even size n of at least 4, and n² energies"));
        }
        bonded.cmap_grids.push(CmapGrid::from_openmm(size, &energies));
    }
    let maps = bonded.cmap_grids.len() - first;
    for node in force.list("Torsions")? {
        let [a, b, c, d] = node.particles(["a1", "a2", "a3", "a4"], count)?;
        let [e, f, g, h] = node.particles(["b1", "b2", "b3", "b4"], count)?;
        let grid = first as u32 + node.index("map", maps)?;
        bonded.cmaps.push(Cmap { atoms: [a, b, c, d, e, f, g, h], grid });
    }
    Ok(())
}

/// Energy f · ½ k (θ − θ₀)² of harmonic impropers.
struct Harmonic {
    factor: f64,
    /// whether the energy expression wraps θ − θ₀ to (−π, π]
    wraps: bool,
}

/// Returns the form of the energy of a force; `None` if the energy is not that of harmonic impropers.
fn harmonic(force: &Node<'_>) -> Parsed<Option<Harmonic>> {
    let energy: String = force.text("energy")?.split_whitespace().collect();
    let energy = energy.trim_end_matches(';');
    let (formula, pi) = match energy.rsplit_once(";pi=") {
        Some((formula, pi)) => (formula.to_owned(), pi),
        None => {
            let inline = energy.split_once("2*").and_then(|(_, rest)| rest.split_once("-dtheta"));
            let pi = inline.map_or("", |(pi, _)| pi);
            (if pi.is_empty() { energy.to_owned() } else { energy.replace(pi, "pi") }, pi)
        }
    };
    let has_pi = number::real(pi.as_bytes()).is_some_and(|pi| (pi - PI).abs() < PI_TOLERANCE);
    Ok(match formula.as_str() {
        CHARMM if has_pi => Some(Harmonic { factor: WITHOUT_HALF, wraps: true }),
        GROMACS if has_pi => Some(Harmonic { factor: 1.0, wraps: true }),
        UNWRAPPED => Some(Harmonic { factor: WITHOUT_HALF, wraps: false }),
        _ => None,
    })
}

/// Factor f for which f · ½ k (θ − θ₀)² is k (θ − θ₀)², the harmonic energy of CHARMM force fields.
const WITHOUT_HALF: f64 = 2.0;

/// Reads harmonic impropers. The engine wraps differences of angles to (−π, π]. An energy expression without wrapping
/// gives the same energy as an expression with wrapping only for θ₀ = 0, and is refused for any other θ₀.
fn harmonic_impropers(force: &Node<'_>, form: Harmonic, count: usize, topology: &mut Topology) -> Parsed<()> {
    let Harmonic { factor, wraps } = form;
    let names = force.list("PerTorsionParameters")?.map(|parameter| parameter.text("name"));
    let names = names.collect::<Parsed<Vec<&str>>>()?;
    if let Some(twice) = names.iter().enumerate().find_map(|(k, name)| names[..k].contains(name).then_some(name)) {
        let twice = number::quoted(twice.as_bytes());
        return Err(force
            .problem(format!("the force names the torsion parameter {twice} twice"))
            .help("name each once"));
    }
    let place = |name| names.iter().position(|&known| known == name).map(|index| format!("param{}", index + 1));
    let (Some(k), Some(theta0)) = (place("k"), place("theta0")) else {
        return Err(force.problem("the force lacks the torsion parameter k or theta0"));
    };
    topology.charmm |= factor == WITHOUT_HALF;
    for node in force.list("Torsions")? {
        let (k, angle) = (node.real(&k)?, node.real(&theta0)?);
        if angle != 0.0 && !wraps {
            let problem = node.problem(format!("theta0 is {angle}, and the energy does not wrap theta - theta0"));
            return Err(problem.help("md wraps theta - theta0 to -pi to pi; write the energy with this wrapping"));
        }
        let atoms = quadruple(&node, count)?;
        topology.bonded.harmonic_impropers.push(HarmonicImproper { atoms, angle, force_constant: factor * k });
    }
    Ok(())
}
