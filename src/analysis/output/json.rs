//! Single numbers of a result as one line of JSON.

use serde_json::{Map, Value, json};

use super::Origin;
use crate::analysis::findings::{Findings, Number};
use crate::analysis::pass::Passed;

/// Returns the numbers of a result as one line of JSON, with the name of the observable and the range of times (ps).
pub fn to_json(name: &str, origin: &Origin, passed: &Passed, findings: &Findings) -> String {
    let number = |Number { name, value, error, unit }: &Number| {
        ((*name).to_owned(), json!({ "value": value, "error": error, "unit": unit }))
    };
    let numbers: Map<String, Value> = findings.numbers.iter().map(number).collect();
    let settings: Map<String, Value> =
        findings.settings.iter().map(|(name, text)| ((*name).to_owned(), json!(text))).collect();
    json!({
        "observable": name,
        "trajectories": origin.trajectories,
        "frames": passed.times.len(),
        "times_ps": passed.range().map_or([None; 2], |times| times.map(Some)),
        "settings": settings,
        "warnings": findings.warnings,
        "results": numbers,
    })
    .to_string()
}
