//! How much memory transposition tables may take.

use std::fs;

/// A worker's table without `--hash`, if memory allows.
const DEFAULT_BYTES: u64 = 128 << 20;
/// All tables together take at most this part of memory unless told otherwise.
const DEFAULT_SHARE: u64 = 4;

/// Bytes of each worker's table: what was asked for, or a default that fits the machine or container.
///
/// # Errors
/// The tables of all workers together are larger than memory.
pub(crate) fn table_bytes(asked: Option<u64>, workers: usize) -> Result<usize, String> {
    let workers = u64::try_from(workers).unwrap_or(u64::MAX).max(1);
    let memory = limit();
    let bytes = match asked {
        None => (memory / DEFAULT_SHARE / workers).clamp(1 << 20, DEFAULT_BYTES),
        Some(bytes) if bytes.saturating_mul(workers) > memory => {
            return Err(format!(
                "--hash: {workers} tables of {bytes} bytes are more than the {memory} bytes of memory"
            ));
        }
        Some(bytes) => bytes,
    };
    usize::try_from(bytes).map_err(|_| "--hash: this size is too large".to_owned())
}

/// Memory that this process may use, in bytes: the machine's, or its container's limit if that is less.
fn limit() -> u64 {
    let container = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let number = |path: &&str| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    container.iter().filter_map(number).chain(machine()).min().unwrap_or(1 << 30)
}

fn machine() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_fit_into_memory() {
        assert!(table_bytes(None, 2).is_ok_and(|bytes| bytes >= 1 << 20));
        assert_eq!(table_bytes(Some(64 << 20), 1), Ok(64 << 20));
        assert!(table_bytes(Some(1 << 60), 1).is_err());
        assert!(table_bytes(Some(u64::MAX), 1024).is_err());
    }
}
