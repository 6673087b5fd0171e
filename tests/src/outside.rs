//! Programs that some tests need, and that a machine may not have.

use std::io::Write;

/// Whether a test of an outside program can run. If not it is skipped, and says so past the test harness, which keeps what a
/// test that passes prints; unless `CORRIDOR_REQUIRE` lists the program (`docker,chromium,postgres`): then it fails.
///
/// # Panics
/// The program is listed and missing.
#[must_use]
pub fn can_have(program: &str, found: &Result<(), String>) -> bool {
    let Err(why) = found else { return true };
    let required = std::env::var("CORRIDOR_REQUIRE").unwrap_or_default();
    assert!(!is_listed(program, &required), "CORRIDOR_REQUIRE asks for {program}: {why}");
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    // Nobody reads it: then nobody is told.
    let _ = writeln!(std::io::stderr(), "\nSKIPPED {test}: no {program}: {why}");
    false
}

fn is_listed(program: &str, list: &str) -> bool {
    list.split(',').any(|listed| listed.trim() == program)
}

#[cfg(test)]
mod tests {
    use super::is_listed;

    #[test]
    fn what_is_required_is_listed_by_its_whole_name() {
        for (list, required) in [
            ("docker", true),
            ("chromium, docker ,postgres", true),
            ("", false),
            ("dockerd", false),
            ("chromium,postgres", false),
        ] {
            assert_eq!(is_listed("docker", list), required, "{list}");
        }
    }
}
