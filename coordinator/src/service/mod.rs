//! The gRPC services: decode, send to the driver, encode. No decisions are made here.

mod analysis;
mod book;
mod cache;
mod fleet;
mod positions;

use tonic::Status;

pub use analysis::AnalysisService;
pub use book::BookService;
pub use cache::CacheService;
pub use fleet::FleetService;
pub use positions::PositionsService;

use corridor_proto::convert::ConvertError;

use crate::cluster::Refusal;
use crate::driver::{AskError, Dropped};
use crate::store::StoreError;

/// A request that does not convert.
fn malformed(error: &ConvertError) -> Status {
    Status::invalid_argument(error.to_string())
}

/// What was answered, or why not.
pub(crate) fn asked<T>(answer: Result<T, AskError>) -> Result<T, Status> {
    answer.map_err(|error| unanswered(&error))
}

/// A question without an answer.
fn unanswered(error: &AskError) -> Status {
    let text = error.to_string();
    match error {
        AskError::Closed => Status::unavailable(text),
        AskError::Refused(refusal) => match refusal {
            Refusal::NotFound(_) => Status::not_found(text),
            Refusal::Invalid(_) => Status::invalid_argument(text),
            Refusal::Exhausted(_) => Status::resource_exhausted(text),
            Refusal::Precondition(_) => Status::failed_precondition(text),
            Refusal::Unavailable(_) => Status::unavailable(text),
            Refusal::AlreadyExists(_) => Status::already_exists(text),
            Refusal::Unsupported(_) => Status::unimplemented(text),
        },
    }
}

/// A store that could not be read. Only what stands there and makes no sense is lost; everything else may be there at the next
/// try.
fn unread(error: &StoreError) -> Status {
    match error {
        StoreError::Unreadable(_) => Status::data_loss(error.to_string()),
        _ => Status::unavailable(error.to_string()),
    }
}

/// A stream that ended early.
fn dropped(reason: Dropped) -> Status {
    Status::aborted(reason.0)
}

/// An answer of another kind than the question's.
fn wrong_answer() -> Status {
    Status::internal("the answer does not fit the question")
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::*;

    #[test]
    fn only_what_makes_no_sense_is_lost() {
        let text = || "so".to_owned();
        for (error, code) in [
            (StoreError::Unreadable(text()), Code::DataLoss),
            (StoreError::Read(text()), Code::Unavailable),
            (StoreError::Write(text()), Code::Unavailable),
            (StoreError::Open { store: text(), reason: text() }, Code::Unavailable),
        ] {
            let status = unread(&error);
            assert_eq!((status.code(), status.message()), (code, &*error.to_string()));
        }
    }
}
