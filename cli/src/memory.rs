//! How much memory a table may take.

use std::sync::Arc;

use corridor_shared::tt::TranspositionTable;
use sysinfo::{MemoryRefreshKind, RefreshKind, System};

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
