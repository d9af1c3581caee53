//! Prints what is read from each PDB or PDBx/mmCIF file, one JSON object per line.
//!
//! `cargo run --example entry_summary FILE...`; `src/build/tests/entries.py` compares the output with Gemmi.
#![allow(clippy::print_stdout, reason = "the program prints its result")]

use std::path::Path;
use std::time::Instant;

use md_build::entry::{Cleaned, Entry, GapPlace, Options, clean, read};
use serde_json::{Value, json};

fn main() {
    for path in std::env::args().skip(1) {
        let start = Instant::now();
        let mut summary = match read(Path::new(&path), None) {
            Ok(entry) => of_entry(&entry),
            Err(error) => json!({ "error": error.to_string() }),
        };
        summary["file"] = json!(path);
        summary["seconds"] = json!(start.elapsed().as_secs_f64());
        println!("{summary}");
    }
}

fn of_entry(entry: &Entry) -> Value {
    let residues = entry.chains.iter().flat_map(|chain| &chain.residues);
    let atoms: usize = residues.clone().map(|residue| residue.atoms.len()).sum();
    let assembly = |id: &str| {
        let found = clean(entry, &Options { assembly: Some(id.to_owned()), ..Options::default() });
        match found {
            Ok(found) => json!([id, found.structure.chains.len(), found.positions.len()]),
            Err(problem) => json!([id, problem.to_string()]),
        }
    };
    let assemblies: Vec<Value> = entry.assemblies.iter().map(|known| assembly(&known.id)).collect();
    let mut summary = json!({
        "models": entry.models,
        "residues": residues.count(),
        "atoms": atoms,
        "assemblies": assemblies,
    });
    match clean(entry, &Options::default()) {
        Ok(found) => of_structure(&found, &mut summary),
        Err(problem) => summary["error"] = json!(problem.to_string()),
    }
    summary
}

fn of_structure(found: &Cleaned, summary: &mut Value) {
    let gap = |gap: &md_build::entry::Gap| {
        let place = match gap.place {
            GapPlace::Start { .. } => "start",
            GapPlace::Inner { .. } => "inner",
            GapPlace::End { .. } => "end",
        };
        json!([found.structure.chains[gap.chain as usize], place, gap.names.len()])
    };
    summary["kept"] = json!(found.positions.len());
    summary["kept_residues"] = json!(found.structure.residues.len());
    summary["left_out"] = json!(found.left_out);
    summary["gaps"] = found.gaps.iter().filter(|gap| !gap.names.is_empty()).map(gap).collect();
    summary["disulfides"] = json!(found.disulfides.len());
    summary["bonds"] = json!(found.structure.bonds.len());
    summary["missing"] = json!(found.missing_atoms.iter().map(|missing| missing.names.len()).sum::<usize>());
    summary["unsupported"] = json!(found.unsupported.len());
}
