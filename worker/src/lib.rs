//! A worker: dials a coordinator, searches the units that it is given on threads of its own, and reports what it finds.

mod backoff;
mod exchange;
pub mod limits;
mod pool;
mod session;

pub use pool::{may_wait, search_unit};
pub use session::{Worker, WorkerConfig, WorkerError};
