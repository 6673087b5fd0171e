//! A network that breaks at the worst moment: a proxy in front of a server that cuts a connection just when the second question
//! on it is answered. The server has done what it was asked; the client does not know.

#![allow(dead_code, reason = "each file of tests uses its share")]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What of an answer does not arrive any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Nothing does: the call has no answer.
    Headers,
    /// There is an answer, and nothing is in it.
    Data,
}

impl Cut {
    /// The type of the frame of HTTP/2.
    const fn frame(self) -> u8 {
        match self {
            Self::Data => 0,
            Self::Headers => 1,
        }
    }
}

/// HTTP/2 numbers the questions of a client 1, 3, 5, ...
const SECOND_QUESTION: u32 = 3;

/// See the module.
pub(crate) struct Cutter {
    address: SocketAddr,
    cuts: Arc<AtomicUsize>,
}

impl Cutter {
    /// In front of a server on loopback; of the connections to come so many will be cut.
    pub(crate) fn start(server: SocketAddr, cut: Cut, cuts: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let cuts = Arc::new(AtomicUsize::new(cuts));
        let left = Arc::clone(&cuts);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(server) else { return };
                let (Ok(asks), Ok(hears)) = (client.try_clone(), server.try_clone()) else { return };
                std::thread::spawn(move || forward(asks, hears));
                let left = Arc::clone(&left);
                std::thread::spawn(move || answer(server, client, cut, &left));
            }
        });
        Self { address, cuts }
    }

    /// Where clients connect to.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Connections that are still to be cut.
    pub(crate) fn left(&self) -> usize {
        self.cuts.load(Ordering::SeqCst)
    }
}

fn end(one: &TcpStream, other: &TcpStream) {
    let _ = one.shutdown(Shutdown::Both);
    let _ = other.shutdown(Shutdown::Both);
}

fn forward(mut from: TcpStream, mut to: TcpStream) {
    let _ = std::io::copy(&mut from, &mut to);
    end(&from, &to);
}

/// Passes on what a server says, frame by frame, until the one at which the line is cut.
fn answer(mut server: TcpStream, mut client: TcpStream, cut: Cut, left: &AtomicUsize) {
    loop {
        let mut frame = vec![0; 9];
        if server.read_exact(&mut frame).is_err() {
            break;
        }
        let length = u32::from_be_bytes([0, frame[0], frame[1], frame[2]]);
        let question = u32::from_be_bytes([frame[5] & 0x7f, frame[6], frame[7], frame[8]]);
        let is_last = question == SECOND_QUESTION && frame[3] == cut.frame();
        let take = |left: usize| left.checked_sub(1);
        if is_last && left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_ok() {
            break;
        }
        frame.resize(9 + usize::try_from(length).unwrap(), 0);
        if server.read_exact(&mut frame[9..]).is_err() || client.write_all(&frame).is_err() {
            break;
        }
    }
    end(&server, &client);
}
