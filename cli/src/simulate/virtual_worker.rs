//! A worker of the virtual cluster: the real search on a thread of its own, which runs only when it is told to, from one
//! poll to the next.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::JoinHandle;

use corridor_shared::exchange::SharedEntry;
use corridor_shared::job::{Attempt, Unit, UnitId, UnitReport, WhiteWindow};
use corridor_shared::search::{Directive, SearchHandler, Searcher};
use corridor_shared::tt::TranspositionTable;

/// What the search thread is told.
enum Order {
    Begin(Box<Unit>, WhiteWindow),
    Go(Directive),
}

/// What the search thread answers: it stands at a poll, or the unit has ended.
pub(super) enum Stand {
    /// Positions visited by this unit so far.
    At(u64),
    Ended(Box<UnitReport>),
}

/// A unit at the worker.
pub(super) struct Held {
    pub(super) unit: Unit,
    window: WhiteWindow,
    stop: bool,
    shed: bool,
    pub(super) unwanted: bool,
    new_window: bool,
    begun: bool,
    /// Positions visited when it last stood.
    pub(super) nodes: u64,
}

/// A worker.
pub(super) struct VirtualWorker {
    orders: Sender<Order>,
    stands: Receiver<Stand>,
    thread: Option<JoinHandle<()>>,
    outbox: Arc<Mutex<Vec<SharedEntry>>>,
    pub(super) table: Arc<TranspositionTable>,
    /// The depth from which its results are wanted by others.
    floor: Arc<AtomicU8>,
    /// The first one runs, the others wait.
    pub(super) queue: VecDeque<Held>,
}

struct Paced {
    orders: Receiver<Order>,
    stands: Sender<Stand>,
    outbox: Arc<Mutex<Vec<SharedEntry>>>,
    floor: Arc<AtomicU8>,
}

impl SearchHandler for Paced {
    fn export_floor(&mut self) -> u8 {
        self.floor.load(Ordering::Relaxed)
    }

    fn export(&mut self, entries: &mut Vec<SharedEntry>) {
        if let Ok(mut outbox) = self.outbox.lock() {
            outbox.append(entries);
        }
    }

    fn poll(&mut self, nodes: u64) -> Directive {
        if self.stands.send(Stand::At(nodes)).is_err() {
            return Directive::Stop;
        }
        match self.orders.recv() {
            Ok(Order::Go(directive)) => directive,
            Ok(Order::Begin(..)) | Err(_) => Directive::Stop,
        }
    }
}

fn search(mut paced: Paced, table: Arc<TranspositionTable>) {
    let mut searcher = Searcher::new(table);
    while let Ok(Order::Begin(unit, window)) = paced.orders.recv() {
        let window = window.to_engine(unit.turn());
        let Ok(report) = corridor_worker::search_unit(&mut searcher, &unit, window, &mut paced) else { return };
        if paced.stands.send(Stand::Ended(Box::new(report))).is_err() {
            return;
        }
    }
}

impl VirtualWorker {
    /// A worker with a table of its own.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(super) fn start(table: Arc<TranspositionTable>) -> std::io::Result<Self> {
        let (orders, receiver) = channel();
        let (sender, stands) = channel();
        let outbox = Arc::new(Mutex::new(Vec::new()));
        let floor = Arc::new(AtomicU8::new(u8::MAX));
        let paced = Paced {
            orders: receiver,
            stands: sender,
            outbox: Arc::clone(&outbox),
            floor: Arc::clone(&floor),
        };
        let own = Arc::clone(&table);
        let thread = std::thread::Builder::new().name("virtual".to_owned()).spawn(|| search(paced, own))?;
        Ok(Self { orders, stands, thread: Some(thread), outbox, table, floor, queue: VecDeque::new() })
    }

    /// Asks for results from a depth on.
    pub(super) fn set_floor(&self, floor: u8) {
        self.floor.store(floor, Ordering::Relaxed);
    }

    /// What it has found for others since the last call.
    pub(super) fn exports(&self) -> Vec<SharedEntry> {
        self.outbox.lock().map(|mut outbox| std::mem::take(&mut *outbox)).unwrap_or_default()
    }

    pub(super) fn push(&mut self, unit: Unit) {
        let window = unit.window;
        self.queue.push_back(Held {
            unit,
            window,
            stop: false,
            shed: false,
            unwanted: false,
            new_window: false,
            begun: false,
            nodes: 0,
        });
    }

    fn held(&mut self, unit: UnitId, attempt: Attempt) -> Option<&mut Held> {
        self.queue.iter_mut().find(|held| held.unit.unit == unit && held.unit.attempt == attempt)
    }

    pub(super) fn set_window(&mut self, unit: UnitId, attempt: Attempt, window: WhiteWindow) {
        if let Some(held) = self.held(unit, attempt) {
            held.window = window;
            held.new_window = held.begun;
        }
    }

    pub(super) fn shed(&mut self, unit: UnitId, attempt: Attempt) {
        if let Some(held) = self.held(unit, attempt) {
            held.shed = true;
        }
    }

    /// Drops a unit that waits; one that runs is stopped at its next poll.
    pub(super) fn cancel(&mut self, unit: UnitId, attempt: Attempt) {
        if let Some(held) = self.held(unit, attempt) {
            held.stop = true;
            held.unwanted = true;
        }
        self.queue.retain(|held| !held.unwanted || held.begun);
    }

    /// Lets the unit at the head run to its next poll or its end. `None` when there is none.
    pub(super) fn run(&mut self) -> Option<Stand> {
        let held = self.queue.front_mut()?;
        let order = if !held.begun {
            held.begun = true;
            Order::Begin(Box::new(held.unit.clone()), held.window)
        } else if held.stop {
            Order::Go(Directive::Stop)
        } else if held.shed {
            Order::Go(Directive::Shed)
        } else if std::mem::take(&mut held.new_window) {
            Order::Go(Directive::Window(held.window.to_engine(held.unit.turn())))
        } else {
            Order::Go(Directive::Continue)
        };
        self.orders.send(order).ok()?;
        self.stands.recv().ok()
    }
}

impl Drop for VirtualWorker {
    fn drop(&mut self) {
        let (closed, _) = channel();
        self.orders = closed;
        // A thread that stands at a poll finds its channel closed and stops.
        while self.stands.recv().is_ok() {}
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
