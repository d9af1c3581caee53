//! Torsion–torsion correction maps of ff19SB (`CMAP_…`) and CHARMM (`CHARMM_CMAP_…`).
//!
//! Each map has energies in kcal/mol on a square grid that begins at −180°. ψ varies fastest, as in [`CmapGrid`], so
//! only the unit is converted.

use super::bonded::Rows;
use super::chamber::one_count;
use super::sections::{Parsed, Sections};
use crate::system::{Cmap, CmapGrid, Topology};
use crate::units::KCAL;

const PREFIXES: [&str; 2] = ["CHARMM_CMAP_", "CMAP_"];

/// Whether a section belongs to the correction maps.
pub(super) fn is_cmap(name: &str) -> bool {
    PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)).is_some_and(|rest| {
        matches!(rest, "COUNT" | "RESOLUTION" | "INDEX") || rest.strip_prefix("PARAMETER_").is_some_and(is_number)
    })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Adds the correction maps, and the terms that use correction maps.
pub(super) fn read(sections: &Sections<'_>, topology: &mut Topology) -> Parsed<()> {
    for prefix in PREFIXES {
        if sections.iter().any(|section| section.name().starts_with(prefix)) {
            read_prefixed(sections, prefix, topology)?;
        }
    }
    Ok(())
}

fn read_prefixed(sections: &Sections<'_>, prefix: &str, topology: &mut Topology) -> Parsed<()> {
    let name = |rest: &str| format!("{prefix}{rest}");
    let counts_section = sections.require(&name("COUNT"))?;
    let (count, maps) = (one_count(counts_section, 2, 0)?, one_count(counts_section, 2, 1)?);
    let present = sections.iter().filter(|section| section.name().starts_with(&name("PARAMETER_"))).count();
    if present != maps {
        return Err(counts_section.problem(format!("the section announces {maps} maps, but the file holds {present}")));
    }
    let section = sections.require(&name("RESOLUTION"))?;
    let first_grid = topology.bonded.cmap_grids.len() as u32;
    for (map, size) in section.integers(maps)?.into_iter().enumerate() {
        let size = usize::try_from(size).ok().filter(|size| CmapGrid::SIZES.contains(size));
        let Some(size) = size else {
            let (least, most) = CmapGrid::SIZES.into_inner();
            let message = format!("expected a resolution from {least} to {most}");
            return Err(section.problem_at(map, message));
        };
        let mut energies = sections.require(&name(&format!("PARAMETER_{:02}", map + 1)))?.reals(size * size)?;
        energies.iter_mut().for_each(|energy| *energy *= KCAL);
        topology.bonded.cmap_grids.push(CmapGrid { size, energies });
    }
    let rows = Rows::<6>::read(sections, &name("INDEX"), count)?;
    for row in 0..count {
        let [a, b, c, d, e] = rows.counted_atoms(row, topology.atoms.len())?;
        let grid = first_grid + rows.counted(row, 5, maps, "map")?;
        topology.bonded.cmaps.push(Cmap { atoms: [a, b, c, d, b, c, d, e], grid });
    }
    Ok(())
}
