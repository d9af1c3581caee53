//! Words of the selection languages of other programs that this selection language lacks. Each word has a message with
//! the reason and the equivalent. A word that has several meanings is refused, and the message names the meanings.

/// Keywords of other programs, each with the advice that the message gives.
const FOREIGN: [(&str, &str); 40] = [
    (
        "residue",
        "residue counts residues from 0 in VMD and from 1 in GROMACS: write \"resid 5\" for the residue number in \
                 the file, or \"byres\" for whole residues",
    ),
    (
        "resseq",
        "MDTraj's resSeq is the residue number in the file: write \"resid\" (only MDTraj's resid counts from 0)",
    ),
    ("resnr", "GROMACS' resnr is the residue number in the file: write \"resid\""),
    ("resnum", "write \"resid\" for the residue number in the file"),
    ("resi", "PyMOL's resi is the residue number in the file: write \"resid\""),
    ("resn", "PyMOL's resn is the residue name: write \"resname\""),
    (
        "resindex",
        "resindex counts residues from 0 in MDAnalysis and from 1 in GROMACS: write \"resid\" for the residue \
                  number in the file",
    ),
    ("resindices", "counts of residues from 0 are not available: write \"resid\" for the residue number in the file"),
    ("rescode", "MDTraj's one-letter codes are not available: write \"resname\" with the names in the file"),
    ("chainid", "chainID is a letter in MDAnalysis and a count from 0 in MDTraj: write \"chain\" with the letter"),
    ("chainindex", "write \"chain\" with the identifier of the chain in the file"),
    ("segment", "write \"segid\" with the name of the segment"),
    ("segname", "VMD's segname is the name of the segment: write \"segid\""),
    ("serial", "serial numbers count atoms from 1, and a PDB file may skip some: write \"index\", which counts from 0"),
    ("bynum", "MDAnalysis' bynum counts atoms from 1: write \"index\", which counts from 0"),
    ("id", "numbers of atoms in a file may begin with any number: write \"index\", which counts from 0"),
    ("atomnr", "GROMACS' atomnr counts atoms from 1: write \"index\", which counts from 0"),
    ("atomname", "GROMACS' atomname is the name of the atom: write \"name\""),
    ("atomtype", "write \"type\" for the name of the force-field type"),
    ("molindex", "GROMACS' molindex counts molecules from 1: write \"molecule\", which counts from 0"),
    ("mol", "GROMACS' mol counts molecules from 1: write \"molecule\", which counts from 0"),
    ("molnum", "write \"molecule\", which counts from 0"),
    ("moltype", "names of molecule types are not available: write \"resname\""),
    ("fragment", "VMD's fragment and MDAnalysis' fragment are molecules: write \"molecule 0\" or \"same molecule as\""),
    ("fragindex", "write \"molecule\", which counts from 0"),
    ("pfrag", "write \"molecule\", which counts from 0"),
    ("bymol", "write \"same molecule as\""),
    ("bychain", "write \"same chain as\""),
    (
        "solvent",
        "solvent is water in PyMOL, and everything but protein, sugar, nucleic acids and lipids in VMD: \
                 write \"water\", \"water or ion\", or \"not (protein or nucleic)\"",
    ),
    ("ions", "write \"ion\""),
    ("waters", "write \"water\""),
    ("hydrogens", "write \"hydrogen\""),
    ("noh", "write \"heavy\""),
    ("nucleicbackbone", "write the names of the atoms, for example \"nucleic and name P O5' C5' C4' C3' O3'\""),
    (
        "exwithin",
        "VMD's exwithin excludes the inner selection, and its distance is in angstrom: write \"around 5 A of\"",
    ),
    ("pbwithin", "distances are always those of the nearest periodic images: write \"within 5 A of\""),
    ("beyond", "write \"not within 5 A of\""),
    ("prop", "MDAnalysis' prop is not needed: write \"mass > 1.5\" or \"charge <= -0.5\""),
    ("global", "in md, groups do not change the meaning of other parts: leave out \"global\""),
    ("group", "md does not read index groups: select the atoms with \"index\""),
];

/// Keywords of MDAnalysis' geometric selections, for which the advice is the same.
const ZONES: [&str; 7] = ["sphzone", "sphlayer", "isolayer", "cyzone", "cylayer", "point", "box"];

/// Returns the advice for a lower-case keyword of another program; `None` if the keyword is not known.
pub(super) fn advice(word: &str) -> Option<String> {
    if ZONES.contains(&word) {
        return Some(format!(
            "MDAnalysis' {word} is not available: write \"around\" or \"within\", for example \
                             \"within 0.5 nm of resname LIG\""
        ));
    }
    FOREIGN.iter().find(|(known, _)| *known == word).map(|(_, advice)| (*advice).to_owned())
}

/// Returns the advice for a text in the syntax of AMBER masks.
pub(super) fn mask_advice(word: &str) -> Option<&'static str> {
    word.starts_with([':', '@']).then_some(
        "AMBER masks are another language: write \":1-10\" as \"resid 1-10\", \"@CA\" as \"name CA\", and \
         \":LIG<:5.0\" as \"byres within 5 A of resname LIG\"",
    )
}
