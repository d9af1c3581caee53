//! Translation of GROMACS' freeze groups.

use super::groups::Groups;
use super::{Draft, shortened};
use crate::import::settings::folded;

/// Translates each freeze group whose atoms are known and which is frozen along x, y and z.
pub(super) fn translate(draft: &mut Draft<'_>, known: &Groups) {
    let (groups, directions) = (draft.words("freezegrps"), draft.words("freezedim"));
    if groups.is_empty() {
        return;
    }
    let all = directions.iter().all(|word| folded(word).starts_with('y'));
    if directions.len() != 3 * groups.len() || !all {
        let text = "md freezes atoms only in all directions: hold these atoms with position_restraints";
        draft.differs("freezegrps", text);
        return;
    }
    match known.selections(&groups) {
        Some(selections) => {
            draft.frozen = Some(selections.join(" or "));
            draft.carried("stage.frozen", &["freezegrps", "freezedim"]);
        }
        None => {
            let names = groups.join(" ");
            let text = format!(
                "the groups are unknown ({}); set \"frozen\" in the stage instead of {}",
                known.reason(&groups),
                shortened(&names)
            );
            draft.differs("freezegrps", text);
        }
    }
}
