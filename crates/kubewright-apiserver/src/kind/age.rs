//! How long ago something was, in as few characters as a column has.

use jiff::Timestamp;

/// How long ago a time was, as people read it.
///
/// Source: kubernetes `printers/internalversion.translateTimestampSince`.
pub(crate) fn age(now: Timestamp, time: &str) -> String {
    match time.parse::<Timestamp>() {
        Ok(time) => human_duration(now.as_second() - time.as_second()),
        Err(_) if time.is_empty() => "<unknown>".into(),
        Err(_) => "<invalid>".into(),
    }
}

/// A duration as people read it, to two units at most.
///
/// Source: apimachinery `util/duration.HumanDuration`.
pub(super) fn human_duration(seconds: i64) -> String {
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let two = |big: i64, big_unit: &str, small: i64, small_unit: &str| {
        if small == 0 { format!("{big}{big_unit}") } else { format!("{big}{big_unit}{small}{small_unit}") }
    };
    match seconds {
        ..-1 => "<invalid>".into(),
        -1 => "0s".into(),
        0..120 => format!("{seconds}s"),
        120..600 => two(minutes, "m", seconds % 60, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => two(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => two(hours / 24, "d", hours % 24, "h"),
        691_200..63_072_000 => format!("{}d", hours / 24),
        63_072_000..252_288_000 => two(hours / 24 / 365, "y", (hours / 24) % 365, "d"),
        _ => format!("{}y", hours / 24 / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cases of upstream's `TestHumanDuration`.
    #[test]
    fn ages_read_as_upstream_writes_them() {
        const MINUTE: i64 = 60;
        const HOUR: i64 = 3600;
        const DAY: i64 = 24 * HOUR;
        const YEAR: i64 = 365 * DAY;
        for (seconds, text) in [
            (-2, "<invalid>"),
            (-1, "0s"),
            (1, "1s"),
            (70, "70s"),
            (190, "3m10s"),
            (70 * MINUTE, "70m"),
            (47 * HOUR, "47h"),
            (49 * HOUR, "2d1h"),
            (8 * DAY + 2 * HOUR, "8d"),
            (367 * DAY, "367d"),
            (2 * YEAR + 25 * DAY, "2y25d"),
            (8 * YEAR + 2 * DAY, "8y"),
            (10 * MINUTE - 1, "9m59s"),
            (3 * HOUR - 1, "179m"),
            (3 * HOUR + 30 * MINUTE, "3h30m"),
        ] {
            assert_eq!(human_duration(seconds), text, "{seconds}");
        }
    }
}
