//! Names of the atoms along chains of amino acids and of nucleotides.

/// Names of backbone atoms of amino acids and of nucleotides.
const BACKBONES: [[&str; 3]; 2] = [["N", "CA", "C"], ["C3'", "C4'", "C5'"]];

/// Bonds between consecutive residues of a chain: atom name in a residue, atom name in the next residue, and length in
/// nm.
pub const CHAIN_BONDS: [(&str, &str, f64); 2] = [("C", "N", 0.1341), ("O3'", "P", 0.16)];

/// Whether a residue has all backbone atoms of an amino acid or of a nucleotide. `has` tells whether the residue has an
/// atom with the given name.
pub fn has_backbone(has: impl Fn(&str) -> bool) -> bool {
    BACKBONES.iter().any(|names| names.iter().all(|name| has(name)))
}

/// Whether a bond between two residues joins them along a chain. `names` are the names of the bonded atoms.
pub fn is_chain_bond(names: [&str; 2]) -> bool {
    CHAIN_BONDS.iter().any(|&(end, start, _)| names == [end, start] || names == [start, end])
}
