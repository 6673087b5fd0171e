//! How much memory tables may take.

use std::sync::Arc;

use corridor_shared::tt::TranspositionTable;
use sysinfo::{MemoryRefreshKind, RefreshKind, System};

use crate::control_group;

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

/// Bytes of the table of a worker that has this machine (or this container) for itself, with so many search threads: what
/// was asked for, or what fits.
///
/// # Errors
/// The table is larger than the memory that is free.
pub(crate) fn bytes_of_a_worker(asked: Option<u64>, threads: u32) -> Result<usize, String> {
    let Some(bytes) = asked else {
        let bytes = default_of_a_worker(available_to_machine(), control_group::free_memory(), threads);
        return usize::try_from(bytes).map_err(|_| "--hash: more than the address space".to_owned());
    };
    bytes_per_worker(Some(bytes), 1)
}

/// Half of what a container leaves when the process itself has what it needs; on a machine that is shared with others, a
/// quarter of what is free, and not more than that.
fn default_of_a_worker(machine: u64, group: Option<u64>, threads: u32) -> u64 {
    const LEAST: u64 = 1 << 20;
    const MOST_WITHOUT_LIMIT: u64 = 1 << 30;
    // The program and its buffers, and for each thread a stack and the small table of deterministic units.
    let process = (32 << 20) + u64::from(threads) * (20 << 20);
    let bytes = match group {
        Some(free) => free.min(machine).saturating_sub(process) / 2,
        None => (machine / DEFAULT_SHARE).min(MOST_WITHOUT_LIMIT),
    };
    bytes.max(LEAST)
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
    available_to_machine().min(control_group::free_memory().unwrap_or(u64::MAX))
}

/// Bytes that the machine can still give.
fn available_to_machine() -> u64 {
    let memory = MemoryRefreshKind::nothing().with_ram();
    System::new_with_specifics(RefreshKind::nothing().with_memory(memory)).available_memory()
}

#[cfg(test)]
mod tests {
    use super::{bytes_of_a_worker, bytes_per_worker, default_of_a_worker};

    #[test]
    fn a_worker_leaves_room_in_its_container() {
        const MIB: u64 = 1 << 20;
        let machine = 64 << 30;
        // (256 - 32 - 20 for its thread) / 2
        assert_eq!(default_of_a_worker(machine, Some(256 * MIB), 1), 102 * MIB);
        assert_eq!(default_of_a_worker(machine, Some(256 * MIB), 4), 72 * MIB);
        assert_eq!(default_of_a_worker(machine, Some(48 * MIB), 1), MIB, "too small for more than the least");
        // A container may promise more than the machine has.
        assert_eq!(default_of_a_worker(1 << 30, Some(64 << 30), 1), (1024 - 52) / 2 * MIB);
        assert_eq!(default_of_a_worker(machine, None, 64), 1 << 30);
        assert_eq!(default_of_a_worker(2 << 30, None, 1), 512 * MIB);
        assert_eq!(bytes_of_a_worker(Some(64 * MIB), 1), Ok(64 << 20));
        assert!(bytes_of_a_worker(Some(1 << 60), 1).is_err());
    }

    #[test]
    fn tables_fit_into_memory() {
        assert!(bytes_per_worker(None, 2).is_ok_and(|bytes| bytes >= 1 << 20));
        assert_eq!(bytes_per_worker(Some(64 << 20), 1), Ok(64 << 20));
        assert!(bytes_per_worker(Some(1 << 60), 1).is_err());
        assert!(bytes_per_worker(Some(u64::MAX), 1_024).is_err());
    }
}
