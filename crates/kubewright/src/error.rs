//! Any error, and how it reads in one line.

use std::any::Any;

use tokio::task::JoinError;

/// Any error that an author's code may return: that of a reconciler, a source, a runnable.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// An error and its causes in one line, as kubewright logs them. A cause that its error has quoted at the end is not said again.
///
/// # Example: a log line of one's own
/// ```
/// use kubewright::{BoxError, error_chain};
///
/// let error: BoxError = "7x".parse::<u32>().unwrap_err().into();
/// assert_eq!(error_chain(&*error), "invalid digit found in string");
/// ```
pub fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |chain, cause| {
        let cause = cause.to_string();
        if chain.ends_with(&cause) { chain } else { format!("{chain}: {cause}") }
    })
}

/// An author's error, as a value whose type can be asked for.
///
/// `anyhow::Error` becomes a boxed error of a type of its own, in which nobody finds the [`TerminalError`](crate::reconcile::TerminalError) that it was made
/// of; it has to be asked for the original.
pub(crate) fn boxed<E: Into<BoxError> + 'static>(error: E) -> BoxError {
    let mut error = Some(error);
    if let Some(Some(anyhow)) =
        (&mut error as &mut dyn Any).downcast_mut::<Option<anyhow::Error>>().map(Option::take)
    {
        return anyhow.reallocate_into_boxed_dyn_error_without_backtrace();
    }
    error.expect("it is taken two lines above only, which returns").into()
}

/// What a panic said.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

/// How a task ended that did not end by itself.
pub(crate) fn join_message(ended: JoinError) -> String {
    match ended.try_into_panic() {
        Ok(panic) => panic_message(&*panic),
        Err(aborted) => aborted.to_string(),
    }
}

#[cfg(test)]
mod tests {
    #[derive(Debug, thiserror::Error)]
    #[error("{text}")]
    struct Link {
        text: &'static str,
        source: Option<Box<Link>>,
    }

    fn said(texts: &[&'static str]) -> String {
        let (text, causes) = texts.split_first().unwrap();
        let source = causes.iter().rev().fold(None, |source, text| Some(Box::new(Link { text, source })));
        super::chain(&Link { text, source })
    }

    #[test]
    fn a_cause_is_said_once() {
        assert_eq!(said(&["refused"]), "refused");
        assert_eq!(said(&["failed to get x", "refused", "port 1"]), "failed to get x: refused: port 1");
        assert_eq!(
            said(&["failed to get x: refused", "refused", "port 1"]),
            "failed to get x: refused: port 1"
        );
        assert_eq!(said(&["refused twice", "refused"]), "refused twice: refused");
    }
}
