//! Improper torsions of CHARMM for the residues of a structure. CHARMM lists improper torsions by atom names.

use std::collections::HashMap;

use md_engine::error::{Problem, Result};
use md_engine::system::{BondedTerms, HarmonicImproper, Torsion};

use super::script::charmm::{CharmmImpropers, ImproperParameters, NamedImproper};
use super::typed::Typed;

/// Atoms of a residue by their names in the template, and the names of the template and of its patches.
#[derive(Default)]
struct NamedResidue<'a> {
    atoms: HashMap<&'a str, u32>,
    templates: Vec<&'a str>,
}

/// Adds the CHARMM impropers of all residues.
pub(super) fn add(impropers: &CharmmImpropers, typed: &Typed<'_>, bonded: &mut BondedTerms) -> Result<()> {
    let residues: Vec<NamedResidue<'_>> =
        (0..typed.structure.residues.len()).map(|residue| named(typed, residue)).collect();
    for (index, residue) in residues.iter().enumerate() {
        for improper in impropers.of_templates(&residue.templates) {
            let Some(atoms) = find(improper, index, &residues) else { continue };
            if !is_improper(atoms, &typed.neighbours) {
                continue;
            }
            let classes = atoms.map(|atom| typed.field.types.class_name(typed.kinds[atom as usize]));
            match impropers.parameters(classes) {
                [Some(found), None] | [None, Some(found)] => push(atoms, found, bonded),
                [periodic, _] => {
                    let number = if periodic.is_some() { "two kinds of" } else { "no" };
                    let label = typed.structure.residue_label(index);
                    let message = format!(
                        "the force field has {number} parameters of the improper {} in {label}",
                        classes.join(", ")
                    );
                    return Err(Problem::new(message).help("the force-field file is incomplete").into());
                }
            }
        }
    }
    Ok(())
}

/// Returns the atom names of a residue. If a patch of several residues was applied, the template of the residue is
/// unknown. In this case, the atom names are taken from the names of atom types, such as `ALA-CB` in CHARMM force
/// fields.
fn named<'a>(typed: &'a Typed<'_>, residue: usize) -> NamedResidue<'a> {
    let range = typed.structure.residue_atoms(residue);
    let atoms = range.clone().map(|atom| atom as u32);
    if let Some(names) = &typed.assignment.names[residue] {
        let patches = names.patches.iter().map(|patch| patch.rsplit_once('_').map_or(&**patch, |(name, _)| name));
        let templates = std::iter::once(&*names.residue).chain(patches).collect();
        let names = range.map(|atom| &*typed.atoms[atom].name);
        return NamedResidue { atoms: names.zip(atoms).collect(), templates };
    }
    let types = range.map(|atom| typed.field.types.get(typed.atoms[atom].of_type).name.rsplit_once('-'));
    let Some(types) = types.collect::<Option<Vec<(&str, &str)>>>() else { return NamedResidue::default() };
    let atoms = types.iter().map(|(_, name)| *name).zip(atoms).collect();
    NamedResidue { atoms, templates: types.iter().map(|(template, _)| *template).collect() }
}

/// Returns the atoms of an improper of a residue; `None` if one of the atoms does not exist.
fn find(improper: &NamedImproper, residue: usize, residues: &[NamedResidue<'_>]) -> Option<[u32; 4]> {
    let mut atoms = [0; 4];
    for (atom, (offset, name)) in atoms.iter_mut().zip(improper) {
        let index = i64::try_from(residue).ok()?.checked_add(*offset)?;
        *atom = *residues.get(usize::try_from(index).ok()?)?.atoms.get(name.as_str())?;
    }
    Some(atoms)
}

/// Whether the first or the last atom is bonded to the three other atoms. Bonds to the next residue do not exist if the
/// next residue in the list belongs to another chain.
fn is_improper([a, b, c, d]: [u32; 4], neighbours: &[Vec<u32>]) -> bool {
    let bonded = |center: u32, others: [u32; 3]| others.iter().all(|other| neighbours[center as usize].contains(other));
    bonded(a, [b, c, d]) || bonded(d, [a, b, c])
}

fn push(atoms: [u32; 4], parameters: ImproperParameters, bonded: &mut BondedTerms) {
    match parameters {
        ImproperParameters::Periodic { force_constant: 0.0, .. }
        | ImproperParameters::Harmonic { force_constant: 0.0, .. } => {}
        ImproperParameters::Periodic { periodicity, phase, force_constant } => {
            bonded.impropers.push(Torsion { atoms, periodicity, phase, force_constant });
        }
        ImproperParameters::Harmonic { angle, force_constant } => {
            bonded.harmonic_impropers.push(HarmonicImproper { atoms, angle, force_constant });
        }
    }
}
