//! What `setoption` sets, with the ranges that `uci` declares.

use std::ops::RangeInclusive;

use corridor_shared::search::{PruneMode, ThreadPool};

use super::shortened;
use crate::memory;

const HASH_MIB: RangeInclusive<u64> = 1..=1_048_576;
const THREADS: RangeInclusive<u64> = 1..=256;
const MULTI_PV: RangeInclusive<u64> = 1..=136;

/// The options, always within their ranges.
#[derive(Clone, Debug)]
pub(super) struct Options {
    hash_mib: u64,
    threads: u64,
    pub(super) prune: PruneMode,
    pub(super) multi_pv: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { hash_mib: 64, threads: 1, prune: PruneMode::Cat, multi_pv: 1 }
    }
}

impl Options {
    /// The `option` lines that answer `uci`.
    pub(super) fn declaration(&self) -> String {
        let spin = |name: &str, default: u64, range: RangeInclusive<u64>| {
            format!(
                "option name {name} type spin default {default} min {} max {}",
                range.start(),
                range.end()
            )
        };
        let fresh = Self::default();
        [
            spin("Hash", fresh.hash_mib, HASH_MIB),
            spin("Threads", fresh.threads, THREADS),
            spin("MultiPV", 1, MULTI_PV),
            "option name Prune type combo default cat var cat var none".to_owned(),
            "option name Clear Hash type button".to_owned(),
        ]
        .join("\n")
    }

    /// These options after `name N value V`.
    pub(super) fn with(&self, text: &str) -> Result<Self, String> {
        let (name, value) = name_and_value(text)?;
        let mut changed = self.clone();
        match name.to_ascii_lowercase().as_str() {
            "hash" => changed.hash_mib = number(value, HASH_MIB)?,
            "threads" => changed.threads = number(value, THREADS)?,
            "multipv" => {
                changed.multi_pv = usize::try_from(number(value, MULTI_PV)?).unwrap_or(1);
            }
            "prune" => {
                changed.prune = match value {
                    "cat" => PruneMode::Cat,
                    "none" => PruneMode::None,
                    other => return Err(format!("Prune is cat or none, not '{}'", shortened(other))),
                };
            }
            "clear hash" => {}
            _ => return Err(format!("there is no option '{}'", shortened(name))),
        }
        Ok(changed)
    }

    /// Whether threads or table have to be made again.
    pub(super) fn needs_new_pool(&self, old: &Self) -> bool {
        (self.hash_mib, self.threads) != (old.hash_mib, old.threads)
    }

    /// Threads and a table as the options say.
    pub(super) fn pool(&self) -> Result<ThreadPool, String> {
        let table = memory::table(self.hash_mib << 20)?;
        Ok(ThreadPool::new(usize::try_from(self.threads).unwrap_or(1), &table))
    }
}

/// Whether this `setoption` is the button that empties the table.
pub(super) fn clears_table(text: &str) -> bool {
    name_and_value(text).is_ok_and(|(name, _)| name.eq_ignore_ascii_case("clear hash"))
}

/// The parts of `name N value V`; names may have blanks in them.
fn name_and_value(text: &str) -> Result<(&str, &str), String> {
    let rest = text.trim().strip_prefix("name ").ok_or("'name NAME value VALUE' is wanted")?;
    let (name, value) = rest.split_once(" value ").unwrap_or((rest, ""));
    Ok((name.trim(), value.trim()))
}

fn number(text: &str, range: RangeInclusive<u64>) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| {
        format!("a whole number of {} to {} is wanted, not '{}'", range.start(), range.end(), shortened(text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_stay_in_their_ranges() {
        let options = Options::default();
        assert_eq!(options.with("name Threads value 4").unwrap().threads, 4);
        assert_eq!(options.with("name hash value 1").unwrap().hash_mib, 1);
        assert_eq!(options.with("name MultiPV value 136").unwrap().multi_pv, 136);
        assert_eq!(options.with("name Prune value none").unwrap().prune, PruneMode::None);
        assert!(clears_table("name Clear Hash") && options.with("name Clear Hash").is_ok());
        for text in [
            "name Threads value 0",
            "name Threads value 257",
            "name Hash value 0",
            "name Hash value -1",
            "name Hash value 64M",
            "name MultiPV value 137",
            "name Prune value audit",
            "name Threads",
            "name Ponder value true",
            "Threads 4",
            "",
        ] {
            assert!(options.with(text).is_err(), "{text}");
        }
    }
}
