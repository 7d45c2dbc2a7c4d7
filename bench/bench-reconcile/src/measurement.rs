//! What one client cost, and the figures made of it.

use bench_common::{median::median, usage};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

/// One client, measured. The Go program writes the same fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measurement {
    /// From before the connection to the end of the reconciles of the first list.
    pub(crate) first_list: Cost,
    /// From before every object changes until every object has been reconciled once.
    pub(crate) rounds: Vec<Cost>,
    /// Resident after the last round; `None` on systems that do not tell.
    pub(crate) rss_bytes: Option<u64>,
}

/// What a while took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cost {
    pub(crate) wall_seconds: f64,
    /// User and system time of the client's process.
    pub(crate) cpu_seconds: f64,
}

/// Measures a while, from its making.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    start: Instant,
    cpu: std::time::Duration,
}

impl Measurement {
    /// The median over the rounds, for each of `objects`.
    pub(crate) fn cpu_us_per_reconcile(&self, objects: usize) -> Option<f64> {
        Some(median(self.rounds.iter().map(|round| round.cpu_seconds))? * 1e6 / count(objects))
    }

    /// The median over the rounds.
    pub(crate) fn reconciles_per_second(&self, objects: usize) -> Option<f64> {
        Some(count(objects) / median(self.rounds.iter().map(|round| round.wall_seconds))?)
    }

    pub(crate) fn first_list_us_per_object(&self, objects: usize) -> f64 {
        self.first_list.cpu_seconds * 1e6 / count(objects)
    }

    #[expect(clippy::cast_precision_loss, reason = "byte counts are far below 2^52")]
    pub(crate) fn rss_megabytes(&self) -> Option<f64> {
        Some(self.rss_bytes? as f64 / 1e6)
    }
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self { start: Instant::now(), cpu: usage::cpu() }
    }

    pub(crate) fn stop(self) -> Cost {
        let (wall, cpu) = (self.start.elapsed(), usage::cpu().saturating_sub(self.cpu));
        Cost { wall_seconds: wall.as_secs_f64(), cpu_seconds: cpu.as_secs_f64() }
    }
}

#[expect(clippy::cast_precision_loss, reason = "object counts are far below 2^52")]
fn count(objects: usize) -> f64 {
    objects as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_per_object_and_of_the_middle_round() {
        let cost = |wall_seconds, cpu_seconds| Cost { wall_seconds, cpu_seconds };
        let measurement = Measurement {
            first_list: cost(1.0, 0.5),
            rounds: vec![cost(2.0, 0.3), cost(4.0, 0.1), cost(1.0, 0.2)],
            rss_bytes: Some(2_000_000),
        };
        assert_eq!(measurement.cpu_us_per_reconcile(100), Some(2000.0));
        assert_eq!(measurement.reconciles_per_second(100), Some(50.0));
        assert!((measurement.first_list_us_per_object(100) - 5000.0).abs() < 1e-9);
        assert_eq!(measurement.rss_megabytes(), Some(2.0));
    }
}
