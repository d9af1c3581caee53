//! Kinds of residues (protein, water, …) by residue name, without regard to case.
//!
//! Each list is the union of the lists of GROMACS 2022 (`share/top/residuetypes.dat`, which also ignores case),
//! MDAnalysis 2.11 (`core/selection.py`) and VMD 1.9.4 (macros `ion` and `lipid`, and names of water). Names of ions
//! come also from AMBER's `atomic_ions.lib` and CHARMM's `toppar_water_ions.str`. Names of lipids come from the
//! NMRlipids databank (table "Molecule names"), the CHARMM36 force field, and the residues of Lipid21 except AR,
//! which is also argon (Dickson, Walker, Gould, J. Chem. Theory Comput. 2022, 18, 1726). GROMACS and MDAnalysis have
//! no lists of lipids, and VMD recognises proteins and nucleic acids by their bonds.

/// Kind of residues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Protein,
    Nucleic,
    Water,
    Ion,
    Lipid,
}

impl Kind {
    /// Returns the kind that a keyword of the selection language selects.
    pub(super) fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            "protein" => Kind::Protein,
            "nucleic" => Kind::Nucleic,
            "water" => Kind::Water,
            "ion" => Kind::Ion,
            "lipid" => Kind::Lipid,
            _ => return None,
        })
    }

    /// Whether a residue name belongs to the kind.
    pub(super) fn has(self, name: &str) -> bool {
        let names: &[&str] = match self {
            Kind::Protein => &PROTEIN,
            Kind::Nucleic => &NUCLEIC,
            Kind::Water => &WATER,
            Kind::Ion => &ION,
            Kind::Lipid => &LIPID,
        };
        names.binary_search(&&*name.to_ascii_uppercase()).is_ok()
    }
}

/// Names of amino acids, their protonation states, terminal residues and caps; sorted.
const PROTEIN: [&str; 149] = [
    "ABU", "ACE", "AIB", "ALA", "ALAD", "ARG", "ARGN", "ASF", "ASH", "ASN", "ASN1", "ASP", "ASP1", "ASPH", "ASPP",
    "CALA", "CARG", "CASF", "CASN", "CASP", "CASPH", "CCYS", "CCYS2", "CCYX", "CDAB", "CGLN", "CGLU", "CGLUH", "CGLY",
    "CHID", "CHIE", "CHIP", "CHISD", "CHISE", "CHISH", "CHYP", "CILE", "CLEU", "CLYS", "CLYSN", "CME", "CMET", "CORN",
    "CPHE", "CPRO", "CSER", "CT3", "CTHR", "CTRP", "CTYR", "CVAL", "CYM", "CYN", "CYS", "CYS1", "CYS2", "CYSH", "CYX",
    "DAB", "DALA", "GLH", "GLN", "GLU", "GLUH", "GLUP", "GLY", "HID", "HIE", "HIP", "HIS", "HIS1", "HIS2", "HISA",
    "HISB", "HISD", "HISE", "HISH", "HISP", "HSD", "HSE", "HSP", "HYP", "ILE", "LEU", "LSN", "LYN", "LYP", "LYS",
    "LYSH", "LYSN", "MELEU", "MET", "MEVAL", "MSE", "NAC", "NALA", "NARG", "NASN", "NASP", "NASPH", "NCYS", "NCYS2",
    "NCYX", "NDAB", "NGLN", "NGLU", "NGLUH", "NGLY", "NH2", "NHE", "NHID", "NHIE", "NHIP", "NHISD", "NHISE", "NHISH",
    "NHYP", "NILE", "NLEU", "NLYS", "NLYSN", "NMA", "NME", "NMET", "NORN", "NPHE", "NPRO", "NSER", "NTHR", "NTRP",
    "NTYR", "NVAL", "ORN", "PGLU", "PHE", "PHEH", "PHEU", "PHL", "PRO", "QLN", "SER", "THR", "TRP", "TRPH", "TRPU",
    "TYR", "TYRH", "TYRU", "VAL",
];

/// Names of the residues in [`PROTEIN`] that cap a chain and have no side chain.
pub(super) const CAPS: [&str; 7] = ["ACE", "CT3", "NAC", "NH2", "NHE", "NMA", "NME"];

/// Names of DNA and RNA nucleotides; sorted.
const NUCLEIC: [&str; 45] = [
    "A", "ADE", "C", "CYT", "DA", "DA3", "DA5", "DAN", "DC", "DC3", "DC5", "DCN", "DG", "DG3", "DG5", "DGN", "DT",
    "DT3", "DT5", "DTN", "G", "GUA", "RA", "RA3", "RA5", "RAN", "RC", "RC3", "RC5", "RCN", "RG", "RG3", "RG5", "RGN",
    "RT3", "RT5", "RTN", "RU", "RU3", "RU5", "RUN", "T", "THY", "U", "URA",
];

/// Names of water models; sorted.
const WATER: [&str; 17] = [
    "H2O", "HH0", "HHO", "HOH", "OH2", "OHH", "SOL", "SPC", "T3H", "T3P", "T4P", "T5P", "TIP", "TIP2", "TIP3", "TIP4",
    "WAT",
];

/// Names of monatomic ions and a few polyatomic ions; sorted.
const ION: [&str; 81] = [
    "AG", "AL", "BA", "BAR", "BE", "BR", "CA", "CAD", "CAL", "CD", "CE", "CES", "CL", "CL-", "CLA", "CO", "CR", "CS",
    "CU", "CU1", "CUA", "DY", "ER", "EU", "EU3", "F", "FE", "FE2", "GD3", "HF", "HG", "I", "IB+", "IN", "IOD", "K",
    "K+", "LA", "LI", "LIT", "LU", "MG", "MN", "MN3", "MO3", "MO4", "MO5", "MO6", "NA", "NA+", "NAW", "NH4", "NI",
    "OC7", "OH", "PB", "PD", "POT", "PR", "PT", "PU", "RB", "RUB", "SM", "SN", "SOD", "SR", "TB", "TH", "TL", "TM",
    "U4+", "V2+", "WO4", "Y", "YB", "YB2", "ZN", "ZN1", "ZN2", "ZR",
];

/// Names of lipids, sterols, and parts of lipids that are separate residues; sorted.
const LIPID: [&str; 77] = [
    "BMGP", "CER1", "CHL", "CHL1", "CHOL", "DAPC", "DDOPC", "DEPC", "DHA", "DHPC", "DLIPC", "DLPC", "DLPE", "DLPG",
    "DLPS", "DMPA", "DMPC", "DMPE", "DMPG", "DMPS", "DMTAP", "DOG", "DOPA", "DOPC", "DOPE", "DOPG", "DOPS", "DPPA",
    "DPPC", "DPPE", "DPPG", "DPPS", "DRPC", "DSPC", "DSPE", "DSPG", "DSPS", "DYPC", "GM1", "GPC", "LAL", "LPPC", "LSM",
    "MY", "NSM", "OL", "PA", "PALM", "PC", "PE", "PGCL", "PGR", "PH-", "PLPI", "POPA", "POPC", "POPE", "POPG", "POPI",
    "POPS", "PS", "PSM", "PYPC", "SA", "SAPC", "SAPE", "SAPI", "SAPS", "SLPE", "SLPS", "SOPC", "SOPE", "SOPS", "SPM",
    "ST", "TLCL", "TLCL2",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_looked_up_in_any_case() {
        for names in [&PROTEIN[..], &NUCLEIC, &WATER, &ION, &LIPID] {
            assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
        }
        for (kind, name) in [
            (Kind::Protein, "LYSH"),
            (Kind::Protein, "PGLU"),
            (Kind::Protein, "MSE"),
            (Kind::Nucleic, "DA5"),
            (Kind::Nucleic, "URA"),
            (Kind::Water, "T4P"),
            (Kind::Water, "TIP3"),
            (Kind::Ion, "Na+"),
            (Kind::Ion, "SOD"),
            (Kind::Ion, "Cal"),
            (Kind::Lipid, "POPC"),
        ] {
            assert!(kind.has(name), "{kind:?} {name}");
            let others = [Kind::Protein, Kind::Nucleic, Kind::Water, Kind::Ion, Kind::Lipid].into_iter();
            assert_eq!({ others }.filter(|other| other.has(name)).count(), 1, "{name}");
        }
        assert!(!Kind::Protein.has("LIG"));
    }
}
