//! Conversion of the positions of a frame to the positions that a file stores: selects atoms and chooses periodic
//! images.

use std::borrow::Cow;

use crate::cell::PeriodicCell;
use crate::image::WholeMolecules;
use crate::system::Topology;
use crate::vec3::Vec3;

/// Conversion of the positions of a frame to the positions that a file stores.
#[derive(Clone, Copy, Debug)]
pub struct Placement<'a> {
    /// whether every molecule is made whole and shifted so that its mean position is in the cell; otherwise positions
    /// are unchanged
    pub whole: bool,
    /// selection of the written atoms: the topology of the frames, and the 0-based indices of the written atoms in
    /// ascending order; `None` if all atoms are written
    pub selected: Option<(&'a Topology, &'a [u32])>,
}

impl Placement<'_> {
    /// Placement that writes all atoms, with whole molecules.
    pub const WHOLE: Self = Placement { whole: true, selected: None };
}

/// Converter from the positions of a frame to the positions that a file stores.
pub(super) struct Placer {
    /// molecules to make whole; `None` if positions stay unchanged
    molecules: Option<WholeMolecules>,
    /// number of atoms in a frame before the selection
    pub(super) given: usize,
    /// 0-based indices of the written atoms; `None` if all atoms are written
    atoms: Option<Vec<u32>>,
}

impl Placer {
    /// Creates the converter for a file whose written atoms have the topology `written`.
    pub(super) fn new(written: &Topology, Placement { whole, selected }: Placement<'_>) -> Self {
        let (system, atoms) = match selected {
            Some((system, atoms)) => (system, Some(atoms.to_vec())),
            None => (written, None),
        };
        let given = system.atoms.len();
        Self { molecules: whole.then(|| WholeMolecules::of(system)), given, atoms }
    }

    /// Selects the values of the written atoms. `values` has one value for each atom of a frame; if `values` is empty,
    /// the result is empty.
    pub(super) fn written<'v>(&self, values: &'v [Vec3]) -> Cow<'v, [Vec3]> {
        match &self.atoms {
            Some(atoms) if !values.is_empty() => atoms.iter().map(|&atom| values[atom as usize]).collect(),
            _ => Cow::Borrowed(values),
        }
    }

    /// Computes the positions (nm) that a file stores. If `images` is not empty, also computes the image flags n₁, n₂,
    /// n₃ of each atom, which are numbers of lattice vectors a, b, c: the stored position plus n₁ a + n₂ b + n₃ c is
    /// the position in the frame.
    pub(super) fn place(
        &self,
        cell: Option<&PeriodicCell>,
        positions: &[Vec3],
        out: &mut [[f32; 3]],
        images: &mut [[i32; 3]],
    ) {
        let single = |r: Vec3| r.map(|v| v as f32).to_array();
        let (Some(molecules), Some(cell)) = (&self.molecules, cell) else {
            for (out, r) in out.iter_mut().zip(self.written(positions).iter()) {
                *out = single(*r);
            }
            images.fill([0; 3]);
            return;
        };
        let mut placed = positions.to_vec();
        molecules.put_into_cell(cell, &mut placed);
        let atom = |index: usize| self.atoms.as_ref().map_or(index, |atoms| atoms[index] as usize);
        for (index, out) in out.iter_mut().enumerate() {
            *out = single(placed[atom(index)]);
        }
        for (index, image) in images.iter_mut().enumerate() {
            let atom = atom(index);
            *image = cell.to_fractional(positions[atom] - placed[atom]).map(|n| n.round() as i32).to_array();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::{Atom, Name};
    use crate::vec3::vec3;

    /// Allowed error of positions and distances, nm. An `f32` has 24 significant bits, so positions below 4 nm have
    /// rounding errors of at most 1.2e-7 nm. The errors of distances are at most 2√3 times as large
    const SINGLE: f64 = 5e-7;

    /// Creates a converter that writes all of `atoms` atoms; `bonds` determines the molecules.
    fn placer(atoms: usize, bonds: &[[u32; 2]]) -> Placer {
        let name = Name::new("C");
        let atom = Atom { name, type_name: name, element: 6, mass: 12.0, charge: 0.0, lj_type: 0, residue: 0 };
        let (atoms, connectivity) = (vec![atom; atoms], bonds.to_vec());
        Placer::new(&Topology { atoms, connectivity, ..Topology::default() }, Placement::WHOLE)
    }

    fn double(r: [f32; 3]) -> Vec3 {
        Vec3::from(r.map(f64::from))
    }

    #[test]
    fn scattered_molecules_come_back_whole_and_inside() {
        let cell = PeriodicCell::from_lengths_angles([3.0; 3], [109.471_219; 3]).unwrap();
        // the system has a single ion and one chain molecule; the molecule is longer than half of the cell, and its
        // bonds are not in the order of the atoms
        let chain: Vec<Vec3> = (0..8).map(|i| vec3(0.2 * i as f64, 0.1 * (i % 2) as f64, 0.05 * i as f64)).collect();
        let order = [3usize, 0, 6, 1, 5, 2, 7, 4];
        let bonds: Vec<[u32; 2]> = order.windows(2).map(|w| [w[0] as u32, w[1] as u32]).collect();
        let mut positions = vec![Vec3::ZERO; 9];
        for (place, &atom) in order.iter().enumerate() {
            let image = [atom as i32 - 4, 2 * (atom as i32 % 2), -(atom as i32)];
            positions[atom] = chain[place] + vec3(7.0, -11.0, 3.0) + cell.shift(image);
        }
        positions[8] = vec3(-100.0, 0.3, 50.0);
        let (mut out, mut images) = (vec![[0f32; 3]; 9], vec![[0; 3]; 9]);
        placer(9, &bonds).place(Some(&cell), &positions, &mut out, &mut images);

        for (w, &atom) in order.iter().enumerate() {
            let from_first = double(out[atom]) - double(out[order[0]]);
            assert!((from_first - (chain[w] - chain[0])).norm() < SINGLE, "atom {atom}: {from_first:?}");
        }
        let center: Vec3 = out[..8].iter().map(|&r| double(r)).sum::<Vec3>() / 8.0;
        for r in [center, double(out[8])] {
            let s = cell.to_fractional(r).to_array();
            assert!(s.iter().all(|v| (-SINGLE..1.0 + SINGLE).contains(v)), "{s:?}");
        }
        for atom in 0..9 {
            let restored = double(out[atom]) + cell.shift(images[atom]);
            assert!((restored - positions[atom]).norm() < SINGLE, "atom {atom}");
        }
    }

    #[test]
    fn without_a_cell_positions_are_copied() {
        let mut out = [[0f32; 3]; 2];
        let mut images = [[1; 3]; 2];
        let positions = [vec3(100.0, -3.0, 0.5), vec3(-7.0, 0.25, 2.0)];
        placer(2, &[[0, 1]]).place(None, &positions, &mut out, &mut images);
        assert_eq!(out, [[100.0, -3.0, 0.5], [-7.0, 0.25, 2.0]]);
        assert_eq!(images, [[0; 3]; 2]);
    }

    #[test]
    fn a_chain_bonded_to_its_own_image_ends() {
        let cell = PeriodicCell::orthorhombic([1.0, 2.0, 2.0]);
        let positions: Vec<Vec3> = (0..4).map(|i| vec3(0.25 * i as f64, 0.0, 0.0)).collect();
        let mut out = vec![[0f32; 3]; 4];
        placer(4, &[[0, 1], [1, 2], [2, 3], [3, 0]]).place(Some(&cell), &positions, &mut out, &mut []);
        assert!(out.iter().flatten().all(|v| v.is_finite()));
    }
}
