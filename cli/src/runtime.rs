//! The asynchronous runtime of a command.

use std::future::Future;
use std::time::Duration;

use crate::failure::Failure;

/// What is left of a runtime when its command has ended may take so long; threads of its own are never waited for.
const LEFTOVERS_TIME: Duration = Duration::from_millis(500);

/// Runs a command to its end.
pub(crate) fn run<T>(command: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::Failed(anyhow::Error::new(error).context("start runtime")))?;
    let ended = runtime.block_on(command);
    runtime.shutdown_timeout(LEFTOVERS_TIME);
    ended
}
