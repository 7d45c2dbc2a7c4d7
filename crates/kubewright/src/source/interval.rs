//! Requests on a timer.

use std::{borrow::Cow, fmt, time::Duration};

use tokio::time::{Instant, sleep_until};

use super::{
    Source, SourceContext,
    delivery::{Failure, guarded},
};
use crate::{
    BoxError, error,
    handler::LOW_PRIORITY,
    reconcile::RequestType,
    workqueue::{AddOptions, Queue},
};

/// Enqueues what `requests` gives, every `period`; for the first time one period after the start, since the start itself reconciles every
/// object that a watch finds.
///
/// Each round is enqueued at [`LOW_PRIORITY`], as a resync is: what somebody has just changed overtakes ten thousand keys that are merely due
/// again. It is enqueued rate-limited, so keys that are failing already are not hurried. Rounds that come due while one is still at work
/// are left out. A round whose `requests` fails or panics is logged, counted (`kubewright_source_event_failures_total`) and tried again, after 1 s
/// and then twice as long each time, but never longer than `period`; the next round comes a period after the try that succeeds.
///
/// # Example: every object, each half hour
/// ```no_run
/// # use std::time::Duration;
/// # use k8s_openapi::api::core::v1::ConfigMap;
/// # use kubewright::{client::Client, BoxError, reconcile::Request, source};
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
    Interval { period, is_immediate: false, jitter: 0.0, requests }
}

/// See [`interval`].
#[must_use]
pub struct Interval<F> {
    period: Duration,
    is_immediate: bool,
    jitter: f64,
    requests: F,
}

impl<F> Interval<F> {
    /// Lets the first round come at the start, and not one period later.
    pub fn immediate_first_tick(mut self) -> Self {
        self.is_immediate = true;
        self
    }

    /// Makes each period longer by up to this part of it, at random, so that many processes do not come back together.
    ///
    /// Default: 0. Negative numbers and what is no number count as 0.
    pub fn jitter(mut self, part: f64) -> Self {
        self.jitter = part.max(0.0);
        self
    }

    async fn round<R, I, E, Fut>(&mut self, queue: &Queue<R>) -> Result<(), BoxError>
    where
        R: RequestType,
        I: IntoIterator<Item = R>,
        E: Into<BoxError>,
        Fut: Future<Output = Result<I, E>>,
        F: FnMut() -> Fut,
    {
        let requests = (self.requests)().await.map_err(Into::into)?;
        queue.add_with(AddOptions::new().rate_limited().priority(LOW_PRIORITY), requests);
        Ok(())
    }

    fn next_period(&self, random: &mut fastrand::Rng) -> Duration {
        // What is too long for a `Duration` is as good as never.
        Duration::try_from_secs_f64(self.period.as_secs_f64() * (1.0 + self.jitter * random.f64()))
            .unwrap_or(Duration::MAX)
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
        let name = Source::<R>::name(&self);
        context.clone().spawn(async move {
            let mut random = fastrand::Rng::new();
            let mut failures = 0;
            let mut wait = if self.is_immediate { Duration::ZERO } else { self.next_period(&mut random) };
            let mut due = Instant::now();
            loop {
                // A round that comes due while the last one was still at work is left out.
                due = due.checked_add(wait).map_or_else(far_away, |due| due.max(Instant::now()));
                sleep_until(due).await;
                let Err(failure) = guarded(self.round(&queue)).await else {
                    failures = 0;
                    wait = self.next_period(&mut random);
                    continue;
                };
                wait = backoff(failures).min(self.period);
                failures += 1;
                report(&failure, &name, wait, &context);
            }
        });
        Ok(())
    }

    fn name(&self) -> Cow<'static, str> {
        format!("interval source: every {:?}", self.period).into()
    }
}

fn report(failure: &Failure, source: &str, retry_in: Duration, context: &SourceContext) {
    match failure {
        Failure::Failed(error) => {
            context.count_failure(source, "error");
            let error = error::chain(error.as_ref());
            tracing::warn!(source, error, ?retry_in, "an interval source has no requests this time");
        }
        Failure::Panicked(message) => {
            context.count_failure(source, "panic");
            tracing::error!(source, message, ?retry_in, "an interval source panicked");
        }
    }
}

/// 1 s, doubled by each failure in a row.
fn backoff(failures: u32) -> Duration {
    Duration::from_secs(1 << failures.min(32))
}

fn far_away() -> Instant {
    Instant::now() + Duration::from_secs(86_400 * 365 * 30)
}

impl<F> fmt::Debug for Interval<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interval")
            .field("period", &self.period)
            .field("jitter", &self.jitter)
            .finish_non_exhaustive()
    }
}
