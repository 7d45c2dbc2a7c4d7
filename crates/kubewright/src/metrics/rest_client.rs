//! What a client of the API server counts, under client-go's names.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use http::{Method, Request, Response};
use http_body::Body;
use prometheus::{
    HistogramOpts, HistogramVec, IntCounterVec, Opts,
    core::{Collector, Desc},
    proto::MetricFamily,
};
use tokio::time::Instant;
use tower_layer::Layer;
use tower_service::Service;

use super::Registry;

/// A layer of a [`kube::Client`] that counts its requests: `rest_client_requests_total` by code, method and host; on demand also how long they take and how
/// large they are. A cluster that makes its client of a configuration has it; a client that was given to it needs its own.
///
/// # Example: a client of one's own
/// ```no_run
/// use kubewright::metrics::{self, RestClientMetrics};
///
/// # fn example(config: kube::Config) -> Result<kube::Client, kube::Error> {
/// let host = config.cluster_url.host().unwrap_or_default().to_owned();
/// let registry = metrics::registry();
/// let layer = RestClientMetrics::new(registry, host).with_durations_and_sizes(registry);
/// let client = kube::client::ClientBuilder::try_from(config)?.with_layer(&layer).build();
/// # Ok(client)
/// # }
/// ```
///
/// # Differences from Go
/// Sizes are those of bodies that are known before they are sent. There is no limiter of rates that could be measured, and the resolver of names is out of reach.
///
/// Source: controller-runtime `metrics.RegisterRESTClientMetrics`, client-go `tools/metrics`.
#[derive(Clone, Debug)]
pub struct RestClientMetrics {
    host: String,
    total: IntCounterVec,
    details: Option<Details>,
}

impl RestClientMetrics {
    /// Counts in `registry` the requests to `host`.
    pub fn new(registry: &Registry, host: impl Into<String>) -> Self {
        Self { host: host.into(), total: registry.shared::<RequestsTotal>().0, details: None }
    }

    /// Measures `rest_client_request_duration_seconds`, `rest_client_request_size_bytes` and `rest_client_response_size_bytes`, too.
    #[must_use]
    pub fn with_durations_and_sizes(mut self, registry: &Registry) -> Self {
        self.details = Some(registry.shared());
        self
    }

    fn asks<B: Body>(&self, request: &Request<B>) {
        if let Some(details) = &self.details {
            observe_size(&details.request_size, &[request.method().as_str(), &self.host], request.body());
        }
    }

    /// `None`: there is no answer.
    fn answered<B: Body>(&self, method: &Method, began: Instant, answer: Option<&Response<B>>) {
        let code = answer.map(|answer| answer.status());
        let code = code.as_ref().map_or("<error>", |code| code.as_str());
        self.total.with_label_values(&[code, method.as_str(), &self.host]).inc();
        let Some(details) = &self.details else { return };
        let labels = [method.as_str(), &self.host];
        details.duration.with_label_values(&labels).observe(began.elapsed().as_secs_f64());
        if let Some(answer) = answer {
            observe_size(&details.response_size, &labels, answer.body());
        }
    }
}

/// A body that comes in pieces has no size that anybody knows.
#[expect(clippy::cast_precision_loss, reason = "a histogram counts in floats")]
fn observe_size(sizes: &HistogramVec, labels: &[&str], body: &impl Body) {
    if let Some(size) = body.size_hint().exact() {
        sizes.with_label_values(labels).observe(size as f64);
    }
}

impl<S> Layer<S> for RestClientMetrics {
    type Service = Measured<S>;

    fn layer(&self, inner: S) -> Measured<S> {
        Measured { inner, metrics: self.clone() }
    }
}

/// A service whose requests are counted.
#[derive(Clone, Debug)]
pub struct Measured<S> {
    inner: S,
    metrics: RestClientMetrics,
}

impl<S, Q, A> Service<Request<Q>> for Measured<S>
where
    S: Service<Request<Q>, Response = Response<A>>,
    Q: Body,
    A: Body,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        let (metrics, method, began) = (self.metrics.clone(), request.method().clone(), Instant::now());
        metrics.asks(&request);
        let answering = self.inner.call(request);
        Box::pin(async move {
            let answer = answering.await;
            metrics.answered(&method, began, answer.as_ref().ok());
            answer
        })
    }
}

/// The count of all hosts of one registry.
#[derive(Clone)]
struct RequestsTotal(IntCounterVec);

impl Default for RequestsTotal {
    fn default() -> Self {
        let options = Opts::new(
            "rest_client_requests_total",
            "Number of HTTP requests, partitioned by status code, method, and host.",
        );
        Self(IntCounterVec::new(options, &["code", "method", "host"]).expect(WELL_FORMED))
    }
}

impl Collector for RequestsTotal {
    fn desc(&self) -> Vec<&Desc> {
        self.0.desc()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        self.0.collect()
    }
}

/// What is measured on demand.
#[derive(Clone, Debug)]
struct Details {
    duration: HistogramVec,
    request_size: HistogramVec,
    response_size: HistogramVec,
}

impl Default for Details {
    fn default() -> Self {
        let histogram = |name, help, buckets: &[f64]| {
            let options = HistogramOpts::new(name, help).buckets(buckets.to_vec());
            HistogramVec::new(options, &["verb", "host"]).expect(WELL_FORMED)
        };
        Self {
            duration: histogram(
                "rest_client_request_duration_seconds",
                "Request latency in seconds. Broken down by verb, and host.",
                &SECONDS,
            ),
            request_size: histogram(
                "rest_client_request_size_bytes",
                "Request size in bytes. Broken down by verb and host.",
                &BYTES,
            ),
            response_size: histogram(
                "rest_client_response_size_bytes",
                "Response size in bytes. Broken down by verb and host.",
                &BYTES,
            ),
        }
    }
}

impl Details {
    fn parts(&self) -> [&HistogramVec; 3] {
        [&self.duration, &self.request_size, &self.response_size]
    }
}

impl Collector for Details {
    fn desc(&self) -> Vec<&Desc> {
        self.parts().into_iter().flat_map(Collector::desc).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        self.parts().into_iter().flat_map(Collector::collect).collect()
    }
}

const WELL_FORMED: &str = "names, labels and buckets are constants that prometheus accepts";
const SECONDS: [f64; 14] = [0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 45.0, 60.0, 90.0];
const BYTES: [f64; 10] =
    [64.0, 256.0, 512.0, 1024.0, 4096.0, 16384.0, 65536.0, 262_144.0, 1_048_576.0, 16_777_216.0];

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use std::convert::Infallible;

    use http::StatusCode;
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::{
        Api,
        client::{Body as KubeBody, ClientBuilder},
    };

    use super::*;

    async fn refuse(request: Request<KubeBody>) -> Result<Response<KubeBody>, Infallible> {
        let code =
            if request.method() == Method::GET { StatusCode::NOT_FOUND } else { StatusCode::FORBIDDEN };
        Ok(Response::builder().status(code).body(KubeBody::from(b"{}".to_vec())).unwrap())
    }

    /// What is measured of a get and of a creation.
    async fn measured(change: impl FnOnce(RestClientMetrics, &Registry) -> RestClientMetrics) -> String {
        let registry = Registry::new();
        let layer = change(RestClientMetrics::new(&registry, "server:6443"), &registry);
        let client = ClientBuilder::new(tower::service_fn(refuse), "default").with_layer(&layer).build();
        let api = Api::<ConfigMap>::default_namespaced(client);
        api.get("a").await.unwrap_err();
        api.create(&kube::api::PostParams::default(), &ConfigMap::default()).await.unwrap_err();
        registry.text()
    }

    #[tokio::test]
    async fn requests_are_counted_by_code_method_and_host() {
        let text = measured(|layer, _| layer).await;
        for series in [
            r#"rest_client_requests_total{code="404",host="server:6443",method="GET"} 1"#,
            r#"rest_client_requests_total{code="403",host="server:6443",method="POST"} 1"#,
        ] {
            assert!(text.contains(series), "{text}");
        }
        assert!(!text.contains("rest_client_request_duration_seconds"), "{text}");
    }

    #[tokio::test]
    async fn durations_and_sizes_are_measured_on_demand() {
        let text = measured(|layer, registry| layer.with_durations_and_sizes(registry)).await;
        for series in [
            r#"rest_client_request_duration_seconds_bucket{host="server:6443",verb="GET",le="90"} 1"#,
            r#"rest_client_request_size_bytes_count{host="server:6443",verb="POST"} 1"#,
            r#"rest_client_response_size_bytes_sum{host="server:6443",verb="POST"} 2"#,
        ] {
            assert!(text.contains(series), "{text}");
        }
    }
}
