//! What was asked, for those who want to know.

use std::{
    collections::VecDeque,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;

use crate::context::{RequestInfo, UserInfo};

/// Everything that a server is asked while this handle lives: who asks, and what for. Clones share it.
///
/// Requests are recorded once it is known who asks, whether they are allowed or not. The newest 65,536 are kept.
///
/// # Example: what a program needs to be allowed
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube::{Api, Client, api::ListParams};
/// use kubewright_apiserver::{ApiServer, Verb};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), kube::Error> {
/// let server = ApiServer::builder().build();
/// let recorder = server.record_requests();
/// let config_maps: Api<ConfigMap> = Api::default_namespaced(Client::new(server.service(), "default"));
/// config_maps.list(&ListParams::default()).await?;
///
/// let [asked] = &recorder.requests()[..] else { panic!("one request was made") };
/// assert!(asked.request.is(Verb::List, "configmaps"));
/// assert_eq!(asked.user.name, "admin");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "the recording ends when its handle is dropped"]
pub struct RequestRecorder(Arc<Recorded>);

/// One request of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedRequest {
    /// Who has asked, or in whose name.
    pub user: UserInfo,
    /// What was asked for.
    pub request: RequestInfo,
}

impl RequestRecorder {
    /// What was asked so far, oldest first.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.0.lock().iter().cloned().collect()
    }
}

type Recorded = Mutex<VecDeque<RecordedRequest>>;

/// The recordings of a server that somebody still holds.
#[derive(Debug, Default)]
pub(crate) struct Recordings(Mutex<Vec<Weak<Recorded>>>);

impl Recordings {
    pub(crate) fn start(&self) -> RequestRecorder {
        let recorded = Arc::new(Recorded::default());
        self.0.lock().push(Arc::downgrade(&recorded));
        RequestRecorder(recorded)
    }

    /// Takes note of a request. Costs next to nothing while nobody records.
    pub(crate) fn note(&self, user: &UserInfo, request: &RequestInfo) {
        self.0.lock().retain(|recording| {
            let Some(recording) = recording.upgrade() else { return false };
            let mut requests = recording.lock();
            if requests.len() == MOST_KEPT {
                requests.pop_front();
            }
            requests.push_back(RecordedRequest { user: user.clone(), request: request.clone() });
            true
        });
    }
}

const MOST_KEPT: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;
    use crate::context::Query;

    fn request(number: usize) -> RequestInfo {
        RequestInfo::read(&Method::GET, &format!("/api/v1/pods/{number}"), &Query::default())
    }

    #[test]
    fn a_recording_has_what_was_asked_while_it_lasted() {
        let (recordings, user) = (Recordings::default(), UserInfo::admin());
        recordings.note(&user, &request(0));
        let (first, second) = (recordings.start(), recordings.start());
        recordings.note(&user, &request(1));
        drop(second);
        recordings.note(&user, &request(2));
        let asked: Vec<_> = first.requests().into_iter().map(|recorded| recorded.request).collect();
        assert_eq!(asked, [request(1), request(2)]);
        assert_eq!(recordings.0.lock().len(), 1, "a recording that nobody holds is forgotten");
    }

    #[test]
    fn a_long_recording_keeps_what_is_new() {
        let (recordings, user) = (Recordings::default(), UserInfo::admin());
        let recorder = recordings.start();
        (0..=MOST_KEPT).for_each(|number| recordings.note(&user, &request(number)));
        let asked = recorder.requests();
        assert_eq!((asked.len(), &asked[0].request), (MOST_KEPT, &request(1)));
    }
}
