//! What the control groups of this process (a container's, version 1 or 2) leave of the memory.

use std::path::{Path, PathBuf};

/// Bytes that the tightest limit above this process still leaves; `None` without a limit.
pub(crate) fn free_memory() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    free_memory_in(Path::new("/sys/fs/cgroup"), &groups)
}

/// The files of one version.
struct Files {
    limit: &'static str,
    usage: &'static str,
    /// Name, in `memory.stat`, of what the kernel gives up before it kills anybody.
    reclaimable: &'static str,
}

const VERSION_1: Files = Files {
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    reclaimable: "total_inactive_file ",
};
const VERSION_2: Files =
    Files { limit: "memory.max", usage: "memory.current", reclaimable: "inactive_file " };

/// `groups` is the text of `/proc/self/cgroup`, a line `NUMBER:CONTROLLERS:PATH` a hierarchy; version 2 has no controllers.
fn free_memory_in(root: &Path, groups: &str) -> Option<u64> {
    let free = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        if controllers.is_empty() {
            free_on_path(root, path, &VERSION_2)
        } else if controllers.split(',').any(|controller| controller == "memory") {
            free_on_path(&root.join("memory"), path, &VERSION_1)
        } else {
            None
        }
    });
    free.min()
}

/// The least that a group from the process's own up to the root leaves. In a container the root is the container's own, and
/// the path may be one that only the host can see.
fn free_on_path(mount: &Path, path: &str, files: &Files) -> Option<u64> {
    let own = mount.join(path.trim_start_matches('/'));
    own.ancestors()
        .take_while(|group| group.starts_with(mount))
        .filter_map(|group| free_of(group, files))
        .min()
}

fn free_of(group: &Path, files: &Files) -> Option<u64> {
    /// Version 1 writes the absence of a limit as a number that no machine has.
    const NO_LIMIT: u64 = 1 << 60;
    let limit = number(group.join(files.limit)).filter(|&limit| limit < NO_LIMIT)?;
    let usage = number(group.join(files.usage))?;
    let stat = std::fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
    let reclaimable = stat.lines().find_map(|line| line.strip_prefix(files.reclaimable)?.trim().parse().ok());
    Some(limit.saturating_sub(usage.saturating_sub(reclaimable.unwrap_or(0))))
}

fn number(file: PathBuf) -> Option<u64> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(path: &Path, files: &[(&str, &str)]) {
        std::fs::create_dir_all(path).unwrap();
        for (name, text) in files {
            std::fs::write(path.join(name), text).unwrap();
        }
    }

    #[test]
    fn the_tightest_limit_counts_in_version_2() {
        let root = tempfile::tempdir().unwrap();
        let slice = root.path().join("slice");
        group(
            &slice,
            &[
                ("memory.max", "1000\n"),
                ("memory.current", "900\n"),
                ("memory.stat", "anon 1\ninactive_file 300\n"),
            ],
        );
        group(&slice.join("unit"), &[("memory.max", "max\n"), ("memory.current", "500\n")]);
        assert_eq!(free_memory_in(root.path(), "0::/slice/unit\n"), Some(400));
        group(&slice.join("unit"), &[("memory.max", "600\n")]);
        assert_eq!(free_memory_in(root.path(), "0::/slice/unit\n"), Some(100));
        assert_eq!(free_memory_in(root.path(), "0::/elsewhere\n"), None);
        // Seen from within a container: the root is its own group, the path is the host's.
        group(root.path(), &[("memory.max", "5000\n"), ("memory.current", "1000\n")]);
        assert_eq!(free_memory_in(root.path(), "0::/docker/1234\n"), Some(4_000));
    }

    #[test]
    fn version_1_has_a_hierarchy_for_memory() {
        let root = tempfile::tempdir().unwrap();
        let memory = root.path().join("memory");
        let unlimited =
            [("memory.limit_in_bytes", "9223372036854771712\n"), ("memory.usage_in_bytes", "7\n")];
        group(&memory, &unlimited);
        let groups = "4:memory:/job\n3:cpuset:/\n1:cpu,cpuacct:/job\n";
        assert_eq!(free_memory_in(root.path(), groups), None);
        group(&memory.join("job"), &[("memory.limit_in_bytes", "100\n"), ("memory.usage_in_bytes", "30\n")]);
        assert_eq!(free_memory_in(root.path(), groups), Some(70));
        group(&memory.join("job"), &[("memory.stat", "inactive_file 1\ntotal_inactive_file 20\n")]);
        assert_eq!(free_memory_in(root.path(), groups), Some(90));
        assert_eq!(free_memory_in(root.path(), ""), None);
    }
}
