//! Reader of OpenMM states (`simulation.saveState`, `XmlSerializer.serialize(state)`): positions, velocities and the
//! periodic cell, in the engine's units.
//!
//! OpenMM writes box vectors for every state. Systems without a box have the box vectors that OpenMM sets by default, a
//! cube of 2 nm, which is therefore read as no cell. [`LeftOut::default_box`] says that a cell was left out.

use std::path::Path;

use crate::error::Parsed;
use crate::format::coordinates::{Coordinates, FARTHEST, FASTEST, LeftOut, scaled, too_long};
use crate::format::xml::{Document, Node};
use crate::vec3::{Vec3, vec3};

/// Edges of the box that OpenMM gives to systems without a box, nm (`System::System` of OpenMM 8).
const DEFAULT_EDGE: f64 = 2.0;
/// Number of bytes in which the outermost element must begin.
const BEGINNING: usize = 4096;
/// Name of the file in messages until the caller sets the file.
const UNNAMED: &str = "state";

/// Whether the bytes are those of an OpenMM state: XML with an element `State` of the type `State`.
pub(in crate::format) fn is_state(bytes: &[u8]) -> bool {
    let text = bytes.trim_ascii_start();
    let beginning = &text[..text.len().min(BEGINNING)];
    let element = |name: &[u8]| beginning.windows(name.len()).any(|text| text == name);
    (beginning.starts_with(b"<?xml") || beginning.starts_with(b"<State"))
        && [&b"<State "[..], b"type=\"State\""].iter().all(|mark| element(mark))
}

/// Reads a state.
pub(in crate::format) fn read_state(bytes: &[u8]) -> Parsed<Coordinates> {
    let document = Document::parse(Path::new(UNNAMED), bytes)?;
    let root = document.root();
    let positions = vectors(&root, "Positions", FARTHEST)?.ok_or_else(|| {
        root.problem("the state has no positions").help("save it again, with getState(positions=True, velocities=True)")
    })?;
    let velocities = vectors(&root, "Velocities", FASTEST)?;
    if let Some(velocities) = velocities.as_ref().filter(|velocities| velocities.len() != positions.len()) {
        let message = format!("the state has {} positions, but {} velocities", positions.len(), velocities.len());
        return Err(root.problem(message).help("the file is damaged"));
    }
    let has_box = root.children().any(|part| part.name() == "PeriodicBoxVectors");
    let cell = if has_box { Some(super::cell(&root)?) } else { None };
    let default = [vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), vec3(0.0, 0.0, 1.0)].map(|edge| edge * DEFAULT_EDGE);
    let is_default = cell.is_some_and(|cell| cell.rows() == default);
    Ok(Coordinates {
        title: "OpenMM state".to_owned(),
        time: root.attribute("time").map(|_| root.real("time")).transpose()?,
        positions,
        velocities,
        cell: cell.filter(|_| !is_default),
        left_out: LeftOut { default_box: is_default, ..LeftOut::default() },
        ..Coordinates::default()
    })
}

/// Reads the vectors in the part `name`; `None` if the state has no such part.
fn vectors(root: &Node<'_>, name: &str, most: f64) -> Parsed<Option<Vec<Vec3>>> {
    if !root.children().any(|part| part.name() == name) {
        return Ok(None);
    }
    let mut vectors = vec![];
    for node in root.list(name)? {
        let values = node.reals(["x", "y", "z"])?;
        let vector = scaled(&values, 1.0, most);
        vectors.push(vector.ok_or_else(|| too_long(vectors.len(), &values).at_line(node.line()))?);
    }
    Ok(Some(vectors))
}
