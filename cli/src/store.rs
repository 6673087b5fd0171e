//! Where a coordinator of this process keeps what must outlive it.

use std::path::PathBuf;

use corridor_coordinator::store::{SqliteStore, Store};

use crate::failure::Failure;

/// Reads the name of a store.
///
/// # Errors
/// It is an address, and there are only files yet.
pub(crate) fn file(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() {
        return Err("the name of a file is wanted".to_owned());
    }
    if text.contains("://") {
        return Err("databases are not supported by this version: the name of a file is wanted".to_owned());
    }
    Ok(PathBuf::from(text))
}

/// Opens a store if one is asked for.
///
/// # Errors
/// It cannot be had.
pub(crate) async fn open(file: Option<&PathBuf>) -> Result<Option<Box<dyn Store>>, Failure> {
    let Some(file) = file else { return Ok(None) };
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        return Err(Failure::bad_input(&format!("--store: {} is no folder", folder.display())));
    }
    let host = sysinfo::System::host_name().unwrap_or_else(|| "this host".to_owned());
    let holder = format!("process {} on {host}", std::process::id());
    match SqliteStore::open(file, &holder).await {
        Ok(store) => Ok(Some(Box::new(store))),
        Err(error) => Err(Failure::Failed(anyhow::anyhow!("--store: {error}"))),
    }
}
