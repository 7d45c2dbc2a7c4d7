//! Requests on a timer.

use std::{borrow::Cow, fmt, time::Duration};

use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::{Source, SourceContext};
use crate::{handler::RequestType, reconcile::BoxError, workqueue::Queue};

/// Enqueues what `requests` gives, every `period`; for the first time one period after the start, since the start itself reconciles every
/// object that a watch finds.
///
/// Each round is enqueued rate-limited, so keys that are failing already are not hurried. Rounds that come due while one is still at work
/// are left out. An error of `requests` is logged, and the next round tries again.
///
/// # Example: every object, each half hour
/// ```no_run
/// # use std::time::Duration;
/// # use k8s_openapi::api::core::v1::ConfigMap;
/// # use kubewright::{client::Client, reconcile::{BoxError, Request}, source};
/// # fn example(client: Client) {
/// let source = source::interval(Duration::from_secs(1800), move || {
///     let client = client.clone();
///     async move {
///         let all = client.list::<ConfigMap>().await?;
///         Ok::<_, BoxError>(all.iter().map(|object| Request::of(&**object)).collect::<Vec<_>>())
///     }
/// });
/// # let _: source::Interval<_> = source;
/// # }
/// ```
pub fn interval<R, I, E, Fut, F>(period: Duration, requests: F) -> Interval<F>
where
    R: RequestType,
    I: IntoIterator<Item = R> + Send,
    E: Into<BoxError>,
    Fut: Future<Output = Result<I, E>> + Send,
    F: FnMut() -> Fut + Send + 'static,
{
    Interval { period, first_after: period, requests }
}

/// See [`interval`].
#[must_use]
pub struct Interval<F> {
    period: Duration,
    first_after: Duration,
    requests: F,
}

impl<F> Interval<F> {
    /// Lets the first round come at the start, and not one period later.
    pub fn immediate_first_tick(mut self) -> Self {
        self.first_after = Duration::ZERO;
        self
    }
}

impl<R, I, E, Fut, F> Source<R> for Interval<F>
where
    R: RequestType,
    I: IntoIterator<Item = R> + Send,
    E: Into<BoxError>,
    Fut: Future<Output = Result<I, E>> + Send,
    F: FnMut() -> Fut + Send + 'static,
{
    async fn start(mut self, context: SourceContext, queue: Queue<R>) -> Result<(), BoxError> {
        if self.period.is_zero() {
            return Err("the period of an interval source is zero".into());
        }
        let mut ticks = interval_at(Instant::now() + self.first_after, self.period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        context.spawn(async move {
            loop {
                ticks.tick().await;
                match (self.requests)().await.map_err(Into::into) {
                    Ok(requests) => requests.into_iter().for_each(|request| queue.add_rate_limited(request)),
                    Err(error) => tracing::warn!(error, "an interval source has no requests this time"),
                }
            }
        });
        Ok(())
    }

    fn name(&self) -> Cow<'static, str> {
        format!("interval source: every {:?}", self.period).into()
    }
}

impl<F> fmt::Debug for Interval<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interval").field("period", &self.period).finish_non_exhaustive()
    }
}
