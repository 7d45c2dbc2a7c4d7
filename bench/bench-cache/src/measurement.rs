//! What one client cost, and the figures made of it.

use std::time::Duration;

use bench_common::usage::Memory;
use serde::{Deserialize, Serialize};

use crate::{client::Client, door::Door};

/// One client, measured once.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Measurement {
    pub(crate) client: Client,
    pub(crate) door: Door,
    /// Pods that were cached in the end, as counted in the cache. The floor caches nothing.
    pub(crate) objects: usize,
    /// JSON bytes that came from the server; known where the benchmark itself reads them.
    pub(crate) received_bytes: Option<u64>,
    /// User and system time from before the connection to the end of the first list.
    pub(crate) cpu: Duration,
    pub(crate) wall: Duration,
    /// With a client that has not connected yet; `None` where client and server share the process, and on systems that do not tell.
    pub(crate) memory_before: Option<Memory>,
    /// After the first list, once it had settled.
    pub(crate) memory_after: Option<Memory>,
}

impl Measurement {
    pub(crate) fn cpu_per_pod_us(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / count(self.objects)
    }

    /// How much more is resident than before, for each pod.
    pub(crate) fn rss_per_pod(&self) -> Option<f64> {
        let grown = self.memory_after?.rss_bytes.saturating_sub(self.memory_before?.rss_bytes);
        Some(bytes(grown) / count(self.objects))
    }

    /// The most that was ever resident over what is resident in the end.
    pub(crate) fn peak_to_steady(&self) -> Option<f64> {
        let memory = self.memory_after?;
        Some(bytes(memory.peak_bytes) / bytes(memory.rss_bytes))
    }

    pub(crate) fn received_per_pod(&self) -> Option<f64> {
        Some(bytes(self.received_bytes?) / count(self.objects))
    }
}

#[expect(clippy::cast_precision_loss, reason = "byte counts are far below 2^52")]
fn bytes(count: u64) -> f64 {
    count as f64
}

#[expect(clippy::cast_precision_loss, reason = "object counts are far below 2^52")]
fn count(objects: usize) -> f64 {
    objects.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_per_pod_and_beyond_what_was_there_before() {
        let measurement = Measurement {
            client: Client::Kubewright,
            door: Door::Tls,
            objects: 10,
            received_bytes: Some(1000),
            cpu: Duration::from_micros(150),
            wall: Duration::from_millis(1),
            memory_before: Some(Memory { rss_bytes: 1000, peak_bytes: 1000 }),
            memory_after: Some(Memory { rss_bytes: 2000, peak_bytes: 3000 }),
        };
        assert!((measurement.cpu_per_pod_us() - 15.0).abs() < 1e-9);
        assert_eq!(measurement.rss_per_pod(), Some(100.0));
        assert_eq!(measurement.peak_to_steady(), Some(1.5));
        assert_eq!(measurement.received_per_pod(), Some(100.0));
        assert_eq!(Measurement { memory_after: None, ..measurement }.rss_per_pod(), None);
    }
}
