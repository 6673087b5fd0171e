//! Where a server listens: addresses on the command line, and ports that are bound before any serious work.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::TcpListener;

use crate::failure::Failure;

/// Reads `127.0.0.1:4242`, `[::]:4242`, `localhost:4242`; port 0 is any free one.
///
/// # Errors
/// Says what is wanted.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    const WANTED: &str = "IP:PORT is wanted, such as 127.0.0.1:4242, or 0.0.0.0:4242 for all networks";
    if let Some(port) = text.strip_prefix("localhost:") {
        let port = port.parse().map_err(|_| WANTED.to_owned())?;
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    text.parse().map_err(|_| WANTED.to_owned())
}

/// Takes a port.
///
/// # Errors
/// It is taken, or not ours to take.
pub(crate) fn bind(flag: &str, address: SocketAddr) -> Result<TcpListener, Failure> {
    corridor_coordinator::listen(address).map_err(|error| {
        let why = match error.kind() {
            ErrorKind::AddrInUse => "the port is taken".to_owned(),
            ErrorKind::AddrNotAvailable => "this machine has no such address".to_owned(),
            ErrorKind::PermissionDenied => "not allowed".to_owned(),
            _ => error.to_string(),
        };
        Failure::Failed(anyhow::anyhow!("{flag}: listen on {address}: {why}"))
    })
}

/// Takes a port if one is asked for.
///
/// # Errors
/// As [`bind`].
pub(crate) fn bind_if(flag: &str, address: Option<SocketAddr>) -> Result<Option<TcpListener>, Failure> {
    match address {
        None => Ok(None),
        Some(address) => bind(flag, address).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn addresses_have_an_ip_and_a_port() {
        for (text, read) in [
            ("127.0.0.1:4242", "127.0.0.1:4242"),
            ("0.0.0.0:0", "0.0.0.0:0"),
            ("[::]:80", "[::]:80"),
            ("localhost:1", "127.0.0.1:1"),
        ] {
            assert_eq!(address(text).map(|address| address.to_string()).as_deref(), Ok(read));
        }
        for text in
            ["", "4242", ":4242", "127.0.0.1", "localhost:", "localhost:65536", "host:1", "http://[::1]:1"]
        {
            assert!(address(text).is_err(), "{text}");
        }
    }
}
