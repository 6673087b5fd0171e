//! The coordinator: takes jobs, cuts them into units of search, leases these to workers and streams what comes back.
//!
//! [`cluster`] decides and is pure; [`driver`] owns it and carries out what it says; [`cache`] is what workers share of
//! their tables; [`service`] translates; [`server`] puts it all on a listener.

pub mod cache;
pub mod cluster;
pub mod driver;
pub mod limits;
pub mod server;
pub mod service;

pub use cluster::Config;
pub use server::{Coordinator, StartError};
