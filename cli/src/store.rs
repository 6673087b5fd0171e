//! Where a coordinator of this process keeps what must outlive it.

use std::ffi::OsStr;
use std::sync::Arc;

use clap::builder::TypedValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use corridor_coordinator::store::{BookReader, DatabaseReader, DatabaseStore, Place, Store, StoreError};

use crate::failure::Failure;

/// Reads where a store is. What is wrong is said without the text itself, for that may hold a password.
#[derive(Clone, Debug)]
pub(crate) struct PlaceParser;

impl TypedValueParser for PlaceParser {
    type Value = Place;

    fn parse_ref(
        &self,
        _command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Place, clap::Error> {
        let flag = argument.map_or_else(|| "--store".to_owned(), ToString::to_string);
        let refused = |why: &dyn std::fmt::Display| {
            let mut error =
                clap::Error::raw(ErrorKind::ValueValidation, format!("invalid value for '{flag}': {why}"));
            error.insert(ContextKind::InvalidArg, ContextValue::String(flag.clone()));
            error
        };
        let text = value.to_str().ok_or_else(|| clap::Error::new(ErrorKind::InvalidUtf8))?;
        text.parse().map_err(|error| refused(&error))
    }
}

/// Opens a store for whoever only looks: others may hold it, and nothing is changed.
///
/// # Errors
/// It cannot be read, or another version has made it.
pub(crate) async fn look(place: &Place) -> Result<Arc<dyn BookReader>, Failure> {
    must_be_file(place)?;
    match DatabaseReader::open(place).await {
        Ok(reader) => Ok(Arc::new(reader)),
        Err(error) => Err(refused(&error)),
    }
}

/// What is no file is refused as bad input; whether a file is a store shows when it is opened.
fn must_be_file(place: &Place) -> Result<(), Failure> {
    let Place::File(file) = place else { return Ok(()) };
    let why = match file.metadata() {
        Ok(found) if found.is_dir() => "is a folder, not a file",
        Ok(found) if !found.is_file() => "is no file that keeps anything",
        _ => return Ok(()),
    };
    Err(Failure::bad_input(&format!("--store: {} {why}", file.display())))
}

/// Why a store cannot be had, and what could be done about it.
fn refused(error: &StoreError) -> Failure {
    let hint = match error {
        StoreError::Held { .. } => {
            "; several use it by way of corridor serve or corridor coordinator --store, with --coordinator"
        }
        _ => "",
    };
    Failure::Failed(anyhow::anyhow!("--store: {error}{hint}"))
}

/// Opens a store if one is asked for.
///
/// # Errors
/// It cannot be had.
pub(crate) async fn open(place: Option<&Place>) -> Result<Option<Box<dyn Store>>, Failure> {
    let Some(place) = place else { return Ok(None) };
    if let Place::File(file) = place
        && let Some(folder) =
            file.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir())
    {
        return Err(Failure::bad_input(&format!("--store: {} is no folder", folder.display())));
    }
    must_be_file(place)?;
    let host = sysinfo::System::host_name().unwrap_or_else(|| "this host".to_owned());
    let holder = format!("process {} on {host}", std::process::id());
    match DatabaseStore::open(place, &holder).await {
        Ok(store) => Ok(Some(Box::new(store))),
        Err(error) => Err(refused(&error)),
    }
}
