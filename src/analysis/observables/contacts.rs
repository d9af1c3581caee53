//! Native contacts of a reference structure, and the contact map of residues.

use super::presence::residue_name;
use super::{Input, Options, check_distance, positive};
use crate::analysis::findings::{Array, Axis, Findings, Layer, Plot, TIME, Values};
use crate::analysis::pass::{FrameObserver, Observable, Passed};
use crate::analysis::reference::Reference;
use crate::analysis::statistics::Summary;
use crate::analysis::system::{AnalysedSystem, Group};
use crate::cell::displacement;
use crate::error::{Problem, Result};
use crate::neighbours::Neighbours;
use crate::observe::trajectory::StoredFrame;
use crate::units::Dimension;

/// Results: fraction of native contacts over time, by the soft contact function (q) and by the cutoff (fraction);
/// contact_map (residue × residue), the fraction of frames with a contact
#[derive(Debug, clap::Args)]
pub(super) struct ContactsOptions {
    /// Selection of the atoms whose contacts are counted
    #[arg(long, value_name = "TEXT", default_value = "protein and heavy")]
    select: String,
    /// Structure that defines native contacts: first, the number of a frame (from 0), or a structure of the same atoms
    /// in any format of coordinates
    #[arg(long, value_name = "FRAME|FILE", default_value = "first", value_parser = Reference::parse)]
    reference: Reference,
    /// Largest distance of two atoms in contact
    #[arg(long, value_name = "LENGTH", value_parser = super::length, default_value = "0.45 nm")]
    cutoff: f64,
    /// Native contacts within a molecule are between residues whose indices differ by more than this number; contacts
    /// between molecules are always counted
    #[arg(long, value_name = "NUMBER", default_value_t = 3)]
    separation: u32,
    /// Softness β of the contact function
    #[arg(long, value_name = "BETA", value_parser = softness, default_value = "50 1/nm")]
    beta: f64,
    /// Tolerance λ, by which native distances are multiplied
    #[arg(long, value_name = "FACTOR", default_value_t = 1.8)]
    lambda: f64,
}

/// Parses an inverse length with its unit. Returns the value in 1/nm.
fn softness(text: &str) -> std::result::Result<f64, String> {
    positive(text, Dimension::InverseLength, "1/nm is not positive")
}

impl Options for ContactsOptions {
    fn observable(&self, input: &mut Input<'_>) -> Result<Box<dyn FrameObserver>> {
        if !(self.lambda > 0.0 && self.lambda.is_finite()) {
            let problem = Problem::new(format!("--lambda {} is not a positive number", self.lambda));
            return Err(problem.help("1.8 is usual for models of all atoms").into());
        }
        let group = input.system.group(&self.select)?;
        if self.separation > 0 {
            input.system.require_molecules(&group.atoms, ", or count all contacts with --separation 0")?;
        }
        let reference = self.reference.without_images(input.trajectory, input.system, &group)?;
        let mut contacts = Contacts::new(input.system, group, &reference, self.cutoff, self.separation)?;
        (contacts.reference, contacts.beta, contacts.lambda) = (self.reference.to_string(), self.beta, self.lambda);
        Ok(Box::new(contacts))
    }
}

/// Native contact: the indices of its two atoms in the group, and their distance (nm) in the reference structure.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Native {
    atoms: [u32; 2],
    distance: f64,
}

/// Observable of the native contacts of a reference structure, and of the contacts between residues.
///
/// The soft fraction is Q = ⟨1 / (1 + exp(β (r − λ r₀)))⟩, averaged over the native contacts, where r is the distance
/// of a contact in the frame and r₀ in the reference (Best, Hummer & Eaton, PNAS 110, 17874 (2013),
/// doi:10.1073/pnas.1311599110). The hard fraction is the fraction of native contacts with a distance r within the
/// cutoff. Two residues are in contact if an atom of the first residue is within the cutoff of an atom of the second
/// residue.
struct Contacts {
    group: Group,
    reference: String,
    cutoff: f64,
    separation: u32,
    /// softness β, 1/nm
    beta: f64,
    /// tolerance λ, by which the reference distance r₀ is multiplied
    lambda: f64,
    natives: Vec<Native>,
    /// residues of the group; `of_atoms` holds, for each atom of the group, an index into `residues`
    residues: Vec<u32>,
    of_atoms: Vec<u32>,
    /// names and numbers of the residues
    names: Vec<String>,
    numbers: Vec<i32>,
    /// number of frames in which two residues are in contact: a row-major matrix of residues, filled above the diagonal
    counts: Vec<u32>,
    soft: Vec<f64>,
    hard: Vec<f64>,
}

/// Largest number of residues of a contact map. A matrix of this number of residues takes 1 GB.
const MOST_RESIDUES: usize = 16384;

impl Contacts {
    /// Creates the observable for a group and a reference frame of all atoms, with β = 50/nm and λ = 1.8.
    fn new(
        system: &AnalysedSystem<'_>,
        group: Group,
        reference: &StoredFrame,
        cutoff: f64,
        separation: u32,
    ) -> Result<Self> {
        let topology = system.topology();
        let (mut residues, mut of_atoms) = (vec![], vec![]);
        for &atom in &group.atoms {
            let residue = topology.atoms[atom as usize].residue;
            if residues.last() != Some(&residue) {
                residues.push(residue);
            }
            of_atoms.push(residues.len() as u32 - 1);
        }
        if residues.len() > MOST_RESIDUES {
            let message = format!("a contact map of {} residues is too large", residues.len());
            return Err(Problem::new(message).help(format!("select at most {MOST_RESIDUES} residues")).into());
        }
        let apart = |i: usize, j: usize| {
            let [a, b] = [i, j].map(|place| group.atoms[place] as usize);
            let molecules = system.molecules();
            let between = topology.atoms[a].residue.abs_diff(topology.atoms[b].residue);
            between > separation || (between > 0 && molecules.of_atom(a) != molecules.of_atom(b))
        };
        let mut natives = contacts(&group, reference, cutoff)?;
        natives.retain(|native| apart(native.atoms[0] as usize, native.atoms[1] as usize));
        if natives.is_empty() {
            let message = format!(
                "the reference has no native contacts: no atoms of \"{}\" in residues more than {separation} apart are \
                 within {cutoff} nm",
                group.text
            );
            let help = "choose other atoms by --select, a larger --cutoff or a smaller --separation";
            return Err(Problem::new(message).help(help).into());
        }
        Ok(Contacts {
            reference: "a structure".to_owned(),
            cutoff,
            separation,
            beta: 50.0,
            lambda: 1.8,
            natives,
            names: residues.iter().map(|&residue| residue_name(topology, residue)).collect(),
            numbers: residues.iter().map(|&residue| topology.residues[residue as usize].number).collect(),
            counts: vec![0; residues.len() * residues.len()],
            group,
            residues,
            of_atoms,
            soft: vec![],
            hard: vec![],
        })
    }

    /// Returns the fraction of frames in which two residues are in contact, row-major and symmetric. The diagonal is 1.
    fn map(&self) -> Vec<f32> {
        let (count, frames) = (self.residues.len(), self.soft.len() as f32);
        let at = |index: usize| {
            let (row, column) = (index / count, index % count);
            let [low, high] = [row.min(column), row.max(column)];
            if low == high { 1.0 } else { self.counts[low * count + high] as f32 / frames }
        };
        (0..count * count).map(at).collect()
    }

    /// Returns the picture of the contact map `map`.
    fn picture(&self, map: &[f32]) -> Plot {
        let count = self.residues.len();
        let is_row = self.numbers.windows(2).all(|pair| pair[1] == pair[0] + 1);
        let (first, label) =
            if is_row { (self.numbers[0], "residue number") } else { (1, "selected residue (from 1)") };
        let ends = [f64::from(first) - 0.5, f64::from(first) + count as f64 - 0.5];
        Plot {
            suffix: "map",
            title: format!("Contacts within {} nm: {}", self.cutoff, self.group.text),
            x: Axis::new(label).of_whole_numbers(),
            y: Axis::new(label).of_whole_numbers(),
            layers: vec![Layer::Map {
                label: "fraction of frames".into(),
                x: ends,
                y: ends,
                columns: count,
                values: map.iter().map(|&value| f64::from(value)).collect(),
            }],
        }
    }
}

/// Returns the pairs of atoms of a group whose minimum-image distance is within the cutoff (nm).
fn contacts(group: &Group, frame: &StoredFrame, cutoff: f64) -> Result<Vec<Native>> {
    check_distance(frame, cutoff, "--cutoff")?;
    let positions = group.stored(frame);
    let grid = Neighbours::new(frame.cell.as_ref(), &positions, cutoff);
    let mut found = vec![];
    for (first, &position) in positions.iter().enumerate() {
        grid.visit(position, |second, d| {
            if second as usize > first {
                found.push(Native { atoms: [first as u32, second], distance: d.norm() });
            }
        });
    }
    found.sort_unstable_by_key(|native| native.atoms);
    Ok(found)
}

/// Contacts of one frame.
struct Sample {
    soft: f64,
    hard: f64,
    /// pairs of residues in contact, as ascending indices into the residues of the group
    pairs: Vec<[u32; 2]>,
}

impl Observable for Contacts {
    type Sample = Sample;

    fn memory(&self, frames: usize) -> f64 {
        (2 * size_of::<f64>() * frames + size_of::<u32>() * self.counts.len()) as f64
    }

    fn atoms_used(&self) -> usize {
        self.group.end()
    }

    fn measure(&self, frame: &StoredFrame) -> Result<Self::Sample> {
        let place = |atom: u32| self.of_atoms[atom as usize];
        let all = contacts(&self.group, frame, self.cutoff)?;
        let mut pairs: Vec<[u32; 2]> = all.iter().map(|contact| contact.atoms.map(place)).collect();
        pairs.retain(|[a, b]| a != b);
        pairs.sort_unstable();
        pairs.dedup();
        let (mut soft, mut hard) = (0.0, 0.0);
        for Native { atoms, distance } in &self.natives {
            let [a, b] = atoms.map(|atom| frame.positions[self.group.atoms[atom as usize] as usize]);
            let r = displacement(frame.cell.as_ref(), b - a).norm();
            soft += 1.0 / (1.0 + (self.beta * (r - self.lambda * distance)).exp());
            hard += f64::from(u8::from(r <= self.cutoff));
        }
        let count = self.natives.len() as f64;
        Ok(Sample { soft: soft / count, hard: hard / count, pairs })
    }

    fn add(&mut self, Sample { soft, hard, pairs }: Self::Sample) -> Result<()> {
        self.soft.push(soft);
        self.hard.push(hard);
        let count = self.residues.len();
        pairs.into_iter().for_each(|[a, b]| self.counts[a as usize * count + b as usize] += 1);
        Ok(())
    }

    fn finish(&mut self, passed: &Passed) -> Result<Findings> {
        let (frames, residues, natives) = (self.soft.len(), self.residues.len(), self.natives.len());
        let map = self.map();
        let summaries = [Summary::of(&self.soft), Summary::of(&self.hard)];
        let mut summary = vec![format!("native       {natives} contacts in {}", self.reference)];
        for (name, Summary { mean, range: [least, largest], .. }) in ["soft Q", "fraction"].into_iter().zip(&summaries)
        {
            summary.push(format!("{name:<13}mean {mean:.4}, range {least:.4} to {largest:.4}"));
        }
        let over_time = Plot::over_time(
            format!("Native contacts of {}: {}", self.reference, self.group.text),
            Axis::between("fraction of native contacts", [0.0, 1.0]),
            vec![
                Layer::line("soft Q", &passed.times, &self.soft),
                Layer::line(format!("within {} nm", self.cutoff), &passed.times, &self.hard),
            ],
        );
        let atoms = self.natives.iter().flat_map(|native| native.atoms);
        let atoms: Vec<u32> = atoms.map(|atom| self.group.atoms[atom as usize]).collect();
        let distances: Vec<f64> = self.natives.iter().map(|native| native.distance).collect();
        Ok(Findings {
            numbers: vec![summaries[0].number("q", ""), summaries[1].number("fraction", "")],
            settings: vec![
                ("select", self.group.text.clone()),
                ("reference", self.reference.clone()),
                ("cutoff", format!("{} nm", self.cutoff)),
                ("separation", self.separation.to_string()),
                ("beta", format!("{} 1/nm", self.beta)),
                ("lambda", self.lambda.to_string()),
            ],
            summary,
            warnings: vec![],
            plots: vec![over_time, self.picture(&map)],
            arrays: vec![
                Array::new("q", [(TIME, frames)], self.soft.clone(), ""),
                Array::new("fraction", [(TIME, frames)], self.hard.clone(), ""),
                Array::new("contact_map", [("residue", residues), ("partner", residues)], Values::Single(map), ""),
                Array::new("residue", [("residue", residues)], self.residues.clone(), ""),
                Array::new("residue_name", [("residue", residues)], self.names.clone(), ""),
                Array::new("native_atoms", [("native", natives), ("end", 2)], atoms, ""),
                Array::new("native_distance", [("native", natives)], distances, "nm"),
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::system::Images;
    use crate::system::{Atom, Name, Residue, Topology};
    use crate::vec3::vec3;

    /// A square of side 0.4 nm, with the residues 0, 4, 8 and 9 at its corners, has the native contacts 0–4, 4–8 and
    /// 0–9 (8–9 are neighbours in sequence). If residue 0 moves away by d along the side 0–4, the contact 0–4 has the
    /// length 0.4 + d, the contact 0–9 has the length √(0.4² + d²), and the contact 4–8 does not change.
    #[test]
    fn a_square_of_residues() {
        let name = Name::new("X");
        let atom = |residue| Atom { name, type_name: name, element: 6, mass: 1.0, charge: 0.0, lj_type: 0, residue };
        let topology = Topology {
            atoms: (0..10).map(atom).collect(),
            residues: (0..10).map(|first| Residue { name, number: first as i32 + 1, first }).collect(),
            connectivity: (1..10).map(|b| [b - 1, b]).collect(),
            ..Topology::default()
        };
        let system = AnalysedSystem::new(&topology, Images::AsStored);
        let frame = |d: f64| {
            let mut positions: Vec<_> = (0..10).map(|i| vec3(100.0 + f64::from(i), 0.0, 0.0)).collect();
            positions[0] = vec3(-d, 0.0, 0.0);
            positions[4] = vec3(0.4, 0.0, 0.0);
            positions[8] = vec3(0.4, 0.4, 0.0);
            positions[9] = vec3(0.0, 0.4, 0.0);
            StoredFrame { positions, ..StoredFrame::default() }
        };
        let group = || system.group_of("corners", vec![0, 4, 8, 9]);
        let mut contacts = Contacts::new(&system, group(), &frame(0.0), 0.45, 3).unwrap();
        let pairs: Vec<[u32; 2]> = contacts.natives.iter().map(|native| native.atoms).collect();
        assert_eq!(pairs, [[0, 1], [0, 3], [1, 2]]);
        let moves = [0.0, 0.04, 0.1, 0.32];
        contacts.observe(&moves.map(frame)).unwrap();
        // the distances 0.44 and √(0.16 + 0.01) = 0.412 nm are within the cutoff of 0.45 nm; the distances 0.5 and
        // √(0.16 + 0.1024) = 0.512 nm are beyond the cutoff
        for (found, expected) in contacts.hard.iter().zip([1.0, 1.0, 2.0 / 3.0, 1.0 / 3.0]) {
            assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        }
        for (found, d) in contacts.soft.iter().zip(moves) {
            let of = |r: f64| 1.0 / (1.0 + (50.0 * (r - 0.72)).exp());
            let expected = (of(0.4 + d) + of((0.16 + d * d).sqrt()) + of(0.4)) / 3.0;
            assert!((found - expected).abs() < 1e-14, "{found} {expected}");
        }
        let map = contacts.map();
        let expected = [[1.0, 0.5, 0.0, 0.75], [0.5, 1.0, 1.0, 0.0], [0.0, 1.0, 1.0, 1.0], [0.75, 0.0, 1.0, 1.0]];
        assert_eq!(map, expected.concat());
        assert!(Contacts::new(&system, group(), &frame(0.0), 0.45, 20).is_err());
    }
}
