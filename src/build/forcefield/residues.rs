//! Reader of the templates of residues.

use std::collections::HashMap;
use std::sync::Arc;

use md_engine::arrays;
use md_engine::format::xml::Node;
use md_engine::system::Construction;

use super::Parsed;
use super::atom_types::AtomTypes;
use super::template::{PARAMETERS, Site, Template, TemplateAtom};

/// Largest number of bonds of an atom within a template. Atoms in real force fields have a few bonds, so a larger
/// number means that the file is damaged.
const MOST_BONDS: usize = 64;

/// A template, with its override level and the patches that may be applied to the template.
pub(super) struct ReadTemplate {
    pub(super) template: Template,
    /// override level: a template replaces templates of the same name with a lower level
    pub(super) level: i32,
    /// names of the patches that may be applied; each name is followed by the index of the residue within the patch
    pub(super) allowed: Vec<(Arc<str>, usize)>,
}

/// Reads an element `<Residue>`.
pub(super) fn read(node: &Node<'_>, types: &AtomTypes) -> Parsed<ReadTemplate> {
    if node.name() != "Residue" {
        return Err(node.problem("expected <Residue>"));
    }
    let mut template = Template { name: node.text("name")?.into(), ..Template::default() };
    let mut indices: HashMap<&str, u32> = HashMap::new();
    for atom in node.children().filter(|child| child.name() == "Atom") {
        let found = read_atom(&atom, types)?;
        if indices.insert(atom.text("name")?, template.atoms.len() as u32).is_some() {
            return Err(
                atom.problem(format!("the atom name {} occurs twice in the residue {}", found.name, template.name))
            );
        }
        template.atoms.push(found);
    }
    let mut allowed = vec![];
    for child in node.children() {
        let atoms = Atoms { node: &child, indices: &indices, count: template.atoms.len() };
        match child.name() {
            "Atom" => {}
            "Bond" => {
                let pair = atoms.pair()?;
                template.add_bond(pair);
                if pair.iter().any(|&atom| template.atoms[atom as usize].bonded.len() > MOST_BONDS) {
                    return Err(child.problem(format!("an atom has more than {MOST_BONDS} bonds")));
                }
            }
            "ExternalBond" => {
                let atom = atoms.named_or_numbered("atomName", "from")?;
                template.add_external_bond(atom);
            }
            "VirtualSite" => template.sites.push(read_site(&atoms)?),
            "Constraint" => {
                let pair = [atoms.named("atomName1")?, atoms.named("atomName2")?];
                template.constraints.push((pair, child.real("distance")?));
            }
            "AllowPatch" => allowed.push(allowed_patch(&child)?),
            _ => {
                return Err(child
                    .problem("is unknown in <Residue>")
                    .help("remove the element, or use a force field without this element"));
            }
        }
    }
    let level = match node.attribute("override") {
        None => 0,
        Some(text) => text.parse().map_err(|_| node.problem(format!("override is {text}, not a whole number")))?,
    };
    Ok(ReadTemplate { template, level, allowed })
}

/// Reads an atom of a template or of a patch.
pub(super) fn read_atom(node: &Node<'_>, types: &AtomTypes) -> Parsed<TemplateAtom> {
    let of_type = types.type_of(node)?;
    let parameters =
        arrays::try_from_fn(|k| node.attribute(PARAMETERS[k]).map(|_| node.real(PARAMETERS[k])).transpose())?;
    let (name, element) = (node.text("name")?.into(), types.get(of_type).element);
    Ok(TemplateAtom { name, of_type, element, parameters, bonded: vec![], external: 0 })
}

/// Reads an element `<AllowPatch>`. The patch name may end with the number of the residue within the patch, as in
/// `DISU:2`.
fn allowed_patch(node: &Node<'_>) -> Parsed<(Arc<str>, usize)> {
    let name = node.text("name")?;
    let Some((patch, number)) = name.split_once(':') else { return Ok((name.into(), 0)) };
    Ok((patch.into(), residue_number(node, number)?))
}

/// Reads the number (from 1) of a residue within a patch, and returns its index (from 0).
pub(super) fn residue_number(node: &Node<'_>, text: &str) -> Parsed<usize> {
    let number = text.parse::<usize>().ok().filter(|number| *number > 0);
    let problem = || node.problem(format!("{text} is not the number of a residue of a patch"));
    number.map(|number| number - 1).ok_or_else(problem)
}

/// Attributes of an element that refer to atoms of a template by name or by index.
pub(super) struct Atoms<'a> {
    pub(super) node: &'a Node<'a>,
    pub(super) indices: &'a HashMap<&'a str, u32>,
    pub(super) count: usize,
}

impl Atoms<'_> {
    fn named(&self, attribute: &str) -> Parsed<u32> {
        let name = self.node.text(attribute)?;
        self.indices.get(name).copied().ok_or_else(|| self.node.problem(format!("there is no atom {name}")))
    }

    fn named_or_numbered(&self, name: &str, number: &str) -> Parsed<u32> {
        match self.node.attribute(name) {
            Some(_) => self.named(name),
            None => self.node.index(number, self.count),
        }
    }

    fn pair(&self) -> Parsed<[u32; 2]> {
        let pair = [self.named_or_numbered("atomName1", "from")?, self.named_or_numbered("atomName2", "to")?];
        match pair[0] == pair[1] {
            true => Err(self.node.problem("the element names the same atom twice")),
            false => Ok(pair),
        }
    }
}

/// Reads a virtual site of any kind.
pub(super) fn read_site(atoms: &Atoms<'_>) -> Parsed<Site> {
    let node = atoms.node;
    // the atom indices of the construction are set below
    let mut construction = match node.text("type")? {
        "average2" => Construction::Average2 { atoms: [0; 2], weights: node.reals(["weight1", "weight2"])? },
        "average3" => Construction::Average3 { atoms: [0; 3], weights: node.reals(["weight1", "weight2", "weight3"])? },
        "outOfPlane" => Construction::OutOfPlane {
            atoms: [0; 3],
            weights: node.reals(["weight12", "weight13"])?,
            cross: node.real("weightCross")?,
        },
        "localCoords" => local_frame(node)?,
        kind => {
            let problem = node.problem(format!("md does not know the kind {kind} of virtual sites"));
            return Err(problem.help("expected average2, average3, outOfPlane or localCoords"));
        }
    };
    let by_name = node.attribute("siteName").is_some();
    let index = atoms.named_or_numbered("siteName", "index")?;
    for (parent, k) in construction.atoms_mut().iter_mut().zip(1..) {
        *parent = match by_name {
            true => atoms.named(&format!("atomName{k}"))?,
            false => node.index(&format!("atom{k}"), atoms.count)?,
        };
    }
    if construction.atoms().contains(&index) {
        return Err(node.problem("the site is defined by its own position"));
    }
    let exclude_with = match node.attribute("excludeWith") {
        Some(_) => node.index("excludeWith", atoms.count)?,
        None => construction.atoms()[0],
    };
    Ok(Site { index, construction, exclude_with })
}

fn local_frame(node: &Node<'_>) -> Parsed<Construction> {
    let [origin, x, y] = ["wo", "wx", "wy"].map(|prefix| node.numbered(prefix, |name| node.real(name)));
    let (origin, x, y) = (origin?, x?, y?);
    if [x.len(), y.len()] != [origin.len(); 2] || origin.len() < 2 {
        let message =
            format!("the site has {} weights wo, {} weights wx and {} weights wy", origin.len(), x.len(), y.len());
        return Err(node.problem(message).help("give the same number of weights wo, wx and wy, at least 2 of each"));
    }
    let atoms = vec![0; origin.len()];
    let weights = origin.into_iter().zip(x).zip(y).map(|((o, x), y)| [o, x, y]).collect();
    Ok(Construction::LocalFrame { atoms, weights, position: node.reals(["p1", "p2", "p3"])? })
}
