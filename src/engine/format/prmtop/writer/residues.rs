//! Writer of the sections with the numbers, chains and insertion codes of residues. The sections are those that
//! `add_pdb` of AmberTools and ParmEd write.

use super::sections::Text;
use crate::system::{ChainLabel, Topology};

/// Writes `RESIDUE_NUMBER` if residues are not numbered from 1, `RESIDUE_CHAINID` if residues have chains, and
/// `RESIDUE_ICODE` if residues have insertion codes.
pub(super) fn write(topology: &Topology, text: &mut Text) {
    let Topology { residues, chain_labels, .. } = topology;
    if residues.iter().zip(1..).any(|(residue, number)| residue.number != number) {
        text.integers_as("RESIDUE_NUMBER", 10, 8, residues.iter().map(|residue| residue.number));
    }
    if chain_labels.iter().any(|label| !label.chain.as_str().is_empty()) {
        text.labels("RESIDUE_CHAINID", chain_labels.iter().map(|label| label.chain.as_str()));
    }
    if chain_labels.iter().any(|label| label.insertion_code.is_some()) {
        let codes = chain_labels.iter().map(|label| label.insertion_code.map(String::from).unwrap_or_default());
        let codes: Vec<String> = codes.collect();
        text.labels("RESIDUE_ICODE", codes.iter().map(String::as_str));
    }
}

/// Returns a sentence about segments, which the format does not contain, and about chains with long names.
pub(super) fn losses(topology: &Topology) -> Vec<String> {
    let labels = &topology.chain_labels;
    let segment = labels.iter().map(|label| label.segment).find(|segment| !segment.as_str().is_empty());
    let is_long = |label: &&ChainLabel| label.chain.as_str().len() > 4;
    let chain = labels.iter().find(is_long).map(|label| label.chain);
    let segment =
        segment.map(|name| format!("the format has no segments: the names of segments such as {name} are lost"));
    segment.into_iter().chain(chain.map(|name| format!("chain {name} is cut to four characters"))).collect()
}
