//! Correction maps (`[ cmaptypes ]`), and the terms that use correction maps (`[ cmap ]`).
//!
//! A row of `[ cmaptypes ]` has five atom types, function type 1, the numbers of grid points along φ and ψ, and
//! energies in kJ/mol on a grid that begins at −180°. An atom type may be followed by the name of its residue, as in
//! `CA-ALA` (`*` for any residue). ψ varies fastest, as in [`CmapGrid`].

use super::Parsed;
use super::fields::Fields;
use crate::error::Problem;
use crate::format::number;
use crate::system::CmapGrid;

/// All rows of `[ cmaptypes ]` that have been read.
#[derive(Default)]
pub(super) struct CmapTypes {
    rows: Vec<Row>,
    pub(super) grids: Vec<CmapGrid>,
}

struct Row {
    types: [u32; 5],
    /// residue names of the five atoms; an empty name matches any residue
    residues: [String; 5],
}

impl CmapTypes {
    /// Adds a row. `bonded` returns the index of a bonded type from its name.
    pub(super) fn read(&mut self, mut fields: Fields<'_, '_>, bonded: impl Fn(&str) -> Option<u32>) -> Parsed<()> {
        let (mut types, mut residues) = ([0; 5], [const { String::new() }; 5]);
        for (kind, residue) in types.iter_mut().zip(&mut residues) {
            let word = fields.word("a type")?;
            // a dash may also be a part of a type name, as in the name of an ion
            let (name, residue_name) = match (bonded(word), word.split_once('-')) {
                (None, Some((name, residue))) => (name, residue),
                _ => (word, ""),
            };
            let unknown =
                || Problem::new(format!("no atom type has the bonded type {}", number::quoted(word.as_bytes())));
            *kind = bonded(name).ok_or_else(unknown)?;
            *residue = if residue_name == "*" { String::new() } else { residue_name.to_owned() };
        }
        fields.function_one("correction maps")?;
        let size = [fields.integer("the points along phi")?, fields.integer("the points along psi")?];
        let points =
            usize::try_from(size[0]).ok().filter(|points| CmapGrid::SIZES.contains(points) && size[0] == size[1]);
        let points = points.ok_or_else(|| {
            Problem::new(format!(
                "a map of {} by {} points: expected a square map with {:?} points along each angle",
                size[0],
                size[1],
                CmapGrid::SIZES
            ))
        })?;
        let mut energies = Vec::with_capacity(fields.rest().len().min(points * points));
        for _ in 0..points * points {
            energies.push(fields.real("an energy of the map")?);
        }
        fields.end()?;
        self.rows.push(Row { types, residues });
        self.grids.push(CmapGrid { size: points, energies });
        Ok(())
    }

    /// Returns the index of the grid of the correction map for five atoms with these types, in residues with these
    /// names. `fields` are the function type and optionally the number of a row of `[ cmaptypes ]`. GROMACS ignores
    /// this number; the number of another row than that of the types is refused.
    pub(super) fn find(&self, types: [u32; 5], residues: [&str; 5], mut fields: Fields<'_, '_>) -> Parsed<u32> {
        fields.function_one("correction maps")?;
        let given = match fields.is_empty() {
            true => None,
            false => Some(fields.integer("the number of a row of [ cmaptypes ]")?),
        };
        fields.end()?;
        let named = |row: &Row| row.residues.iter().zip(residues).all(|(own, name)| own.is_empty() || own == name);
        let row = self.rows.iter().position(|row| row.types == types && named(row));
        let row = row.ok_or_else(|| {
            let message = format!("[ cmaptypes ] has no row for these atoms, of residues {}", residues.join(" "));
            Problem::new(message).help("the force field lacks this map")
        })?;
        match given.filter(|&given| given != row as i32 + 1) {
            Some(given) => {
                let message =
                    format!("row {given} of [ cmaptypes ] is given, but the atom types select row {}", row + 1);
                Err(Problem::new(message).help("leave out the number, which GROMACS ignores"))
            }
            None => Ok(row as u32),
        }
    }
}
