//! Results of a finished run: final structures, and a summary with the checksum of every file.

use crate::error::{Error, Problem, Result};
use crate::format::{Coordinates, file, write_gro, write_pdb, write_rst7};
use crate::observe::extent::Extent;
use crate::observe::files::{FINAL_GRO, FINAL_PDB, FINAL_STRUCTURE, STATUS, SUMMARY};
use crate::observe::replace::replace_synced;
use crate::observe::status::{RunState, Status};
use crate::observe::summary::Summary;
use crate::run::checkpoint::{Checkpoint, Written, state_hash};
use crate::run::output::Outputs;
use crate::run::output::directory::Directory;
use crate::run::output::reporter::RunInfo;
use crate::run::plan::OutputOptions;
use crate::system::{State, System};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// Returns the file names of the final structures.
fn structures(output: &OutputOptions) -> impl Iterator<Item = &'static str> + use<> {
    [FINAL_STRUCTURE, FINAL_PDB].into_iter().chain(output.final_gro.then_some(FINAL_GRO))
}

/// Whether all output is complete, for a run whose stages are all done. If the result is false, the caller continues
/// the run from `checkpoint`; the continued run either writes the missing output or reports the problem. Returns an
/// error if a final structure was changed.
pub(in crate::run) fn are_complete(
    directory: &Directory,
    outputs: &Outputs,
    run: &RunInfo<'_>,
    checkpoint: &Checkpoint,
) -> Result<bool> {
    let Checkpoint { run_id, state, .. } = checkpoint;
    let Ok(Summary { state: how, run_id: of, final_state_hash, files, .. }) = Summary::read(&directory.file(SUMMARY))
    else {
        return Ok(false);
    };
    let is_of_this_end = how == RunState::Finished && &of == run_id && final_state_hash == Some(hash_text(state));
    let status = Status::read(&directory.file(STATUS));
    let is_said = status.is_ok_and(|status| status.state == RunState::Finished && &status.run_id == run_id);
    if !is_of_this_end || !is_said || structures(&run.plan.output).any(|name| !files.contains_key(name)) {
        return Ok(false);
    }
    let (structures, growing): (BTreeMap<_, _>, BTreeMap<_, _>) =
        files.into_iter().partition(|(name, _)| structures(&run.plan.output).any(|structure| structure == name));
    for (name, extent) in structures {
        let path = directory.file(&name);
        match file_extent(&path) {
            Ok(found) if found != extent => return Err(changed(&path)),
            Ok(_) => {}
            Err(_) => return Ok(false),
        }
    }
    Ok(outputs.are_complete(run, &growing))
}

/// Returns the hash of a state as text, as the summary shows it.
pub(in crate::run) fn hash_text(state: &State) -> String {
    format!("{:08x}", state_hash(state))
}

/// Returns the lengths and checksums of all output files for the summary; final structures are included only if the run
/// has finished.
pub(in crate::run) fn closed_files(
    directory: &Directory,
    output: &OutputOptions,
    written: Written,
    finished: bool,
) -> Result<BTreeMap<String, Extent>> {
    let mut files: BTreeMap<_, _> = written.into_iter().map(|(name, mark)| (name, mark.extent)).collect();
    for name in structures(output).filter(|_| finished) {
        files.insert(name.to_owned(), file_extent(&directory.file(name))?);
    }
    Ok(files)
}

/// Returns the size in bytes and the checksum of a file.
fn file_extent(path: &Path) -> Result<Extent> {
    let io = |e| Error::io(path, e);
    let (mut file, mut buffer) = (file::open(path).map_err(io)?, vec![0; 1 << 16]);
    let (mut checksum, mut count) = (crc32fast::Hasher::new(), 0);
    loop {
        match file.read(&mut buffer).map_err(io)? {
            0 => return Ok(Extent { count, checksum: checksum.finalize() }),
            read => {
                checksum.update(&buffer[..read]);
                count += read as u64;
            }
        }
    }
}

fn changed(path: &Path) -> Error {
    Problem::new("this file was changed after the run had finished")
        .in_file(path)
        .help("move this file elsewhere and repeat the command, which writes the file again")
        .into()
}

/// Writes `final.rst7` and `final.pdb`, and `final.gro` if the plan requests it. The velocities in `final.rst7` belong
/// to the half step before the positions, as in AMBER's own restart files. A stage with `velocities = "file"` expects
/// velocities of the half step before the positions. A system that has expanded so far that the columns of a file
/// cannot hold its numbers is an error about an unstable simulation.
pub(in crate::run) fn write_final(
    directory: &Directory,
    output: &OutputOptions,
    system: &System,
    state: &State,
) -> Result<()> {
    write_structures(directory, output, system, state).map_err(|error| match error {
        Error::Input(problems) if problems.iter().all(|problem| problem.file.is_some()) => {
            let what: Vec<String> = problems.iter().map(ToString::to_string).collect();
            let at = format!("step {}, {:.4} ps", state.step, state.time);
            Error::unstable(format!("{at}: the simulation has blown up\n  {}", what.join("\n  ")), [])
        }
        error => error,
    })
}

fn write_structures(directory: &Directory, output: &OutputOptions, system: &System, state: &State) -> Result<()> {
    let begin = |title: &str| if title.is_empty() { String::new() } else { format!("{title}, ") };
    let title = format!("{}final state at {:.3} ps", begin(system.topology.title.trim()), state.time);
    let short: String = system.topology.title.trim().chars().take(30).collect();
    let coordinates = Coordinates {
        title: format!("{}velocities half a step before final positions", begin(&short)),
        time: Some(state.time),
        positions: state.positions.clone(),
        velocities: (!state.velocities.is_empty()).then(|| state.velocities.clone()),
        cell: state.cell,
        ..Coordinates::default()
    };
    replace_synced(&directory.file(FINAL_STRUCTURE), |out| write_rst7(&coordinates, out))?;
    let (topology, cell) = (&system.topology, state.cell.as_ref());
    replace_synced(&directory.file(FINAL_PDB), |out| write_pdb(topology, &state.positions, cell, &title, out))?;
    if output.final_gro {
        replace_synced(&directory.file(FINAL_GRO), |out| {
            write_gro(topology, 0..topology.atoms.len(), &state.positions, &state.velocities, cell, &title, out)
        })?;
    }
    Ok(())
}
