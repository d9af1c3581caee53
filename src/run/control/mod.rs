//! Control of a run from outside by requests to stop or to write a checkpoint, and the wall time of a run.

pub(super) mod signals;
pub(super) mod timing;

pub use signals::Requests;
