//! Control of a run from outside: requests to stop or to write a checkpoint, and the wall time that it has used.

pub(super) mod signals;
pub(super) mod timing;

pub use signals::Requests;
