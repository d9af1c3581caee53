//! Bonded terms on sixteen SIMD lanes. Each formula of the table ([`bonded_terms`]) is evaluated for batches of terms
//! of the same list.
//!
//! Displacements are computed in `f64` and then rounded. Forces are summed in `f64`, in an array with one element for
//! each atom that has bonded terms. Bonds are computed in `f64`, because their stiff force constants amplify rounding
//! errors. The few correction maps (CMAP) are also computed in `f64`.

use super::threads::{WorkPartition, partition};
use crate::backend::Energies;
use crate::cell::{PeriodicCell, displacement};
use crate::simd::{Arithmetic, Float, Kernel, LANES, Simd};
use crate::system::{self, BondedTerm, Cmap, Electrostatics, Pair14, System, Topology, bonded_terms};
use crate::term::{self, CmapTable, DISPLACEMENTS, Dihedral, relative_positions};
use crate::units::COULOMB;
use crate::vec3::{Mat3, Vec3, vec3};

/// Sixteen terms, each with `N` atoms and `P` parameters.
struct Batch<const N: usize, const P: usize> {
    /// atoms of the terms, as indices into [`Bonded::atoms`]
    atoms: [[u32; LANES]; N],
    parameters: [[f32; LANES]; P],
}

/// Groups terms into batches. The last batch is padded with copies of a term whose energy and forces are zero. In the
/// copies the parameters with the indices `strengths` (force constants and amplitudes) are set to zero.
fn batches<const N: usize, const P: usize>(terms: &[([u32; N], [f64; P])], strengths: &[usize]) -> Vec<Batch<N, P>> {
    let batch = |chunk: &[([u32; N], [f64; P])]| {
        let mut batch = Batch { atoms: [[0; LANES]; N], parameters: [[0.0; LANES]; P] };
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
        batch
    };
    terms.chunks(LANES).map(batch).collect()
}

/// Bonded terms of one kind, either in `f32` batches or as `f64` terms; one of the two vectors is empty.
struct Terms<const N: usize, const P: usize> {
    exact: Vec<([u32; N], [f64; P])>,
    batches: Vec<Batch<N, P>>,
}

/// Returns whether terms of this kind are computed in `f64`.
const fn is_exact<K: BondedTerm<N, E, P>, const N: usize, const E: usize, const P: usize>() -> bool {
    size_of::<K::Number>() == size_of::<f64>()
}

impl<const N: usize, const P: usize> Terms<N, P> {
    fn new<K: BondedTerm<N, E, P>, const E: usize>(list: &[K], local: impl Fn(u32) -> u32) -> Self {
        let terms: Vec<_> = list.iter().map(|term| (term.atoms().map(&local), term.parameters())).collect();
        if is_exact::<K, N, E, P>() {
            Terms { exact: terms, batches: vec![] }
        } else {
            Terms { exact: vec![], batches: batches(&terms, K::STRENGTHS) }
        }
    }
}

macro_rules! define_bonded {
    ($($(#[$doc:meta])* $energy:ident {
        $($list:ident: $Term:ident($n:literal, $e:literal, $p:literal) $name:literal),+
    })*) => {
        /// The bonded terms of a system.
        pub(super) struct Bonded {
            /// topology index of each bonded atom, ascending
            pub(super) atoms: Vec<u32>,
            $($($list: Terms<$n, $p>,)+)*
            cmaps: Vec<Cmap>,
            pub(super) tables: Vec<CmapTable>,
            pairs14: Vec<Batch<2, 3>>,
        }

        impl Bonded {
            /// Sorts the terms of a system into batches.
            pub(super) fn new(system: &System) -> Self {
                let tables =
                    system.topology.bonded.cmap_grids.iter().map(|g| CmapTable::new(g.size, &g.energies)).collect();
                Self::of(&system.topology, system.settings.electrostatics, tables)
            }

            /// Sorts the terms of a topology into batches. `tables` are the tables of the correction maps (CMAP).
            pub(super) fn of(topology: &Topology, electrostatics: Electrostatics, tables: Vec<CmapTable>) -> Self {
                let terms = &topology.bonded;
                let mut used = vec![false; topology.atoms.len()];
                let mut mark = |atoms: &[u32]| atoms.iter().for_each(|&a| used[a as usize] = true);
                $($(terms.$list.iter().for_each(|term| mark(&term.atoms));)+)*
                terms.cmaps.iter().for_each(|term| mark(&term.atoms));
                terms.pairs14.iter().for_each(|term| mark(&term.atoms));
                let atoms: Vec<u32> = (0..used.len() as u32).filter(|&a| used[a as usize]).collect();
                let mut place = vec![0u32; used.len()];
                atoms.iter().enumerate().for_each(|(index, &atom)| place[atom as usize] = index as u32);
                let local = |atom: u32| place[atom as usize];
                let scale = if electrostatics == Electrostatics::Off { 0.0 } else { COULOMB };
                let pair14 = |t: &Pair14| (t.atoms.map(local), [scale * t.charge_product, t.c6, t.c12]);
                let pairs14: Vec<_> = terms.pairs14.iter().map(pair14).collect();
                Bonded {
                    $($($list: Terms::new::<_, $e>(&terms.$list, local),)+)*
                    cmaps: terms.cmaps.iter().map(|c| Cmap { atoms: c.atoms.map(local), ..*c }).collect(),
                    tables,
                    pairs14: batches(&pairs14, &[0, 1, 2]),
                    atoms,
                }
            }
        }

        impl BondedKernel<'_> {
            /// Computes all lists of bonded terms and returns their energies.
            #[inline(always)]
            fn lists<S: Simd>(&mut self) -> Energies {
                let (bonded, mut energies) = (self.bonded, Energies::default());
                $($(energies.$energy += self.list::<S, system::$Term, $n, $e, $p>(&bonded.$list);)+)*
                energies
            }
        }
    };
}
bonded_terms!(define_bonded);

/// Kernel for one work partition of the bonded terms. The kernel adds to the forces on the bonded atoms, and to the
/// energies and virial of `output`.
pub(super) struct BondedKernel<'a> {
    pub bonded: &'a Bonded,
    pub partition: WorkPartition,
    /// periodic cell, for displacements to the nearest image
    pub cell: Option<&'a PeriodicCell>,
    /// positions in topology order
    pub positions: &'a [Vec3],
    pub forces: &'a mut [Vec3],
    /// whether energies and virial are requested
    pub sums: bool,
    pub output: &'a mut BondedOutput,
}

/// Energies (kJ/mol) and virial of one work partition; zero unless energies and virial are requested.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BondedOutput {
    pub energies: Energies,
    pub virial: Mat3,
}

impl Kernel for BondedKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self) {
        let bonded = self.bonded;
        let mut energies = self.lists::<S>();
        for batch in self.own(&bonded.pairs14) {
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
        if self.sums {
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

impl<'a> BondedKernel<'a> {
    /// Returns the part of a list of batches or terms that this work partition computes.
    #[inline(always)]
    fn own<T>(&self, all: &'a [T]) -> &'a [T] {
        &all[partition(all.len(), self.partition.index, self.partition.count)]
    }

    #[inline(always)]
    fn position(&self, atom: u32) -> Vec3 {
        self.positions[self.bonded.atoms[atom as usize] as usize]
    }

    /// Returns the displacements r_i − r_j (nm) of sixteen pairs.
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
        if self.sums { f64::from(lanes.sum()) } else { 0.0 }
    }

    /// Adds the forces of sixteen terms to the forces on their atoms, and, if requested, their virial to the output.
    /// `along` are the positions of the atoms of each term, relative to an origin that all atoms of the term share.
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
        if self.sums {
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

    /// Adds the forces and the virial of one term in `f64`. `along` are the positions of the atoms of the term,
    /// relative to an origin that all atoms of the term share.
    #[inline(always)]
    fn add_exact<const N: usize>(&mut self, atoms: &[u32], along: [Vec3; N], forces: [Vec3; N]) {
        for a in 0..N {
            self.forces[atoms[a] as usize] += forces[a];
            if self.sums {
                self.output.virial += Mat3::outer(along[a], forces[a]);
            }
        }
    }

    /// Returns the displacement r_i − r_j (nm) to the nearest image.
    #[inline(always)]
    fn displacement(&self, i: u32, j: u32) -> Vec3 {
        displacement(self.cell, self.position(i) - self.position(j))
    }

    /// Returns the displacements (nm) between consecutive atoms of a chain of four atoms.
    #[inline(always)]
    fn chain(&self, atoms: &[u32]) -> [Vec3; 3] {
        let mut displacements = [Vec3::ZERO; 3];
        for e in 0..3 {
            let [i, j] = DISPLACEMENTS[e];
            displacements[e] = self.displacement(atoms[i], atoms[j]);
        }
        displacements
    }

    /// Computes the terms of one list and returns their energy.
    #[inline(always)]
    fn list<S: Simd, K: BondedTerm<N, E, P>, const N: usize, const E: usize, const P: usize>(
        &mut self,
        terms: &'a Terms<N, P>,
    ) -> f64 {
        let mut total = 0.0;
        if is_exact::<K, N, E, P>() {
            for (atoms, parameters) in self.own(&terms.exact) {
                let mut displacements = [Vec3::ZERO; E];
                for e in 0..E {
                    let [i, j] = DISPLACEMENTS[e];
                    displacements[e] = self.displacement(atoms[i], atoms[j]);
                }
                let (forces, energy) = K::evaluate(displacements, *parameters);
                total += energy;
                self.add_exact(atoms, relative_positions(displacements), forces);
            }
        } else {
            for batch in self.own(&terms.batches) {
                let mut displacements = [zero::<S>(); E];
                for e in 0..E {
                    let [i, j] = DISPLACEMENTS[e];
                    displacements[e] = self.between::<S>(&batch.atoms[i], &batch.atoms[j]);
                }
                let (forces, energy) = K::evaluate(displacements, load::<S, P>(&batch.parameters));
                total += self.energy::<S>(energy);
                self.add::<S, N>(&batch.atoms, relative_positions(displacements), forces);
            }
        }
        total
    }

    #[inline(always)]
    fn cmaps(&mut self) -> f64 {
        let bonded = self.bonded;
        let mut total = 0.0;
        for c in self.own(&bonded.cmaps) {
            let (first, second) = (self.chain(&c.atoms[..4]), self.chain(&c.atoms[4..]));
            let table = &bonded.tables[c.grid as usize];
            let (on_phi, on_psi, energy) =
                term::cmap(&Dihedral::new(first), &Dihedral::new(second), |phi, psi| table.patch(phi, psi));
            total += energy;
            self.add_exact(&c.atoms[..4], relative_positions(first), on_phi);
            self.add_exact(&c.atoms[4..], relative_positions(second), on_psi);
        }
        total
    }
}
