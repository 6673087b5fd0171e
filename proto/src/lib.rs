//! The wire, and nothing else: the package `corridor.v1`, the conversions between it and the domain, and the JSON form of
//! events.
//!
//! Generated types stop at the edges: a service, a worker's session, [`convert`]. Everything inside speaks the domain
//! types of [`corridor_shared::job`].

pub mod convert;
pub mod json;
pub mod limits;

/// The generated package `corridor.v1`.
#[allow(
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::allow_attributes_without_reason,
    clippy::disallowed_types,
    clippy::missing_errors_doc,
    clippy::semicolon_if_nothing_returned,
    reason = "generated"
)]
pub mod v1 {
    tonic::include_proto!("corridor.v1");
}

/// Descriptors of all files of the package, for reflection.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/corridor_descriptor.bin"));
