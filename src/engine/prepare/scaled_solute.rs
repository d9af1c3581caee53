//! A scaled solute: the Hamiltonian of REST2, in which a part of the system (the solute) behaves as at a higher
//! temperature.
//!
//! The energy inside the solute is multiplied by a factor λ, and the interaction energy of the solute with other atoms
//! is multiplied by √λ. The interaction energy between atoms outside the solute is unchanged. At the temperature T the
//! solute crosses barriers as at the temperature T/λ. Charges of the solute are multiplied by √λ, and the Lennard-Jones
//! ε of atoms of the solute is multiplied by λ. The geometric mean of ε between the solute and other atoms is therefore
//! multiplied by √λ. 1-4 pairs are scaled in the same way. Torsions (periodic and Ryckaert–Bellemans, proper and
//! improper) and correction maps are multiplied by λ if both outer atoms are in the solute, and by √λ if only one outer
//! atom is in the solute. Bonds, angles and harmonic impropers are unchanged, since these terms keep the shape of
//! molecules and are not barriers between conformations. L. Wang, R. A. Friesner, B. J. Berne, J. Phys. Chem. B 115,
//! 9431 (2011), doi:10.1021/jp204407d; torsions with atoms inside and outside the solute are scaled as in G. Bussi,
//! Mol. Phys. 112, 379 (2014), doi:10.1080/00268976.2013.824126.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::{Problem, Result};
use crate::select::{Geometry, select_at};
use crate::system::{BondedTerms, CmapGrid, Nonbonded, Topology};

/// Key of the input file that selects the solute.
const KEY: &[&str] = &["forces", "scaled_solute", "select"];

/// A part of the system whose interactions are scaled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScaledSolute {
    /// selection of the atoms of the solute, see [`crate::select`]
    pub select: String,
    /// factor λ of the energy inside the solute
    pub factor: f64,
}

impl ScaledSolute {
    /// Scales the interactions. With a factor of 1 all parameters stay the same bit for bit.
    pub(super) fn apply(
        &self,
        topology: &mut Topology,
        nonbonded: &mut Nonbonded,
        geometry: Geometry<'_>,
    ) -> Result<()> {
        let atoms = select_at(topology, geometry, &self.select).map_err(|problem| {
            let message = format!("forces.scaled_solute.select: {}", problem.message);
            Problem { message, ..problem }.of_key(KEY)
        })?;
        if atoms.is_empty() {
            let problem = Problem::new(format!("forces.scaled_solute.select: \"{}\" selects no atom", self.select));
            let help = "`md help output.trajectory.select` lists the keywords";
            return Err(problem.help(help).of_key(KEY).into());
        }
        if self.factor == 1.0 {
            return Ok(());
        }
        let mut is_solute = vec![false; topology.atoms.len()];
        atoms.iter().for_each(|&atom| is_solute[atom as usize] = true);
        let root = self.factor.sqrt();
        for &atom in &atoms {
            topology.atoms[atom as usize].charge *= root;
        }
        self.split_types(topology, nonbonded, &atoms);
        self.scale_terms(&mut topology.bonded, &is_solute);
        Ok(())
    }

    /// Returns the factor λ^(n/2) for n = `count` atoms of the solute.
    fn power(&self, count: usize) -> f64 {
        match count {
            0 => 1.0,
            1 => self.factor.sqrt(),
            _ => self.factor,
        }
    }

    /// Gives the atoms of the solute separate Lennard-Jones types.
    fn split_types(&self, topology: &mut Topology, nonbonded: &mut Nonbonded, atoms: &[u32]) {
        // for each new Lennard-Jones type, the type from which it is derived
        let mut old: Vec<u32> = (0..nonbonded.types as u32).collect();
        let mut new = BTreeMap::new();
        for &atom in atoms {
            let lj_type = &mut topology.atoms[atom as usize].lj_type;
            *lj_type = *new.entry(*lj_type).or_insert_with(|| {
                old.push(*lj_type);
                old.len() as u32 - 1
            });
        }
        let (before, types) = (nonbonded.types, old.len());
        let scaled = |index: usize| {
            let [a, b] = [index / types, index % types];
            let count = usize::from(a >= before) + usize::from(b >= before);
            (old[a] as usize * before + old[b] as usize, self.power(count))
        };
        let table = |values: &[f64]| -> Vec<f64> {
            let entry = |index| {
                let (from, power) = scaled(index);
                values[from] * power
            };
            if values.is_empty() { vec![] } else { (0..types * types).map(entry).collect() }
        };
        let rounding = |index| {
            let (from, power) = scaled(index);
            nonbonded.rounding[from].map(|error| error * power)
        };
        let rounding = if nonbonded.rounding.is_empty() { vec![] } else { (0..types * types).map(rounding).collect() };
        let Nonbonded { c6, c12, c4, .. } = &*nonbonded;
        let [c6, c12, c4] = [c6, c12, c4].map(|values| table(values));
        *nonbonded = Nonbonded { types, c6, c12, c4, rounding };
    }

    fn scale_terms(&self, bonded: &mut BondedTerms, is_solute: &[bool]) {
        let power = |ends: [u32; 2]| self.power(ends.iter().filter(|&&atom| is_solute[atom as usize]).count());
        for pair in &mut bonded.pairs14 {
            let factor = power(pair.atoms);
            (pair.charge_product, pair.c6, pair.c12) =
                (pair.charge_product * factor, pair.c6 * factor, pair.c12 * factor);
        }
        for torsion in bonded.propers.iter_mut().chain(&mut bonded.impropers) {
            torsion.force_constant *= power([torsion.atoms[0], torsion.atoms[3]]);
        }
        for torsion in &mut bonded.ryckaert_bellemans {
            let factor = power([torsion.atoms[0], torsion.atoms[3]]);
            torsion.coefficients.iter_mut().for_each(|coefficient| *coefficient *= factor);
        }
        let mut grids = BTreeMap::new();
        for map in &mut bonded.cmaps {
            let ends = [map.atoms[0], map.atoms[7]];
            let count = ends.iter().filter(|&&atom| is_solute[atom as usize]).count();
            if count == 0 {
                continue;
            }
            let factor = self.power(count);
            map.grid = *grids.entry((map.grid, count)).or_insert_with(|| {
                let CmapGrid { size, energies } = &bonded.cmap_grids[map.grid as usize];
                let energies = energies.iter().map(|energy| energy * factor).collect();
                bonded.cmap_grids.push(CmapGrid { size: *size, energies });
                bonded.cmap_grids.len() as u32 - 1
            });
        }
    }
}

#[cfg(test)]
mod tests;
