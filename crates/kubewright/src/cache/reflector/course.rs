//! Decides what to ask the API server next, from how the last request ended. Knows no sockets, and no clock but the one it is given.
//!
//! **No step back.** `highest` is the highest version that has come, in a finished list or not; a list that is older than that is not
//! taken, whatever the request was. Only if the API server says [`TESTIMONIES`] times in a row that it has not come so far, it has gone
//! back itself, as after a restore from a backup; then its next list is the truth. It may say so with a list, with a bookmark, with "too
//! large resource version", or when it is asked before a watch goes on: an API server takes a watch from the future and stays silent.

use std::time::Duration;

use tokio::time::Instant;

use super::failure::Failure;

/// A request to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    /// The list and everything after it in one answer (`sendInitialEvents`); not older than the version, or the latest.
    StreamingList { not_older_than: Option<u64> },
    /// The list alone; not older than the version, or the latest.
    List { not_older_than: Option<u64>, pages: Pages },
    /// Where the API server is now: a list of one object, of which only the version counts.
    Version,
    /// Every change after the version.
    Watch { after: u64 },
}

/// How a list is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pages {
    Many,
    /// Everything at once: the pages took longer than the API server remembers.
    One,
}

/// When to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    Now,
    AfterBackoff,
}

/// What a list is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// At least as new as everything before.
    Newer,
    /// The API server has gone back, and this is where it is.
    WentBack,
}

/// Where a reflector stands between two requests.
#[derive(Debug)]
pub(crate) struct Course {
    /// Up to here everything has reached the sink.
    position: Option<u64>,
    /// The highest version that has come; beyond the position while a list is unfinished.
    highest: Option<u64>,
    phase: Phase,
    /// Before a watch goes on, the API server is asked whether it has come as far.
    doubtful: bool,
    /// How often in a row the API server has said that it has not.
    testimonies: u8,
    streaming: Streaming,
    pages: Pages,
    /// The API server sends bookmarks, so a silent watch has lost its other end.
    bookmarks: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Phase {
    /// The next request is a list, not older than what has come.
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
    /// The API server did not know streaming lists; another one may answer later, or the same after an upgrade.
    Unknown {
        since: Instant,
    },
}

impl Course {
    pub(crate) fn new() -> Self {
        Self {
            position: None,
            highest: None,
            phase: Phase::Listing,
            doubtful: false,
            testimonies: 0,
            streaming: Streaming::Works,
            pages: Pages::Many,
            bookmarks: false,
        }
    }

    pub(crate) fn next(&mut self, now: Instant) -> Ask {
        if self.doubtful {
            return Ask::Version;
        }
        if let (Some(after), Phase::Watching) = (self.position, &self.phase) {
            return Ask::Watch { after };
        }
        if let Streaming::Unknown { since } = self.streaming
            && now.saturating_duration_since(since) > UNKNOWN_FOR
        {
            self.streaming = Streaming::Works;
        }
        let not_older_than = self.highest.filter(|_| self.phase != Phase::Lost);
        match self.streaming {
            Streaming::Works => Ask::StreamingList { not_older_than },
            _ => Ask::List { not_older_than, pages: self.pages },
        }
    }

    /// The API server has gone back, as far as it is known: what it lists is the truth.
    pub(crate) fn expects_the_past(&self) -> bool {
        self.testimonies >= TESTIMONIES
    }

    /// Judges a list at `version`, before it is taken.
    pub(crate) fn judge(&self, version: u64) -> Result<Verdict, Failure> {
        match self.highest {
            Some(highest) if version < highest && !self.expects_the_past() => {
                Err(Failure::Older { version, reached: highest })
            }
            Some(highest) if version < highest => Ok(Verdict::WentBack),
            _ => Ok(Verdict::Newer),
        }
    }

    /// A list is complete at `version`, and was judged; this is the only way in which the position may go back.
    pub(crate) fn listed(&mut self, version: u64) {
        self.position = Some(version);
        self.highest = if self.expects_the_past() { Some(version) } else { self.highest.max(Some(version)) };
        self.phase = Phase::Watching;
        self.doubtful = false;
        self.testimonies = 0;
        self.pages = Pages::Many;
        if self.streaming == Streaming::BrokeOff {
            self.streaming = Streaming::Works;
        }
    }

    /// An object at `version` was listed. Versions inside a list are in no order: they do not move the position.
    pub(crate) fn saw(&mut self, version: u64) {
        self.highest = self.highest.max(Some(version));
    }

    /// The watch has reached `version`. True if that is progress.
    pub(crate) fn watched(&mut self, version: u64) -> bool {
        let moved = self.phase == Phase::Watching && self.position < Some(version);
        if moved {
            self.position = Some(version);
            self.testimonies = 0;
            self.saw(version);
        }
        moved
    }

    /// A watch has brought a bookmark at `version`.
    pub(crate) fn bookmarked(&mut self, version: u64) -> Result<bool, Failure> {
        self.bookmarks = true;
        match self.position {
            Some(reached) if version < reached => Err(Failure::Older { version, reached }),
            _ => Ok(self.watched(version)),
        }
    }

    /// A silent watch is to be given up long before its time is over.
    pub(crate) fn expects_bookmarks(&self) -> bool {
        self.bookmarks
    }

    /// The API server says that it is at `version` now.
    pub(crate) fn stands_at(&mut self, version: u64) -> When {
        if Some(version) < self.highest {
            return self.testify();
        }
        self.doubtful = false;
        self.testimonies = 0;
        When::Now
    }

    /// The API server has ended a watch. `worked`: it has brought something new, or stood for long.
    pub(crate) fn closed(&mut self, worked: bool) -> When {
        self.doubtful = self.phase == Phase::Watching;
        if worked { When::Now } else { When::AfterBackoff }
    }

    /// The request failed, or its answer broke off. `worked`: it had brought something new, or stood for long.
    pub(crate) fn failed(&mut self, failure: &Failure, worked: bool, now: Instant) -> When {
        if std::mem::take(&mut self.doubtful) {
            // Better a watch that may be in vain than none. The question is put again when that ends.
            return if failure.is_passing() { When::AfterBackoff } else { When::Now };
        }
        match failure {
            Failure::Older { .. } => self.testify(),
            Failure::PageExpired => {
                self.pages = Pages::One;
                When::Now
            }
            _ if failure.is_too_large_version() => {
                self.count_testimony();
                self.lost()
            }
            _ if failure.is_expired() => self.lost(),
            _ if self.phase == Phase::Watching => self.watch_failed(failure, worked),
            _ => self.list_failed(failure, now),
        }
    }

    fn watch_failed(&mut self, failure: &Failure, worked: bool) -> When {
        if !failure.is_passing() {
            self.phase = Phase::Listing;
            return When::AfterBackoff;
        }
        // A connection that breaks may be the end of the API server that knew the position.
        self.doubtful = !failure.is_status();
        if worked { When::Now } else { When::AfterBackoff }
    }

    fn list_failed(&mut self, failure: &Failure, now: Instant) -> When {
        self.pages = Pages::Many;
        if self.streaming == Streaming::Works {
            if failure.means_no_streaming() {
                self.streaming = Streaming::Unknown { since: now };
                return When::Now;
            }
            if failure.is_passing() {
                self.streaming = Streaming::BrokeOff;
            }
        }
        When::AfterBackoff
    }

    /// The mend is a list of the latest state, at once; if that fails in the same way, something else is wrong.
    fn lost(&mut self) -> When {
        let was_lost = std::mem::replace(&mut self.phase, Phase::Lost) == Phase::Lost;
        if was_lost { When::AfterBackoff } else { When::Now }
    }

    /// The API server has not come as far as what it has sent before. One answer may come from a replica that lags.
    fn testify(&mut self) -> When {
        self.count_testimony();
        self.doubtful = !self.expects_the_past();
        if self.doubtful {
            return When::AfterBackoff;
        }
        self.phase = Phase::Lost;
        When::Now
    }

    fn count_testimony(&mut self) {
        self.testimonies = TESTIMONIES.min(self.testimonies + 1);
    }
}

/// How often in a row an API server has to say that it went back. With the backoff between them, replicas that lag for seconds are not
/// believed.
const TESTIMONIES: u8 = 3;
/// API servers are upgraded one after the other, and a question costs one refused request.
const UNKNOWN_FOR: Duration = Duration::from_secs(600);
#[cfg(test)]
mod tests {
    use super::*;

    const LATEST: Ask = Ask::StreamingList { not_older_than: None };

    fn pages(not_older_than: Option<u64>) -> Ask {
        Ask::List { not_older_than, pages: Pages::Many }
    }

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

    fn silent() -> Failure {
        Failure::Silent(Duration::from_secs(90))
    }

    fn watching_at(version: u64) -> Course {
        let mut course = Course::new();
        course.listed(version);
        course
    }

    fn failed(course: &mut Course, failure: &Failure, worked: bool) -> (When, Ask) {
        (course.failed(failure, worked, Instant::now()), course.next(Instant::now()))
    }

    #[track_caller]
    fn check(mut course: Course, failure: &Failure, when: When, ask: Ask) {
        assert_eq!(failed(&mut course, failure, false), (when, ask));
    }

    #[test]
    fn a_watch_that_is_refused_for_now_is_asked_for_again() {
        for code in [429, 500, 502, 503, 504] {
            check(watching_at(5), &status(code), When::AfterBackoff, Ask::Watch { after: 5 });
        }
    }

    #[test]
    fn before_a_watch_that_ended_goes_on_the_server_is_asked_where_it_is() {
        for failure in [Failure::transport("reset"), silent()] {
            check(watching_at(5), &failure, When::AfterBackoff, Ask::Version);
        }
        for (version, ask) in [(5, Ask::Watch { after: 5 }), (7, Ask::Watch { after: 5 }), (4, Ask::Version)]
        {
            let mut course = watching_at(5);
            course.closed(true);
            assert_eq!(course.next(Instant::now()), Ask::Version);
            course.stands_at(version);
            assert_eq!(course.next(Instant::now()), ask, "at {version}");
        }
    }

    #[test]
    fn a_server_that_does_not_say_where_it_is_is_watched_all_the_same() {
        for (failure, when) in [(status(429), When::AfterBackoff), (status(403), When::Now)] {
            let mut course = watching_at(5);
            course.closed(true);
            assert_eq!(failed(&mut course, &failure, false), (when, Ask::Watch { after: 5 }));
        }
    }

    #[test]
    fn a_server_that_says_three_times_that_it_went_back_is_believed() {
        let mut course = watching_at(5);
        course.closed(true);
        assert_eq!((course.stands_at(3), course.next(Instant::now())), (When::AfterBackoff, Ask::Version));
        assert_eq!((course.stands_at(3), course.next(Instant::now())), (When::AfterBackoff, Ask::Version));
        assert!(course.judge(3).is_err());
        assert_eq!((course.stands_at(3), course.next(Instant::now())), (When::Now, LATEST));
        assert_eq!(course.judge(3).unwrap(), Verdict::WentBack);
        course.listed(3);
        assert_eq!(course.next(Instant::now()), Ask::Watch { after: 3 });
        assert!(course.judge(2).is_err(), "from there on, it starts anew");
    }

    #[test]
    fn a_replica_that_lags_is_not_believed() {
        let mut course = watching_at(5);
        for lagging in [3, 4] {
            course.closed(true);
            course.stands_at(lagging);
            course.stands_at(lagging);
            course.stands_at(5);
            assert_eq!(course.next(Instant::now()), Ask::Watch { after: 5 });
        }
        course.failed(&status(403), false, Instant::now());
        let older = course.judge(4).unwrap_err();
        check(course, &older, When::AfterBackoff, Ask::Version);
    }

    #[test]
    fn a_bookmark_from_the_past_raises_the_question() {
        let mut course = watching_at(5);
        assert!(matches!(course.bookmarked(5), Ok(false)));
        assert!(matches!(course.bookmarked(6), Ok(true)));
        let older = course.bookmarked(5).unwrap_err();
        check(course, &older, When::AfterBackoff, Ask::Version);
    }

    #[test]
    fn no_list_is_older_than_what_an_unfinished_one_brought() {
        let mut course = Course::new();
        course.saw(18);
        course.saw(20);
        course.saw(19);
        let broken = Failure::transport("cut");
        assert_eq!(failed(&mut course, &broken, false), (When::AfterBackoff, pages(Some(20))));
        assert!(course.judge(12).is_err());
        assert_eq!(course.judge(20).unwrap(), Verdict::Newer);
    }

    #[test]
    fn an_expired_version_is_given_up_at_once_however_the_server_says_it() {
        let by_reason = Failure::Status { code: 200, reason: "Expired".into(), message: String::new() };
        for failure in [status(410), by_reason, too_large()] {
            check(watching_at(5), &failure, When::Now, LATEST);
        }
    }

    #[test]
    fn a_server_that_always_says_expired_is_not_flooded() {
        let mut course = watching_at(5);
        for when in [When::Now, When::AfterBackoff, When::AfterBackoff] {
            assert_eq!(failed(&mut course, &status(410), false), (when, LATEST));
        }
    }

    #[test]
    fn any_other_refusal_of_a_watch_leads_to_a_list_that_does_not_go_back() {
        for failure in [status(400), status(403), status(404), Failure::malformed("x")] {
            let ask = Ask::StreamingList { not_older_than: Some(5) };
            check(watching_at(5), &failure, When::AfterBackoff, ask);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_without_streaming_lists_is_listed_in_pages_and_asked_again_later() {
        for failure in [status(400), status(422), Failure::Endless] {
            let mut course = Course::new();
            assert_eq!(failed(&mut course, &failure, false), (When::Now, pages(None)));
            course.listed(7);
            assert_eq!(failed(&mut course, &status(404), false).1, pages(Some(7)));
            tokio::time::advance(UNKNOWN_FOR + Duration::from_secs(1)).await;
            assert_eq!(course.next(Instant::now()), Ask::StreamingList { not_older_than: Some(7) });
        }
    }

    #[test]
    fn a_streaming_list_that_breaks_off_is_followed_by_one_in_pages() {
        let mut course = Course::new();
        let broken = Failure::transport("cut");
        assert_eq!(failed(&mut course, &broken, false), (When::AfterBackoff, pages(None)));
        course.listed(7);
        let ask = Ask::StreamingList { not_older_than: Some(7) };
        check(course, &status(403), When::AfterBackoff, ask);
    }

    #[test]
    fn a_list_that_expires_between_two_pages_is_read_in_one_piece() {
        let mut course = Course::new();
        course.failed(&Failure::transport("cut"), false, Instant::now());
        let whole = Ask::List { not_older_than: None, pages: Pages::One };
        assert_eq!(failed(&mut course, &Failure::PageExpired, false), (When::Now, whole));
        assert_eq!(failed(&mut course, &status(500), false), (When::AfterBackoff, pages(None)));
    }

    #[test]
    fn versions_inside_an_unfinished_list_do_not_move_the_position() {
        let mut course = Course::new();
        assert!(!course.watched(9));
        course.listed(4);
        assert!(course.watched(6));
        assert!(!course.watched(5));
        assert_eq!(course.next(Instant::now()), Ask::Watch { after: 6 });
    }

    #[test]
    fn what_worked_goes_on_at_once_and_nothing_else_does() {
        assert_eq!(watching_at(5).closed(true), When::Now);
        assert_eq!(watching_at(5).closed(false), When::AfterBackoff);
        assert_eq!(failed(&mut watching_at(5), &silent(), true).0, When::Now);
    }

    #[test]
    fn silence_counts_where_there_were_bookmarks() {
        let mut course = watching_at(5);
        assert!(!course.expects_bookmarks());
        course.bookmarked(5).unwrap();
        assert!(course.expects_bookmarks());
    }
}
