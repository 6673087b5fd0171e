//! How much memory tables may take.

use std::sync::Arc;

use corridor_shared::tt::TranspositionTable;
use sysinfo::{MemoryRefreshKind, RefreshKind, System};

/// A worker's table unless told otherwise, if there is room.
const DEFAULT_BYTES: u64 = 128 << 20;
/// Unless told otherwise all tables together take at most this part of what is free.
const DEFAULT_SHARE: u64 = 4;

/// Bytes of each worker's table: what was asked for, or a default that fits this machine (or this container).
///
/// # Errors
/// The tables of all workers together are larger than the memory that is free.
pub(crate) fn bytes_per_worker(asked: Option<u64>, workers: usize) -> Result<usize, String> {
    let workers = u64::try_from(workers).unwrap_or(u64::MAX).max(1);
    let available = available();
    let bytes = match asked {
        None => (available / DEFAULT_SHARE / workers).clamp(1 << 20, DEFAULT_BYTES),
        Some(bytes) if bytes.saturating_mul(workers) > available => {
            return Err(format!(
                "--hash: {workers} x {} MiB is larger than the memory that is free, {} MiB",
                bytes >> 20,
                available >> 20
            ));
        }
        Some(bytes) => bytes,
    };
    usize::try_from(bytes).map_err(|_| "--hash: the table is larger than the address space".to_owned())
}

/// A transposition table of so many bytes, if this machine (or this container) has the memory for it now. The allocator
/// alone would promise more than there is, and the process would be killed when the table fills.
///
/// # Errors
/// Says how much is asked for and how much there is.
pub(crate) fn table(bytes: u64) -> Result<Arc<TranspositionTable>, String> {
    let available = available();
    if bytes > available {
        return Err(format!(
            "a table of {} MiB is larger than the memory that is free, {} MiB",
            bytes >> 20,
            available >> 20
        ));
    }
    let bytes =
        usize::try_from(bytes).map_err(|_| "the table is larger than the address space".to_owned())?;
    TranspositionTable::new(bytes).map(Arc::new).map_err(|error| error.to_string())
}

/// Bytes that can still be used, within the limits of the control group if there are any.
fn available() -> u64 {
    let memory = MemoryRefreshKind::nothing().with_ram();
    let system = System::new_with_specifics(RefreshKind::nothing().with_memory(memory));
    let group = system.cgroup_limits().map_or(u64::MAX, |limits| limits.free_memory);
    system.available_memory().min(group)
}

#[cfg(test)]
mod tests {
    use super::bytes_per_worker;

    #[test]
    fn tables_fit_into_memory() {
        assert!(bytes_per_worker(None, 2).is_ok_and(|bytes| bytes >= 1 << 20));
        assert_eq!(bytes_per_worker(Some(64 << 20), 1), Ok(64 << 20));
        assert!(bytes_per_worker(Some(1 << 60), 1).is_err());
        assert!(bytes_per_worker(Some(u64::MAX), 1_024).is_err());
    }
}
