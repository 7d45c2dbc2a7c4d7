//! Durations as Go writes them.

use std::time::Duration;

use jiff::SignedDuration;

/// `15s`, `1m30s`, `1.5h`, `400ms`.
///
/// Source: Go's `time.ParseDuration`, for what is not negative.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let parsed = text.parse::<SignedDuration>().ok().and_then(|duration| Duration::try_from(duration).ok());
    parsed.ok_or_else(|| format!("invalid duration \"{text}\": expected a number with its unit, as in 15s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_go_writes_is_read() {
        for (text, milliseconds) in
            [("15s", 15_000), ("1m30s", 90_000), ("1.5h", 5_400_000), ("400ms", 400), ("0s", 0)]
        {
            assert_eq!(duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "15", "-15s", "soon"] {
            assert!(duration(text).unwrap_err().contains("invalid duration"), "{text}");
        }
    }
}
