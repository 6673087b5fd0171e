//! The Corridor engine: rules, notations, the Corridor Attention Table (CAT v3) and the search.
//!
//! Pure by construction: no runtime, no input or output, no clock but the one handed in. Everything above this crate
//! (wire, coordinator, worker, command line) speaks of positions, moves, heat and scores in the types defined here.
//!
//! ```
//! use corridor_shared::{Move, Position};
//!
//! let start = Position::start();
//! assert_eq!(start.legal_moves().len(), 131);
//! let after = start.play("e2".parse::<Move>()?)?;
//! assert_eq!(after.to_string(), "/ / e2 e9 / 10 10 / 2");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod board;
pub mod book;
pub mod cat;
pub mod eval;
pub mod exchange;
pub mod job;
pub mod movegen;
pub mod notation;
pub mod path;
pub mod perft;
pub mod race;
pub mod score;
pub mod search;
pub mod tt;

pub use board::{Color, Move, Orientation, Position, Square, Wall};
