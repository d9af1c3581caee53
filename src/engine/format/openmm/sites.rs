//! Reader of the virtual sites of an OpenMM system.

use super::Parsed;
use crate::format::xml::Node;
use crate::system::{Construction, VirtualSite};

/// Reads the construction of the virtual site that is particle `site`. The system has `count` particles.
pub(super) fn read(node: &Node<'_>, site: u32, count: usize) -> Parsed<VirtualSite> {
    let three = || node.particles(["p1", "p2", "p3"], count);
    let construction = match node.name() {
        "TwoParticleAverageSite" => {
            Construction::Average2 { atoms: node.particles(["p1", "p2"], count)?, weights: node.reals(["w1", "w2"])? }
        }
        "ThreeParticleAverageSite" => {
            Construction::Average3 { atoms: three()?, weights: node.reals(["w1", "w2", "w3"])? }
        }
        "OutOfPlaneSite" => {
            Construction::OutOfPlane { atoms: three()?, weights: node.reals(["w12", "w13"])?, cross: node.real("wc")? }
        }
        "LocalCoordinatesSite" => local_frame(node, count)?,
        kind => {
            let problem = node.problem(format!("virtual sites of the kind {kind}"));
            return Err(problem.help("md does not support this kind of virtual site"));
        }
    };
    if construction.atoms().contains(&site) {
        return Err(node.problem(format!("site {site} is defined by its own position")));
    }
    Ok(VirtualSite { site, construction })
}

fn local_frame(node: &Node<'_>, count: usize) -> Parsed<Construction> {
    let atoms = node.numbered("p", |name| node.index(name, count))?;
    let weights = |prefix| node.numbered(prefix, |name| node.real(name));
    let (origin, x, y) = (weights("wo")?, weights("wx")?, weights("wy")?);
    if [origin.len(), x.len(), y.len()] != [atoms.len(); 3] || atoms.len() < 2 {
        let message = format!(
            "the site has {} particles, expected at least 2 particles with one wo, wx and wy each",
            atoms.len()
        );
        return Err(node.problem(message));
    }
    let weights = origin.into_iter().zip(x).zip(y).map(|((o, x), y)| [o, x, y]).collect();
    Ok(Construction::LocalFrame { atoms, weights, position: node.reals(["pos1", "pos2", "pos3"])? })
}
