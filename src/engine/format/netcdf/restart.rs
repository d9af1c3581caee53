//! Reader of AMBER restart files in NetCDF format.

use super::{Header, Parsed, Variable};
use crate::error::Problem;
use crate::format::coordinates::{
    Coordinates, FARTHEST, FASTEST, LeftOut, cell_of, has_other_vectors, is_dummy, scaled, too_long,
};
use crate::units::ANGSTROM;
use crate::vec3::Vec3;

/// Advice for files that do not follow AMBER's convention.
const RESTART: &str =
    "write the restart again with AMBER or cpptraj, or give the structure in another format (rst7, gro, PDB)";

/// Reads a restart from the bytes of a file that begins with `CDF`.
pub(in crate::format) fn read_restart(bytes: &[u8]) -> Parsed<Coordinates> {
    let file = Restart { header: Header::read(bytes)?, bytes };
    file.check_length()?;
    if file.header.dimensions.iter().any(|dimension| dimension.0 == b"frame") {
        return Err(Problem::new("expected a restart, found a trajectory of several frames")
            .help("write one frame of the trajectory as a restart with md convert --frame"));
    }
    let positions = file.vectors("coordinates", "angstrom", FARTHEST)?;
    let positions = positions.ok_or_else(|| Problem::new("the file holds no variable `coordinates`").help(RESTART))?;
    let velocities = file.vectors("velocities", "angstrom/picosecond", FASTEST)?;
    if velocities.as_ref().is_some_and(|velocities| velocities.len() != positions.len()) {
        return Err(Problem::new("velocities and coordinates differ in number").help(RESTART));
    }
    let triple = |name: &str, unit: &str| -> Parsed<Option<[f64; 3]>> {
        let values = file.values(name, unit)?;
        let wrong = || Problem::new(format!("variable `{name}`: expected three numbers")).help(RESTART);
        values.map(|values| values.try_into().map_err(|_| wrong())).transpose()
    };
    let mut left_out = LeftOut::default();
    let cell = match (triple("cell_lengths", "angstrom")?, triple("cell_angles", "degree")?) {
        (None, None) => None,
        (Some(lengths), _) if is_dummy(lengths) => None,
        (Some(lengths), Some(angles)) => {
            let lengths = lengths.map(|length| length * ANGSTROM);
            let wrong = || Problem::new("cell_lengths and cell_angles do not form a box").help(RESTART);
            let cell = cell_of(lengths, angles).ok_or_else(wrong)?;
            left_out.vectors = has_other_vectors(&cell, lengths, angles);
            Some(cell)
        }
        _ => return Err(Problem::new("expected both cell_lengths and cell_angles, or neither").help(RESTART)),
    };
    let time = file.values("time", "picosecond")?.and_then(|values| values.first().copied());
    let time = time.filter(|time| time.is_finite());
    let title = file.header.text("title");
    Ok(Coordinates { title, time, positions, velocities, cell, left_out, ..Coordinates::default() })
}

/// NetCDF file without records.
struct Restart<'a> {
    header: Header<'a>,
    bytes: &'a [u8],
}

impl Restart<'_> {
    /// Returns an error if there are bytes after the last variable. Additional bytes mean that data were inserted into
    /// the file. The length of a file with record variables is not checked, because the reader does not read the number
    /// of records and therefore does not know the expected length.
    fn check_length(&self) -> Parsed<()> {
        if self.header.variables.iter().any(|variable| variable.has_records) {
            return Ok(());
        }
        let end = self.header.variables.iter().map(Variable::end).max().unwrap_or(0);
        let found = self.bytes.len() as u64;
        if found <= end {
            return Ok(());
        }
        let message = format!("the file has {found} bytes, its header announces {end}");
        Err(Problem::new(message).help("the file is damaged: copy it again"))
    }

    /// Returns the vectors of a variable, which has three numbers per atom, and converts Å or Å/ps to nm or nm/ps. A
    /// vector longer than `most` (nm or nm/ps) is an error.
    fn vectors(&self, name: &str, unit_name: &str, most: f64) -> Parsed<Option<Vec<Vec3>>> {
        let Some(values) = self.values(name, unit_name)? else { return Ok(None) };
        let triples = values.as_chunks::<3>().0;
        let is_per_atom = |variable: &Variable<'_>| matches!(variable.shape[..], [atoms, 3] if atoms > 0);
        if !self.header.variable(name).is_some_and(is_per_atom) {
            return Err(Problem::new(format!("variable `{name}`: expected three numbers per atom")).help(RESTART));
        }
        let vector = |(atom, triple)| scaled(triple, ANGSTROM, most).ok_or_else(|| too_long(atom, triple));
        triples.iter().enumerate().map(vector).collect::<Parsed<_>>().map(Some)
    }

    /// Returns all values of a variable, converted to the given unit. Returns `None` if there is no such variable.
    fn values(&self, name: &str, unit: &str) -> Parsed<Option<Vec<f64>>> {
        let Some(variable) = self.header.variable(name) else { return Ok(None) };
        if variable.has_records {
            return Err(variable.problem("expected a variable of a single frame, found a variable with records"));
        }
        let numbers = variable.numbers(unit)?;
        let data = usize::try_from(variable.begin).ok().and_then(|begin| {
            let end = usize::try_from(variable.size).ok()?.checked_add(begin)?;
            self.bytes.get(begin..end)
        });
        let cut = || variable.problem("the values reach beyond the end of the file").help("the file seems cut off");
        let values: Vec<f64> = numbers.of(data.ok_or_else(cut)?).collect();
        match values.iter().position(|value| !value.is_finite()) {
            Some(index) => Err(variable.problem(&format!("value {} is not finite", index + 1))),
            None => Ok(Some(values)),
        }
    }
}
