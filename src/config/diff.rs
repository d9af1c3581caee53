//! Differences in physics between a run and a changed input file that would continue the run.

use serde_json::Value;

use crate::run::Plan;

/// Sections and keys that do not change the physics. (The output settings of stages do not change the physics either.)
/// The paths of included files are in this list, because the fingerprint of the system already detects changed contents
/// of these files.
const FREE: [&str; 9] = [
    "output",
    "system.include",
    "system.parameters",
    "run.device",
    "run.threads",
    "run.pin",
    "run.simd",
    "run.max_time",
    "run.max_steps",
];

/// Relative tolerance for equal quantities that are written with different units, for example "12 A" and "1.2 nm".
/// After conversion the values differ by a few rounding errors of 1.1e-16.
const SPELLING: f64 = 1e-14;

/// Name of an enum variant for settings that are given in the input file instead of following from the force field. The
/// name is not a key of the input file.
const GIVEN: &str = "given";

/// Lists the differences in physics between `old` and `new`, one line each; the list is empty if `new` may continue the
/// run of `old`.
///
/// Ignored differences: output, device, threads and limits; longer stages; stages added at the end; files of
/// the same name in another folder. Values are shown in internal units (nm, ps, kJ/mol).
pub fn physics_diff(old: &Plan, new: &Plan) -> Vec<String> {
    let (Ok(old), Ok(new)) = (serde_json::to_value(old), serde_json::to_value(new)) else {
        return vec!["the plans cannot be compared".to_owned()];
    };
    let mut found = vec![];
    compare("", &old, &new, &mut found);
    found
}

fn compare(path: &str, old: &Value, new: &Value, found: &mut Vec<String>) {
    let [old, new] = [old, new].map(|value| value.get(GIVEN).unwrap_or(value));
    if FREE.contains(&path) || is_output_of_stage(path) {
        return;
    }
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match (old, new) {
        (Value::Object(a), Value::Object(b)) => {
            let removed = a.keys().filter(|name| !b.contains_key(*name));
            for name in b.keys().chain(removed) {
                let value = |map: &serde_json::Map<String, Value>| map.get(name).cloned().unwrap_or(Value::Null);
                compare(&below(name), &value(a), &value(b), found);
            }
        }
        (Value::Array(a), Value::Array(b)) if path == "stage" => {
            for (index, old) in a.iter().enumerate() {
                let label = stage_label(index, old);
                match b.get(index) {
                    Some(new) => compare(&label, old, new, found),
                    None => found.push(format!("{label}: removed")),
                }
            }
        }
        _ if same(path, old, new) => {}
        _ => found.push(format!("{}: {} -> {}", shown_path(path), shown(old), shown(new))),
    }
}

/// Whether a path is that of the key `output` of a stage. A stage may itself have the name `output`.
fn is_output_of_stage(path: &str) -> bool {
    path.strip_prefix("stage.").and_then(|rest| rest.split_once('.')).is_some_and(|(_, key)| key == "output")
}

/// Returns the name of a stage, or its number counted from 1.
fn stage_label(index: usize, stage: &Value) -> String {
    stage.get("name").and_then(Value::as_str).map_or(format!("stage.{}", index + 1), |name| format!("stage.{name}"))
}

fn same(path: &str, old: &Value, new: &Value) -> bool {
    if ["system.topology", "system.coordinates"].contains(&path) {
        let file =
            |value: &Value| value.as_str().map(|text| std::path::Path::new(text).file_name().map(ToOwned::to_owned));
        return file(old) == file(new);
    }
    match (old.as_f64(), new.as_f64()) {
        (Some(a), Some(b)) if path.starts_with("stage.") && path.ends_with(".steps") => b >= a,
        // two large seeds may differ by less than the tolerance of floating-point numbers
        _ if old.is_u64() && new.is_u64() => old == new,
        (Some(a), Some(b)) => (a - b).abs() <= SPELLING * a.abs().max(b.abs()),
        _ => old == new,
    }
}

/// Removes the names of enum variants, which are not keys of the input file, from a path.
fn shown_path(path: &str) -> String {
    path.replace(".kind.dynamics", "").replace(".kind.minimize", "")
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "not set".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
