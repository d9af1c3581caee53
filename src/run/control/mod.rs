//! Control of a run from outside: requests to stop or to write a checkpoint, and measurement of the wall time.

pub(super) mod signals;
pub(super) mod timing;

pub use signals::Requests;
