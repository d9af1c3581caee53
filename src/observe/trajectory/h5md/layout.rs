//! Creation of the static part of an H5MD trajectory file: groups, attributes, static data, empty time series and
//! links.

use std::path::Path;

use hdf5::filters::{Filter, ScaleOffset};
use hdf5::types::FixedAscii;
use hdf5::{File, Group, H5Type, ObjectReference1, Result};

use super::hdf::{options, short_text_attribute, text_attribute, text_dataset, unit_attribute};
use crate::observe::trajectory::{Contents, Precision};

/// Number of rows per HDF5 chunk of a time series with few numbers per frame. Every flush writes a whole chunk, which
/// has half a kilobyte for a time series with one number per frame.
const ROWS_PER_CHUNK: usize = 64;
/// Maximum size in bytes of a chunk of a time series with few numbers per frame. A row has up to nine numbers (the
/// lattice vectors).
pub(super) const LARGEST_CHUNK: usize = ROWS_PER_CHUNK * 9 * size_of::<f64>();
/// Minimum number of atoms in an HDF5 chunk of a time series with values of all atoms. A system with fewer atoms has a
/// single chunk. A chunk of 4096 atoms has at least 48 kilobytes of coordinates. A program that reads only the solute,
/// whose atoms come before the solvent, decompresses only the first chunks of a frame.
const ATOMS_PER_CHUNK: usize = 4096;
/// Maximum number of HDF5 chunks in a frame of one time series; each chunk needs an entry in the index of the file.
const CHUNKS_PER_FRAME: usize = 64;
/// Compression level of Deflate, the fastest level. Higher levels make coordinates smaller by less than 2 %.
const DEFLATE_LEVEL: u8 = 1;

const PARTICLES: &str = "particles/trajectory";

/// Returns the number of atoms in an HDF5 chunk of a new trajectory of `atoms` atoms.
pub(super) fn atoms_per_chunk(atoms: usize) -> usize {
    atoms.div_ceil((atoms / ATOMS_PER_CHUNK).clamp(1, CHUNKS_PER_FRAME))
}

/// Creates the file at `path` with the static part of a trajectory, and closes it. The caller makes sure that there is
/// no trajectory at `path` yet. A chunk of a time series with values of all atoms has `atoms_per_chunk` atoms.
pub(super) fn create(path: &Path, contents: &Contents<'_>, topology_json: &str, atoms_per_chunk: usize) -> Result<()> {
    let file = options().create(path)?;
    conventions(&file, contents)?;
    let particles = file.create_group(PARTICLES)?;
    static_data(&file, &particles, contents)?;
    time_series(&file, &particles, contents, atoms_per_chunk)?;
    observables(&file, contents)?;
    // checksums are stored in the group `md`, outside the groups in which other programs look for data
    row("checksum", &[], "", "").create::<u32>(&file.create_group("md")?)?;
    file.link_hard(PARTICLES, "particles/system")?;
    text_dataset(&file, "topology", topology_json, &[1])?;
    parameters(&file, contents)?;
    file.flush()?;
    file.close()
}

fn conventions(file: &File, contents: &Contents<'_>) -> Result<()> {
    let provenance = contents.provenance;
    let title = contents.topology.title.trim();
    let attributes = [
        ("conventions", "Pande"),
        ("conventionVersion", "1.1"),
        ("program", "md"),
        ("programVersion", &provenance.version),
        ("application", "md"),
        ("title", if title.is_empty() { "md trajectory" } else { title }),
    ];
    for (name, text) in attributes {
        text_attribute(file, name, text)?;
    }
    let h5md = file.create_group("h5md")?;
    h5md.new_attr_builder().with_data(&[1i32, 1]).create("version")?;
    let author = if provenance.author.is_empty() { "unknown" } else { &provenance.author };
    short_text_attribute(&*h5md.create_group("author")?, "name", author)?;
    let creator = h5md.create_group("creator")?;
    short_text_attribute(&creator, "name", "md")?;
    short_text_attribute(&creator, "version", &provenance.version)?;
    let units = h5md.create_group("modules/units")?;
    units.new_attr_builder().with_data(&[1i32, 0]).create("version")?;
    text_attribute(&units, "system", "SI")
}

fn static_data(file: &File, particles: &Group, contents: &Contents<'_>) -> Result<()> {
    let atoms = &contents.topology.atoms;
    let dataset = |name: &str, unit: &str, values: Vec<f64>| -> Result<()> {
        let dataset = particles.new_dataset_builder().with_data(&values).create(name)?;
        unit_attribute(&dataset, "unit", unit)
    };
    dataset("mass", "u", atoms.iter().map(|a| a.mass).collect())?;
    dataset("charge", "e", atoms.iter().map(|a| a.charge).collect())?;
    short_text_attribute(&*particles.dataset("charge")?, "type", "effective")?;
    let species: Vec<i32> = atoms.iter().map(|a| i32::from(a.element)).collect();
    particles.new_dataset_builder().with_data(&species).create("species")?;
    particles.new_dataset_builder().with_data(&identities(contents)).create("id")?;

    let pairs: Vec<i64> = contents.topology.connectivity.iter().flatten().map(|&i| i64::from(i)).collect();
    let pairs =
        ndarray::Array2::from_shape_vec((pairs.len() / 2, 2), pairs).map_err(|e| hdf5::Error::from(format!("{e}")))?;
    let bonds = file.create_group("connectivity")?.new_dataset_builder().with_data(&pairs).create("bonds")?;
    bonds.new_attr::<i64>().create("bond_count")?.write_scalar(&(pairs.nrows() as i64))?;
    let reference: ObjectReference1 = file.reference(PARTICLES)?;
    bonds.new_attr::<ObjectReference1>().create("particles_group")?.write_scalar(&reference)
}

/// Returns, for each written atom, its 0-based index in the system.
pub(super) fn identities(contents: &Contents<'_>) -> Vec<i64> {
    match contents.placement.selected {
        Some((_, atoms)) => atoms.iter().map(|&atom| i64::from(atom)).collect(),
        None => (0..contents.topology.atoms.len() as i64).collect(),
    }
}

/// Description of an empty dataset with one row per frame.
struct Empty<'a> {
    name: &'a str,
    row: &'a [usize],
    /// shape of an HDF5 chunk; a time series with values of all atoms has chunks of one row
    chunk: Vec<usize>,
    /// spelling of the unit in H5MD; `units` is the spelling in MDTraj. `unit` and `units` are empty for a quantity
    /// without a unit
    unit: &'a str,
    units: &'a str,
    filters: &'a [Filter],
}

/// Describes an empty time series with few numbers per frame.
fn row<'a>(name: &'a str, row: &'a [usize], unit: &'a str, units: &'a str) -> Empty<'a> {
    let chunk = std::iter::once(ROWS_PER_CHUNK).chain(row.iter().copied()).collect();
    Empty { name, row, chunk, unit, units, filters: &[] }
}

impl Empty<'_> {
    fn create<T: H5Type>(&self, group: &Group) -> Result<()> {
        let mut extents = vec![hdf5::Extent::resizable(0)];
        extents.extend(self.row.iter().map(|&n| hdf5::Extent::fixed(n)));
        let dataset = group
            .new_dataset::<T>()
            .chunk(self.chunk.clone())
            .set_filters(self.filters)
            .shape(hdf5::SimpleExtents::new(extents))
            .create(self.name)?;
        if !self.unit.is_empty() {
            unit_attribute(&dataset, "unit", self.unit)?;
        }
        if !self.units.is_empty() {
            text_attribute(&dataset, "units", self.units)?;
        }
        Ok(())
    }
}

fn time_series(file: &File, particles: &Group, contents: &Contents<'_>, atoms_per_chunk: usize) -> Result<()> {
    let lossless = [Filter::Shuffle, Filter::Deflate(DEFLATE_LEVEL)];
    let (decimals3, decimals4) = ([scaled(3)], [scaled(4)]);
    let (position_filters, field_filters): (&[Filter], &[Filter]) = match contents.precision {
        Precision::Raw => (&[], &[]),
        Precision::Lossless => (&lossless, &lossless),
        Precision::Decimals3 => (&decimals3, &lossless),
        Precision::Decimals4 => (&decimals4, &lossless),
    };
    let shape = [contents.topology.atoms.len(), 3];
    let chunk = vec![1, atoms_per_chunk, 3];
    let vectors = |unit, units, filters| {
        let chunk = chunk.clone();
        Empty { name: "value", row: &shape, chunk, unit, units, filters }
    };

    let position = particles.create_group("position")?;
    row("step", &[], "", "").create::<i64>(&position)?;
    row("time", &[], "ps", "picoseconds").create::<f64>(&position)?;
    vectors("nm", "nanometers", position_filters).create::<f32>(&position)?;
    for (position, mdtraj) in [("value", "coordinates"), ("time", "time")] {
        file.link_hard(&format!("{PARTICLES}/position/{position}"), mdtraj)?;
    }

    let cell = particles.create_group("box")?;
    cell.new_attr::<i32>().create("dimension")?.write_scalar(&3)?;
    let boundary = if contents.periodic { "periodic" } else { "none" };
    let boundary = FixedAscii::<8>::from_ascii(boundary).map_err(|e| hdf5::Error::from(format!("{e}")))?;
    cell.new_attr_builder().with_data(&[boundary; 3]).create("boundary")?;
    if contents.periodic {
        row("value", &[3, 3], "nm", "").create::<f32>(&series_group(particles, "box/edges", file)?)?;
        row("cell_lengths", &[3], "", "nanometers").create::<f32>(file)?;
        row("cell_angles", &[3], "", "degrees").create::<f32>(file)?;
    }
    if contents.fields.velocities {
        let group = series_group(particles, "velocity", file)?;
        vectors("nm ps-1", "nanometers/picosecond", field_filters).create::<f32>(&group)?;
        text_attribute(&*group.dataset("value")?, "sampled_at", "half a time step before the frame's time (leapfrog)")?;
        file.link_hard(&format!("{PARTICLES}/velocity/value"), "velocities")?;
    }
    if contents.fields.forces {
        let group = series_group(particles, "force", file)?;
        vectors("kJ mol-1 nm-1", "kilojoules_per_mole/nanometer", field_filters).create::<f32>(&group)?;
    }
    if contents.fields.image && contents.periodic {
        let group = series_group(particles, "image", file)?;
        vectors("", "", &lossless).create::<i32>(&group)?;
    }
    Ok(())
}

fn scaled(decimals: u8) -> Filter {
    Filter::ScaleOffset(ScaleOffset::FloatDScale(decimals))
}

/// Creates an H5MD group for a time series that shares the datasets of steps and times with the positions.
fn series_group(parent: &Group, name: &str, file: &File) -> Result<Group> {
    let group = parent.create_group(name)?;
    for series in ["step", "time"] {
        let target = format!("{}/{series}", group.name());
        file.link_hard(&format!("/{PARTICLES}/position/{series}"), &target)?;
    }
    Ok(group)
}

fn observables(file: &File, contents: &Contents<'_>) -> Result<()> {
    let parent = file.create_group("observables")?;
    for (column, observable) in contents.observables.iter().enumerate() {
        let (mdtraj_name, units) = match observable.name.as_str() {
            "potential_energy" => ("potentialEnergy", "kilojoules_per_mole"),
            "kinetic_energy" => ("kineticEnergy", "kilojoules_per_mole"),
            "temperature" => ("temperature", "kelvin"),
            _ => ("", ""),
        };
        let group = series_group(&parent, &observable.name, file)?;
        // HDF5 lists links by name, so the attribute `column` stores the order in which the observables were created
        group.new_attr::<i64>().create("column")?.write_scalar(&(column as i64))?;
        short_text_attribute(&group, "column_unit", &observable.unit)?;
        row("value", &[], &observable.unit, units).create::<f64>(&group)?;
        if !mdtraj_name.is_empty() {
            file.link_hard(&format!("{}/value", group.name()), mdtraj_name)?;
        }
    }
    Ok(())
}

fn parameters(file: &File, contents: &Contents<'_>) -> Result<()> {
    let group = file.create_group("parameters")?;
    let provenance = contents.provenance;
    let texts = [
        ("run_id", &provenance.run_id),
        ("title", &contents.topology.title),
        ("input", &provenance.input),
        ("version", &provenance.version),
        ("commit", &provenance.commit),
        ("host", &provenance.host),
    ];
    for (name, text) in texts {
        text_dataset(&group, name, text, &[])?;
    }
    group.new_dataset::<u64>().create("seed")?.write_scalar(&provenance.seed)
}
