//! Dihedrals: torsions, impropers, and the 1-4 pairs of their end atoms.
//!
//! The signs of the pointers in a row carry meaning. A negative third pointer means that the end atoms of the row are
//! not a 1-4 pair. The reason may be that another term of the torsion represents the pair, or that the atoms are in a
//! ring. A negative fourth pointer means that the row is an improper. The end atoms of an improper are not a 1-4 pair
//! either.

use super::bonded::Rows;
use super::nonbonded::Tables;
use super::pointers::Pointers;
use super::sections::{Parsed, Sections};
use crate::arrays;
use crate::system::{Pair14, Topology, Torsion};
use crate::units::KCAL;

/// Divisors of the Coulomb and the Lennard-Jones energy of 1-4 pairs. These divisors apply to files older than Amber
/// 11, which do not contain divisors.
pub(super) const AMBER_SCALES: [f64; 2] = [1.2, 2.0];
/// Divisors of the Coulomb and the Lennard-Jones energy of 1-4 pairs in CHARMM force fields. CHARMM does not scale
/// 1-4 pairs, and has a separate Lennard-Jones table for them.
pub(super) const CHARMM_SCALES: [f64; 2] = [1.0, 1.0];

/// Maximum difference between a periodicity and a whole number. Files print periodicities as reals of nine digits.
const WHOLE: f64 = 1e-6;

/// Parameters of each dihedral type.
struct Types {
    torsions: Vec<(u8, f64, f64)>,
    scales: [Vec<f64>; 2],
}

impl Types {
    fn read(sections: &Sections<'_>, count: usize, chamber: bool) -> Parsed<Self> {
        let constants = sections.require("DIHEDRAL_FORCE_CONSTANT")?.reals(count)?;
        let phases = sections.require("DIHEDRAL_PHASE")?.reals(count)?;
        let section = sections.require("DIHEDRAL_PERIODICITY")?;
        let mut torsions = Vec::with_capacity(count);
        for (k, period) in section.reals(count)?.into_iter().enumerate() {
            // the minus sign of a periodicity is dropped, because the sign has a meaning only in parameter files:
            // further terms of the torsion follow
            let whole = period.abs().round();
            if (period.abs() - whole).abs() > WHOLE || whole > f64::from(u8::MAX) {
                return Err(section.problem_at(k, format!("{period} is not a valid periodicity")));
            }
            torsions.push((whole as u8, phases[k], constants[k] * KCAL));
        }
        let defaults = if chamber { CHARMM_SCALES } else { AMBER_SCALES };
        let scale = |name: &str, default: f64| match sections.get(name) {
            Some(section) => section.reals(count),
            None => Ok(vec![default; count]),
        };
        let scales = [scale("SCEE_SCALE_FACTOR", defaults[0])?, scale("SCNB_SCALE_FACTOR", defaults[1])?];
        Ok(Self { torsions, scales })
    }
}

/// Reads torsions, periodic impropers and 1-4 pairs.
pub(super) fn read(
    sections: &Sections<'_>,
    pointers: &Pointers,
    tables: &Tables,
    chamber: bool,
    topology: &mut Topology,
) -> Parsed<()> {
    let types = Types::read(sections, pointers.dihedral_types, chamber)?;
    for rows in Rows::<5>::both(sections, "DIHEDRALS", pointers.dihedrals) {
        let rows = rows?;
        for (row, values) in rows.values().iter().enumerate() {
            let atoms = arrays::try_from_fn(|column| match column {
                0 | 1 => rows.plain_pointer(row, column, pointers.atoms),
                _ => rows.pointer(row, column, pointers.atoms),
            })?;
            rows.distinct(row, &atoms)?;
            let kind = rows.counted(row, 4, pointers.dihedral_types, "dihedral type")? as usize;
            let (periodicity, phase, force_constant) = types.torsions[kind];
            let torsion = Torsion { atoms, periodicity, phase, force_constant };
            let improper = values[3] < 0;
            if improper { &mut topology.bonded.impropers } else { &mut topology.bonded.propers }.push(torsion);
            if values[2] >= 0 && !improper {
                let scales = [types.scales[0][kind], types.scales[1][kind]];
                if scales.iter().any(|&scale| scale <= 0.0) {
                    let message = format!("dihedral type {} divides 1-4 interactions by {scales:?}", kind + 1);
                    return Err(rows.problem(row, 4, message).help("correct SCEE_SCALE_FACTOR and SCNB_SCALE_FACTOR"));
                }
                let pair = pair14(topology, tables, [atoms[0], atoms[3]], scales);
                topology.bonded.pairs14.push(pair);
            }
        }
    }
    Ok(())
}

fn pair14(topology: &Topology, tables: &Tables, atoms: [u32; 2], [scee, scnb]: [f64; 2]) -> Pair14 {
    let [a, b] = atoms.map(|i| &topology.atoms[i as usize]);
    let (c6, c12) = tables.pairs14.as_ref().unwrap_or(&tables.pairs).pair(a.lj_type, b.lj_type);
    Pair14 { atoms, charge_product: a.charge * b.charge / scee, c6: c6 / scnb, c12: c12 / scnb }
}
