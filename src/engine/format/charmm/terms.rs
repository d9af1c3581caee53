//! Bonded terms of the PSF file, with the parameters of their atom types.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Parsed;
use super::parameters::{CmapParameters, Parameters, Type, pair, triple, two_quadruples};
use super::psf::Psf;
use crate::error::Problem;
use crate::system::{Angle, Bond, Cmap, CmapGrid, HarmonicImproper, Topology, Torsion};
use crate::units::{ANGSTROM, KCAL};

/// Factor that converts a force constant of the parameter files to that of the engine. The energy is k (x − x₀)² in the
/// files and ½ k (x − x₀)² in the engine.
const HALF: f64 = 2.0;

/// Maximum number of names that one message lists.
const MOST_LISTED: usize = 30;

/// Joins names for a message, separated by commas. Names beyond the first [`MOST_LISTED`] are only counted.
pub(super) fn listed(names: BTreeSet<&str>) -> String {
    let count = names.len();
    let mut text = names.into_iter().take(MOST_LISTED).collect::<Vec<_>>().join(", ");
    if count > MOST_LISTED {
        text.push_str(&format!(" and {} more", count - MOST_LISTED));
    }
    text
}

/// Atom types of the terms for which no parameter file has parameters, by section.
#[derive(Default)]
struct Missing(BTreeMap<&'static str, BTreeSet<String>>);

impl Missing {
    fn add(&mut self, section: &'static str, parameters: &Parameters, types: &[Type]) {
        self.0.entry(section).or_default().insert(parameters.names.of(types));
    }

    fn problem(&self) -> Option<Problem> {
        let of = |(section, types): (&&str, &BTreeSet<String>)| {
            format!("{section} {}", listed(types.iter().map(String::as_str).collect()))
        };
        let all: Vec<String> = self.0.iter().map(of).collect();
        let help = "add the file with these parameters, such as a .str file of CGenFF, to system.parameters";
        (!all.is_empty()).then(|| Problem::new(format!("no parameters for {}", all.join("; "))).help(help))
    }
}

/// Adds all bonded terms except 1-4 pairs. The error lists all terms for which no file has parameters.
pub(super) fn add(psf: &Psf, types: &[Type], parameters: &Parameters, topology: &mut Topology) -> Parsed<()> {
    let mut terms = Terms { psf, types, parameters, topology, missing: Missing::default() };
    terms.bonds()?;
    terms.angles()?;
    terms.dihedrals()?;
    terms.impropers()?;
    terms.maps()?;
    terms.missing.problem().map_or(Ok(()), Err)
}

/// Terms of a PSF file while their parameters are looked up.
struct Terms<'a> {
    psf: &'a Psf,
    /// type of each atom
    types: &'a [Type],
    parameters: &'a Parameters,
    topology: &'a mut Topology,
    missing: Missing,
}

fn of<const N: usize>(types: &[Type], atoms: [u32; N]) -> [Type; N] {
    atoms.map(|atom| types[atom as usize])
}

fn harmonic(atoms: [u32; 2], [k, length]: [f64; 2]) -> Bond {
    let force_constant = HALF * k * KCAL / (ANGSTROM * ANGSTROM);
    Bond { atoms, length: length * ANGSTROM, force_constant }
}

impl Terms<'_> {
    /// Adds the bonds. The H–H bond of a water needs no parameters, because PSF files have this bond only for SHAKE.
    fn bonds(&mut self) -> Parsed<()> {
        let Terms { psf, types, parameters, topology, missing } = self;
        for &atoms in &psf.bonds {
            let types = of(types, atoms);
            match parameters.bonds.get(&pair(types))? {
                Some(&values) => topology.bonded.bonds.push(harmonic(atoms, values)),
                None if topology.is_water_brace(atoms) => {}
                None => missing.add("BONDS", parameters, &types),
            }
        }
        Ok(())
    }

    fn angles(&mut self) -> Parsed<()> {
        let Terms { psf, types, parameters, topology, missing } = self;
        for &atoms in &psf.angles {
            let types = of(types, atoms);
            let Some(found) = parameters.angles.get(&triple(types))? else {
                missing.add("ANGLES", parameters, &types);
                continue;
            };
            let [k, angle] = found.angle;
            topology.bonded.angles.push(Angle { atoms, angle: angle.to_radians(), force_constant: HALF * k * KCAL });
            let urey_bradley = found.urey_bradley.map(|values| harmonic([atoms[0], atoms[2]], values));
            topology.bonded.urey_bradleys.extend(urey_bradley);
        }
        Ok(())
    }

    fn dihedrals(&mut self) -> Parsed<()> {
        let Terms { psf, types, parameters, topology, missing } = self;
        for &atoms in &psf.dihedrals {
            let types = of(types, atoms);
            let Some(terms) = parameters.dihedral(types)? else {
                missing.add("DIHEDRALS", parameters, &types);
                continue;
            };
            topology.bonded.propers.extend(terms.iter().map(|term| Torsion {
                atoms,
                periodicity: term.periodicity,
                phase: term.phase.to_radians(),
                force_constant: term.force_constant * KCAL,
            }));
        }
        Ok(())
    }

    fn impropers(&mut self) -> Parsed<()> {
        let Terms { psf, types, parameters, topology, missing } = self;
        for &atoms in &psf.impropers {
            let types = of(types, atoms);
            let Some(found) = parameters.improper(types)? else {
                missing.add("IMPROPER", parameters, &types);
                continue;
            };
            let (k, angle, periodicity) = (found.force_constant * KCAL, found.phase.to_radians(), found.periodicity);
            if periodicity == 0 {
                let force_constant = HALF * k;
                topology.bonded.harmonic_impropers.push(HarmonicImproper { atoms, angle, force_constant });
            } else {
                topology.bonded.impropers.push(Torsion { atoms, periodicity, phase: angle, force_constant: k });
            }
        }
        Ok(())
    }

    /// Adds the correction maps. A grid is created only for a map that a term uses.
    fn maps(&mut self) -> Parsed<()> {
        let Terms { psf, types, parameters, topology, missing } = self;
        let mut grids: HashMap<[Type; 8], u32> = HashMap::new();
        for &atoms in &psf.maps {
            let key = two_quadruples(of(types, atoms));
            let Some(CmapParameters { size, energies }) = parameters.cmaps.get(&key)? else {
                missing.add("CMAP", parameters, &of(types, atoms));
                continue;
            };
            let known = &mut topology.bonded.cmap_grids;
            let grid = *grids.entry(key).or_insert_with(|| {
                let energies = energies.iter().map(|energy| energy * KCAL).collect();
                known.push(CmapGrid { size: *size, energies });
                known.len() as u32 - 1
            });
            topology.bonded.cmaps.push(Cmap { atoms, grid });
        }
        Ok(())
    }
}
