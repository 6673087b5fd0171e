//! The page's files, which are part of the binary.

use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::failure::Failure;

/// A file of the page.
struct Asset {
    name: &'static str,
    kind: &'static str,
    plain: &'static [u8],
    /// The same, compressed with gzip.
    packed: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// The description of the interface.
const OPENAPI: &[u8] = include_bytes!("openapi.json");

/// A browser must ask each time: a newer version has another file by the same name.
const ASK: &str = "no-cache";
/// A browser need not ask again: the address has the version.
const KEEP: &str = "public, max-age=31536000, immutable";

/// A file, unless the browser has this very one.
fn served(
    kind: &'static str,
    plain: &'static [u8],
    packed: Option<&'static [u8]>,
    keeping: &'static str,
    headers: &HeaderMap,
) -> Response {
    let says =
        |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok()).unwrap_or_default();
    let tag = tag(plain);
    let is_known = says(header::IF_NONE_MATCH).split(',').any(|it| it.trim() == tag || it.trim() == "*");
    let common = [
        (header::ETAG, tag),
        (header::CACHE_CONTROL, keeping.to_owned()),
        (header::VARY, "accept-encoding".to_owned()),
    ];
    if is_known {
        return (StatusCode::NOT_MODIFIED, common).into_response();
    }
    let takes_gzip =
        says(header::ACCEPT_ENCODING).split(',').any(|it| it.trim().split(';').next() == Some("gzip"));
    match packed.filter(|_| takes_gzip) {
        Some(packed) => (common, [(header::CONTENT_TYPE, kind), (header::CONTENT_ENCODING, "gzip")], packed)
            .into_response(),
        None => (common, [(header::CONTENT_TYPE, kind)], plain).into_response(),
    }
}

/// Names this very content: the version is not enough while somebody works on the page.
fn tag(bytes: &[u8]) -> String {
    // FNV-1a, 64 bits (Fowler, Noll, Vo).
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("\"{hash:016x}\"")
}

fn file(name: &str, keeping: &'static str, headers: &HeaderMap) -> Response {
    match ASSETS.iter().find(|asset| asset.name == name) {
        Some(asset) => served(asset.kind, asset.plain, Some(asset.packed), keeping, headers),
        None => no_file(name),
    }
}

fn no_file(name: &str) -> Response {
    Failure::not_found(format!("there is no file '{}'", name.escape_debug())).into_response()
}

pub(super) async fn page(headers: HeaderMap) -> Response {
    file("index.html", ASK, &headers)
}

/// A file of this version: another one's page needs its own files.
pub(super) async fn asset(Path((version, name)): Path<(String, String)>, headers: HeaderMap) -> Response {
    if version == VERSION { file(&name, KEEP, &headers) } else { no_file(&name) }
}

pub(super) async fn openapi(headers: HeaderMap) -> Response {
    served("application/json", OPENAPI, None, ASK, &headers)
}
