//! Fingerprint of a system: one hash for each list of atoms, bonded terms or parameters. If the system of a continued
//! run has changed, the error message can therefore name the list that changed.

use crate::restraint::{Restraints, Variable};
use crate::run::plan::Stage;
use crate::system::{
    Atom, BondedTerm, Cmap, CmapGrid, Constraint, ForceSettings, Name, Pair14, Residue, Settle, System, VirtualSite,
    bonded_terms,
};
use rayon::prelude::*;
use serde::ser::SerializeTuple;
use serde::{Deserialize, Serialize, Serializer};
use sha2::{Digest, Sha256};

/// Number of bytes that are collected before the hash function is called.
const BUFFER: usize = 1 << 16;
/// Maximum length (bytes) of a name that is hashed with eight bytes.
const SHORT_NAME: usize = 8;

/// SHA-256 hashes of all parts of a system (atoms, bonded terms, parameters). Equal systems have equal fingerprints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint(Vec<Part>);

/// Hash of one property of all entries of a list, for example of the atoms of all bonds, or of the parameters of all
/// bonds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Part {
    list: String,
    aspect: String,
    length: u64,
    hash: [u8; 32],
}

/// Function that hashes one part of the system; all parts are hashed in parallel.
type Reading<'a> = Box<dyn Fn() -> Part + Send + Sync + 'a>;

impl Fingerprint {
    /// Hashes all data that influence forces or integration, and the names of atoms and residues, which are written
    /// to output files.
    pub fn new(system: &System) -> Self {
        let System { topology, nonbonded, constraints, settings } = system;
        let (atoms, bonded) = (&topology.atoms, &topology.bonded);
        let mut readings = vec![
            part("atoms", "masses", atoms, |atom: &Atom| atom.mass),
            part("atoms", "charges", atoms, |atom: &Atom| atom.charge),
            part("atoms", "Lennard-Jones types", atoms, |atom: &Atom| atom.lj_type),
            part(
                "atoms",
                "names, elements or residues",
                atoms,
                |&Atom { name, type_name, element, residue, .. }| ([name, type_name].map(Bytes), element, residue),
            ),
            part("residues", "names or numbers", &topology.residues, |&Residue { name, number, first }| {
                (Bytes(name), number, first)
            }),
            part("chemical bonds", "atoms", &topology.connectivity, |&pair| pair),
            part("virtual sites", "atoms or geometry", &topology.virtual_sites, |site: &VirtualSite| site.clone()),
            part("CMAP grids", "energies", &bonded.cmap_grids, |CmapGrid { size, energies }| (*size, energies.clone())),
            Box::new(|| Part::new("exclusions", "pairs", topology.exclusions.len(), topology.exclusions.pairs())),
            part("Lennard-Jones parameters", "C6", &nonbonded.c6, |&value| value),
            part("Lennard-Jones parameters", "C12", &nonbonded.c12, |&value| value),
            part("rigid waters", "atoms or distances", &constraints.settles, |&Settle { atoms, oh, hh }| {
                (atoms, oh, hh)
            }),
            part("constraints", "tolerances", std::slice::from_ref(&constraints.tolerance), |&value| value),
        ];
        macro_rules! lists {
            ($($(#[$doc:meta])* $energy:ident {
                $($list:ident: $Term:ident($n:literal, $e:literal, $p:literal) $name:literal),+
            })*) => {
                $($(
                    readings.push(part($name, "atoms", &bonded.$list, |term| term.atoms));
                    readings.push(part($name, "parameters", &bonded.$list, |term| term.parameters()));
                )+)*
            };
        }
        bonded_terms!(lists);
        readings.extend(terms("CMAP terms", &bonded.cmaps, |&Cmap { atoms, grid }| (atoms, grid)));
        readings.extend(terms("1-4 pairs", &bonded.pairs14, |&Pair14 { atoms, charge_product, c6, c12 }| {
            (atoms, (charge_product, c6, c12))
        }));
        readings.extend(terms("constraints", &constraints.bonds, |&Constraint { atoms, length }| (atoms, length)));
        readings.extend([
            setting("cutoffs", settings, |s| (s.cutoff, s.cutoff_lj)),
            setting("electrostatics or PME parameters", settings, |s| s.electrostatics),
            setting("ends of potentials", settings, |s| (s.lj_modifier, s.coulomb_modifier)),
            setting("dispersion corrections", settings, |s| s.dispersion_correction),
            setting("pair lists", settings, |s| s.list),
        ]);
        readings.push(part("12-6-4 interactions", "C4", &nonbonded.c4, |&value| value));
        let mut parts: Vec<Part> = readings.into_par_iter().map(|reading| reading()).collect();
        parts.extend(topology.fixed_selections.iter().map(|fixed| {
            Part::new(&format!("\"{}\"", fixed.text), "selected atoms", fixed.atoms.len(), fixed.atoms.iter())
        }));
        Fingerprint(parts)
    }

    /// Hashes the system, and the reference positions of the restraints of each stage. A continued run reads reference
    /// positions from files again.
    pub fn of_run(system: &System, stages: &[Stage], restraints: &[Restraints]) -> Self {
        let Fingerprint(mut parts) = Fingerprint::new(system);
        let aspect = "reference positions, or the positions at the start,";
        for (stage, restraints) in stages.iter().zip(restraints) {
            let named = |kind: &str, index: usize| format!("{kind} {} of stage \"{}\"", index + 1, stage.name);
            for (index, one) in restraints.positions.iter().enumerate() {
                let placed = one.held.iter().map(|held| (held, one.cell, one.center));
                parts.push(Part::new(&named("position_restraints", index), aspect, one.held.len(), placed));
            }
            for (index, one) in restraints.collective.iter().enumerate() {
                if let Variable::Rmsd(superposed) = &one.variable {
                    let references = superposed.references();
                    parts.push(Part::new(&named("restraints", index), aspect, references.len(), references.iter()));
                }
            }
        }
        Fingerprint(parts)
    }

    /// Returns the differences between this fingerprint and `now`, one line for each list or property that has changed.
    /// Lists that only one of the two fingerprints has, for example of a stage that was added, are no difference.
    pub fn differences(&self, now: &Fingerprint) -> Vec<String> {
        let mut found: Vec<String> = vec![];
        for old in &self.0 {
            let Part { list, aspect, length, .. } = old;
            let Some(new) = now.0.iter().find(|new| (&new.list, &new.aspect) == (list, aspect)) else { continue };
            if length != &new.length {
                found.push(format!("{list}: {length} -> {}", new.length));
            } else if old != new {
                found.push(format!("{list}: {aspect} differ"));
            }
        }
        // if the length of a list has changed, the same line was added for each property of the list
        found.dedup();
        found
    }
}

impl Part {
    fn new<T: Serialize>(list: &str, aspect: &str, length: usize, items: impl Iterator<Item = T>) -> Self {
        let mut hash = Sha256::new();
        let mut bytes = Vec::with_capacity(2 * BUFFER);
        for item in items {
            bytes = postcard::to_extend(&item, bytes).expect("numbers and texts can be written into memory");
            if bytes.len() >= BUFFER {
                hash.update(&bytes);
                bytes.clear();
            }
        }
        hash.update(&bytes);
        Part { list: list.into(), aspect: aspect.into(), length: length as u64, hash: hash.finalize().into() }
    }
}

/// Bytes of a name, padded with zeros to eight bytes, or to [`Name::LONGEST`] for a longer name. Names in earlier
/// versions had eight bytes, so that fingerprints in existing checkpoints stay valid.
struct Bytes(Name);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.0.as_str().as_bytes();
        let width = if text.len() <= SHORT_NAME { SHORT_NAME } else { Name::LONGEST };
        let mut tuple = serializer.serialize_tuple(width)?;
        (0..width).try_for_each(|i| tuple.serialize_element(&text.get(i).copied().unwrap_or(0)))?;
        tuple.end()
    }
}

/// Creates a function that hashes one property of all entries of a list. `read` returns the property of one entry of
/// the list.
fn part<'a, T: Sync, V: Serialize>(
    list: &'static str,
    aspect: &'static str,
    items: &'a [T],
    read: impl Fn(&T) -> V + Send + Sync + 'a,
) -> Reading<'a> {
    Box::new(move || Part::new(list, aspect, items.len(), items.iter().map(&read)))
}

/// Creates two hash functions for a list of bonded terms: the first hashes the atoms of all terms, and the second
/// hashes the parameters of all terms. `split` returns the atoms and the parameters of one bonded term.
fn terms<'a, T: Sync, A: Serialize + 'a, P: Serialize + 'a>(
    list: &'static str,
    items: &'a [T],
    split: impl Fn(&T) -> (A, P) + Send + Sync + Copy + 'a,
) -> [Reading<'a>; 2] {
    [part(list, "atoms", items, move |term| split(term).0), part(list, "parameters", items, move |term| split(term).1)]
}

/// Returns the function that hashes some of the force settings.
fn setting<'a, V: Serialize + 'a>(
    aspect: &'static str,
    settings: &'a ForceSettings,
    read: fn(&ForceSettings) -> V,
) -> Reading<'a> {
    part("settings", aspect, std::slice::from_ref(settings), read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Sample;

    type Change = fn(&mut System);

    /// Changes every number on which a force depends, and tests that the fingerprint names the change.
    #[test]
    fn what_has_changed_is_named() {
        let good = Sample::load("peptide-ff19sb").system;
        let before = Fingerprint::new(&good);
        assert_eq!(before.differences(&Fingerprint::new(&good.clone())), [""; 0]);
        let changes: [(&str, Change); 17] = [
            ("atoms: masses differ", |s| s.topology.atoms[3].mass += 1e-9),
            ("atoms: charges differ", |s| s.topology.atoms[3].charge += 1e-9),
            ("atoms: Lennard-Jones types differ", |s| s.topology.atoms[3].lj_type += 1),
            ("bonds: parameters differ", |s| s.topology.bonded.bonds[1].force_constant += 1e-6),
            ("bonds: atoms differ", |s| s.topology.bonded.bonds[1].atoms[0] += 1),
            ("angles: parameters differ", |s| s.topology.bonded.angles[1].angle += 1e-6),
            ("proper torsions: parameters differ", |s| s.topology.bonded.propers[1].phase += 1e-6),
            ("improper torsions: parameters differ", |s| s.topology.bonded.impropers[0].periodicity += 1),
            ("CMAP grids: energies differ", |s| s.topology.bonded.cmap_grids[0].energies[7] += 1e-6),
            ("CMAP terms: parameters differ", |s| s.topology.bonded.cmaps[0].grid += 1),
            ("1-4 pairs: parameters differ", |s| s.topology.bonded.pairs14[2].c6 += 1e-9),
            ("Lennard-Jones parameters: C12 differ", |s| s.nonbonded.c12[0] += 1e-9),
            ("12-6-4 interactions: 0 -> 1", |s| s.nonbonded.c4.push(0.1)),
            ("constraints: tolerances differ", |s| s.constraints.tolerance *= 2.0),
            ("settings: cutoffs differ", |s| s.settings.cutoff = Some(1.234)),
            ("settings: electrostatics or PME parameters differ", |s| {
                s.settings.electrostatics = crate::system::Electrostatics::ReactionField { permittivity: 78.0 };
            }),
            ("exclusions: pairs differ", |s| {
                let mut pairs: Vec<_> = s.topology.exclusions.pairs().collect();
                pairs[0] = [0, s.topology.atoms.len() as u32 - 1];
                s.topology.exclusions = crate::system::Exclusions::from_pairs(s.topology.atoms.len(), pairs);
            }),
        ];
        for (expected, change) in changes {
            let mut system = good.clone();
            change(&mut system);
            assert_eq!(before.differences(&Fingerprint::new(&system)), [expected]);
        }
        let mut system = good.clone();
        let count = system.topology.bonded.angles.len();
        system.topology.bonded.angles.truncate(count - 1);
        assert_eq!(before.differences(&Fingerprint::new(&system)), [format!("angles: {count} -> {}", count - 1)]);
    }
}
