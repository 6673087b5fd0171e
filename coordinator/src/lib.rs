//! The coordinator: takes jobs, cuts them into units of search, leases these to workers and streams what comes back.
//!
//! [`cluster`] decides and is pure; [`driver`] owns it and carries out what it says; [`cache`] is what workers share of
//! their tables; [`store`] keeps what must outlive the
//! process; [`service`] translates; [`server`] puts it all on a listener.

pub mod cache;
pub mod cluster;
mod connection;
mod dashboard;
mod deliveries;
pub mod driver;
mod keeper;
pub mod limits;
mod metrics;
pub mod server;
pub mod service;
pub mod store;

pub use cluster::Config;
pub use server::{Coordinator, Readiness, StartError, listen};
