//! What a scrape sees of queues.

use std::sync::Arc;
use std::time::Duration;

use kubewright::metrics::{Registry, registry};
use kubewright::workqueue::{AddOptions, MetricsProvider, Queue, QueueMetrics, QueueOptions};
use parking_lot::Mutex;
use tokio::time::advance;

fn queue(name: &str, registry: &Registry) -> Queue<&'static str> {
    Queue::new(QueueOptions::new(name).metrics_provider(Arc::new(registry.clone())))
}

/// The expected text is what controller-runtime v0.25.2 exposed after the same calls at the same (faked) times.
#[tokio::test(start_paused = true)]
async fn text_is_upstreams() {
    let registry = Registry::new();
    let queue = queue("baskets", &registry);
    queue.add("ready");
    queue.add_with(AddOptions::new().priority(-100), ["low"]);
    queue.add_after("later", Duration::from_secs(60));
    assert_eq!(queue.get().await, Some(("ready", 0)));
    advance(Duration::from_millis(1500)).await;
    queue.done(&"ready");
    assert_eq!(queue.get().await, Some(("low", -100)));
    advance(Duration::from_millis(500)).await;

    assert_eq!(registry.text(), include_str!("workqueue_metrics.txt"));
}

#[tokio::test(start_paused = true)]
async fn queue_without_a_name_is_not_measured() {
    let registry = Registry::new();
    let queue = queue("", &registry);
    queue.add("key");
    assert_eq!(queue.stats(), None);
    assert!(registry.gather().is_empty());
}

#[tokio::test(start_paused = true)]
async fn queues_of_one_name_share_their_series_and_a_dropped_one_has_none() {
    let registry = Registry::new();
    let (one, other) = (queue("twins", &registry), queue("twins", &registry));
    one.add("key");
    other.add("key");
    let adds = |registry: &Registry| {
        let families = registry.gather();
        let adds = families.iter().find(|family| family.name() == "workqueue_adds_total")?;
        assert_eq!(adds.get_metric().len(), 1);
        Some(adds.get_metric()[0].get_counter().get_value())
    };
    assert_eq!(adds(&registry), Some(2.0));
    drop(one);
    assert_eq!(adds(&registry), Some(1.0));
    drop(other);
    assert_eq!(adds(&registry), None);
}

#[tokio::test(start_paused = true)]
async fn process_wide_registry_is_the_default() {
    let queue = Queue::new(QueueOptions::new("process-wide"));
    queue.add("key");
    assert!(
        registry()
            .text()
            .contains(r#"workqueue_adds_total{controller="process-wide",name="process-wide"} 1"#)
    );
}

#[tokio::test(start_paused = true)]
async fn provider_is_told_of_the_queue_and_can_read_it() {
    #[derive(Debug, Default)]
    struct Told(Mutex<Vec<(String, QueueMetrics)>>);
    impl MetricsProvider for Told {
        fn register(&self, name: &str, queue: QueueMetrics) {
            self.0.lock().push((name.to_owned(), queue));
        }
    }
    let told = Arc::new(Told::default());
    let queue = Queue::new(QueueOptions::new("told").metrics_provider(told.clone()));
    queue.add("key");
    let (name, metrics) = told.0.lock()[0].clone();
    assert_eq!(name, "told");
    assert_eq!(metrics.stats().unwrap().depth, [(0, 1)]);
    drop(queue);
    assert_eq!(metrics.stats(), None, "a provider does not keep the queue alive");
}
