//! A network that can fail: a proxy in front of a server that forgets what it should forward, without a reset.

#![allow(dead_code, reason = "each file of tests uses its share")]

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Forwards connections to a server. After [`Proxy::fail`] the connections that are open are half-open: both ends believe in
/// them, and nothing arrives any more.
pub(crate) struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    server: SocketAddr,
    /// Connections that were made before it became true lose everything.
    failed: AtomicBool,
    refuses: AtomicBool,
    /// Ends of half-open connections that their owners have given up: clients' and the server's.
    given_up: [AtomicUsize; 2],
    connections: AtomicUsize,
}

impl Proxy {
    /// In front of a server on loopback.
    pub(crate) fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            server,
            failed: AtomicBool::new(false),
            refuses: AtomicBool::new(false),
            given_up: [AtomicUsize::new(0), AtomicUsize::new(0)],
            connections: AtomicUsize::new(0),
        });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                accepting.connect(client);
            }
        });
        Self { address, shared }
    }

    /// Where clients connect to.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// From now on nothing passes, in either direction, and new connections are accepted and never answered.
    pub(crate) fn fail(&self) {
        self.shared.refuses.store(true, Ordering::SeqCst);
        self.shared.failed.store(true, Ordering::SeqCst);
    }

    /// New connections work again; those that were open stay half-open.
    pub(crate) fn heal(&self) {
        self.shared.refuses.store(false, Ordering::SeqCst);
    }

    /// Connections that were forwarded.
    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Half-open connections that the clients, and the server, have closed from their end.
    pub(crate) fn given_up(&self) -> (usize, usize) {
        let [clients, server] = &self.shared.given_up;
        (clients.load(Ordering::SeqCst), server.load(Ordering::SeqCst))
    }
}

impl Shared {
    fn connect(self: &Arc<Self>, client: TcpStream) {
        if self.refuses.load(Ordering::SeqCst) {
            // Accepted, read and never answered.
            std::thread::spawn(move || swallow(client));
            return;
        }
        let Ok(server) = TcpStream::connect(self.server) else { return };
        self.connections.fetch_add(1, Ordering::SeqCst);
        // Those that come after the failure was healed are good.
        let may_fail = !self.failed.load(Ordering::SeqCst);
        for (end, from, to) in
            [(0, client.try_clone(), server.try_clone()), (1, server.try_clone(), client.try_clone())]
        {
            let (Ok(from), Ok(to)) = (from, to) else { return };
            let shared = Arc::clone(self);
            std::thread::spawn(move || shared.forward(end, from, to, may_fail));
        }
    }

    /// One direction of a connection, until its sender ends it.
    fn forward(&self, end: usize, mut from: TcpStream, mut to: TcpStream, may_fail: bool) {
        let fails = || may_fail && self.failed.load(Ordering::SeqCst);
        let mut buffer = [0; 16 << 10];
        loop {
            let count = match from.read(&mut buffer) {
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => 0,
            };
            if fails() {
                if count == 0 {
                    self.given_up[end].fetch_add(1, Ordering::SeqCst);
                    return;
                }
                continue;
            }
            if count == 0 || to.write_all(&buffer[..count]).is_err() {
                let _ = to.shutdown(Shutdown::Both);
                let _ = from.shutdown(Shutdown::Both);
                return;
            }
        }
    }
}

/// Reads until the other end gives up.
fn swallow(mut stream: TcpStream) {
    let mut buffer = [0; 1 << 10];
    while stream.read(&mut buffer).is_ok_and(|count| count > 0) {}
}
