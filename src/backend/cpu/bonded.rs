//! Bonded terms on sixteen lanes: each formula of [`crate::term`] over batches of terms of one kind.
//!
//! Displacements are formed in `f64` and then rounded, forces are summed in `f64` over the atoms that have bonded terms
//! at all. Bonds, whose force constants are stiff enough to show the rounding, and the few correction maps stay in
//! `f64`.

use super::threads::{Parts, part};
use crate::backend::Energies;
use crate::cell::{PeriodicCell, displacement};
use crate::simd::{Float, Kernel, LANES, Simd};
use crate::system::{Bond, BondedTerms, Cmap, Electrostatics, System, Torsion};
use crate::term::{self, CmapTable, Dihedral};
use crate::units::COULOMB;
use crate::vec3::{Mat3, Vec3, vec3};

/// Sixteen terms of `A` atoms and `P` parameters each.
struct Batch<const A: usize, const P: usize> {
    /// atoms as indices into the bonded atoms
    atoms: [[u32; LANES]; A],
    parameters: [[f32; LANES]; P],
}

/// All terms of one kind. The last batch is filled up with copies whose strength parameters are zero.
struct Batches<const A: usize, const P: usize>(Vec<Batch<A, P>>);

impl<const A: usize, const P: usize> Batches<A, P> {
    /// `strengths` are the parameters to be zero in the copies that fill up.
    fn new(terms: impl Iterator<Item = ([u32; A], [f64; P])>, strengths: &[usize]) -> Self {
        let mut batches = vec![];
        let terms: Vec<_> = terms.collect();
        for chunk in terms.chunks(LANES) {
            let mut batch = Batch { atoms: [[0; LANES]; A], parameters: [[0.0; LANES]; P] };
            for lane in 0..LANES {
                let (atoms, parameters) = chunk[lane.min(chunk.len() - 1)];
                for (to, atom) in batch.atoms.iter_mut().zip(atoms) {
                    to[lane] = atom;
                }
                for (index, (to, value)) in batch.parameters.iter_mut().zip(parameters).enumerate() {
                    let idle = lane >= chunk.len() && strengths.contains(&index);
                    to[lane] = if idle { 0.0 } else { value as f32 };
                }
            }
            batches.push(batch);
        }
        Batches(batches)
    }
}

/// The bonded terms of a system.
pub(super) struct Bonded {
    /// topology index of each bonded atom, ascending
    pub(super) atoms: Vec<u32>,
    bonds: Vec<Bond>,
    urey_bradleys: Vec<Bond>,
    cmaps: Vec<Cmap>,
    tables: Vec<CmapTable>,
    angles: Batches<3, 2>,
    propers: Batches<4, 4>,
    impropers: Batches<4, 4>,
    harmonic_impropers: Batches<4, 2>,
    pairs14: Batches<2, 3>,
}

impl Bonded {
    /// Sort the terms of a system into batches.
    pub(super) fn new(system: &System) -> Self {
        let BondedTerms {
            bonds, angles, urey_bradleys, propers, impropers, harmonic_impropers, cmaps, pairs14, ..
        } = &system.topology.bonded;
        let mut used = vec![false; system.topology.atoms.len()];
        let mut mark = |atoms: &[u32]| atoms.iter().for_each(|&a| used[a as usize] = true);
        bonds.iter().chain(urey_bradleys).for_each(|t| mark(&t.atoms));
        angles.iter().for_each(|t| mark(&t.atoms));
        propers.iter().chain(impropers).for_each(|t| mark(&t.atoms));
        harmonic_impropers.iter().for_each(|t| mark(&t.atoms));
        cmaps.iter().for_each(|t| mark(&t.atoms));
        pairs14.iter().for_each(|t| mark(&t.atoms));
        let atoms: Vec<u32> = (0..used.len() as u32).filter(|&a| used[a as usize]).collect();
        let mut place = vec![0u32; used.len()];
        atoms.iter().enumerate().for_each(|(index, &atom)| place[atom as usize] = index as u32);
        let local = |atom: u32| place[atom as usize];
        let bond = |b: &Bond| Bond { atoms: b.atoms.map(local), ..*b };
        let torsion = |t: &Torsion| {
            let (sine, cosine) = t.phase.sin_cos();
            (t.atoms.map(local), [f64::from(t.periodicity), cosine, sine, t.force_constant])
        };
        let scale = if system.settings.electrostatics == Electrostatics::Off { 0.0 } else { COULOMB };
        let grids = &system.topology.bonded.cmap_grids;
        Bonded {
            bonds: bonds.iter().map(bond).collect(),
            urey_bradleys: urey_bradleys.iter().map(bond).collect(),
            cmaps: cmaps.iter().map(|c| Cmap { atoms: c.atoms.map(local), ..*c }).collect(),
            tables: grids.iter().map(|g| CmapTable::new(g.size, &g.energies)).collect(),
            angles: Batches::new(angles.iter().map(|t| (t.atoms.map(local), [t.angle, t.force_constant])), &[1]),
            propers: Batches::new(propers.iter().map(torsion), &[3]),
            impropers: Batches::new(impropers.iter().map(torsion), &[3]),
            harmonic_impropers: Batches::new(
                harmonic_impropers.iter().map(|t| (t.atoms.map(local), [t.angle, t.force_constant])),
                &[1],
            ),
            pairs14: Batches::new(
                pairs14.iter().map(|t| (t.atoms.map(local), [scale * t.charge_product, t.c6, t.c12])),
                &[0, 1, 2],
            ),
            atoms,
        }
    }
}

/// One part of all bonded terms; forces are added by bonded atom, energies and virial to `output`.
pub(super) struct BondedKernel<'a, const SUMS: bool> {
    pub bonded: &'a Bonded,
    pub parts: Parts,
    /// where displacements must be reduced to the nearest image
    pub cell: Option<&'a PeriodicCell>,
    /// positions in topology order
    pub positions: &'a [Vec3],
    pub forces: &'a mut [Vec3],
    pub output: &'a mut BondedOutput,
}

/// Energies (kJ/mol) and virial of a part; zeros unless asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BondedOutput {
    pub energies: Energies,
    pub virial: Mat3,
}

impl<const SUMS: bool> Kernel for BondedKernel<'_, SUMS> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self) {
        let bonded = self.bonded;
        let (bond, urey_bradley) = (self.bonds(&bonded.bonds), self.bonds(&bonded.urey_bradleys));
        let mut energies = Energies { bond, urey_bradley, ..Energies::default() };
        for batch in self.share(&bonded.angles.0) {
            let [i, j, k] = &batch.atoms;
            let (u, v) = (self.between::<S>(i, j), self.between::<S>(k, j));
            let [angle, strength] = load::<S, 2>(&batch.parameters);
            let (forces, energy) = term::angle(u, v, angle, strength);
            energies.angle += self.energy::<S>(energy);
            self.add::<S, 3>(&batch.atoms, [u, zero::<S>(), v], forces);
        }
        energies.proper = self.torsions::<S>(&bonded.propers);
        energies.improper = self.torsions::<S>(&bonded.impropers);
        for batch in self.share(&bonded.harmonic_impropers.0) {
            let (dihedral, along) = self.dihedral::<S>(&batch.atoms);
            let [angle, strength] = load::<S, 2>(&batch.parameters);
            let (forces, energy) = term::harmonic_improper(&dihedral, angle, strength);
            energies.improper += self.energy::<S>(energy);
            self.add::<S, 4>(&batch.atoms, along, forces);
        }
        for batch in self.share(&bonded.pairs14.0) {
            let [i, j] = &batch.atoms;
            let d = self.between::<S>(i, j);
            let [charges, c6, c12] = load::<S, 3>(&batch.parameters);
            let (force, coulomb, lj) = term::pair14(d, charges, c6, c12);
            energies.coulomb_14 += self.energy::<S>(coulomb);
            energies.lj_14 += self.energy::<S>(lj);
            self.add::<S, 2>(&batch.atoms, [d, zero::<S>()], [force, -force]);
        }
        energies.cmap = self.cmaps();
        energies.lj = energies.lj_14;
        energies.coulomb = energies.coulomb_14;
        if SUMS {
            self.output.energies = energies;
        }
    }
}

#[inline(always)]
fn zero<S: Simd>() -> Vec3<S::F> {
    Vec3::splat(S::F::splat(0.0))
}

#[inline(always)]
fn load<S: Simd, const P: usize>(parameters: &[[f32; LANES]; P]) -> [S::F; P] {
    let mut out = [S::F::splat(0.0); P];
    for p in 0..P {
        out[p] = S::F::load(&parameters[p]);
    }
    out
}

impl<'a, const SUMS: bool> BondedKernel<'a, SUMS> {
    /// This part of a list of batches or terms.
    #[inline(always)]
    fn share<T>(&self, all: &'a [T]) -> &'a [T] {
        &all[part(all.len(), self.parts.index, self.parts.count)]
    }

    #[inline(always)]
    fn position(&self, atom: u32) -> Vec3 {
        self.positions[self.bonded.atoms[atom as usize] as usize]
    }

    /// r_i − r_j of sixteen pairs.
    #[inline(always)]
    fn between<S: Simd>(&self, i: &[u32; LANES], j: &[u32; LANES]) -> Vec3<S::F> {
        let mut d = [[0f32; LANES]; 3];
        for lane in 0..LANES {
            let difference = displacement(self.cell, self.position(i[lane]) - self.position(j[lane]));
            [d[0][lane], d[1][lane], d[2][lane]] = difference.map(|v| v as f32).to_array();
        }
        vec3(S::F::load(&d[0]), S::F::load(&d[1]), S::F::load(&d[2]))
    }

    #[inline(always)]
    fn energy<S: Simd>(&self, lanes: S::F) -> f64 {
        if SUMS { f64::from(lanes.sum()) } else { 0.0 }
    }

    /// Add the forces of sixteen terms; `along` are positions relative to a common origin.
    #[inline(always)]
    fn add<S: Simd, const A: usize>(
        &mut self,
        atoms: &[[u32; LANES]; A],
        along: [Vec3<S::F>; A],
        forces: [Vec3<S::F>; A],
    ) {
        for a in 0..A {
            let mut f = [[0f32; LANES]; 3];
            forces[a].x.store(&mut f[0]);
            forces[a].y.store(&mut f[1]);
            forces[a].z.store(&mut f[2]);
            for lane in 0..LANES {
                self.forces[atoms[a][lane] as usize] +=
                    vec3(f64::from(f[0][lane]), f64::from(f[1][lane]), f64::from(f[2][lane]));
            }
        }
        if SUMS {
            for a in 0..A {
                let (r, f) = ([along[a].x, along[a].y, along[a].z], [forces[a].x, forces[a].y, forces[a].z]);
                for row in 0..3 {
                    for column in 0..3 {
                        self.output.virial.0[row][column] += f64::from((r[row] * f[column]).sum());
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn dihedral<S: Simd>(&self, atoms: &[[u32; LANES]; 4]) -> (Dihedral<S::F>, [Vec3<S::F>; 4]) {
        let [i, j, k, l] = atoms;
        let (ij, kj, lk) = (self.between::<S>(i, j), self.between::<S>(k, j), self.between::<S>(l, k));
        (Dihedral::new(ij, kj, lk), [ij, zero::<S>(), kj, kj + lk])
    }

    #[inline(always)]
    fn torsions<S: Simd>(&mut self, batches: &'a Batches<4, 4>) -> f64 {
        let mut total = 0.0;
        for batch in self.share(&batches.0) {
            let (dihedral, along) = self.dihedral::<S>(&batch.atoms);
            let [periodicity, cosine, sine, strength] = load::<S, 4>(&batch.parameters);
            let (forces, energy) = term::torsion(&dihedral, periodicity, cosine, sine, strength);
            total += self.energy::<S>(energy);
            self.add::<S, 4>(&batch.atoms, along, forces);
        }
        total
    }

    #[inline(always)]
    fn bonds(&mut self, terms: &'a [Bond]) -> f64 {
        let mut total = 0.0;
        for b in self.share(terms) {
            let [i, j] = b.atoms;
            let d = displacement(self.cell, self.position(i) - self.position(j));
            let (force, energy) = term::bond(d, b.length, b.force_constant);
            total += energy;
            self.forces[i as usize] += force;
            self.forces[j as usize] -= force;
            if SUMS {
                self.output.virial += Mat3::outer(d, force);
            }
        }
        total
    }

    #[inline(always)]
    fn cmaps(&mut self) -> f64 {
        let bonded = self.bonded;
        let mut total = 0.0;
        for c in self.share(&bonded.cmaps) {
            let chain = |atoms: &[u32]| {
                let between = |a: u32, b: u32| displacement(self.cell, self.position(a) - self.position(b));
                [between(atoms[0], atoms[1]), between(atoms[2], atoms[1]), between(atoms[3], atoms[2])]
            };
            let (first, second) = (chain(&c.atoms[..4]), chain(&c.atoms[4..]));
            let dihedral = |[ij, kj, lk]: [Vec3; 3]| Dihedral::new(ij, kj, lk);
            let table = &bonded.tables[c.grid as usize];
            let (on_phi, on_psi, energy) =
                term::cmap(&dihedral(first), &dihedral(second), |phi, psi| table.patch(phi, psi));
            total += energy;
            for (atoms, [ij, kj, lk], forces) in [(&c.atoms[..4], first, on_phi), (&c.atoms[4..], second, on_psi)] {
                for ((&atom, along), force) in atoms.iter().zip([ij, Vec3::ZERO, kj, kj + lk]).zip(forces) {
                    self.forces[atom as usize] += force;
                    if SUMS {
                        self.output.virial += Mat3::outer(along, force);
                    }
                }
            }
        }
        total
    }
}
