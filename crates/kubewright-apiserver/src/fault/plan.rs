//! Faults, and the plan that holds them.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;

use crate::wire::{RequestInfo, Status, Verb};

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
#[derive(Clone, Default)]
pub struct Faults(Arc<Mutex<Vec<Planned>>>);

impl Faults {
    /// Adds a fault to the end of the plan. The handle tells how often it has fired.
    pub fn add(&self, fault: Fault) -> FaultHandle {
        let fired = Arc::new(AtomicUsize::new(0));
        self.0.lock().push(Planned { fault, fired: fired.clone() });
        FaultHandle(fired)
    }

    /// Forgets all faults.
    pub fn clear(&self) {
        self.0.lock().clear();
    }

    /// How many faults may still fire.
    pub fn pending(&self) -> usize {
        self.0.lock().len()
    }

    /// What goes wrong with a request. Faults that have fired as often as they should leave the plan.
    pub(crate) fn judge(&self, info: &RequestInfo) -> Verdict {
        let mut verdict = Verdict::default();
        self.0.lock().retain_mut(|planned| {
            // One answer is enough: later faults wait for another request.
            if verdict.respond.is_some() || !planned.fault.concerns(info) {
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
            }
            planned.fault.left = planned.fault.left.map(|left| left - 1);
            planned.fault.left != Some(0)
        });
        verdict
    }
}

impl fmt::Debug for Faults {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.0.lock().iter().map(|planned| &planned.fault)).finish()
    }
}

struct Planned {
    fault: Fault,
    fired: Arc<AtomicUsize>,
}

/// Tells how often a fault has fired.
#[derive(Debug, Clone)]
pub struct FaultHandle(Arc<AtomicUsize>);

impl FaultHandle {
    /// How often the fault has fired.
    pub fn fired(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// Something that goes wrong. By default with any request, once.
#[must_use = "a fault does nothing until it is added to a plan"]
pub struct Fault {
    action: Action,
    matches: Box<dyn Fn(&RequestInfo) -> bool + Send + Sync>,
    skip: usize,
    left: Option<usize>,
}

#[derive(Debug)]
enum Action {
    Respond(Status),
    Delay(Duration),
    LoseAnswer,
    CutWatch { after_events: usize },
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

    /// Only requests for which `matches` is true. Default: all.
    pub fn when(mut self, matches: impl Fn(&RequestInfo) -> bool + Send + Sync + 'static) -> Self {
        self.matches = Box::new(matches);
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

    /// Fires every time, until the plan is cleared.
    pub fn always(mut self) -> Self {
        self.left = None;
        self
    }

    fn new(action: Action) -> Self {
        Self { action, matches: Box::new(|_| true), skip: 0, left: Some(1) }
    }

    fn concerns(&self, info: &RequestInfo) -> bool {
        let right_verb = !matches!(self.action, Action::CutWatch { .. }) || info.verb == Verb::Watch;
        right_verb && (self.matches)(info)
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
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) delay: Duration,
    pub(crate) respond: Option<Status>,
    pub(crate) lose_answer: bool,
    pub(crate) cut_after: Option<usize>,
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;

    fn request(path: &str) -> RequestInfo {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        RequestInfo::read(&Method::GET, path, &crate::wire::parse_query(Some(query)))
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
        assert_eq!(plan.judge(&request("/version")), Verdict::default());
    }

    #[test]
    fn only_watches_are_cut() {
        let plan = Faults::default();
        plan.add(Fault::cut_watch(3));
        assert_eq!(plan.judge(&request("/api/v1/pods")).cut_after, None);
        assert_eq!(plan.judge(&request("/api/v1/pods?watch=true")).cut_after, Some(3));
    }
}
