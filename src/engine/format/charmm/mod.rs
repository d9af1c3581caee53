//! CHARMM systems: a PSF file ([`psf`]) with the parameter files of its force field ([`sections`]), and coordinates as
//! CHARMM cards ([`card`]). Each residue of a residue topology is read as a separate molecule ([`residues`]).
//!
//! E = Σ k (b − b₀)² + Σ k (θ − θ₀)² + Σ k (s − s₀)² + Σ k (1 + cos(nφ − δ)) + Σ k (ψ − ψ₀)² + correction maps +
//! Coulomb + Σ ε [(R/r)¹² − 2 (R/r)⁶], with bonds b, angles θ, Urey–Bradley distances s, torsions φ and impropers ψ.
//! The Lennard-Jones parameters of atoms i and j are R = Rᵢ/2 + Rⱼ/2 and ε = √(εᵢεⱼ), unless `NBFIX` gives R and ε of
//! the pair.
//!
//! Pairs of atoms one or two bonds apart are excluded. Pairs three bonds apart have separate 1-4 parameters. A lone
//! pair has the exclusions of its first host. Charges are in e. Coulomb's constant is that of the engine
//! ([`crate::units::COULOMB`], as in OpenMM). The engine's constant is smaller than CHARMM's 332.0716 kcal Å/(mol e²)
//! by a relative difference of 2.4e-5.

mod card;
mod lines;
mod lone_pairs;
mod nonbonded;
mod parameters;
mod psf;
mod residues;
mod rows;
mod sections;
mod stream;
mod table;
mod terms;

use std::path::Path;

use super::element;
use super::number;
use super::options::TopologyOptions;
use crate::error::{Parsed, Problem};
use crate::system::{Atom, ChainLabel, Description, Exclusions, Name, Residue, Topology};

use parameters::{Parameters, Type};
use psf::{Psf, PsfAtom};

pub(super) use card::{is_card, read_card};
pub(super) use residues::is_residues;

/// Reads the bytes of a PSF file, and the parameter files that `options` name. `path` is the path of the PSF file,
/// for messages.
pub(super) fn read(path: &Path, bytes: &[u8], options: &TopologyOptions) -> Parsed<Description> {
    options.are_used(&["parameters"], path)?;
    if options.parameters.is_empty() {
        let problem = Problem::new("a PSF file contains no parameters").in_file(path).at_line(1);
        return Err(problem
            .help("list the parameter files of its force field: system.parameters = [\"par_all36m_prot.prm\", …]"));
    }
    let psf = psf::read(path, bytes)?;
    describe(path, psf, &sections::read(&options.parameters)?)
}

/// Reads the residues that `options` name from a residue topology, each residue as a separate molecule. The file may
/// also contain parameters, which are read after the parameter files in `options`.
pub(super) fn read_residues(path: &Path, bytes: &[u8], options: &TopologyOptions) -> Parsed<Description> {
    options.are_used(&["parameters"], path)?;
    let Some(molecules) = &options.molecules else {
        let problem = Problem::new("a file of CHARMM residues describes only parts of a system").in_file(path);
        return Err(problem.help("give the PSF file of the system, and this file in system.parameters"));
    };
    let mut parameters = sections::read(&options.parameters)?;
    sections::read_file(path, options.parameters.len(), bytes, &mut parameters)?;
    let psf = residues::read(path, bytes, &molecules.residues, &parameters)?;
    describe(path, psf, &parameters)
}

/// Returns the topology with the atoms and terms of `psf`, and their parameters. `path` is the path of the file from
/// which `psf` was read, for messages.
fn describe(path: &Path, psf: Psf, parameters: &Parameters) -> Parsed<Description> {
    let types = types(path, &psf, parameters)?;
    // an error without a file name concerns parameters that the file at `path` needs, so that `path` is added to the
    // error
    let located = |problem: Problem| if problem.file.is_some() { problem } else { problem.in_file(path) };
    let (nonbonded, lj_types) = nonbonded::read(&types, parameters).map_err(located)?;
    let named = |index: usize| (Name::new(&parameters.names.of(&types[index..=index])), lj_types[index]);
    let (atoms, residues) = atoms(&psf, named);
    let mut topology = Topology { title: psf.title.clone(), charmm: true, atoms, residues, ..Topology::default() };
    topology.chain_labels = chain_labels(&psf, &topology.residues);
    topology.virtual_sites.clone_from(&psf.sites);
    topology.connectivity = psf.bonds.iter().copied().filter(|&pair| !topology.is_water_brace(pair)).collect();
    terms::add(&psf, &types, parameters, &mut topology).map_err(located)?;
    nonbonded::add_pairs(&types, parameters, &mut topology).map_err(located)?;
    Ok(Description { topology, nonbonded, ..Description::default() })
}

/// Whether the bytes are those of a PSF file.
pub(super) fn is_psf(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PSF")
}

/// Reads the atoms, residues and bonds of a PSF file, without parameter files.
pub(super) fn read_names(path: &Path, bytes: &[u8]) -> Parsed<Topology> {
    let psf = psf::read(path, bytes)?;
    let (atoms, residues) = atoms(&psf, |index| (Name::new(&psf.atoms[index].type_name), 0));
    let exclusions = Exclusions::from_pairs(atoms.len(), []);
    let chain_labels = chain_labels(&psf, &residues);
    let title = psf.title;
    let mut topology =
        Topology { title, charmm: true, atoms, residues, chain_labels, exclusions, ..Topology::default() };
    topology.virtual_sites = psf.sites;
    topology.connectivity = psf.bonds.into_iter().filter(|&pair| !topology.is_water_brace(pair)).collect();
    topology.link_sites();
    Ok(topology)
}

/// Returns the type of each atom. A PSF file of CHARMM format has the number of a `MASS` line in place of the type
/// name.
fn types(path: &Path, psf: &Psf, parameters: &Parameters) -> Parsed<Vec<Type>> {
    let of = |atom: &PsfAtom| match atom.type_name.parse::<i32>() {
        Ok(number) => parameters.numbers.get(&number).map(|found| found.copied()),
        Err(_) => Ok(parameters.names.get(&atom.type_name)),
    };
    let mut unknown = std::collections::BTreeSet::new();
    let types = psf.atoms.iter().map(|atom| {
        let found = of(atom)?;
        Ok(found.unwrap_or_else(|| {
            unknown.insert(atom.type_name.as_str());
            parameters::ANY
        }))
    });
    let types = types.collect::<Parsed<Vec<Type>>>()?;
    if unknown.is_empty() {
        return Ok(types);
    }
    let message = format!("no file in system.parameters has the atom types {}", terms::listed(unknown));
    let help = "a number stands for the type in the MASS line with this number: add the .rtf, .prm or .str file that \
        has the line";
    Err(Problem::new(message).in_file(path).help(help))
}

/// Returns the segment and the insertion code of each residue.
fn chain_labels(psf: &Psf, residues: &[Residue]) -> Vec<ChainLabel> {
    let labels = residues.iter().map(|residue| {
        let atom = &psf.atoms[residue.first as usize];
        let (_, insertion_code) = number::residue_number(&atom.residue_number);
        ChainLabel { segment: Name::new(&atom.segment), insertion_code, ..ChainLabel::default() }
    });
    labels.collect()
}

/// Returns the atoms and the residues of a PSF file. A new residue begins if the segment, the residue number or the
/// residue name changes. `types` returns the type name of an atom and the index of its Lennard-Jones type.
fn atoms(psf: &Psf, types: impl Fn(usize) -> (Name, u32)) -> (Vec<Atom>, Vec<Residue>) {
    let mut residues: Vec<Residue> = vec![];
    let mut atoms = Vec::with_capacity(psf.atoms.len());
    let mut last: Option<&PsfAtom> = None;
    for (index, atom) in psf.atoms.iter().enumerate() {
        if last.is_none_or(|last| !last.is_of_residue(atom)) {
            let (digits, _) = number::residue_number(&atom.residue_number);
            let number = digits.parse().unwrap_or(residues.len() as i32 + 1);
            residues.push(Residue { name: Name::new(&atom.residue), number, first: index as u32 });
        }
        last = Some(atom);
        let name = Name::new(&atom.name);
        let (type_name, lj_type) = types(index);
        atoms.push(Atom {
            name,
            type_name,
            element: element::guess(name, atom.mass),
            mass: atom.mass,
            charge: atom.charge,
            lj_type,
            residue: residues.len() as u32 - 1,
        });
    }
    (atoms, residues)
}
