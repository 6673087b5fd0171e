//! One job's iterations over its root moves: which unit comes next, with which window, and when a depth is complete.
//!
//! Eldest brother first: the leaders (the K best of the last iteration) get open windows, then their siblings null
//! windows against alpha, the K-th best exact score of this iteration. One that fails high is searched again with the
//! open window. Everything is decided from a result's score and bound against alpha, never from the window that was asked
//! for, so a late window update or a guess that was wrong costs work, not truth.
//!
//! All scores here are the engine's, from the root's side to move, win distances counted from the root.

use corridor_shared::board::{Color, Move};
use corridor_shared::job::{Attempt, Line, UnitId, WorkerId};
use corridor_shared::score::{Bound, INFINITE, MAX_CM, Score};
use corridor_shared::search::Window;

/// Half the first window round the last iteration's score, in centi-squares, as in the engine's own iterations.
const ASPIRATION_CM: Score = 35;
/// Each try that fails widens the window so many times ..
const ASPIRATION_GROWTH: Score = 4;
/// .. until it is wider than this, and then it is open.
const ASPIRATION_LIMIT_CM: Score = 2_000;
/// Guesses are not worth a message in iterations shallower than this.
const SPECULATION_FROM_DEPTH: u8 = 5;
/// Searches of one move at one depth after which its score is taken as it is: instability must not loop.
const MAX_SEARCHES: u32 = 8;

/// A root move to be searched.
#[derive(Copy, Clone, Debug)]
pub(crate) struct RootMove {
    /// The move.
    pub(crate) mv: Move,
    /// Heat without shape bonus, in centi-squares.
    pub(crate) heat_cm: u16,
    /// Heat with shape bonus: the order of the first iteration.
    pub(crate) order_cm: u16,
}

/// What is known about a root move.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    /// The score.
    pub(crate) score: Score,
    /// What it means.
    pub(crate) bound: Bound,
    /// Plies searched, the move itself included.
    pub(crate) depth: u8,
    /// The expected play after the move.
    pub(crate) pv: Vec<Move>,
    /// Positions visited for the move at this depth so far.
    pub(crate) nodes: u64,
}

/// What role a unit plays: how its window follows alpha.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// One of the K best: needs an exact score.
    Leader,
    /// A sibling that should fail low.
    Scout,
    /// A sibling that failed high.
    Challenger,
    /// A sibling searched before alpha is known, against the last iteration's.
    Guess,
}

/// A unit to be granted.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    /// Index of the move in the present order.
    pub(crate) index: usize,
    /// The window, from the root's side to move.
    pub(crate) window: Window,
    /// Its role.
    pub(crate) role: Role,
    /// Whose table knows the move best: who searched it last.
    pub(crate) home: Option<WorkerId>,
}

/// How a leased unit must follow what has become known.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Adjustment {
    /// Use this window.
    Window(Window),
    /// Stop: the result is of no use.
    Cancel,
}

#[derive(Clone, Debug)]
struct Leased {
    unit: UnitId,
    window: Window,
    role: Role,
}

/// A unit that came back without a result: its next lease is the next attempt.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Retry {
    /// The unit.
    pub(crate) unit: UnitId,
    /// The attempt that is next.
    pub(crate) attempt: Attempt,
}

#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) root_move: RootMove,
    /// Of the last iteration that completed with it.
    pub(crate) last: Option<Found>,
    found: Option<Found>,
    searches: u32,
    /// At this depth.
    nodes: u64,
    /// At all depths: what was hard to refute is likelier to be good.
    all_nodes: u64,
    home: Option<WorkerId>,
    leased: Option<Leased>,
    retry: Option<Retry>,
}

impl Candidate {
    fn new(root_move: RootMove) -> Self {
        Self {
            root_move,
            last: None,
            found: None,
            searches: 0,
            nodes: 0,
            all_nodes: 0,
            home: None,
            leased: None,
            retry: None,
        }
    }

    /// The expected play after the move, best knowledge first.
    pub(crate) fn pv_hint(&self) -> &[Move] {
        let known = self.found.as_ref().filter(|found| !found.pv.is_empty()).or(self.last.as_ref());
        known.map_or(&[], |found| &found.pv)
    }

    fn exact(&self) -> Option<Score> {
        self.found.as_ref().filter(|found| found.bound == Bound::Exact).map(|found| found.score)
    }
}

/// The iterations of one job.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    depth: u8,
    multipv: usize,
    candidates: Vec<Candidate>,
}

impl Plan {
    /// A plan before its first iteration; hottest moves first.
    pub(crate) fn new(moves: impl IntoIterator<Item = RootMove>, multipv: u16) -> Self {
        let mut candidates: Vec<Candidate> = moves.into_iter().map(Candidate::new).collect();
        candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.root_move.order_cm));
        let multipv = usize::from(multipv).clamp(1, candidates.len().max(1));
        Self { depth: 1, multipv, candidates }
    }

    /// Goes on after an iteration that another coordinator completed: `lines` are its results, from White's view, best
    /// first; `turn` is the root's side to move. Moves without a line keep their place behind the others.
    pub(crate) fn resume(&mut self, depth: u8, lines: &[Line], turn: Color) {
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
        let place = |candidate: &Candidate| lines.iter().position(|line| line.mv == candidate.root_move.mv);
        self.candidates.sort_by_key(|candidate| place(candidate).unwrap_or(usize::MAX));
        let leaders = self.multipv.min(self.candidates.len());
        self.candidates[leaders..].sort_by_key(|candidate| std::cmp::Reverse(candidate.all_nodes));
        self.depth = depth;
        self.deepen();
    }

    /// The depth of the iteration that runs, in plies.
    pub(crate) const fn depth(&self) -> u8 {
        self.depth
    }

    /// How many lines get exact scores.
    pub(crate) const fn multipv(&self) -> usize {
        self.multipv
    }

    /// The moves in the present order: best of the last iteration first.
    pub(crate) fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// The K-th best exact score of this iteration.
    pub(crate) fn alpha(&self) -> Option<Score> {
        kth_best(self.candidates.iter().filter_map(Candidate::exact), self.multipv)
    }

    /// What alpha will probably be.
    fn guessed_alpha(&self) -> Option<Score> {
        let exact = |candidate: &Candidate| {
            candidate.last.as_ref().filter(|last| last.bound == Bound::Exact).map(|last| last.score)
        };
        kth_best(self.candidates.iter().filter_map(exact), self.multipv)
    }

    fn is_settled(&self, index: usize, alpha: Option<Score>) -> bool {
        let candidate = &self.candidates[index];
        match (&candidate.found, alpha) {
            (None, _) => false,
            (Some(found), _) if found.bound == Bound::Exact => true,
            (Some(found), Some(alpha)) => {
                index >= self.multipv && found.bound == Bound::Upper && found.score <= alpha
            }
            (Some(_), None) => false,
        }
    }

    /// Every move is settled: the K best are exact, no other can be better.
    pub(crate) fn is_complete(&self) -> bool {
        let alpha = self.alpha();
        (0..self.candidates.len()).all(|index| self.is_settled(index, alpha))
    }

    /// The K best are proven wins: nothing better than a win can come.
    pub(crate) fn is_won(&self) -> bool {
        self.alpha().is_some_and(|alpha| alpha > MAX_CM)
    }

    /// Nothing but proven losses was found.
    pub(crate) fn is_lost(&self) -> bool {
        let best = self.candidates.iter().filter_map(Candidate::exact).max();
        best.is_some_and(|best| best < -MAX_CM)
    }

    /// Adds moves to the running iteration, as siblings.
    pub(crate) fn admit(&mut self, moves: impl IntoIterator<Item = RootMove>) {
        self.candidates.extend(moves.into_iter().map(Candidate::new));
    }

    /// The next unit, most urgent first: challengers, leaders, scouts; with `speculate`, guesses. Among equals those come
    /// first that this worker's table knows, or nobody's.
    pub(crate) fn next_task(&self, worker: WorkerId, speculate: bool) -> Option<Task> {
        let alpha = self.alpha();
        let free = |&index: &usize| self.candidates[index].leased.is_none() && !self.is_settled(index, alpha);
        let tasks = (0..self.candidates.len()).filter(free).filter_map(|index| self.task(index, alpha));
        let urgency = |task: &Task| match task.role {
            Role::Challenger => (0, false, task.index),
            Role::Leader => (1, false, task.index),
            Role::Scout | Role::Guess => (2, task.home.is_some_and(|home| home != worker), task.index),
        };
        match tasks.min_by_key(urgency) {
            Some(task) => Some(task),
            None if speculate && alpha.is_none() => self.guess(worker),
            None => None,
        }
    }

    fn task(&self, index: usize, alpha: Option<Score>) -> Option<Task> {
        let candidate = &self.candidates[index];
        let home = candidate.home;
        if index < self.multipv {
            return Some(Task { window: self.leader_window(candidate), role: Role::Leader, index, home });
        }
        let alpha = alpha?;
        let scout = Task { index, window: Window::null(alpha), role: Role::Scout, home };
        match &candidate.found {
            Some(found) if found.bound == Bound::Lower && found.score > alpha => {
                let window = Window { alpha, beta: INFINITE };
                Some(Task { index, window, role: Role::Challenger, home })
            }
            _ => Some(scout),
        }
    }

    /// Round the last score, wider with each try; the end that held stays.
    fn leader_window(&self, candidate: &Candidate) -> Window {
        let Some(last) = candidate.last.as_ref().filter(|_| self.multipv == 1) else { return Window::FULL };
        let width = ASPIRATION_CM * ASPIRATION_GROWTH.saturating_pow(candidate.searches.min(MAX_SEARCHES));
        let wide = width > ASPIRATION_LIMIT_CM;
        let low = |score: Score| if wide { -INFINITE } else { (score - width).max(-INFINITE) };
        let high = |score: Score| if wide { INFINITE } else { (score + width).min(INFINITE) };
        match &candidate.found {
            None => Window { alpha: low(last.score), beta: high(last.score) },
            Some(found) if found.bound == Bound::Lower => {
                Window { alpha: found.score - 1, beta: high(found.score) }
            }
            Some(found) => Window { alpha: low(found.score), beta: found.score + 1 },
        }
    }

    /// A sibling that nothing is known about yet, against the last iteration's alpha.
    fn guess(&self, worker: WorkerId) -> Option<Task> {
        let alpha = self.guessed_alpha().filter(|alpha| alpha.abs() <= MAX_CM)?;
        if self.depth < SPECULATION_FROM_DEPTH || self.a_leader_failed_low() {
            return None;
        }
        let unknown = |&index: &usize| {
            let candidate = &self.candidates[index];
            candidate.leased.is_none() && candidate.found.is_none()
        };
        let foreign = |index: usize| self.candidates[index].home.is_some_and(|home| home != worker);
        let siblings = (self.multipv..self.candidates.len()).filter(unknown);
        let index = siblings.min_by_key(|&index| (foreign(index), index))?;
        let home = self.candidates[index].home;
        Some(Task { index, window: Window::null(alpha), role: Role::Guess, home })
    }

    fn a_leader_failed_low(&self) -> bool {
        let failed =
            |candidate: &Candidate| candidate.found.as_ref().is_some_and(|found| found.bound == Bound::Upper);
        self.candidates.iter().take(self.multipv).any(failed)
    }

    /// The attempt that a task's next lease is, if the same unit was leased before.
    pub(crate) fn retry(&self, index: usize) -> Option<Retry> {
        self.candidates[index].retry
    }

    /// A task was leased.
    pub(crate) fn granted(&mut self, task: &Task, unit: UnitId, worker: WorkerId) {
        let candidate = &mut self.candidates[task.index];
        debug_assert!(candidate.leased.is_none(), "a move is leased once");
        candidate.leased = Some(Leased { unit, window: task.window, role: task.role });
        candidate.retry = None;
        candidate.home = Some(worker);
    }

    /// A lease ended without a result: the move is free again, its next lease is the next attempt.
    pub(crate) fn take_back(&mut self, unit: UnitId, attempt: Attempt, nodes: u64) {
        if let Some(candidate) = self.leased_mut(unit) {
            candidate.leased = None;
            candidate.nodes += nodes;
            candidate.all_nodes += nodes;
            candidate.retry = Some(Retry { unit, attempt: attempt.next() });
        }
    }

    fn leased_mut(&mut self, unit: UnitId) -> Option<&mut Candidate> {
        let holds =
            |candidate: &&mut Candidate| candidate.leased.as_ref().is_some_and(|leased| leased.unit == unit);
        self.candidates.iter_mut().find(holds)
    }

    /// A unit has a result. Returns the move and what is now known about it.
    pub(crate) fn record(
        &mut self,
        unit: UnitId,
        score: Score,
        bound: Bound,
        pv: Vec<Move>,
        nodes: u64,
    ) -> Option<(RootMove, Found)> {
        let depth = self.depth;
        let candidate = self.leased_mut(unit)?;
        candidate.leased = None;
        candidate.retry = None;
        candidate.searches += 1;
        candidate.nodes += nodes;
        candidate.all_nodes += nodes;
        let bound = if candidate.searches >= MAX_SEARCHES { Bound::Exact } else { bound };
        let found = Found { score, bound, depth, pv, nodes: candidate.nodes };
        candidate.found = Some(found.clone());
        Some((candidate.root_move, found))
    }

    /// Whether a result calls for a search with the open window.
    pub(crate) fn is_challenge(&self, found: &Found) -> bool {
        found.bound == Bound::Lower && self.alpha().is_some_and(|alpha| found.score > alpha)
    }

    /// What the leased units must be told, now that alpha may have moved.
    pub(crate) fn adjust(&mut self) -> Vec<(UnitId, Adjustment)> {
        let alpha = self.alpha();
        let failed_low = self.a_leader_failed_low();
        let mut adjustments = Vec::new();
        for leased in self.candidates.iter_mut().filter_map(|candidate| candidate.leased.as_mut()) {
            let adjustment = match alpha {
                Some(alpha) => follow(leased, alpha),
                None if leased.role == Role::Guess && failed_low => Some(Adjustment::Cancel),
                None => None,
            };
            if let Some(Adjustment::Window(window)) = adjustment {
                leased.window = window;
            }
            adjustments.extend(adjustment.map(|adjustment| (leased.unit, adjustment)));
        }
        adjustments
    }

    /// The units that are leased now.
    pub(crate) fn leased_units(&self) -> impl Iterator<Item = UnitId> + '_ {
        self.candidates.iter().filter_map(|candidate| candidate.leased.as_ref()).map(|leased| leased.unit)
    }

    /// Ends the iteration: its settled results become the last ones, and the order follows them.
    pub(crate) fn finish_iteration(&mut self) {
        let alpha = self.alpha();
        for index in 0..self.candidates.len() {
            if self.is_settled(index, alpha) {
                let candidate = &mut self.candidates[index];
                candidate.last = candidate.found.take();
            }
        }
        self.candidates.sort_by(|a, b| best_first(a.last.as_ref(), b.last.as_ref()));
        let leaders = self.multipv.min(self.candidates.len());
        self.candidates[leaders..].sort_by_key(|candidate| std::cmp::Reverse(candidate.all_nodes));
    }

    /// Begins the next depth. All leases must have ended.
    pub(crate) fn deepen(&mut self) {
        self.depth += 1;
        for candidate in &mut self.candidates {
            debug_assert!(candidate.leased.is_none(), "a lease outlived its iteration");
            candidate.found = None;
            candidate.searches = 0;
            candidate.nodes = 0;
            candidate.retry = None;
        }
    }
}

/// How a leased unit follows a known alpha.
fn follow(leased: &mut Leased, alpha: Score) -> Option<Adjustment> {
    match leased.role {
        Role::Leader => None,
        Role::Guess if leased.window.alpha > alpha => Some(Adjustment::Cancel),
        Role::Scout | Role::Guess => {
            leased.role = Role::Scout;
            (leased.window.alpha < alpha).then(|| Adjustment::Window(Window::null(alpha)))
        }
        Role::Challenger => {
            let window = Window { alpha, beta: leased.window.beta.max(alpha + 1) };
            (leased.window.alpha < alpha).then_some(Adjustment::Window(window))
        }
    }
}

fn kth_best(scores: impl Iterator<Item = Score>, k: usize) -> Option<Score> {
    let mut best: Vec<Score> = scores.collect();
    best.sort_unstable_by(|a, b| b.cmp(a));
    best.get(k.checked_sub(1)?).copied()
}

/// Deeper results first, then higher scores, exact ones before bounds, then those that took more work; unknown ones last.
pub(crate) fn best_first(a: Option<&Found>, b: Option<&Found>) -> std::cmp::Ordering {
    let key = |found: Option<&Found>| {
        found.map(|found| (found.depth, found.score, found.bound == Bound::Exact, found.nodes))
    };
    key(b).cmp(&key(a))
}
