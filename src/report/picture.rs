//! Structure in the last frame of a trajectory, as data for the molecular viewer of the page.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::structure::observer;
use crate::analysis::{AnalysedSystem, Passed, Values, base64};
use crate::error::Result;
use crate::observe::trajectory::{FrameSource, StoredFrame};
use crate::system::Topology;
use crate::system::polymer::is_chain_bond;
use crate::vec3::Vec3;

/// Selections of atoms to show, in order of preference. The viewer shows the first selection that contains between one
/// and [`MOST`] atoms.
const SHOWN: [&str; 4] =
    ["not (water or ion)", "heavy and not (water or ion)", "heavy and (protein or nucleic)", "all"];
/// Maximum number of atoms that the viewer shows.
const MOST: usize = 30_000;
/// Resolution of positions (nm). The data for the viewer store positions as 16-bit integer multiples of this length.
const UNIT: f64 = 0.002;

/// Structure for the molecular viewer of the page.
#[derive(Debug)]
pub(super) struct Picture {
    /// structure in JSON form, for the script of the viewer
    pub(super) data: Value,
    /// selection of the atoms that are shown
    pub(super) select: &'static str,
    /// number of atoms that are shown
    pub(super) atoms: usize,
    /// number of chains that the viewer can show as a cartoon
    pub(super) chains: usize,
    /// simulated time of the frame, ps
    pub(super) time: f64,
}

impl Picture {
    /// Creates the picture of the last frame of a trajectory. Returns `None` if every selection of atoms to show is
    /// empty or too large.
    pub(super) fn of_last(trajectory: &mut dyn FrameSource, system: &AnalysedSystem<'_>) -> Result<Option<Self>> {
        let mut frame = StoredFrame::default();
        trajectory.read(trajectory.frames() - 1, &mut frame)?;
        system.make_whole(&mut frame);
        let groups = SHOWN.iter().filter_map(|&select| Some((select, system.group(select).ok()?)));
        let Some((select, group)) = { groups }.find(|(_, group)| (1..=MOST).contains(&group.atoms.len())) else {
            return Ok(None);
        };
        let positions = group.positions(&frame);
        let center = positions.iter().fold(Vec3::ZERO, |sum, r| sum + *r) * (positions.len() as f64).recip();
        let topology = system.topology();
        let place: BTreeMap<u32, u32> = group.atoms.iter().copied().zip(0..).collect();
        let letters = secondary_structure(trajectory, system, &frame);
        let chains = chains(topology, &place, &letters);
        let bonds = topology.connectivity.iter().filter_map(|[i, j]| Some([*place.get(i)?, *place.get(j)?]));
        let coordinates = positions.iter().flat_map(|r| {
            (*r - center).to_array().map(|x| (x / UNIT).round().clamp(f64::from(i16::MIN), f64::from(i16::MAX)) as i16)
        });
        let data = json!({
            "scale": UNIT,
            "positions": base64(&coordinates.flat_map(i16::to_le_bytes).collect::<Vec<u8>>()),
            "elements": base64(&group.atoms.iter().map(|&atom| topology.atoms[atom as usize].element).collect::<Vec<u8>>()),
            "bonds": base64(&bonds.flatten().flat_map(u32::to_le_bytes).collect::<Vec<u8>>()),
            "chains": chains,
            "cell": frame.cell.map(|cell| cell.rows().map(Vec3::to_array)),
        });
        Ok(Some(Picture { data, select, atoms: positions.len(), chains: chains.len(), time: frame.time }))
    }
}

/// Returns the DSSP letter of the secondary structure of each protein residue in a frame, by residue index; empty if
/// the system has no protein.
fn secondary_structure(
    trajectory: &mut dyn FrameSource,
    system: &AnalysedSystem<'_>,
    frame: &StoredFrame,
) -> BTreeMap<u32, char> {
    let found = observer("dssp", &[], trajectory, system).and_then(|mut dssp| {
        dssp.observe(std::slice::from_ref(frame))?;
        dssp.results(&Passed { steps: vec![0], times: vec![frame.time], ..Passed::default() })
    });
    let Ok(findings) = found else { return BTreeMap::new() };
    let array = |name: &str| findings.arrays.iter().find(|array| array.name == name).map(|array| &array.values);
    let (Some(Values::Whole(classes)), Some(Values::Whole(residues)), Some(Values::Text(letters))) =
        (array("class"), array("residue"), array("class_name"))
    else {
        return BTreeMap::new();
    };
    let letter = |class: &u32| letters[*class as usize].chars().next().unwrap_or('-');
    residues.iter().copied().zip(classes.iter().map(letter)).collect()
}

/// Returns the chains in JSON form; a chain is a sequence of residues, each bonded to the next residue. One atom
/// represents each residue: Cα of an amino acid, C4' of a nucleotide.
fn chains(topology: &Topology, place: &BTreeMap<u32, u32>, letters: &BTreeMap<u32, char>) -> Vec<Value> {
    let name = |atom: u32| topology.atoms[atom as usize].name.as_str();
    let residue = |atom: u32| topology.atoms[atom as usize].residue;
    // `linked` contains the index of every residue that a backbone bond joins to the previous residue
    let is_link = |&&[i, j]: &&[u32; 2]| residue(i).abs_diff(residue(j)) == 1 && is_chain_bond([name(i), name(j)]);
    let linked = topology.connectivity.iter().filter(is_link).map(|&[i, j]| residue(i).max(residue(j)));
    let linked: BTreeSet<u32> = linked.collect();
    let mut chains: Vec<(Vec<u32>, String)> = vec![];
    let mut before = None;
    for index in 0..topology.residues.len() as u32 {
        let is_trace = |&atom: &u32| ["CA", "C4'"].contains(&name(atom)) && topology.atoms[atom as usize].element == 6;
        let atoms = topology.residue_atoms(index as usize);
        let Some(&shown) = (atoms.start as u32..atoms.end as u32).find(is_trace).and_then(|atom| place.get(&atom))
        else {
            continue;
        };
        if !linked.contains(&index) || before != index.checked_sub(1) {
            chains.push(Default::default());
        }
        if let Some((atoms, structure)) = chains.last_mut() {
            atoms.push(shown);
            structure.push(letters.get(&index).copied().unwrap_or('-'));
        }
        before = Some(index);
    }
    let chain = |(atoms, structure): (Vec<u32>, String)| {
        let atoms: Vec<u8> = atoms.into_iter().flat_map(u32::to_le_bytes).collect();
        json!({ "atoms": base64(&atoms), "structure": structure })
    };
    // a cartoon needs at least three residues
    chains.into_iter().filter(|(atoms, _)| atoms.len() > 2).map(chain).collect()
}
