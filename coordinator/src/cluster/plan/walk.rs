//! One look at the tree: what is decided, and which units would decide the rest.
//!
//! Young brothers wait: a node's eldest move is searched before its siblings, which then get null windows; late moves are
//! reduced as in the search itself, and who fails high is searched again. Where the wait is likely to be in vain the siblings are asked
//! for as well, in a class of their own, so that nobody idles.

use corridor_shared::exchange::SharedEntry;
use corridor_shared::score::{INFINITE, MAX_CM, Score, win_in};
use corridor_shared::search::{Window, late_move_reduction};

use super::tree::{Bounds, NodeId, Tree};
use super::wants::{Look, Want, Wants};

/// Searches shallower than this are not split.
pub(super) const MIN_SPLIT_DEPTH: i32 = 5;
/// Nodes further from the root than this are not split.
const MAX_SPLIT_PLY: u8 = 24;

/// How sure it is that a unit's result will be needed, surest first.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// Nothing goes on without it.
    Needed,
    /// A sibling where all moves will probably fail low.
    Likely,
    /// A sibling on the principal variation, against the last iteration's score.
    Guess,
}

impl Class {
    pub(super) const COUNT: usize = 3;
}

/// What a node is expected to be.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// On the principal variation.
    Principal,
    /// One move should refute.
    Cut,
    /// No move should help.
    All,
}

/// How the tree is cut into units.
#[derive(Copy, Clone, Debug)]
pub(super) struct Cut {
    /// Searches that will probably take more positions than this are split.
    pub(super) above: u64,
    /// The same units whatever the schedule.
    pub(super) deterministic: bool,
    /// Also name units that only may be needed.
    pub(super) speculate: bool,
    /// The iteration.
    pub(super) iteration: u8,
    /// More units of a class than this need not be named.
    pub(super) enough: usize,
}

/// A look at the tree.
pub(super) struct Walk<'t> {
    pub(super) tree: &'t mut Tree,
    pub(super) cut: Cut,
    pub(super) wants: Wants,
    /// Not everything was named that could be.
    pub(super) limited: bool,
    /// What was concluded about split nodes, for others to share.
    pub(super) learned: Vec<SharedEntry>,
}

/// What is asked of a node.
#[derive(Copy, Clone, Debug)]
pub(super) struct Request {
    pub(super) depth: i32,
    pub(super) window: Window,
    pub(super) class: Class,
    pub(super) kind: Kind,
    /// What it will probably take, as far as its parent can tell.
    pub(super) estimate: u64,
}

impl Request {
    const fn null(self, alpha: Score) -> Self {
        Self { window: Window { alpha: -alpha - 1, beta: -alpha }, ..self }
    }
}

impl Walk<'_> {
    /// What is known about a node, or will be when the units that are wanted now are done.
    pub(super) fn visit(&mut self, id: NodeId, request: Request) -> Bounds {
        let Request { depth, window, .. } = request;
        let node = self.tree.get(id);
        if node.position.winner().is_some() {
            return Bounds::exact(-win_in(node.ply.into()));
        }
        if let Some(bounds) = node.look.as_ref().and_then(|it| it.repeat(request, self.cut, &mut self.wants))
        {
            return bounds;
        }
        let known = node.bounds(depth);
        if node.settles(known, depth, window) {
            return known;
        }
        if !self.cut.deterministic {
            self.tree.recall(id, depth, window);
            let known = self.tree.get(id).bounds(depth);
            if self.tree.get(id).settles(known, depth, window) {
                return known;
            }
        }
        self.tree.get_mut(id).want(depth);
        let (mark, stirred) = (self.wants.mark(), self.tree.stirred());
        let limited = std::mem::take(&mut self.limited);
        let (bounds, open) = self.look_at(id, request);
        // What was concluded on the way may have changed something that was looked at before.
        if open && !self.cut.deterministic && self.tree.stirred() == stirred {
            let look = Look::new(request, self.cut, !self.limited, bounds, &self.wants, &mark);
            self.tree.get_mut(id).look = Some(Box::new(look));
        }
        self.limited |= limited;
        bounds
    }

    /// Looks at an undecided node. Returns what is known, and whether it is still undecided.
    fn look_at(&mut self, id: NodeId, request: Request) -> (Bounds, bool) {
        let depth = request.depth;
        let estimate = self.tree.get(id).estimate(depth).unwrap_or(request.estimate);
        if self.splits(id, depth, estimate) {
            self.tree.split(id, depth);
            self.tree.get_mut(id).walked = self.cut.iteration;
            let request = Request { estimate, ..request };
            return if self.cut.deterministic {
                (self.visit_in_order(id, request), true)
            } else {
                self.visit_split(id, request)
            };
        }
        self.want(id, Request { estimate, ..request });
        (self.unlined(id, depth), true)
    }

    /// What is known about a node that is searched nevertheless: a score whose line is not known is to be searched once more.
    fn unlined(&self, id: NodeId, depth: i32) -> Bounds {
        let known = self.tree.get(id).bounds(depth);
        if known.low == known.high { Bounds { high: INFINITE, ..known } } else { known }
    }

    /// Names the search of a node as a unit.
    fn want(&mut self, id: NodeId, request: Request) {
        let Request { depth, window, class, estimate, .. } = request;
        let free = self.tree.get(id).leases.is_empty();
        self.wants.push(Want { node: id, depth, window, class, estimate }, free);
    }

    fn splits(&self, id: NodeId, depth: i32, estimate: u64) -> bool {
        let node = self.tree.get(id);
        if !node.leases.is_empty() || depth < MIN_SPLIT_DEPTH || node.ply > MAX_SPLIT_PLY {
            return false;
        }
        if node.split_for == Some(depth) || node.must_split {
            return true;
        }
        estimate > self.cut.above && self.tree.has_room() && !self.is_settled_by_itself(id)
    }

    /// Repetitions and races need no search.
    fn is_settled_by_itself(&self, id: NodeId) -> bool {
        let node = self.tree.get(id);
        let hands = corridor_shared::board::Color::BOTH.map(|color| node.position.walls_in_hand(color));
        hands == [0, 0] || self.tree.repeats(id)
    }

    fn visit_split(&mut self, id: NodeId, request: Request) -> (Bounds, bool) {
        let depth = request.depth;
        let mark = self.wants.mark();
        let (mut index, mut siblings) = match self.tree.get(id).prefix {
            Some(prefix) if prefix.fits(request) => (prefix.len, prefix.siblings),
            _ => (0, Siblings::new(request)),
        };
        loop {
            let count = self.tree.get(id).children.len();
            while index < count && !siblings.is_cut() {
                if self.tree.get(id).children[index].node.is_none() && self.tree.is_full() {
                    self.wants.reset(&mark);
                    self.tree.join(id);
                    self.want(id, request);
                    return (self.unlined(id, depth), true);
                }
                let Some(next) = self.visit_child(id, index, request, &mut siblings) else { break };
                index = next;
                if !siblings.open && !siblings.is_cut() {
                    let prefix =
                        Prefix { depth, window: request.window, kind: request.kind, len: index, siblings };
                    self.tree.get_mut(id).prefix = Some(prefix);
                }
            }
            // A loss is believed only when everything legal was tried.
            let lost = siblings.bounds.high < -MAX_CM;
            if !lost || !self.tree.widen(id) {
                break;
            }
        }
        let mut bounds = siblings.bounds;
        if siblings.is_cut() {
            // Whatever else was wanted here is of no use any more.
            self.wants.reset(&mark);
            bounds.high = INFINITE;
        } else if siblings.open {
            bounds.high = INFINITE;
            return (bounds, true);
        }
        if let Some(best) = siblings.best.filter(|_| siblings.best_low > request.window.alpha) {
            let exact = Some(bounds.low)
                .filter(|low| *low == bounds.high && request.window.beta - request.window.alpha > 1);
            self.tree.learn_line(id, best, depth, exact);
        }
        let tainted = self.tree.is_tainted(id);
        let node = self.tree.get_mut(id);
        node.path_dependent = tainted;
        node.learn(depth, bounds);
        self.learned.extend(self.tree.remember(id, depth));
        (self.tree.get(id).bounds(depth), false)
    }

    /// As `visit_split`, in an order that no schedule changes: the eldest, then all siblings against its score, then those
    /// that failed high again, one at a time. The window is open, so that nothing is cut off.
    fn visit_in_order(&mut self, id: NodeId, request: Request) -> Bounds {
        let mut siblings = Siblings::new(request);
        let mut next = 0;
        loop {
            let count = self.tree.get(id).children.len();
            let mut challengers = Vec::new();
            let alpha = siblings.alpha;
            for index in next..count {
                if index == 0 {
                    self.visit_child(id, index, request, &mut siblings);
                    if siblings.open {
                        return Bounds::UNKNOWN;
                    }
                    continue;
                }
                let alpha = if next == 0 { siblings.alpha } else { alpha };
                let value = self.scout(id, index, request, alpha, request.class);
                if value.low > alpha {
                    challengers.push(self.tree.child(id, index));
                } else {
                    siblings.open |= !value.decide(alpha, alpha + 1);
                    siblings.bounds.high = siblings.bounds.high.max(value.high);
                }
            }
            if siblings.open {
                return Bounds::UNKNOWN;
            }
            for child in challengers {
                let window = Window { alpha: -request.window.beta, beta: -siblings.alpha };
                let depth = self.tree.get(id).searched_depth - 1;
                let ask = Request { depth, window, kind: Kind::Principal, ..request };
                let value = -self.visit(child, ask);
                let settled = value.decide(siblings.alpha, request.window.beta);
                siblings.add(child, value, settled);
                if !settled {
                    return Bounds::UNKNOWN;
                }
            }
            next = count;
            if siblings.bounds.high >= -MAX_CM || !self.tree.widen(id) {
                break;
            }
        }
        let bounds = Bounds { high: siblings.bounds.high.max(siblings.bounds.low), ..siblings.bounds };
        if let Some(best) = siblings.best {
            let exact = Some(bounds.low).filter(|low| *low == bounds.high);
            self.tree.learn_line(id, best, request.depth, exact);
        }
        self.tree.get_mut(id).learn(request.depth, bounds);
        bounds
    }

    /// A sibling against a null window: reduced if it is late, in full if that fails high.
    fn scout(
        &mut self,
        parent: NodeId,
        index: usize,
        request: Request,
        alpha: Score,
        class: Class,
    ) -> Bounds {
        let depth = self.tree.get(parent).searched_depth;
        let below = depth - 1;
        let kind = if request.kind == Kind::Cut { Kind::All } else { Kind::Cut };
        let ask = Request { depth: below, kind, class, ..request };
        let by = self.tree.get(parent).children[index].by;
        let child = self.tree.child(parent, index);
        let reduction = late_move_reduction(depth, index + 1, by.heat_cm, by.tactical);
        let value = -self.visit(child, Request { depth: below - reduction, ..ask }.null(alpha));
        if value.low > alpha && reduction > 0 {
            return -self.visit(child, ask.null(alpha));
        }
        value
    }

    /// Looks at one move of a split node. Returns which is next, `None` when those behind it must wait.
    fn visit_child(
        &mut self,
        parent: NodeId,
        index: usize,
        request: Request,
        siblings: &mut Siblings,
    ) -> Option<usize> {
        let below = self.tree.get(parent).searched_depth - 1;
        let count = u64::try_from(self.tree.get(parent).children.len()).unwrap_or(1);
        let (alpha, beta) = (siblings.alpha, request.window.beta);
        if index == 0 {
            let window = Window { alpha: -beta, beta: -alpha };
            let kind = match request.kind {
                Kind::Principal => Kind::Principal,
                Kind::Cut => Kind::All,
                Kind::All => Kind::Cut,
            };
            let estimate = if request.kind == Kind::All {
                2 * request.estimate / count
            } else {
                request.estimate * 2 / 3
            };
            let ask = Request { depth: below, window, kind, estimate, ..request };
            let child = self.tree.child(parent, index);
            let value = -self.visit(child, ask);
            siblings.eldest(self.tree.get(parent).last_exact(), child, value, alpha, beta);
            return Some(1);
        }
        let (alpha, class) = siblings.next(request, self.cut)?;
        if !self.cut.deterministic && self.wants.free_up_to(class) >= self.cut.enough {
            // More need not be named, but what is leased must.
            self.limited = true;
            let held = self.tree.next_held(parent, index);
            if held != Some(index) {
                siblings.open = true;
                return held;
            }
        }
        let estimate = request.estimate / count;
        let mut value = self.scout(parent, index, Request { estimate, ..request }, alpha, class);
        let child = self.tree.child(parent, index);
        let principal = request.kind == Kind::Principal;
        if value.low > alpha && principal && value.low < beta && !siblings.eldest_open {
            let window = Window { alpha: -beta, beta: -alpha };
            let ask = Request { depth: below, window, class, kind: Kind::Principal, estimate };
            value = -self.visit(child, ask);
        }
        let settled = value.decide(alpha, if principal { beta } else { alpha + 1 });
        siblings.add(child, value, settled);
        Some(index + 1)
    }
}

/// The leading moves of a split node that are decided, as the basis of the next look.
#[derive(Copy, Clone, Debug)]
pub(super) struct Prefix {
    depth: i32,
    window: Window,
    kind: Kind,
    len: usize,
    siblings: Siblings,
}

impl Prefix {
    fn fits(&self, request: Request) -> bool {
        self.depth == request.depth && self.window == request.window && self.kind == request.kind
    }
}

/// The moves of a split node that were looked at.
#[derive(Copy, Clone, Debug)]
struct Siblings {
    alpha: Score,
    beta: Score,
    bounds: Bounds,
    best: Option<NodeId>,
    best_low: Score,
    /// Some move is not decided.
    open: bool,
    eldest_open: bool,
    guess: Option<Score>,
}

impl Siblings {
    fn new(request: Request) -> Self {
        Self {
            alpha: request.window.alpha,
            beta: request.window.beta,
            bounds: Bounds { low: -INFINITE, high: -INFINITE },
            best: None,
            best_low: -INFINITE,
            open: false,
            eldest_open: false,
            guess: None,
        }
    }

    const fn is_cut(&self) -> bool {
        self.bounds.low >= self.beta
    }

    fn eldest(&mut self, last: Option<Score>, node: NodeId, value: Bounds, alpha: Score, beta: Score) {
        self.guess = last;
        let settled = value.decide(alpha, beta);
        self.eldest_open = !settled;
        self.add(node, value, settled);
    }

    fn add(&mut self, node: NodeId, value: Bounds, settled: bool) {
        if self.best.is_none() || value.low > self.best_low {
            self.best = Some(node);
            self.best_low = value.low;
        }
        self.bounds.low = self.bounds.low.max(value.low);
        self.bounds.high = self.bounds.high.max(value.high);
        self.open |= !settled;
        self.alpha = self.alpha.max(value.low);
    }

    /// The alpha that the next sibling has to beat and the class of its units; `None` when it must wait.
    fn next(&self, request: Request, cut: Cut) -> Option<(Score, Class)> {
        if !self.eldest_open {
            return Some((self.alpha, request.class));
        }
        if !cut.speculate {
            return None;
        }
        match request.kind {
            Kind::All => Some((self.alpha, request.class.max(Class::Likely))),
            Kind::Principal => {
                let guess = self
                    .guess
                    .filter(|guess| guess.abs() <= MAX_CM && (self.alpha..self.beta).contains(guess))?;
                Some((guess, request.class.max(Class::Guess)))
            }
            // One move should refute: its siblings wait.
            Kind::Cut => None,
        }
    }
}
