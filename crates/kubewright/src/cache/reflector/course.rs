//! Decides what to ask the API server next, from how the last request ended. Knows no sockets and no clock.

use super::failure::Failure;

/// A request to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    /// The list and everything after it in one answer (`sendInitialEvents`); not older than the version, or the latest.
    StreamingList { not_older_than: Option<u64> },
    /// The list alone, in pages; not older than the version, or the latest.
    List { not_older_than: Option<u64> },
    /// Every change after the version.
    Watch { after: u64 },
}

impl Ask {
    /// The answer is what the API server has now: the request accepts no older state.
    pub(crate) fn is_latest(self) -> bool {
        matches!(self, Self::StreamingList { not_older_than: None } | Self::List { not_older_than: None })
    }
}

/// When to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    Now,
    AfterBackoff,
}

/// Where a reflector stands between two requests.
#[derive(Debug)]
pub(crate) struct Course {
    /// Up to here everything has reached the sink.
    position: Option<u64>,
    phase: Phase,
    streaming: Streaming,
}

#[derive(Debug, PartialEq, Eq)]
enum Phase {
    /// The next request is a list, not older than the position.
    Listing,
    /// The next request is a list of the latest state: the API server said that it cannot serve the position.
    Lost,
    /// The next request is a watch from the position.
    Watching,
}

#[derive(Debug, PartialEq, Eq)]
enum Streaming {
    Works,
    /// The last streaming list broke off: the next list comes in pages, of which only the broken one has to be read again.
    BrokeOff,
    /// The API server does not know streaming lists.
    Unknown,
}

impl Course {
    pub(crate) fn new() -> Self {
        Self { position: None, phase: Phase::Listing, streaming: Streaming::Works }
    }

    pub(crate) fn next(&self) -> Ask {
        let not_older_than = self.position.filter(|_| self.phase != Phase::Lost);
        match self.position {
            Some(after) if self.phase == Phase::Watching => Ask::Watch { after },
            _ if self.streaming == Streaming::Works => Ask::StreamingList { not_older_than },
            _ => Ask::List { not_older_than },
        }
    }

    /// A list is complete at `version`; this is the only way in which the position may go back.
    pub(crate) fn listed(&mut self, version: u64) {
        self.position = Some(version);
        self.phase = Phase::Watching;
        if self.streaming == Streaming::BrokeOff {
            self.streaming = Streaming::Works;
        }
    }

    /// The watch has reached `version`. Versions inside a streaming list are in no order and do not count.
    pub(crate) fn watched(&mut self, version: u64) {
        if self.phase == Phase::Watching {
            self.position = self.position.max(Some(version));
        }
    }

    /// The request failed, or its answer broke off. `progressed`: something had come first.
    pub(crate) fn failed(&mut self, failure: &Failure, progressed: bool) -> When {
        if failure.is_expired() || failure.is_too_large_version() {
            // The mend is a list of the latest state, at once; if that fails in the same way, something else is wrong.
            let was_lost = std::mem::replace(&mut self.phase, Phase::Lost) == Phase::Lost;
            return if was_lost { When::AfterBackoff } else { When::Now };
        }
        let is_listing = self.phase != Phase::Watching;
        if is_listing && self.streaming == Streaming::Works {
            if failure.means_no_streaming() {
                self.streaming = Streaming::Unknown;
                return When::Now;
            }
            if failure.is_passing() {
                self.streaming = Streaming::BrokeOff;
            }
        }
        if !is_listing && !failure.is_passing() {
            self.phase = Phase::Listing;
        }
        if progressed && self.phase == Phase::Watching { When::Now } else { When::AfterBackoff }
    }
}

impl When {
    /// When to ask after the API server has ended a watch in its own time.
    pub(crate) fn after_close(progressed: bool) -> Self {
        if progressed { Self::Now } else { Self::AfterBackoff }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(code: u16) -> Failure {
        Failure::Status { code, reason: String::new(), message: String::new() }
    }

    fn too_large() -> Failure {
        Failure::Status {
            code: 504,
            reason: "Timeout".into(),
            message: "Timeout: Too large resource version: 9, current: 3".into(),
        }
    }

    fn watching_at(version: u64) -> Course {
        let mut course = Course::new();
        course.listed(version);
        course
    }

    #[track_caller]
    fn check(mut course: Course, failure: &Failure, when: When, ask: Ask) {
        assert_eq!((course.failed(failure, false), course.next()), (when, ask));
    }

    #[test]
    fn a_watch_resumes_where_it_was_after_whatever_may_pass() {
        let silent = Failure::Silent(std::time::Duration::from_secs(90));
        for failure in [
            status(429),
            status(500),
            status(502),
            status(503),
            status(504),
            Failure::transport("reset"),
            silent,
        ] {
            check(watching_at(5), &failure, When::AfterBackoff, Ask::Watch { after: 5 });
        }
    }

    #[test]
    fn an_expired_version_is_given_up_at_once_however_the_server_says_it() {
        let by_reason = Failure::Status { code: 200, reason: "Expired".into(), message: String::new() };
        for failure in [status(410), by_reason, too_large()] {
            check(watching_at(5), &failure, When::Now, Ask::StreamingList { not_older_than: None });
        }
    }

    #[test]
    fn a_server_that_always_says_expired_is_not_flooded() {
        let mut course = watching_at(5);
        assert_eq!(course.failed(&status(410), false), When::Now);
        assert_eq!(course.failed(&status(410), false), When::AfterBackoff);
        assert_eq!(course.failed(&status(410), false), When::AfterBackoff);
    }

    #[test]
    fn any_other_refusal_of_a_watch_leads_to_a_list_that_does_not_go_back() {
        for failure in [status(400), status(403), status(404), Failure::malformed("x")] {
            check(
                watching_at(5),
                &failure,
                When::AfterBackoff,
                Ask::StreamingList { not_older_than: Some(5) },
            );
        }
    }

    #[test]
    fn a_server_without_streaming_lists_is_listed_in_pages_from_then_on() {
        for failure in [status(400), status(422), Failure::Endless] {
            check(Course::new(), &failure, When::Now, Ask::List { not_older_than: None });
        }
        let mut course = Course::new();
        course.failed(&status(422), false);
        course.listed(7);
        course.failed(&status(404), false);
        assert_eq!(course.next(), Ask::List { not_older_than: Some(7) });
    }

    #[test]
    fn a_streaming_list_that_breaks_off_is_followed_by_one_in_pages() {
        check(
            Course::new(),
            &Failure::transport("cut"),
            When::AfterBackoff,
            Ask::List { not_older_than: None },
        );
        let mut course = Course::new();
        course.failed(&Failure::transport("cut"), true);
        course.listed(7);
        check(course, &status(403), When::AfterBackoff, Ask::StreamingList { not_older_than: Some(7) });
    }

    #[test]
    fn versions_inside_an_unfinished_list_do_not_move_the_position() {
        let mut course = Course::new();
        course.watched(9);
        course.failed(&Failure::transport("cut"), true);
        assert_eq!(course.next(), Ask::List { not_older_than: None });
        course.listed(4);
        course.watched(6);
        course.watched(5);
        assert_eq!(course.next(), Ask::Watch { after: 6 });
    }

    #[test]
    fn progress_earns_an_immediate_reconnect_and_nothing_else_does() {
        let mut course = watching_at(5);
        assert_eq!(When::after_close(true), When::Now);
        assert_eq!(When::after_close(false), When::AfterBackoff);
        assert_eq!(course.failed(&Failure::transport("reset"), true), When::Now);
    }
}
