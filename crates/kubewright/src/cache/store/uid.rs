//! The identity of an object across its lives under one name.

use std::fmt;

use uuid::Uuid;

/// `metadata.uid`. API servers write version-4 UUIDs, which take 16 bytes here; anything else is kept as it is.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Uid {
    Uuid(Uuid),
    Other(Box<str>),
}

impl Uid {
    pub(crate) fn new(text: &str) -> Self {
        match Uuid::try_parse(text) {
            // Only the canonical spelling comes back as it was.
            Ok(uuid) if uuid.hyphenated().encode_lower(&mut Uuid::encode_buffer()) == text => {
                Self::Uuid(uuid)
            }
            _ => Self::Other(text.into()),
        }
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uuid(uuid) => uuid.hyphenated().fmt(f),
            Self::Other(text) => f.write_str(text),
        }
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_uid_comes_back_as_it_was() {
        for text in [
            "",
            "u-1",
            "9d5e5bd1-6f3a-4a7c-8f1e-0d2b3c4d5e6f",
            "9D5E5BD1-6F3A-4A7C-8F1E-0D2B3C4D5E6F",
            "9d5e5bd16f3a4a7c8f1e0d2b3c4d5e6f",
        ] {
            assert_eq!(Uid::new(text).to_string(), text);
        }
        assert!(matches!(Uid::new("9d5e5bd1-6f3a-4a7c-8f1e-0d2b3c4d5e6f"), Uid::Uuid(_)));
    }
}
