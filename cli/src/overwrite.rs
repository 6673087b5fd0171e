//! What must not be written over: a store, and whatever stands beside one. A picture or an export that takes its place is the end
//! of all that is in it, and nobody who mistypes a name means that.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use corridor_coordinator::store::Place;

use crate::failure::Failure;
use crate::out;

/// How the files of a store end behind its name: itself, what SQLite keeps beside it, and the lock of whoever holds it.
pub(crate) const STORE_FILES: [&str; 5] = ["", "-wal", "-shm", "-journal", ".lock"];

/// How every SQLite file begins.
const DATABASE: &[u8; 16] = b"SQLite format 3\0";

/// A file's name with something behind it.
pub(crate) fn with_ending(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Refuses a file that belongs to the store of the same command, by whatever name or link it is called, also before either of
/// them is there.
///
/// # Errors
/// It is the store or stands beside it.
pub(crate) fn refuse_store(flag: &str, written: &Path, store: Option<&Place>) -> Result<(), Failure> {
    let Some(Place::File(store)) = store else { return Ok(()) };
    let mut files = STORE_FILES.iter().map(|ending| with_ending(store, ending));
    if !files.any(|file| out::is_same_file(&file, written)) {
        return Ok(());
    }
    let (written, store) = (written.display(), store.display());
    Err(Failure::bad_input(&format!(
        "{flag}: {written} belongs to the store {store}, which is not written over"
    )))
}

/// Refuses a file that is an SQLite database or belongs to one: somebody's store, whether or not this command works on it.
///
/// # Errors
/// It is one.
pub(crate) fn refuse_database(flag: &str, written: &Path) -> Result<(), Failure> {
    let place = written.canonicalize().unwrap_or_else(|_| written.to_owned());
    let name = place.to_string_lossy();
    let mut bases = STORE_FILES.iter().filter_map(|ending| name.strip_suffix(ending));
    if !bases.any(|base| is_database(Path::new(base))) {
        return Ok(());
    }
    let written = written.display();
    Err(Failure::bad_input(&format!("{flag}: {written} belongs to a database, which is not written over")))
}

fn is_database(file: &Path) -> bool {
    let mut start = [0; DATABASE.len()];
    // Whoever opens a pipe waits for its other end.
    let is_file = file.metadata().is_ok_and(|found| found.is_file());
    is_file
        && File::open(file).is_ok_and(|mut file| file.read_exact(&mut start).is_ok() && start == *DATABASE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(written: &Path, store: &Path) -> bool {
        refuse_store("--out", written, Some(&Place::file(store))).is_err()
    }

    #[test]
    fn a_store_is_known_by_any_name_and_before_it_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let store = at("s.db");
        for name in ["s.db", "./s.db", "s.db-wal", "s.db-shm", "s.db.lock"] {
            assert!(refused(&at(name), &store), "{name}, and nothing is there yet");
        }
        assert!(!refused(&at("s.db.jsonl"), &store) && !refused(&at("t.db"), &store));
        // A link that leads nowhere yet.
        std::os::unix::fs::symlink("s.db", at("early")).unwrap();
        assert!(refused(&at("early"), &store));
        std::fs::write(&store, "x").unwrap();
        std::fs::hard_link(&store, at("hard")).unwrap();
        std::os::unix::fs::symlink(&store, at("soft")).unwrap();
        assert!(
            refused(&at("hard"), &store) && refused(&at("soft"), &store) && refused(&at("early"), &store)
        );
        assert!(refused(&store, &at("soft")), "the other way round");
        std::fs::write(at("other"), "x").unwrap();
        assert!(!refused(&at("other"), &store));
    }

    #[test]
    fn databases_of_others_are_known_by_how_they_begin() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("a.db"), [&DATABASE[..], b"and more"].concat()).unwrap();
        std::fs::write(at("a.svg"), "<svg/>").unwrap();
        for (name, is_refused) in [
            ("a.db", true),
            ("a.db-wal", true),
            ("a.db.lock", true),
            ("a.svg", false),
            ("none", false),
            ("a.db.svg", false),
        ] {
            assert_eq!(refuse_database("--svg", &at(name)).is_err(), is_refused, "{name}");
        }
    }
}
