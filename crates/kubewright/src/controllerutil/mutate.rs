//! What a function that changes an object gives back.

use crate::BoxError;

/// The output of a function that changes an object: nothing, or a `Result` if it can fail.
#[diagnostic::on_unimplemented(
    message = "a mutate function returns nothing or a `Result<(), E>`, not `{Self}`",
    note = "`E` is any error that goes into a `Box<dyn Error + Send + Sync>`"
)]
pub trait MutateResult: sealed::Sealed {
    /// As a `Result`.
    ///
    /// # Errors
    /// The function's own.
    fn into_result(self) -> Result<(), BoxError>;
}

mod sealed {
    pub trait Sealed {}
}

impl sealed::Sealed for () {}

impl MutateResult for () {
    fn into_result(self) -> Result<(), BoxError> {
        Ok(())
    }
}

impl<E: Into<BoxError>> sealed::Sealed for Result<(), E> {}

impl<E: Into<BoxError>> MutateResult for Result<(), E> {
    fn into_result(self) -> Result<(), BoxError> {
        self.map_err(Into::into)
    }
}
