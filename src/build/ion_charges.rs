//! Charges of monatomic ions by their residue names in the Chemical Component Dictionary of the Protein Data Bank.

/// Residue names of ions in PDB entries, with their charges in e.
const IONS: [(&str, f64); 39] = [
    ("3CO", 3.0),
    ("3NI", 3.0),
    ("AG", 1.0),
    ("AL", 3.0),
    ("BA", 2.0),
    ("BR", -1.0),
    ("CA", 2.0),
    ("CD", 2.0),
    ("CL", -1.0),
    ("CO", 2.0),
    ("CR", 3.0),
    ("CS", 1.0),
    ("CU", 2.0),
    ("CU1", 1.0),
    ("EU", 2.0),
    ("EU3", 3.0),
    ("F", -1.0),
    ("FE", 3.0),
    ("FE2", 2.0),
    ("HG", 2.0),
    ("IN", 3.0),
    ("IOD", -1.0),
    ("K", 1.0),
    ("LI", 1.0),
    ("MG", 2.0),
    ("MN", 2.0),
    ("MN3", 3.0),
    ("NA", 1.0),
    ("NI", 2.0),
    ("PB", 2.0),
    ("PD", 2.0),
    ("PT", 2.0),
    ("PT4", 4.0),
    ("RB", 1.0),
    ("SR", 2.0),
    ("TL", 1.0),
    ("YB", 3.0),
    ("YB2", 2.0),
    ("ZN", 2.0),
];

/// Returns the charge (e) of the ion with this residue name; `None` if no ion in the table has this name.
pub(crate) fn ion_charge(residue: &str) -> Option<f64> {
    IONS.iter().find(|(name, _)| *name == residue).map(|(_, charge)| *charge)
}
