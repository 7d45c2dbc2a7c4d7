//! In which form a client wants the metrics.

use http::{HeaderMap, header};

use super::Registry;

/// A form of the exposition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// Prometheus' text, version 0.0.4.
    Text,
    OpenMetrics,
}

impl Format {
    /// What the client likes best; text, if it has no opinion.
    ///
    /// Source: prometheus/common `expfmt.NegotiateIncludingOpenMetrics`.
    pub(super) fn wanted_by(headers: &HeaderMap) -> Self {
        let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let accepted = accepted.flat_map(|value| value.split(','));
        let ranges = accepted.filter_map(|range| Self::of(range).zip(Some(quality(range))));
        // The first of the best.
        let best = ranges.fold((Self::Text, 0.0), |best, range| if range.1 > best.1 { range } else { best });
        best.0
    }

    /// The form that a media range names.
    fn of(range: &str) -> Option<Self> {
        let mut parts = range.split(';').map(str::trim);
        let (name, version) = (parts.next()?, parts.find_map(|part| part.strip_prefix("version=")));
        match (name.to_ascii_lowercase().as_str(), version.map(|version| version.trim_matches('"'))) {
            ("application/openmetrics-text", None | Some("0.0.1" | "1.0.0")) => Some(Self::OpenMetrics),
            ("text/plain", None | Some("0.0.4")) | ("text/*" | "*/*", _) => Some(Self::Text),
            _ => None,
        }
    }

    pub(super) fn content_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }

    pub(super) fn encode(self, registry: &Registry) -> String {
        match self {
            Self::Text => registry.text(),
            Self::OpenMetrics => registry.open_metrics(),
        }
    }
}

/// How much a client likes a media range; 1, if it does not say.
fn quality(range: &str) -> f64 {
    let quality = range.split(';').find_map(|part| part.trim().strip_prefix("q="));
    quality.map_or(1.0, |quality| quality.parse().unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_gets_what_it_likes_best() {
        let prometheus = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,\
            application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.2,*/*;q=0.1";
        for (accept, expected) in [
            (prometheus, Format::OpenMetrics),
            ("", Format::Text),
            ("*/*", Format::Text),
            ("text/plain", Format::Text),
            ("application/openmetrics-text", Format::OpenMetrics),
            ("application/openmetrics-text; version=\"1.0.0\"", Format::OpenMetrics),
            ("application/openmetrics-text;version=2.0.0", Format::Text),
            ("application/openmetrics-text;q=0", Format::Text),
            ("text/plain;q=0.9, application/openmetrics-text;q=0.8", Format::Text),
            ("application/json", Format::Text),
        ] {
            let value = http::HeaderValue::from_str(accept);
            let headers = value.into_iter().map(|value| (header::ACCEPT, value)).collect();
            assert_eq!(Format::wanted_by(&headers), expected, "{accept}");
        }
    }
}
