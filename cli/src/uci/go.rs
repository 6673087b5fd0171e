//! `go`: how long to search.

use std::time::Duration;

use corridor_shared::Color;
use corridor_shared::search::MAX_DEPTH;

use super::shortened;

/// Moves that a game is thought to last still, when a clock runs and nobody says.
const MOVES_TO_GO: u32 = 25;
/// Kept back from every clock, for the way between the programs.
const OVERHEAD: Duration = Duration::from_millis(30);
/// The longest time that can be asked for, in ms (a year).
const MAX_MS: u64 = 31_536_000_000;

/// What a `go` asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Order {
    /// Plies, 1..=[`MAX_DEPTH`].
    pub(super) depth: Option<u8>,
    /// Nodes, at least 1.
    pub(super) nodes: Option<u64>,
    /// The search has to end by then.
    pub(super) hard: Option<Duration>,
    /// After this no new iteration is begun.
    pub(super) soft: Option<Duration>,
    /// Nothing but `stop` ends it.
    pub(super) infinite: bool,
}

/// Clocks as they come.
#[derive(Default)]
struct Clock {
    left: [Option<Duration>; 2],
    increment: [Duration; 2],
    moves_to_go: Option<u32>,
}

impl Order {
    /// Reads what follows `go`. Nothing at all is `infinite`.
    pub(super) fn read(text: &str, turn: Color) -> Result<Self, String> {
        let mut order = Self::default();
        let mut clock = Clock::default();
        let mut words = text.split_whitespace();
        while let Some(word) = words.next() {
            if word == "infinite" {
                order.infinite = true;
                continue;
            }
            let value = words.next();
            match word {
                "depth" => order.depth = u8::try_from(number(word, value, 1, u64::from(MAX_DEPTH))?).ok(),
                "nodes" => order.nodes = Some(number(word, value, 1, u64::MAX)?),
                "movetime" => order.hard = Some(milliseconds(word, value)?),
                "wtime" => clock.left[0] = Some(milliseconds(word, value)?),
                "btime" => clock.left[1] = Some(milliseconds(word, value)?),
                "winc" => clock.increment[0] = Duration::from_millis(number(word, value, 0, MAX_MS)?),
                "binc" => clock.increment[1] = Duration::from_millis(number(word, value, 0, MAX_MS)?),
                "movestogo" => {
                    clock.moves_to_go = Some(u32::try_from(number(word, value, 1, 1000)?).unwrap_or(1));
                }
                other => return Err(format!("unknown limit '{}'", shortened(other))),
            }
        }
        if let (None, Some(left)) = (order.hard, clock.left[turn.index()]) {
            order.share(left, clock.increment[turn.index()], clock.moves_to_go);
        }
        let bounded = order.depth.is_some() || order.nodes.is_some() || order.hard.is_some();
        order.infinite |= !bounded;
        Ok(order)
    }

    /// A share of what the clock has left: an even part of it, more if an iteration is about to end, never all.
    fn share(&mut self, left: Duration, increment: Duration, moves_to_go: Option<u32>) {
        let usable = left.saturating_sub(OVERHEAD);
        let even = usable / moves_to_go.unwrap_or(MOVES_TO_GO).min(MOVES_TO_GO) + increment * 3 / 4;
        let least = Duration::from_millis(1);
        self.hard = Some((even * 3).min(usable * 4 / 5).max(least));
        self.soft = Some((even * 3 / 5).min(usable * 4 / 5).max(least));
    }
}

fn milliseconds(word: &str, value: Option<&str>) -> Result<Duration, String> {
    number(word, value, 1, MAX_MS).map(Duration::from_millis)
}

fn number(word: &str, value: Option<&str>, low: u64, high: u64) -> Result<u64, String> {
    let value = value.ok_or_else(|| format!("{word} wants a number"))?;
    let number = value.parse().ok().filter(|number| (low..=high).contains(number));
    number
        .ok_or_else(|| format!("{word} wants a whole number of {low} to {high}, not '{}'", shortened(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Order {
        Order::read(text, Color::Black).unwrap()
    }

    #[test]
    fn limits() {
        assert_eq!(read("depth 7"), Order { depth: Some(7), ..Order::default() });
        assert_eq!(read("nodes 5 movetime 20").hard, Some(Duration::from_millis(20)));
        assert!(read("").infinite && read("infinite").infinite && !read("depth 1").infinite);
        for text in [
            "depth 0",
            "depth 101",
            "depth",
            "depth x",
            "nodes 0",
            "movetime 0",
            "movetime -5",
            "ponder",
            "mate 3",
        ] {
            assert!(Order::read(text, Color::White).is_err(), "{text}");
        }
    }

    #[test]
    fn a_clock_is_shared_out() {
        let order = read("wtime 1 btime 60000 binc 1000");
        assert_eq!((order.hard, order.infinite), (Some(Duration::from_micros(9_446_400)), false));
        assert!(order.soft < order.hard);
        // Nearly flagged: short, but a search all the same.
        assert_eq!(read("btime 1").hard, Some(Duration::from_millis(1)));
        assert!(read("btime 1000 binc 60000").hard.unwrap() < Duration::from_secs(1));
    }
}
