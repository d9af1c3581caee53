//! Reader of `[ virtual_sites1 ]` to `[ virtual_sites4 ]` and `[ virtual_sitesn ]`: sites whose positions follow from
//! the positions of atoms.
//!
//! A line has the site, the atoms i, j, k, l that define the site, the function type, and parameters in nm and
//! degrees.

use std::collections::HashSet;

use super::Parsed;
use super::directive::unknown_function;
use super::fields::Fields;
use crate::arrays;
use crate::error::Problem;
use crate::system::{Construction, Topology, VirtualSite};

/// Reads a line of a directive whose sites are each defined by `atoms` atoms; 0 stands for any number of atoms.
pub(super) fn read(atoms: u8, mut fields: Fields<'_, '_>, topology: &Topology) -> Parsed<VirtualSite> {
    let count = topology.atoms.len();
    let (site, construction) = match atoms {
        0 => average(fields, topology)?,
        1 => {
            let [site, i] = fields.atoms(count)?;
            if !fields.is_empty() {
                fields.function_one("virtual_sites1")?;
            }
            fields.end()?;
            (site, Construction::Average { atoms: vec![i], weights: vec![1.0] })
        }
        2 => {
            let [site, i, j] = fields.atoms(count)?;
            (site, of_two([i, j], fields)?)
        }
        3 => {
            let [site, i, j, k] = fields.atoms(count)?;
            (site, of_three([i, j, k], fields)?)
        }
        _ => {
            let [site, i, j, k, l] = fields.atoms(count)?;
            (site, of_four([i, j, k, l], fields)?)
        }
    };
    if topology.virtual_sites.iter().any(|other| other.site == site) {
        return Err(Problem::new(format!("atom {} is already a virtual site", site + 1)));
    }
    Ok(VirtualSite { site, construction })
}

fn of_two(atoms: [u32; 2], mut fields: Fields<'_, '_>) -> Parsed<Construction> {
    let number = fields.word("the function type")?;
    let [a] = parameters(&mut fields)?;
    match number {
        "1" => Ok(Construction::Average2 { atoms, weights: [1.0 - a, a] }),
        "2" => Ok(Construction::FixedDistance2 { atoms, distance: a }),
        other => Err(unknown_function("virtual_sites2", other, "1, 2")),
    }
}

fn of_three(atoms: [u32; 3], mut fields: Fields<'_, '_>) -> Parsed<Construction> {
    let number = fields.word("the function type")?;
    match number {
        "1" => {
            let [a, b] = parameters(&mut fields)?;
            Ok(Construction::Average3 { atoms, weights: [1.0 - a - b, a, b] })
        }
        "2" => {
            let [weight, distance] = parameters(&mut fields)?;
            Ok(Construction::FixedDistance3 { atoms, weight, distance })
        }
        "3" => {
            let [angle, distance] = parameters(&mut fields)?;
            Ok(Construction::FixedAngle3 { atoms, angle: angle.to_radians(), distance })
        }
        "4" => {
            let [a, b, cross] = parameters(&mut fields)?;
            Ok(Construction::OutOfPlane { atoms, weights: [a, b], cross })
        }
        other => Err(unknown_function("virtual_sites3", other, "1, 2, 3, 4")),
    }
}

fn of_four(atoms: [u32; 4], mut fields: Fields<'_, '_>) -> Parsed<Construction> {
    match fields.word("the function type")? {
        "2" => {
            let [a, b, distance] = parameters(&mut fields)?;
            Ok(Construction::FixedDistance4 { atoms, weights: [a, b], distance })
        }
        other => Err(unknown_function("virtual_sites4", other, "2 (4fdn, which replaces the unstable 4fd)")),
    }
}

/// Reads a site that is defined by any number of atoms. The site is the center of the atoms for function type 1, the
/// center of mass of the atoms for type 2, and their weighted mean for type 3.
fn average(mut fields: Fields<'_, '_>, topology: &Topology) -> Parsed<(u32, Construction)> {
    let count = topology.atoms.len();
    let site = fields.atom(count)?;
    let number = fields.word("the function type")?;
    if !["1", "2", "3"].contains(&number) {
        return Err(unknown_function("virtual_sitesn", number, "1, 2, 3"));
    }
    let (mut atoms, mut weights, mut seen) = (vec![], vec![], HashSet::from([site]));
    while !fields.is_empty() {
        let atom = fields.atom(count)?;
        if !seen.insert(atom) {
            return Err(Problem::new(format!("the line names atom {} twice", atom + 1)));
        }
        atoms.push(atom);
        weights.push(match number {
            "1" => 1.0,
            "2" => topology.atoms[atom as usize].mass,
            _ => fields.real("a weight")?,
        });
    }
    let sum: f64 = weights.iter().sum();
    if !(sum > 0.0 && weights.iter().all(|&weight| weight >= 0.0)) {
        return Err(Problem::new("the weights of the atoms must not be negative, nor all zero"));
    }
    weights.iter_mut().for_each(|weight| *weight /= sum);
    Ok((site, Construction::Average { atoms, weights }))
}

/// Reads the parameters at the end of a line. The line must have all parameters, although GROMACS can derive some
/// parameters from bonds.
fn parameters<const N: usize>(fields: &mut Fields<'_, '_>) -> Parsed<[f64; N]> {
    if fields.is_empty() {
        let problem = Problem::new("the parameters of the virtual site are missing");
        return Err(problem.help("md does not derive these parameters from bonds: write them after the function type"));
    }
    let values = arrays::try_from_fn(|_| fields.real("a parameter of the virtual site"))?;
    fields.end()?;
    Ok(values)
}
