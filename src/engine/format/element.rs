//! Chemical elements: symbols, standard atomic weights, and guesses for files that state no element.

use crate::system::Name;

/// Symbol and standard atomic weight in amu of each element, at index atomic number − 1. The values are the abridged
/// weights of IUPAC 2021. An element without a standard weight has the mass of its longest-lived isotope.
const ELEMENTS: [(&str, f64); 94] = [
    ("H", 1.008),
    ("He", 4.0026),
    ("Li", 6.94),
    ("Be", 9.0122),
    ("B", 10.81),
    ("C", 12.011),
    ("N", 14.007),
    ("O", 15.999),
    ("F", 18.998),
    ("Ne", 20.180),
    ("Na", 22.990),
    ("Mg", 24.305),
    ("Al", 26.982),
    ("Si", 28.085),
    ("P", 30.974),
    ("S", 32.06),
    ("Cl", 35.45),
    ("Ar", 39.95),
    ("K", 39.098),
    ("Ca", 40.078),
    ("Sc", 44.956),
    ("Ti", 47.867),
    ("V", 50.942),
    ("Cr", 51.996),
    ("Mn", 54.938),
    ("Fe", 55.845),
    ("Co", 58.933),
    ("Ni", 58.693),
    ("Cu", 63.546),
    ("Zn", 65.38),
    ("Ga", 69.723),
    ("Ge", 72.630),
    ("As", 74.922),
    ("Se", 78.971),
    ("Br", 79.904),
    ("Kr", 83.798),
    ("Rb", 85.468),
    ("Sr", 87.62),
    ("Y", 88.906),
    ("Zr", 91.224),
    ("Nb", 92.906),
    ("Mo", 95.95),
    ("Tc", 97.0),
    ("Ru", 101.07),
    ("Rh", 102.91),
    ("Pd", 106.42),
    ("Ag", 107.87),
    ("Cd", 112.41),
    ("In", 114.82),
    ("Sn", 118.71),
    ("Sb", 121.76),
    ("Te", 127.60),
    ("I", 126.90),
    ("Xe", 131.29),
    ("Cs", 132.91),
    ("Ba", 137.33),
    ("La", 138.91),
    ("Ce", 140.12),
    ("Pr", 140.91),
    ("Nd", 144.24),
    ("Pm", 145.0),
    ("Sm", 150.36),
    ("Eu", 151.96),
    ("Gd", 157.25),
    ("Tb", 158.93),
    ("Dy", 162.50),
    ("Ho", 164.93),
    ("Er", 167.26),
    ("Tm", 168.93),
    ("Yb", 173.05),
    ("Lu", 174.97),
    ("Hf", 178.49),
    ("Ta", 180.95),
    ("W", 183.84),
    ("Re", 186.21),
    ("Os", 190.23),
    ("Ir", 192.22),
    ("Pt", 195.08),
    ("Au", 196.97),
    ("Hg", 200.59),
    ("Tl", 204.38),
    ("Pb", 207.2),
    ("Bi", 208.98),
    ("Po", 209.0),
    ("At", 210.0),
    ("Rn", 222.0),
    ("Fr", 223.0),
    ("Ra", 226.0),
    ("Ac", 227.0),
    ("Th", 232.04),
    ("Pa", 231.04),
    ("U", 238.03),
    ("Np", 237.0),
    ("Pu", 244.0),
];

/// Maximum difference in amu between the mass of an atom in a force field and the atomic weight of its element. Force
/// fields round masses to 12.0, 1.0 or 19.0. The masses of two elements whose symbols begin with the same letter always
/// differ by more than this tolerance.
const MASS_TOLERANCE: f64 = 0.2;

/// Maximum difference in amu between the mass of a united carbon (a united atom of a carbon and its hydrogens) and the
/// sum of the atomic weights of its atoms. Force fields round masses of united carbons to 13.019, 14.027, 15.035 and
/// 16.043 amu. The masses of united carbons in force fields differ from the sums of atomic weights by less than the
/// tolerance. The masses of nitrogen (14.007, 14.01) and oxygen (15.9994, 16.0) differ from the masses of united
/// carbons by more than the tolerance.
const UNITED_TOLERANCE: f64 = 0.005;

/// Atomic weight of carbon in amu. [`HYDROGEN`] is the atomic weight of hydrogen in amu, and [`CARBON_INDEX`] is the
/// index of carbon in [`ELEMENTS`].
const CARBON: f64 = 12.011;
const HYDROGEN: f64 = 1.008;
const CARBON_INDEX: usize = 5;

/// Mass in amu of the heaviest hydrogen after mass repartitioning.
const HEAVIEST_HYDROGEN: f64 = 4.1;

/// Returns the symbol of the element with an atomic number; empty for 0 and for elements beyond plutonium.
pub fn symbol(atomic_number: u8) -> &'static str {
    entry(atomic_number).map_or("", |&(symbol, _)| symbol)
}

/// Returns the symbols of all elements, in the order of their atomic numbers.
pub fn symbols() -> impl Iterator<Item = &'static str> {
    ELEMENTS.iter().map(|&(symbol, _)| symbol)
}

/// Isotopes with symbols of their own, and their elements.
const ISOTOPES: [(&str, &str); 2] = [("D", "H"), ("T", "H")];

/// Mass of deuterium in amu: G. Audi et al., Chin. Phys. C 45, 030003 (2021), doi:10.1088/1674-1137/abddaf.
const DEUTERIUM: f64 = 2.0141;

/// Returns the atomic number of an element symbol in upper or lower case; 0 if there is no such element. D (deuterium)
/// and T (tritium) are hydrogen.
pub fn number(symbol: &str) -> u8 {
    let isotope = ISOTOPES.iter().find(|(isotope, _)| isotope.eq_ignore_ascii_case(symbol));
    of_element(isotope.map_or(symbol, |(_, element)| element))
}

fn of_element(symbol: &str) -> u8 {
    let found = ELEMENTS.iter().position(|(known, _)| known.eq_ignore_ascii_case(symbol));
    found.map_or(0, |index| index as u8 + 1)
}

fn entry(atomic_number: u8) -> Option<&'static (&'static str, f64)> {
    ELEMENTS.get(usize::from(atomic_number).checked_sub(1)?)
}

/// Returns the standard atomic weight of an element in amu; 0 if there is no such element.
pub fn weight(atomic_number: u8) -> f64 {
    entry(atomic_number).map_or(0.0, |&(_, weight)| weight)
}

/// Ions whose CHARMM names are not element symbols.
const IONS_OF_CHARMM: [(&str, &str); 9] = [
    ("SOD", "Na"),
    ("POT", "K"),
    ("CLA", "Cl"),
    ("CAL", "Ca"),
    ("LIT", "Li"),
    ("RUB", "Rb"),
    ("CES", "Cs"),
    ("BAR", "Ba"),
    ("CAD", "Cd"),
];

/// Elements with two-letter symbols that occur in molecules. The names of atoms of these elements begin with the
/// two-letter symbol. All other atom names in molecules begin with an element symbol of one letter.
const OF_TWO_LETTERS: [&str; 4] = ["Cl", "Br", "Fe", "Se"];

/// Returns the ASCII letters of a name.
fn letters(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphabetic).collect()
}

/// Returns the atomic number of an ion: an atom with the same name as its residue, which is the element symbol or the
/// CHARMM name of the ion. Returns 0 for other names.
pub fn of_ion(name: &str, residue: &str) -> u8 {
    let (name, residue) = (letters(name), letters(residue));
    let charmm = IONS_OF_CHARMM.iter().find(|(ion, _)| ion.eq_ignore_ascii_case(&name));
    let symbol = charmm.map_or(name.as_str(), |(_, symbol)| symbol);
    if name.eq_ignore_ascii_case(&residue) { of_element(symbol) } else { 0 }
}

/// Returns the atomic number that follows from the names of an atom and of its residue. Returns 0 if no element
/// follows from the names, as for virtual sites.
///
/// The atom may be an ion ([`of_ion`]). The name of any other atom begins with the element symbol: two letters for
/// chlorine, bromine, iron and selenium, one letter for the other elements.
pub fn of_names(name: &str, residue: &str) -> u8 {
    let ion = of_ion(name, residue);
    if ion != 0 {
        return ion;
    }
    let name = letters(name);
    let two = name.get(..2).filter(|start| OF_TWO_LETTERS.iter().any(|known| known.eq_ignore_ascii_case(start)));
    of_element(two.or(name.get(..1)).unwrap_or_default())
}

/// Returns the atomic number that follows from the name and the mass (amu) of an atom. Returns 0 if no rule matches.
///
/// The first rule that matches decides:
/// 1. The name begins with the symbol of an element, and the mass is the atomic weight of this element. `CA` of 12
///    amu is carbon, and `CA` of 40 amu is calcium.
/// 2. The mass is that of a united carbon CHₙ, n = 1 to 4. The tolerance is `MASS_TOLERANCE` if the name begins with
///    C, and `UNITED_TOLERANCE` otherwise.
/// 3. The name begins with H, C, N, O, P or S, and the mass is possible for an atom of this element after hydrogen mass
///    repartitioning.
/// 4. The name begins with D, and the mass is that of deuterium.
/// 5. The mass is the atomic weight of an element.
pub fn guess(name: Name, mass: f64) -> u8 {
    let letters = name.as_str().trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    let begins = |symbol: &str| letters.get(..symbol.len()).is_some_and(|start| start.eq_ignore_ascii_case(symbol));
    let fits = |weight: f64| (mass - weight).abs() <= MASS_TOLERANCE;
    let named = ELEMENTS.iter().position(|&(symbol, weight)| fits(weight) && begins(symbol));
    let united_tolerance = if begins("C") { MASS_TOLERANCE } else { UNITED_TOLERANCE };
    let united = || {
        let masses = (1..=4).map(|hydrogens| CARBON + f64::from(hydrogens) * HYDROGEN);
        { masses }.any(|united| (mass - united).abs() <= united_tolerance).then_some(CARBON_INDEX)
    };
    let repartitioned = || {
        // elements whose atomic masses change in mass repartitioning: atomic number, and maximum number of hydrogens
        // bonded to one atom
        let bearing = [(1u8, 0.0), (6, 4.0), (7, 4.0), (8, 3.0), (15, 3.0), (16, 2.0)].into_iter();
        bearing.map(|(number, hydrogens)| (number, hydrogens * (HEAVIEST_HYDROGEN - 1.0))).find(|&(number, most)| {
            let lighter = number > 1
                && entry(number)
                    .is_some_and(|&(_, weight)| mass < weight && 2.0 * mass > weight - 3.0 && weight - mass <= most);
            let hydrogen = number == 1 && (1.0..=HEAVIEST_HYDROGEN).contains(&mass);
            begins(symbol(number)) && (lighter || hydrogen)
        })
    };
    let deuterium = || (begins("D") && (mass - DEUTERIUM).abs() <= 0.5 * MASS_TOLERANCE).then_some(0);
    let nearest = || ELEMENTS.iter().position(|&(_, weight)| fits(weight));
    let repartitioned = || repartitioned().map(|(number, _)| usize::from(number) - 1);
    match named.or_else(united).or_else(repartitioned).or_else(deuterium).or_else(nearest) {
        Some(index) => index as u8 + 1,
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_stand_at_their_numbers() {
        for (number, expected) in
            [(0, ""), (1, "H"), (8, "O"), (17, "Cl"), (26, "Fe"), (53, "I"), (92, "U"), (94, "Pu"), (95, "")]
        {
            assert_eq!(symbol(number), expected);
        }
    }

    #[test]
    fn isotopes_of_hydrogen_are_hydrogen() {
        assert_eq!(["H", "D", "d", "T", "X"].map(number), [1, 1, 1, 1, 0]);
    }

    #[test]
    fn name_and_mass_together_decide() {
        for (name, mass, expected) in [
            ("SOD", 22.9898, "Na"),
            ("POT", 39.0983, "K"),
            ("CA", 12.01, "C"),
            ("CA", 40.08, "Ca"),
            ("HG11", 1.008, "H"),
            ("HG", 200.59, "Hg"),
            ("1HB", 1.0, "H"),
            ("Na+", 22.99, "Na"),
            ("Cl-", 35.45, "Cl"),
            ("NA", 14.01, "N"),
            ("IP", 22.99, "Na"),
            ("OW", 16.0, "O"),
            ("Ar", 39.948, "Ar"),
            ("K", 39.1, "K"),
            ("EP", 0.0, ""),
            // united carbons of CHARMM 19, GROMOS and OPLS: CH to CH4
            ("C1", 14.027, "C"),
            ("CH3", 15.035, "C"),
            ("CB", 13.019, "C"),
            ("CH4", 16.043, "C"),
            ("LP2", 14.027, "C"),
            ("", 15.035, "C"),
            ("", 14.01, "N"),
            ("", 14.0067, "N"),
            ("N2", 14.02, "N"),
            ("", 15.9994, "O"),
            ("POT", 39.0983, "K"),
            ("CES", 132.905, "Cs"),
            ("CAD", 112.411, "Cd"),
            ("D1", 2.014, "H"),
            ("DUM", 0.0, ""),
        ] {
            assert_eq!(symbol(guess(Name::new(name), mass)), expected, "{name} {mass}");
        }
    }

    #[test]
    fn names_alone_imply_elements() {
        for (name, residue, expected) in [
            ("CA", "ALA", "C"),
            ("CA", "CA", "Ca"),
            ("HG21", "VAL", "H"),
            ("1HB", "ALA", "H"),
            ("OW", "SOL", "O"),
            ("NA", "NA", "Na"),
            ("Na+", "NA", "Na"),
            ("SOD", "SOD", "Na"),
            ("CL1", "LIG", "Cl"),
            ("SE", "MSE", "Se"),
            ("SD", "MET", "S"),
            ("MW", "SOL", ""),
            ("DUM", "DUM", ""),
            ("", "", ""),
        ] {
            assert_eq!(symbol(of_names(name, residue)), expected, "{name} {residue}");
        }
    }

    #[test]
    fn repartitioned_masses_are_seen_through() {
        // mass repartitioning makes a hydrogen 3.024 amu heavy and removes 2.016 amu from its heavy atom; a nitrogen
        // bonded to one hydrogen then has the mass of carbon
        for (name, mass, expected) in
            [("HA", 3.024, "H"), ("N", 11.994, "N"), ("CB", 5.962, "C"), ("OH", 13.983, "O"), ("NZ", 7.962, "N")]
        {
            assert_eq!(symbol(guess(Name::new(name), mass)), expected, "{name} {mass}");
        }
    }
}
