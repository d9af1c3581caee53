//! Topology file that `md build` writes.

use std::path::Path;

use md_build::Built;

use crate::convert::write_topology;
use crate::error::{Error, Result};

/// Names of topology files in different formats: the first format that can express the system is written.
const TOPOLOGIES: [&str; 2] = ["system.prmtop", "system.top"];

/// Name of the topology file that was written. If an earlier format of [`TOPOLOGIES`] could not be written, `refusal`
/// is the error of that format.
pub(super) struct WrittenTopology {
    pub(super) name: &'static str,
    refusal: Option<Error>,
    /// sentences about names and numbers that the file does not contain
    losses: Vec<String>,
}

impl WrittenTopology {
    /// Writes the topology in the first format of [`TOPOLOGIES`] that can express the system.
    pub(super) fn write(built: &Built, folder: &Path) -> Result<Self> {
        let mut refusal = None;
        for name in TOPOLOGIES {
            match write_topology(&built.description, built.cell.as_ref(), &folder.join(name)) {
                Ok(losses) => return Ok(WrittenTopology { name, refusal, losses }),
                Err(error) => refusal = Some(error),
            }
        }
        Err(refusal.unwrap_or_else(|| Error::Internal("no format of topologies".to_owned())))
    }

    /// Returns the reason why an earlier format of [`TOPOLOGIES`] could not be written. The text omits the path of the
    /// file, so that equal builds give equal texts.
    fn reason(&self) -> Option<String> {
        self.refusal.as_ref().map(|refusal| match refusal {
            Error::Input(problems) => {
                problems.iter().map(|problem| problem.message.as_str()).collect::<Vec<&str>>().join("; ")
            }
            other => other.to_string(),
        })
    }

    /// Returns the log lines about the topology; empty if the first format of [`TOPOLOGIES`] was written without
    /// losses.
    pub(super) fn line(&self) -> String {
        let losses = self.losses.iter().map(|loss| format!("note         {}: {loss}\n", self.name)).collect::<String>();
        let Some(refusal) = self.reason() else { return losses };
        format!("topology     {}, because {} cannot be written: {refusal}\n{losses}", self.name, TOPOLOGIES[0])
    }

    /// Returns the entry of `build.json` about the topology format; `None` if the first format of [`TOPOLOGIES`] was
    /// written.
    pub(super) fn decision(&self) -> Option<serde_json::Value> {
        let refusal = self.reason()?;
        Some(serde_json::json!({
            "subject": "topology",
            "what": format!("wrote {}", self.name),
            "where": "the whole system",
            "why": format!("{} cannot be written: {refusal}", TOPOLOGIES[0]),
        }))
    }
}
