//! Reader of HDF5 trajectories of other programs: H5MD files of MDAnalysis, GROMACS, LAMMPS and others, and files in
//! MDTraj's own layout.
//!
//! Values are converted from the units in the file. An H5MD file without units is refused, since md cannot know the
//! units of the program that wrote the file; MDTraj's layout prescribes nm, ps and degrees. Steps and times may be
//! arrays or fixed intervals. Velocities, forces and boxes of a frame are read from the row that has the step number of
//! the frame. Atoms are sorted by their `id` if the file has ids. A frame whose box is not lower-triangular is rotated
//! as a whole.

use std::path::{Path, PathBuf};

use hdf5::{Dataset, File, Group};

use super::hdf::{any_text, any_texts, options, read_numbers, read_text};
use super::series::Series;
use super::superblock::Superblock;
use crate::error::{Error, Problem, Result};
use crate::format::unit::Unit;
use crate::format::{Label, element};
use crate::observe::trajectory::{Description, FrameSource, StoredFrame, Verification};
use crate::system::Name;
use crate::units::rounded_time;
use crate::vec3::{Vec3, vec3};

/// Result whose error describes the fault of the file.
type Checked<T> = std::result::Result<T, String>;

/// Quantity that has a row for every frame, or for some of the frames.
struct Element {
    values: Series,
    /// factor from the unit in the file to internal units
    factor: f64,
    /// step number of each row; `None` if there is one row per frame
    steps: Option<Vec<i64>>,
}

/// Periodic boxes of the frames, as the file stores them.
enum Boxes {
    None,
    /// box that is the same in all frames, as three edge lengths or nine numbers of lattice vectors, nm
    Fixed(Vec<f64>),
    /// box of each frame, as edge lengths or lattice vectors
    Edges(Element),
    /// box of each frame, as edge lengths and as angles in degrees
    Angles(Element, Element),
}

/// Trajectory of another program, open for reading.
pub(super) struct ForeignReader {
    path: PathBuf,
    layout: &'static str,
    atoms: usize,
    positions: Element,
    velocities: Option<Element>,
    forces: Option<Element>,
    boxes: Boxes,
    /// atom ids in each frame
    ids: Option<Element>,
    /// atom ids that are the same in all frames
    fixed_ids: Option<Vec<i64>>,
    steps: Vec<i64>,
    /// times of the frames in ps; empty if the file has no times
    times: Vec<f64>,
    labels: Vec<Label>,
}

impl ForeignReader {
    /// Opens a trajectory that another program wrote. Returns `None` for a file of md and for a file in an unknown
    /// layout.
    pub(super) fn open(path: &Path) -> Result<Option<Self>> {
        let mode = Superblock::read(path)?.reading_mode(path)?;
        let Ok(file) = options().open_as(path, mode) else { return Ok(None) };
        // files of md have a group `md`; files of older versions of md, without this group, have `parameters` and
        // `topology`
        if file.link_exists("md") || (file.link_exists("parameters") && file.link_exists("topology")) {
            return Ok(None);
        }
        let convention = file.attr("Conventions").ok().and_then(|attribute| any_text(&attribute).ok());
        if convention.is_some_and(|convention| convention.contains("AMBER")) {
            let problem = Problem::new("the trajectory follows AMBER's convention, but is stored as HDF5 (NetCDF-4)");
            return Err(problem.in_file(path).help("convert the file with `nccopy -k classic`").into());
        }
        let found = match (file.link_exists("coordinates"), file.link_exists("particles")) {
            (true, _) => mdtraj(path, &file),
            (_, true) => h5md(path, &file),
            _ => return Ok(None),
        };
        let help = "md reads H5MD 1.1 with units, and the HDF5 layout of MDTraj";
        found.map(Some).map_err(|reason| Problem::new(reason).in_file(path).help(help).into())
    }

    /// Describes the contents of the file.
    pub(super) fn describe(&mut self) -> Result<Description> {
        let mut lines = vec![("atoms", self.atoms.to_string()), ("frames", self.frames().to_string())];
        let mut frame = StoredFrame::default();
        for (name, index) in [("first", 0), ("last", self.frames().saturating_sub(1))] {
            if index < self.frames() {
                self.read(index, &mut frame)?;
                lines.push((name, format!("step {}, {} ps", frame.step, rounded_time(frame.time))));
            }
        }
        let present = [
            (frame.cell.is_some(), ", cell"),
            (self.velocities.is_some(), ", velocities"),
            (self.forces.is_some(), ", forces"),
        ];
        let present: String = present.into_iter().filter(|(there, _)| *there).map(|(_, name)| name).collect();
        lines.push(("fields", format!("positions{present}")));
        Ok(Description { title: format!("{} trajectory, written by another program", self.layout), lines })
    }

    /// Reads every frame and returns the frames that cannot be read.
    pub(super) fn verify(&mut self) -> Verification {
        let mut found = Verification { frames: self.frames() as u64, ..Verification::default() };
        let mut frame = StoredFrame::default();
        for index in 0..self.frames() {
            if let Err(error) = self.read(index, &mut frame) {
                found.bad.push((index as u64, error.to_string()));
            }
        }
        found
    }

    /// Returns the row of a quantity for frame `index`; `None` if the quantity has no row at the step of this frame.
    fn row(&self, element: &Element, index: usize) -> Checked<Option<Vec<f64>>> {
        let row = match &element.steps {
            None => Some(index).filter(|&row| row < element.values.len()),
            Some(steps) => steps.binary_search(&self.steps[index]).ok().filter(|&row| row < element.values.len()),
        };
        let Some(row) = row else { return Ok(None) };
        let mut values = element.values.row::<f64>(row).map_err(|error| error.to_string())?;
        values.iter_mut().for_each(|value| *value *= element.factor);
        Ok(Some(values))
    }

    /// Reads one vector for each atom, in ascending order of the atom ids.
    fn vectors(&self, element: &Element, index: usize, order: Option<&[usize]>, found: &mut Vec<Vec3>) -> Checked<()> {
        let Some(values) = self.row(element, index)? else { return Ok(()) };
        let (vectors, rest) = values.as_chunks::<3>();
        if vectors.len() != self.atoms || !rest.is_empty() {
            return Err(format!("there are {} numbers for {} atoms", values.len(), self.atoms));
        }
        if let Some(value) = values.iter().position(|value| !value.is_finite()) {
            return Err(format!("a value of atom {} is not finite", value / 3 + 1));
        }
        match order {
            Some(order) => found.extend(order.iter().map(|&atom| Vec3::from(vectors[atom]))),
            None => found.extend(vectors.iter().map(|&vector| Vec3::from(vector))),
        }
        Ok(())
    }

    /// Returns the row of each atom in frame `index`, in ascending order of the atom ids; `None` if the rows already
    /// have this order.
    fn order(&self, index: usize) -> Checked<Option<Vec<usize>>> {
        let row = match (&self.ids, &self.fixed_ids) {
            (Some(ids), _) => self.row(ids, index)?.ok_or("there are no atom numbers (id) at this step")?,
            (None, Some(ids)) => ids.iter().map(|&id| id as f64).collect(),
            (None, None) => return Ok(None),
        };
        if row.len() != self.atoms {
            return Err(format!("there are {} atom numbers (id) for {} atoms", row.len(), self.atoms));
        }
        let mut order: Vec<usize> = (0..row.len()).collect();
        order.sort_by(|&a, &b| row[a].total_cmp(&row[b]));
        match order.windows(2).find(|pair| row[pair[0]] == row[pair[1]]) {
            Some(pair) => Err(format!("two atoms have the number (id) {}", row[pair[0]])),
            None => Ok(Some(order)),
        }
    }

    fn decode(&self, index: usize, frame: &mut StoredFrame) -> Checked<()> {
        frame.clear();
        (frame.step, frame.time) = (self.steps[index], self.times.get(index).copied().unwrap_or(index as f64));
        let order = self.order(index)?;
        let order = order.as_deref();
        self.vectors(&self.positions, index, order, &mut frame.positions)?;
        for (element, found) in [(&self.velocities, &mut frame.velocities), (&self.forces, &mut frame.forces)] {
            element.iter().try_for_each(|element| self.vectors(element, index, order, found))?;
        }
        let missing = || "there is no box at this step".to_owned();
        let numbers = match &self.boxes {
            Boxes::None => return Ok(()),
            Boxes::Fixed(numbers) => numbers.clone(),
            Boxes::Edges(element) => self.row(element, index)?.ok_or_else(missing)?,
            Boxes::Angles(lengths, angles) => {
                let lengths = self.row(lengths, index)?.ok_or_else(missing)?;
                [lengths, self.row(angles, index)?.ok_or_else(missing)?].concat()
            }
        };
        if numbers.iter().take(9).all(|&number| number == 0.0) {
            return Ok(());
        }
        let taken = match numbers[..] {
            [x, y, z] => frame.take_lattice([vec3(x, 0.0, 0.0), vec3(0.0, y, 0.0), vec3(0.0, 0.0, z)]),
            [a, b, c, alpha, beta, gamma] => {
                frame.cell = crate::format::coordinates::cell_of([a, b, c], [alpha, beta, gamma]);
                frame.cell.map(|_| ())
            }
            [ax, ay, az, bx, by, bz, cx, cy, cz] => {
                frame.take_lattice([vec3(ax, ay, az), vec3(bx, by, bz), vec3(cx, cy, cz)])
            }
            _ => None,
        };
        taken.ok_or_else(|| format!("the numbers {numbers:?} do not form a box"))
    }
}

impl FrameSource for ForeignReader {
    fn atoms(&self) -> usize {
        self.atoms
    }

    fn frames(&self) -> usize {
        self.steps.len()
    }

    fn labels(&self) -> &[Label] {
        &self.labels
    }

    fn has_times(&self) -> bool {
        !self.times.is_empty()
    }

    fn read(&mut self, index: usize, frame: &mut StoredFrame) -> Result<()> {
        self.decode(index, frame).map_err(|reason| {
            let problem = Problem::new(format!("frame {index}: {reason}")).in_file(&self.path);
            Error::from(problem.help("the file is damaged, or contains data that md does not read"))
        })
    }
}

fn text(error: hdf5::Error) -> String {
    error.to_string()
}

/// Returns the factor that converts the values of a dataset to internal units. The attribute `name` gives the unit of
/// the dataset; without this attribute the factor is `default`. `like` is an internal unit of the same dimension.
fn factor(dataset: &Dataset, name: &str, like: &str, default: Option<f64>) -> Checked<f64> {
    let place = dataset.name();
    let attributes = dataset.attr_names().map_err(text)?;
    if let Some(scale) = attributes.iter().find(|found| ["scale_factor", "add_offset"].contains(&found.as_str())) {
        return Err(format!("{place} has the attribute `{scale}`, which this layout does not define"));
    }
    if !attributes.iter().any(|found| found == name) {
        return default.ok_or_else(|| {
            format!(
                "{place} has no unit (attribute `{name}`), so that the meaning of its numbers is unknown; if they are \
                 in {like}, add the attribute, for example with h5py: file[\"{place}\"].attrs[\"{name}\"] = \"{like}\""
            )
        });
    }
    let found = any_text(&dataset.attr(name).map_err(text)?).map_err(text)?;
    let units = Unit::parse(&found).zip(Unit::parse(like)).filter(|(unit, like)| unit.is_like(like));
    units
        .map(|(unit, like)| unit.factor / like.factor)
        .ok_or_else(|| format!("{place} has the unit \"{}\", expected a unit like {like}", found.escape_default()))
}

/// Returns the number of atoms and the number of frames of a dataset of positions.
fn shape(positions: &Series) -> Checked<(usize, usize)> {
    match positions.dataset.shape()[..] {
        [frames, atoms, 3] if atoms > 0 => Ok((frames, atoms)),
        ref other => Err(format!("positions have the shape {other:?}, expected frames, atoms and 3")),
    }
}

/// Opens a trajectory in the HDF5 layout of MDTraj.
fn mdtraj(path: &Path, file: &File) -> Checked<ForeignReader> {
    let element = |name: &str, like: &str| -> Checked<Option<Element>> {
        if !file.link_exists(name) {
            return Ok(None);
        }
        let values = Series::open(file, name).map_err(text)?;
        // MDTraj's layout prescribes the unit of each quantity, so the factor is 1 if the dataset has no attribute
        // `units`
        let factor = factor(&values.dataset, "units", like, Some(1.0))?;
        Ok(Some(Element { values, factor, steps: None }))
    };
    let positions = element("coordinates", "nm")?.ok_or("the file has no coordinates")?;
    let (frames, atoms) = shape(&positions.values)?;
    let boxes = match (element("cell_lengths", "nm")?, element("cell_angles", "degree")?) {
        (Some(lengths), Some(angles)) => Boxes::Angles(lengths, angles),
        (None, None) => Boxes::None,
        _ => return Err("expected both cell_lengths and cell_angles, or neither".to_owned()),
    };
    let mut times = vec![];
    if file.link_exists("time") {
        let factor = factor(&file.dataset("time").map_err(text)?, "units", "ps", Some(1.0))?;
        times = read_numbers::<f64>(file, "time").map_err(text)?.into_iter().map(|time| time * factor).collect();
    }
    if !times.is_empty() && times.len() != frames {
        return Err(format!("there are {} times for {frames} frames", times.len()));
    }
    let labels = match file.link_exists("topology") {
        true => labels(&read_text(file, "topology").map_err(text)?).filter(|labels| labels.len() == atoms),
        false => None,
    };
    Ok(ForeignReader {
        path: path.to_owned(),
        layout: "MDTraj HDF5",
        atoms,
        positions,
        velocities: element("velocities", "nm/ps")?,
        forces: element("forces", "kJ mol-1 nm-1")?,
        boxes,
        ids: None,
        fixed_ids: None,
        steps: (0..frames as i64).collect(),
        times,
        labels: labels.unwrap_or_default(),
    })
}

/// Reads names and elements of the atoms from the JSON text of MDTraj's topology; `None` if the text does not have
/// MDTraj's layout.
fn labels(json: &str) -> Option<Vec<Label>> {
    let document: serde_json::Value = serde_json::from_str(json.trim_end_matches('\0')).ok()?;
    let (mut labels, mut residues) = (vec![], 0);
    for chain in document.get("chains")?.as_array()? {
        for residue in chain.get("residues")?.as_array()? {
            let name = residue.get("name").and_then(serde_json::Value::as_str).unwrap_or_default();
            let number = residue.get("resSeq").and_then(serde_json::Value::as_i64).unwrap_or_default();
            let place = residues;
            residues += 1;
            for atom in residue.get("atoms")?.as_array()? {
                let text = |key: &str| atom.get(key).and_then(serde_json::Value::as_str);
                if atom.get("index")?.as_u64()? != labels.len() as u64 {
                    return None;
                }
                let element = element::number(text("element").unwrap_or_default());
                let (residue, number) = (Name::new(name), number as i32);
                let name = Name::new(text("name")?);
                labels.push(Label { name, element, residue, number, place, ..Label::default() });
            }
        }
    }
    Some(labels)
}

/// Opens an H5MD trajectory.
fn h5md(path: &Path, file: &File) -> Checked<ForeignReader> {
    let particles = file.group("particles").map_err(text)?;
    let names = particles.member_names().map_err(text)?;
    let name = match &names[..] {
        [only] => only,
        _ => names.iter().find(|name| ["trajectory", "system"].contains(&name.as_str())).ok_or_else(|| {
            format!(
                "the file has the particle groups {}; expected only one group, or a group with the name `trajectory`",
                names.join(", ")
            )
        })?,
    };
    let group = particles.group(name).map_err(text)?;
    let place = |name: &str| format!("{}/{name}", group.name().trim_start_matches('/'));
    let element = |name: &str, like: &str, default: Option<f64>| -> Checked<Option<Element>> {
        if !group.link_exists(name) {
            return Ok(None);
        }
        let values = Series::open(file, &place(&format!("{name}/value"))).map_err(text)?;
        let factor = if like.is_empty() { 1.0 } else { factor(&values.dataset, "unit", like, default)? };
        let steps = steps(&group.group(name).map_err(text)?, values.len())?;
        Ok(Some(Element { values, factor, steps: Some(steps) }))
    };
    let positions = element("position", "nm", None)?.ok_or("the file has no positions")?;
    let (frames, atoms) = shape(&positions.values)?;
    let length = positions.factor;
    let is_fixed = |name: &str| group.link_exists(name) && group.dataset(name).is_ok();
    let boxes = if !group.link_exists("box/edges") || !is_periodic(&group.group("box").map_err(text)?)? {
        Boxes::None
    } else if is_fixed("box/edges") {
        let numbers = read_numbers::<f64>(&group, "box/edges").map_err(text)?;
        let factor = factor(&group.dataset("box/edges").map_err(text)?, "unit", "nm", Some(length))?;
        Boxes::Fixed(numbers.into_iter().map(|number| number * factor).collect())
    } else {
        element("box/edges", "nm", Some(length))?.map_or(Boxes::None, Boxes::Edges)
    };
    let (ids, fixed_ids) = match is_fixed("id") {
        true => (None, Some(read_numbers::<i64>(&group, "id").map_err(text)?)),
        false => (element("id", "", None)?, None),
    };
    let steps = positions.steps.clone().unwrap_or_default();
    Ok(ForeignReader {
        path: path.to_owned(),
        layout: "H5MD",
        atoms,
        velocities: element("velocity", "nm/ps", None)?,
        forces: element("force", "kJ mol-1 nm-1", None)?,
        positions,
        boxes,
        ids,
        fixed_ids,
        times: times(&group.group("position").map_err(text)?, &steps, frames)?,
        steps,
        labels: vec![],
    })
}

/// Whether a box of H5MD is periodic. The attribute `boundary` says so for each direction
/// (de Buyl et al., Comput. Phys. Commun. 185, 1546 (2014), doi:10.1016/j.cpc.2014.01.018). Without this attribute, a
/// box with edges is periodic.
fn is_periodic(group: &Group) -> Checked<bool> {
    let Ok(boundary) = group.attr("boundary") else { return Ok(true) };
    let directions = any_texts(&boundary).map_err(text)?;
    if directions.is_empty() {
        return Err("the attribute `boundary` of the box is empty, expected `periodic` or `none`".to_owned());
    }
    let periodic = directions.iter().filter(|direction| *direction == "periodic").count();
    if let Some(unknown) = directions.iter().find(|direction| !["periodic", "none"].contains(&direction.as_str())) {
        return Err(format!("box has the boundary `{unknown}`, expected `periodic` or `none`"));
    }
    if periodic > 0 && periodic < directions.len() {
        return Err(
            "the box is periodic in some directions only, and md reads boxes that are periodic in all or in no \
                    directions"
                .to_owned(),
        );
    }
    Ok(periodic > 0)
}

/// Returns the step numbers of the rows of a quantity, which must ascend. The file has either an array of step numbers,
/// or an interval with an offset.
fn steps(group: &Group, rows: usize) -> Checked<Vec<i64>> {
    if !group.link_exists("step") {
        return Ok((0..rows as i64).collect());
    }
    let found = intervals::<i64>(group, "step", rows)?;
    let steps = found.unwrap_or_else(|(first, interval)| {
        (0..rows as i64).map(|row| first.saturating_add(row.saturating_mul(interval))).collect()
    });
    match steps.windows(2).find(|pair| pair[0] >= pair[1]) {
        Some(pair) => {
            Err(format!("{}: step {} follows step {}, but step numbers must ascend", group.name(), pair[1], pair[0]))
        }
        None => Ok(steps),
    }
}

/// Returns the times (ps) of the rows of a quantity; empty if the quantity has no times.
fn times(group: &Group, steps: &[i64], rows: usize) -> Checked<Vec<f64>> {
    if !group.link_exists("time") {
        return Ok(vec![]);
    }
    let factor = factor(&group.dataset("time").map_err(text)?, "unit", "ps", None)?;
    let times = intervals::<f64>(group, "time", rows)?;
    // a single number in the file is the time between two rows, not the time between two steps
    let times =
        times.unwrap_or_else(|(first, interval)| (0..steps.len()).map(|row| first + row as f64 * interval).collect());
    match times.iter().find(|time| !time.is_finite()) {
        Some(time) => Err(format!("{}: {time} is not a valid time", group.name())),
        None => Ok(times.into_iter().map(|time| time * factor).collect()),
    }
}

/// Reads a dataset with one number for each row. If the dataset is a single number, this number is the interval between
/// rows, and the function returns the attribute `offset` of the dataset and the interval.
fn intervals<T: hdf5::H5Type + Copy + Default>(
    group: &Group,
    name: &str,
    rows: usize,
) -> Checked<std::result::Result<Vec<T>, (T, T)>> {
    let dataset = group.dataset(name).map_err(text)?;
    if dataset.is_scalar() {
        let offset = match dataset.attr("offset") {
            Ok(offset) => offset.read_scalar::<T>().map_err(text)?,
            Err(_) => T::default(),
        };
        return Ok(Err((offset, dataset.read_scalar::<T>().map_err(text)?)));
    }
    let found = read_numbers::<T>(group, name).map_err(text)?;
    match found.len() == rows {
        true => Ok(Ok(found)),
        false => Err(format!("{}/{name} has {} numbers for {rows} rows", group.name(), found.len())),
    }
}
