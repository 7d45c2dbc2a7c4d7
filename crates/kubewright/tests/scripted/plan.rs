//! How one request is answered.

use std::time::Duration;

/// How one request is answered; the default is as kube-apiserver answers it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The replica that answers; 0 is always at the head, the others lag until they catch up.
    pub replica: usize,
    /// The replica takes its own state for the latest, as aggregated servers do that read from a cache.
    pub stale_latest: bool,
    /// Answers with this error.
    pub status: Option<(u16, &'static str)>,
    /// Waits before it answers.
    pub delay: Duration,
    /// Waits between two pieces of a list.
    pub slow: Duration,
    /// The body breaks after so many bytes.
    pub cut_after: Option<usize>,
    /// Where it is cut, the body ends as if it were complete.
    pub ends_cleanly: bool,
    /// Nothing comes, and the connection stands.
    pub silent: bool,
    /// Watches get a bookmark each minute.
    pub bookmarks: bool,
    /// Bookmarks are sent to those who are ahead of the replica, too.
    pub low_bookmarks: bool,
    /// The end of a watch is what the client asked for.
    pub keeps_timeout: bool,
    pub streaming: Streaming,
    /// Pages are no longer than this.
    pub page: usize,
    /// A write is carried out, and its answer is lost.
    pub lost: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streaming {
    Works,
    /// 422, as API servers before 1.27 answer.
    Refused,
    /// `sendInitialEvents` is not looked at: everything comes as additions, and no bookmark ends them.
    Ignored,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            replica: 0,
            stale_latest: false,
            status: None,
            delay: Duration::ZERO,
            slow: Duration::ZERO,
            cut_after: None,
            ends_cleanly: false,
            silent: false,
            bookmarks: true,
            low_bookmarks: false,
            keeps_timeout: true,
            streaming: Streaming::Works,
            page: usize::MAX,
            lost: false,
        }
    }
}

impl Plan {
    pub fn status(code: u16, reason: &'static str) -> Self {
        Self { status: Some((code, reason)), ..Self::default() }
    }

    pub fn replica(replica: usize) -> Self {
        Self { replica, ..Self::default() }
    }

    pub fn stale(replica: usize) -> Self {
        Self { stale_latest: true, ..Self::replica(replica) }
    }

    pub fn cut(after_bytes: usize) -> Self {
        Self { cut_after: Some(after_bytes), ..Self::default() }
    }

    pub fn silent() -> Self {
        Self { silent: true, ..Self::default() }
    }

    pub fn streaming(streaming: Streaming) -> Self {
        Self { streaming, ..Self::default() }
    }
}
