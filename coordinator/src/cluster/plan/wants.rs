//! What a look at the tree leaves behind: the units that would decide something, and what each node has said to that, so
//! that the next look goes only where something has changed.

use corridor_shared::search::Window;

use super::tree::{Bounds, NodeId};
use super::walk::{Class, Cut, Kind, Request};

/// A unit that would decide something.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Want {
    pub(super) node: NodeId,
    pub(super) depth: i32,
    /// From the side to move at the node.
    pub(super) window: Window,
    pub(super) class: Class,
    /// Positions that it will probably take.
    pub(super) estimate: u64,
}

/// How many wanted units of each class are leased to nobody.
type Free = [usize; Class::COUNT];

/// The units that would decide something, in the order in which they were named.
#[derive(Clone, Debug, Default)]
pub(super) struct Wants {
    pub(super) list: Vec<Want>,
    free: Free,
}

impl Wants {
    pub(super) fn push(&mut self, want: Want, free: bool) {
        self.free[want.class as usize] += usize::from(free);
        self.list.push(want);
    }

    /// Drops what was named after a mark.
    pub(super) fn reset(&mut self, mark: &Mark) {
        self.list.truncate(mark.len);
        self.free = mark.free;
    }

    pub(super) const fn mark(&self) -> Mark {
        Mark { len: self.list.len(), free: self.free }
    }

    /// Free units that come before those of a worse class than this.
    pub(super) fn free_up_to(&self, class: Class) -> usize {
        up_to(&self.free, class)
    }

    /// What was named after a mark.
    fn since(&self, mark: &Mark) -> Self {
        let mut free = self.free;
        free.iter_mut().zip(mark.free).for_each(|(free, before)| *free -= before);
        Self { list: self.list[mark.len..].to_vec(), free }
    }

    fn extend(&mut self, others: &Self) {
        self.list.extend_from_slice(&others.list);
        self.free.iter_mut().zip(others.free).for_each(|(free, more)| *free += more);
    }
}

fn up_to(free: &Free, class: Class) -> usize {
    free[..=class as usize].iter().sum()
}

/// A place among the wanted units.
pub(super) struct Mark {
    len: usize,
    free: Free,
}

/// What the last look at an undecided node has said. It holds until something changes at the node or below it.
#[derive(Clone, Debug)]
pub(super) struct Look {
    depth: i32,
    window: Window,
    class: Class,
    kind: Kind,
    above: u64,
    iteration: u8,
    /// Everything was named; otherwise as much as was enough.
    complete: bool,
    bounds: Bounds,
    wants: Wants,
}

impl Look {
    pub(super) fn new(
        request: Request,
        cut: Cut,
        complete: bool,
        bounds: Bounds,
        wants: &Wants,
        mark: &Mark,
    ) -> Self {
        let Request { depth, window, class, kind, .. } = request;
        let Cut { above, iteration, .. } = cut;
        let wants = wants.since(mark);
        Self { depth, window, class, kind, above, iteration, complete, bounds, wants }
    }

    /// Says it again, if the same is asked.
    pub(super) fn repeat(&self, request: Request, cut: Cut, wants: &mut Wants) -> Option<Bounds> {
        let same = (self.depth, self.window, self.class, self.kind)
            == (request.depth, request.window, request.class, request.kind)
            && (self.above, self.iteration) == (cut.above, cut.iteration);
        let class = request.class;
        let enough = || wants.free_up_to(class) + up_to(&self.wants.free, class) >= cut.enough;
        if !same || !(self.complete || enough()) {
            return None;
        }
        wants.extend(&self.wants);
        Some(self.bounds)
    }
}
