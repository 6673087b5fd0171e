//! Going on with the iterations of another coordinator.

use corridor_shared::board::Move;
use corridor_shared::job::Line;

use super::{Candidate, Found, Plan};

impl Plan {
    /// The root moves in the order in which the next iteration looks at them.
    pub(crate) fn order(&self) -> Vec<Move> {
        self.candidates.iter().map(|candidate| candidate.root_move.mv).collect()
    }

    /// The state in which an iteration of another coordinator ended: `lines` are its results, from White's view, `order` is
    /// that of the next iteration. Moves without a line come last, as if they had never been searched.
    pub(crate) fn resume(&mut self, depth: u8, lines: &[Line], order: &[Move]) {
        let turn = self.root.turn();
        for candidate in &mut self.candidates {
            let line = lines.iter().find(|line| line.mv == candidate.root_move.mv);
            candidate.last = line.map(|line| Found {
                score: line.score_white.to_engine(turn),
                bound: line.bound.from_white(turn),
                depth: line.depth,
                pv: line.pv.get(1..).unwrap_or_default().to_vec(),
                nodes: line.nodes,
            });
            candidate.all_nodes = line.map_or(0, |line| line.nodes);
        }
        let place = |candidate: &Candidate| order.iter().position(|&mv| mv == candidate.root_move.mv);
        self.candidates.sort_by_key(|candidate| place(candidate).unwrap_or(usize::MAX));
        self.depth = depth;
        self.nodes = lines.iter().map(|line| line.nodes).sum();
    }
}
