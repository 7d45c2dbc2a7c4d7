//! Faults, and the plan that holds them.

use std::{
    fmt,
    sync::{
        Arc, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::{
    context::{RequestInfo, Verb},
    error::Status,
};

/// The plan of faults of one server. Clones share it.
///
/// # Example: answer the next two creates of pods with 429
/// ```
/// use kubewright_apiserver::{ApiServer, Fault, Status, Verb};
///
/// let server = ApiServer::builder().build();
/// let fault = Fault::respond(Status::too_many_requests("slow down", 1))
///     .when(|request| request.is(Verb::Create, "pods"))
///     .times(2);
/// let handle = server.faults().add(fault);
/// assert_eq!(handle.fired(), 0);
/// ```
///
/// # Example: an API server that is away for a while
/// ```
/// use kubewright_apiserver::ApiServer;
///
/// let server = ApiServer::builder().build();
/// let outage = server.faults().outage();
/// // Open watches are cut, and no request is answered.
/// outage.remove();
/// assert_eq!(server.faults().pending(), 0);
/// ```
#[derive(Clone, Default)]
pub struct Faults(Arc<Mutex<Plan>>);

/// What the plan holds. Matchers are users' code and never run under its lock.
#[derive(Default)]
struct Plan {
    faults: Vec<Planned>,
    added: u64,
    /// The watches that may be open. Those that have ended are dropped when the next one begins.
    watches: Vec<OpenWatch>,
}

struct Planned {
    id: u64,
    fault: Fault,
    fired: Arc<AtomicUsize>,
}

#[derive(Clone)]
struct OpenWatch {
    request: Arc<RequestInfo>,
    cut: Weak<CancellationToken>,
}

impl Faults {
    /// Adds a fault to the end of the plan. The handle tells how often it has fired, and can remove it.
    pub fn add(&self, fault: Fault) -> FaultHandle {
        let fired = Arc::new(AtomicUsize::new(0));
        let (matches, cuts) = (fault.matches.clone(), matches!(fault.action, Action::Outage));
        let (id, watches) = {
            let mut plan = self.0.lock();
            plan.added += 1;
            let id = plan.added;
            plan.faults.push(Planned { id, fault, fired: fired.clone() });
            (id, if cuts { plan.watches.clone() } else { Vec::new() })
        };
        for watch in watches.iter().filter(|watch| matches(&watch.request)) {
            if let Some(cut) = watch.cut.upgrade() {
                cut.cancel();
            }
        }
        FaultHandle { fired, id, plan: self.clone() }
    }

    /// Nobody reaches the server until the handle's [`remove`](FaultHandle::remove): open watches are cut, and
    /// requests end without an answer. The same as adding [`Fault::outage`].
    pub fn outage(&self) -> FaultHandle {
        self.add(Fault::outage())
    }

    /// Forgets all faults.
    pub fn clear(&self) {
        self.0.lock().faults.clear();
    }

    /// How many faults may still fire.
    pub fn pending(&self) -> usize {
        self.0.lock().faults.len()
    }

    /// What goes wrong with a request. Faults that have fired as often as they should leave the plan.
    pub(crate) fn judge(&self, info: &RequestInfo) -> Verdict {
        // First known as open, then judged: an outage in between cuts the watch, or is met below.
        let mut verdict = Verdict { cut: self.open(info), ..Verdict::default() };
        let concerned = self.concerned(info);
        self.0.lock().faults.retain_mut(|planned| {
            // One answer is enough: later faults wait for another request.
            if verdict.is_answered() || !concerned.contains(&planned.id) {
                return true;
            }
            if planned.fault.skip > 0 {
                planned.fault.skip -= 1;
                return true;
            }
            planned.fired.fetch_add(1, Ordering::SeqCst);
            match &planned.fault.action {
                Action::Respond(status) => verdict.respond = Some(status.clone()),
                Action::Delay(delay) => verdict.delay += *delay,
                Action::LoseAnswer => verdict.lose_answer = true,
                Action::CutWatch { after_events } => verdict.cut_after = Some(*after_events),
                Action::Outage => verdict.unreachable = true,
            }
            planned.fault.left = planned.fault.left.map(|left| left - 1);
            planned.fault.left != Some(0)
        });
        verdict
    }

    /// Which faults concern a request.
    fn concerned(&self, info: &RequestInfo) -> Vec<u64> {
        let candidates: Vec<(u64, Matcher)> = {
            let plan = self.0.lock();
            let faults = plan.faults.iter().filter(|planned| planned.fault.is_for(info.verb));
            faults.map(|planned| (planned.id, planned.fault.matches.clone())).collect()
        };
        candidates.into_iter().filter(|(_, matches)| matches(info)).map(|(id, _)| id).collect()
    }

    /// Takes note of a watch. It is cut when the token is cancelled, and over when the token is dropped.
    fn open(&self, info: &RequestInfo) -> Arc<CancellationToken> {
        let cut = Arc::new(CancellationToken::new());
        if info.verb == Verb::Watch {
            let watch = OpenWatch { request: Arc::new(info.clone()), cut: Arc::downgrade(&cut) };
            let mut plan = self.0.lock();
            plan.watches.retain(|watch| watch.cut.strong_count() > 0);
            plan.watches.push(watch);
        }
        cut
    }
}

impl fmt::Debug for Faults {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.0.lock().faults.iter().map(|planned| &planned.fault)).finish()
    }
}

/// Tells how often a fault has fired, and removes it.
#[derive(Debug, Clone)]
pub struct FaultHandle {
    fired: Arc<AtomicUsize>,
    id: u64,
    plan: Faults,
}

impl FaultHandle {
    /// How often the fault has fired. Watches that an outage has cut do not count.
    pub fn fired(&self) -> usize {
        self.fired.load(Ordering::SeqCst)
    }

    /// Takes the fault out of the plan. Nothing happens when it has left already.
    pub fn remove(&self) {
        self.plan.0.lock().faults.retain(|planned| planned.id != self.id);
    }
}

/// Whether a fault concerns a request.
type Matcher = Arc<dyn Fn(&RequestInfo) -> bool + Send + Sync>;

/// Something that goes wrong. By default with any request, once.
#[must_use = "a fault does nothing until it is added to a plan"]
pub struct Fault {
    action: Action,
    matches: Matcher,
    skip: usize,
    left: Option<usize>,
}

#[derive(Debug)]
enum Action {
    Respond(Status),
    Delay(Duration),
    LoseAnswer,
    CutWatch { after_events: usize },
    Outage,
}

impl Fault {
    /// The request is not handled; it is answered with this Status.
    pub fn respond(status: Status) -> Self {
        Self::new(Action::Respond(status))
    }

    /// The request is handled this much later.
    pub fn delay(delay: Duration) -> Self {
        Self::new(Action::Delay(delay))
    }

    /// The request is handled, and then the connection breaks instead of an answer.
    pub fn lose_answer() -> Self {
        Self::new(Action::LoseAnswer)
    }

    /// A watch delivers this many events (bookmarks count) and then breaks, without a clean end.
    ///
    /// Concerns watches only, whatever [`when`](Self::when) says.
    pub fn cut_watch(after_events: usize) -> Self {
        Self::new(Action::CutWatch { after_events })
    }

    /// The server cannot be reached: requests end without being handled or answered, until the fault is removed.
    /// When it is added, the open watches that it concerns are cut, in the middle of whatever they do.
    pub fn outage() -> Self {
        Self::new(Action::Outage).always()
    }

    /// Only requests for which `matches` is true. Default: all.
    ///
    /// # Example: an outage for one caller
    /// ```
    /// use kubewright_apiserver::{ApiServer, Fault};
    ///
    /// let server = ApiServer::builder().build();
    /// let of_kubectl = Fault::outage().when(|request| request.user_agent.starts_with("kubectl/"));
    /// let outage = server.faults().add(of_kubectl);
    /// outage.remove();
    /// ```
    pub fn when(mut self, matches: impl Fn(&RequestInfo) -> bool + Send + Sync + 'static) -> Self {
        self.matches = Arc::new(matches);
        self
    }

    /// Leaves the first `requests` that it concerns alone. Default: 0.
    pub fn after(mut self, requests: usize) -> Self {
        self.skip = requests;
        self
    }

    /// Fires this many times; 0 is read as 1. Default: 1.
    pub fn times(mut self, times: usize) -> Self {
        self.left = Some(times.max(1));
        self
    }

    /// Fires every time, until it is removed or the plan is cleared.
    pub fn always(mut self) -> Self {
        self.left = None;
        self
    }

    fn new(action: Action) -> Self {
        Self { action, matches: Arc::new(|_| true), skip: 0, left: Some(1) }
    }

    fn is_for(&self, verb: Verb) -> bool {
        !matches!(self.action, Action::CutWatch { .. }) || verb == Verb::Watch
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Fault")
            .field("action", &self.action)
            .field("skip", &self.skip)
            .field("left", &self.left)
            .finish_non_exhaustive()
    }
}

/// What goes wrong with one request.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) delay: Duration,
    pub(crate) respond: Option<Status>,
    pub(crate) unreachable: bool,
    pub(crate) lose_answer: bool,
    pub(crate) cut_after: Option<usize>,
    /// Fires when an open watch is to be cut. The watch is open for as long as somebody holds it.
    pub(crate) cut: Arc<CancellationToken>,
}

impl Verdict {
    fn is_answered(&self) -> bool {
        self.respond.is_some() || self.unreachable
    }
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;

    fn request(path: &str) -> RequestInfo {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        RequestInfo::read(&Method::GET, path, &crate::context::Query::parse(Some(query)))
    }

    #[test]
    fn a_fault_fires_as_often_as_it_should() {
        let plan = Faults::default();
        let fault = Fault::lose_answer().when(|info| info.is(Verb::List, "pods")).after(1).times(2);
        let handle = plan.add(fault);
        let pods = request("/api/v1/pods");
        let fires: Vec<bool> = (0..5).map(|_| plan.judge(&pods).lose_answer).collect();
        assert_eq!(fires, [false, true, true, false, false]);
        assert!(!plan.judge(&request("/api/v1/nodes")).lose_answer);
        assert_eq!((handle.fired(), plan.pending()), (2, 0));
    }

    #[test]
    fn one_request_meets_several_faults_but_one_answer() {
        let plan = Faults::default();
        plan.add(Fault::delay(Duration::from_secs(1)).always());
        plan.add(Fault::respond(Status::service_unavailable("a")));
        plan.add(Fault::respond(Status::service_unavailable("b")));
        let answers: Vec<_> = (0..3)
            .map(|_| plan.judge(&request("/version")))
            .map(|verdict| (verdict.delay.as_secs(), verdict.respond.map(|status| status.message)))
            .collect();
        assert_eq!(answers, [(1, Some("a".into())), (1, Some("b".into())), (1, None)]);
        plan.clear();
        assert_eq!(plan.judge(&request("/version")).delay, Duration::ZERO);
    }

    #[test]
    fn only_watches_are_cut() {
        let plan = Faults::default();
        plan.add(Fault::cut_watch(3));
        assert_eq!(plan.judge(&request("/api/v1/pods")).cut_after, None);
        assert_eq!(plan.judge(&request("/api/v1/pods?watch=true")).cut_after, Some(3));
    }

    #[test]
    fn a_fault_that_is_removed_fires_no_longer_and_others_stay() {
        let plan = Faults::default();
        let first = plan.add(Fault::lose_answer().always());
        plan.add(Fault::delay(Duration::from_secs(1)).always());
        assert!(plan.judge(&request("/version")).lose_answer);
        first.remove();
        first.remove();
        let verdict = plan.judge(&request("/version"));
        assert_eq!((verdict.lose_answer, verdict.delay.as_secs(), first.fired()), (false, 1, 1));
    }

    #[test]
    fn an_outage_cuts_the_open_watches_that_it_concerns() {
        let plan = Faults::default();
        let watch = |resource: &str| plan.judge(&request(&format!("/api/v1/{resource}?watch=true"))).cut;
        let (pods, nodes) = (watch("pods"), watch("nodes"));
        let outage = plan.add(Fault::outage().when(|info| info.is(Verb::Watch, "pods")));
        assert_eq!((pods.is_cancelled(), nodes.is_cancelled()), (true, false));
        assert!(plan.judge(&request("/api/v1/pods?watch=true")).unreachable);
        outage.remove();
        assert!(!plan.judge(&request("/api/v1/pods?watch=true")).unreachable);
        drop((pods, nodes));
        watch("secrets");
        assert_eq!(plan.0.lock().watches.len(), 1, "watches that have ended are forgotten");
    }

    #[test]
    fn a_matcher_may_use_the_plan() {
        let plan = Faults::default();
        let inner = plan.clone();
        plan.add(Fault::lose_answer().when(move |_| inner.pending() == 1));
        assert!(plan.judge(&request("/version")).lose_answer);
    }
}
