//! Kinds of residues (protein, water, …) by residue name, without regard to case.
//!
//! Each list is the union of the lists of GROMACS 2022 (`share/top/residuetypes.dat`, which also ignores case),
//! MDAnalysis 2.11 (`core/selection.py`) and VMD 1.9.4 (macros `ion` and `lipid`, and names of water). Names of ions
//! come also from AMBER's `atomic_ions.lib` and CHARMM's `toppar_water_ions.str`. Names of lipids come from the
//! NMRlipids databank (table "Molecule names"), the CHARMM36 force field, and the residues of Lipid21 except AR,
//! which is also argon (Dickson, Walker, Gould, J. Chem. Theory Comput. 2022, 18, 1726). GROMACS and MDAnalysis have
//! no lists of lipids, and VMD recognises proteins and nucleic acids by their bonds.
//!
//! The lists also have the residues of the force fields of `md build`, as a test in `src/build/forcefield/builtin.rs`
//! checks. Fatty acids, detergents and most modified nucleotides of CHARMM36 are left out, because the PDB uses many of
//! their names for other molecules. A modified nucleotide is included only if the table of common residues of Gemmi 0.7
//! (`src/resinfo.cpp`) lists this nucleotide.

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
const PROTEIN: [&str; 171] = [
    "ABU", "ACE", "AIB", "ALA", "ALAD", "ARG", "ARGN", "ASF", "ASH", "ASN", "ASN1", "ASP", "ASP1", "ASPH", "ASPP",
    "CALA", "CARG", "CASF", "CASN", "CASP", "CASPH", "CCYS", "CCYS2", "CCYX", "CDAB", "CGLN", "CGLU", "CGLUH", "CGLY",
    "CHID", "CHIE", "CHIP", "CHISD", "CHISE", "CHISH", "CHYP", "CILE", "CLEU", "CLYS", "CLYSN", "CME", "CMET", "CNLN",
    "COLP", "COLS", "COLT", "CORN", "CPHE", "CPRO", "CSER", "CT3", "CTHR", "CTRP", "CTYR", "CVAL", "CYM", "CYN", "CYS",
    "CYS1", "CYS2", "CYSF", "CYSG", "CYSH", "CYSL", "CYSP", "CYX", "DAB", "DALA", "GLH", "GLN", "GLU", "GLUH", "GLUP",
    "GLY", "GLYM", "HID", "HIE", "HIP", "HIS", "HIS1", "HIS2", "HISA", "HISB", "HISD", "HISE", "HISH", "HISP", "HSD",
    "HSE", "HSP", "HYP", "ILE", "LEU", "LSN", "LYN", "LYP", "LYR", "LYS", "LYSH", "LYSM", "LYSN", "MELEU", "MET",
    "MEVAL", "MSE", "NAC", "NALA", "NARG", "NASN", "NASP", "NASPH", "NCYS", "NCYS2", "NCYX", "NDAB", "NGLN", "NGLU",
    "NGLUH", "NGLY", "NH2", "NHE", "NHID", "NHIE", "NHIP", "NHISD", "NHISE", "NHISH", "NHYP", "NILE", "NLEU", "NLN",
    "NLYS", "NLYSN", "NMA", "NME", "NMET", "NNLN", "NOLP", "NOLS", "NOLT", "NORN", "NPHE", "NPRO", "NSER", "NTHR",
    "NTRP", "NTYR", "NVAL", "OLP", "OLS", "OLT", "ORN", "PGLU", "PHE", "PHEH", "PHEU", "PHL", "PRO", "PTR", "QLN",
    "SEP", "SER", "THR", "TPO", "TRP", "TRPH", "TRPU", "TYR", "TYRH", "TYRU", "VAL",
];

/// Names of the residues in [`PROTEIN`] that cap a chain and have no side chain.
pub(super) const CAPS: [&str; 7] = ["ACE", "CT3", "NAC", "NH2", "NHE", "NMA", "NME"];

/// Names of DNA and RNA nucleotides; sorted.
const NUCLEIC: [&str; 72] = [
    "1MA", "1MG", "2MA", "2MG", "4OC", "4SU", "7MG", "A", "A3", "A5", "ADE", "AN", "C", "C3", "C5", "CN", "CYT", "DA",
    "DA3", "DA5", "DAN", "DC", "DC3", "DC5", "DCN", "DG", "DG3", "DG5", "DGN", "DT", "DT3", "DT5", "DTN", "G", "G3",
    "G5", "GN", "GUA", "H2U", "M2G", "MIA", "OHE", "OMC", "OMG", "OMU", "PSU", "RA", "RA3", "RA5", "RAN", "RC", "RC3",
    "RC5", "RCN", "RG", "RG3", "RG5", "RGN", "RT3", "RT5", "RTN", "RU", "RU3", "RU5", "RUN", "T", "THY", "U", "U3",
    "U5", "UN", "URA",
];

/// Names of water models; sorted.
const WATER: [&str; 17] = [
    "H2O", "HH0", "HHO", "HOH", "OH2", "OHH", "SOL", "SPC", "T3H", "T3P", "T4P", "T5P", "TIP", "TIP2", "TIP3", "TIP4",
    "WAT",
];

/// Names of monatomic ions and a few polyatomic ions; sorted.
const ION: [&str; 143] = [
    "AG", "AG1", "AG1P", "AG2P", "AL", "AL3P", "AU1P", "AU3P", "BA", "BAR", "BE", "BE2P", "BI3P", "BR", "CA", "CAD",
    "CAL", "CD", "CD2", "CE", "CE3P", "CES", "CL", "CL-", "CLA", "CO", "CO2P", "CO3P", "CR", "CR2P", "CR3P", "CS",
    "CS+", "CU", "CU1", "CU1P", "CU2P", "CUA", "DY", "DY3P", "ER", "ER3P", "EU", "EU2P", "EU3", "EU3P", "F", "FE",
    "FE2", "FE2P", "FE3P", "GA3P", "GD3", "GD3P", "HF", "HG", "HG2P", "HO3P", "I", "IB+", "IN", "IN3P", "IOD", "K",
    "K+", "LA", "LA3P", "LI", "LI+", "LIT", "LU", "LU3P", "MG", "MG2", "MN", "MN2P", "MN3", "MN3P", "MO3", "MO4",
    "MO5", "MO6", "NA", "NA+", "NAW", "ND", "ND3P", "NH4", "NI", "NI2P", "OC7", "OH", "PB", "PB2P", "PD", "PD2P",
    "PM3P", "POT", "PR", "PR3P", "PT", "PT2P", "PU", "PU3P", "RA2P", "RB", "RB+", "RH3P", "RUB", "SC3P", "SM", "SM2P",
    "SM3P", "SN", "SN2P", "SOD", "SR", "SR2P", "TB", "TB3P", "TH", "TI1P", "TI3P", "TL", "TL1", "TL3P", "TM", "U3P",
    "U4+", "V2+", "V2P", "V3P", "WO4", "Y", "Y3P", "YB", "YB2", "YB2P", "YB3P", "ZN", "ZN1", "ZN2", "ZR",
];

/// Names of lipids, sterols, and parts of lipids that are separate residues; sorted.
const LIPID: [&str; 305] = [
    "23SM", "ABLIPA", "ABLIPB", "APPC", "ASM", "BCLIPA", "BCLIPB", "BCLIPC", "BMGP", "BSM", "CER1", "CER160", "CER180",
    "CER181", "CER2", "CER200", "CER220", "CER241", "CER3E", "CHL", "CHL1", "CHOL", "CHSD", "CHSP", "CJLIPA", "CTLIPA",
    "DAPA", "DAPC", "DAPE", "DAPG", "DAPS", "DCPC", "DDOPC", "DDOPE", "DDOPS", "DDPC", "DEPA", "DEPC", "DEPE", "DEPG",
    "DEPS", "DGPA", "DGPC", "DGPE", "DGPG", "DGPS", "DHA", "DHPC", "DHPCE", "DIPA", "DLIPC", "DLIPE", "DLIPI", "DLPA",
    "DLPC", "DLPE", "DLPG", "DLPS", "DMPA", "DMPC", "DMPCE", "DMPE", "DMPEE", "DMPG", "DMPI", "DMPI13", "DMPI14",
    "DMPI15", "DMPI24", "DMPI25", "DMPI2A", "DMPI2B", "DMPI2C", "DMPI2D", "DMPI33", "DMPI34", "DMPI35", "DMPS",
    "DMTAP", "DNPA", "DNPC", "DNPE", "DNPG", "DNPS", "DOG", "DOPA", "DOPC", "DOPCE", "DOPE", "DOPEE", "DOPG", "DOPP1",
    "DOPP2", "DOPP3", "DOPS", "DPPA", "DPPC", "DPPE", "DPPEE", "DPPG", "DPPGK", "DPPS", "DRPC", "DSPA", "DSPC", "DSPE",
    "DSPG", "DSPS", "DTPA", "DUPC", "DYPA", "DYPC", "DYPE", "DYPG", "DYPS", "ECLIPA", "ECLIPB", "ECLIPC", "ERG", "GM1",
    "GPC", "HPLIPA", "HPLIPB", "IPPC", "KPLIPA", "KPLIPB", "KPLIPC", "LAL", "LILIPA", "LLPA", "LLPC", "LLPE", "LLPS",
    "LNACL1", "LNACL2", "LNBCL1", "LNBCL2", "LNCCL1", "LNCCL2", "LNDCL1", "LNDCL2", "LOACL1", "LOACL2", "LOCCL1",
    "LOCCL2", "LPPC", "LSM", "MCLIPA", "MY", "NGLIPA", "NGLIPB", "NGLIPC", "NSM", "OL", "OSM", "OYPE", "PA", "PALIPA",
    "PALIPB", "PALIPC", "PALIPD", "PALIPE", "PALM", "PC", "PDOPC", "PDOPE", "PE", "PGCL", "PGR", "PH-", "PHPC", "PLPA",
    "PLPC", "PLPE", "PLPG", "PLPI", "PLPI13", "PLPI14", "PLPI15", "PLPI24", "PLPI25", "PLPI2A", "PLPI2B", "PLPI2C",
    "PLPI2D", "PLPI33", "PLPI34", "PLPI35", "PLPS", "PMCL1", "PMCL2", "PMPE", "PMPG", "PNPI", "PNPI13", "PNPI14",
    "PNPI15", "PNPI24", "PNPI25", "PNPI2A", "PNPI2B", "PNPI2C", "PNPI2D", "PNPI33", "PNPI34", "PNPI35", "POPA", "POPC",
    "POPCE", "POPE", "POPEE", "POPG", "POPI", "POPI13", "POPI14", "POPI15", "POPI24", "POPI25", "POPI2A", "POPI2B",
    "POPI2C", "POPI2D", "POPI33", "POPI34", "POPI35", "POPP1", "POPP2", "POPP3", "POPS", "PPPE", "PS", "PSM", "PVCL2",
    "PVPE", "PVPG", "PYPC", "PYPE", "PYPG", "PYPI", "QMPE", "SA", "SAPA", "SAPC", "SAPE", "SAPG", "SAPI", "SAPI13",
    "SAPI14", "SAPI15", "SAPI24", "SAPI25", "SAPI2A", "SAPI2B", "SAPI2C", "SAPI2D", "SAPI33", "SAPI34", "SAPI35",
    "SAPS", "SDPA", "SDPC", "SDPE", "SDPG", "SDPS", "SELIPB", "SELIPC", "SITO", "SLPA", "SLPC", "SLPE", "SLPG", "SLPS",
    "SOPA", "SOPC", "SOPE", "SOPG", "SOPS", "SPM", "SSM", "ST", "STIG", "THCHL", "THDPPC", "TIPA", "TLCL", "TLCL1",
    "TLCL2", "TMCL1", "TMCL2", "TOCL1", "TOCL2", "TSPC", "TYCL1", "TYCL2", "VCLIPA", "VCLIPB", "VCLIPC", "VCLIPD",
    "VCLIPE", "YOPA", "YOPC", "YOPE", "YOPS", "YPLIPA", "YPLIPB",
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
            (Kind::Protein, "SEP"),
            (Kind::Nucleic, "DA5"),
            (Kind::Nucleic, "PSU"),
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
