//! Any error, and how it reads in one line.

/// Any error that an author's code may return: that of a reconciler, a source, a runnable.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// An error and its causes in one line. A cause that its error has quoted at the end is not said again.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |chain, cause| {
        let cause = cause.to_string();
        if chain.ends_with(&cause) { chain } else { format!("{chain}: {cause}") }
    })
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
