//! From the positions of a frame to those of a file: which atoms, and in which periodic images.

use std::borrow::Cow;

use super::{Contents, WholeMolecules};
use crate::cell::PeriodicCell;
use crate::system::Topology;
use crate::vec3::Vec3;

/// How positions of frames become those of a file.
#[derive(Clone, Copy, Debug)]
pub struct Placement<'a> {
    /// every molecule whole, its mean position in the cell; else as they are given
    pub whole: bool,
    /// where not all atoms are written: the system that frames are of, and those of its atoms that are, 0-based, ascending
    pub selected: Option<(&'a Topology, &'a [u32])>,
}

impl Placement<'_> {
    /// All atoms, molecules whole.
    pub const WHOLE: Self = Placement { whole: true, selected: None };
}

/// Takes the positions of a file from those of frames.
pub(super) struct Placer {
    /// `None` where positions stay as they are
    molecules: Option<WholeMolecules>,
    /// atoms of a frame
    given: usize,
    /// those that are written; `None` for all
    atoms: Option<Vec<u32>>,
    /// of all atoms (scratch), where only some are written
    placed: Vec<[f32; 3]>,
    images: Vec<[i32; 3]>,
}

impl Placer {
    /// For frames of these contents.
    pub(super) fn new(contents: &Contents<'_>) -> Self {
        let Placement { whole, selected } = contents.placement;
        let (system, atoms) = match selected {
            Some((system, atoms)) => (system, Some(atoms.to_vec())),
            None => (contents.topology, None),
        };
        let given = system.atoms.len();
        let molecules = whole.then(|| WholeMolecules::new(given, &system.connectivity));
        let placed = vec![[0.0; 3]; if atoms.is_some() { given } else { 0 }];
        Self { molecules, given, atoms, placed, images: vec![] }
    }

    /// For frames of all atoms of these molecules.
    pub(super) fn whole(atoms: usize, molecules: WholeMolecules) -> Self {
        Self { molecules: Some(molecules), given: atoms, atoms: None, placed: vec![], images: vec![] }
    }

    /// Atoms of a frame.
    pub(super) fn given(&self) -> usize {
        self.given
    }

    /// Those of `values`, one for each atom of a frame, that are written; none of none.
    pub(super) fn written<'v>(&self, values: &'v [Vec3]) -> Cow<'v, [Vec3]> {
        match &self.atoms {
            Some(atoms) if !values.is_empty() => atoms.iter().map(|&atom| values[atom as usize]).collect(),
            _ => Cow::Borrowed(values),
        }
    }

    /// Writes the positions (nm) of a file, and into `images`, unless it is empty, the whole lattice vectors n taken off each
    /// atom: given = placed + shift(n).
    pub(super) fn place(
        &mut self,
        cell: Option<&PeriodicCell>,
        positions: &[Vec3],
        out: &mut [[f32; 3]],
        images: &mut [[i32; 3]],
    ) {
        let Some(molecules) = &mut self.molecules else {
            for (out, r) in out.iter_mut().zip(self.written(positions).iter()) {
                *out = r.map(|v| v as f32).to_array();
            }
            images.fill([0; 3]);
            return;
        };
        let Some(atoms) = &self.atoms else { return molecules.place(cell, positions, out, images) };
        self.images.resize(if images.is_empty() { 0 } else { self.given }, [0; 3]);
        molecules.place(cell, positions, &mut self.placed, &mut self.images);
        for (out, &atom) in out.iter_mut().zip(atoms) {
            *out = self.placed[atom as usize];
        }
        for (image, &atom) in images.iter_mut().zip(atoms) {
            *image = self.images[atom as usize];
        }
    }
}
