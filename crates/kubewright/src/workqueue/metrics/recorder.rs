//! The numbers of one queue.

use std::time::Duration;

use super::DurationHistogram;

/// Counts what happens in a queue.
#[derive(Debug, Default)]
pub(in crate::workqueue) struct Recorder {
    adds: u64,
    retries: u64,
    queue_duration: DurationHistogram,
    work_duration: DurationHistogram,
    /// The first priorities that were ever ready, in order.
    priorities: Vec<i32>,
    /// There were others.
    has_more_priorities: bool,
}

/// The metrics of a queue at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueStats {
    /// How many keys are ready, by priority: the first 25 priorities that were ever ready, also when none is ready now.
    pub depth: Vec<(i32, usize)>,
    /// How many keys are ready at any other priority; `None` if there never was one.
    pub depth_elsewhere: Option<usize>,
    /// How often a key became ready.
    pub adds: u64,
    /// How often a key was added with a delay.
    pub retries: u64,
    /// From becoming ready to being handed out.
    pub queue_duration: DurationHistogram,
    /// From being handed out to being done.
    pub work_duration: DurationHistogram,
    /// How long the keys that are being processed have been so, all together.
    pub unfinished_work: Duration,
    /// How long the one of them that began first has been processed.
    pub longest_running_processor: Duration,
}

impl Recorder {
    /// A key became ready.
    #[inline]
    pub(in crate::workqueue) fn became_ready(&mut self, priority: i32) {
        self.adds += 1;
        self.seen(priority);
    }

    /// A key is ready at this priority.
    #[inline]
    pub(in crate::workqueue) fn seen(&mut self, priority: i32) {
        let Err(position) = self.priorities.binary_search(&priority) else { return };
        if self.priorities.len() < MAX_PRIORITIES {
            self.priorities.insert(position, priority);
        } else {
            self.has_more_priorities = true;
        }
    }

    /// A key was added with a delay.
    #[inline]
    pub(in crate::workqueue) fn retried(&mut self) {
        self.retries += 1;
    }

    /// A key was handed out.
    #[inline]
    pub(in crate::workqueue) fn handed_out(&mut self, queued_nanoseconds: u64) {
        self.queue_duration.observe(queued_nanoseconds);
    }

    /// A key is done.
    #[inline]
    pub(in crate::workqueue) fn processed(&mut self, worked_nanoseconds: u64) {
        self.work_duration.observe(worked_nanoseconds);
    }

    pub(in crate::workqueue) fn stats(
        &self,
        ready: usize,
        ready_at: impl Fn(i32) -> usize,
        running: impl Iterator<Item = Duration>,
    ) -> QueueStats {
        let depth: Vec<_> = self.priorities.iter().map(|&priority| (priority, ready_at(priority))).collect();
        let elsewhere = ready - depth.iter().map(|&(_, depth)| depth).sum::<usize>();
        let (unfinished_work, longest_running_processor) = running
            .fold((Duration::ZERO, Duration::ZERO), |(sum, longest), duration| {
                (sum.saturating_add(duration), longest.max(duration))
            });
        QueueStats {
            depth,
            depth_elsewhere: self.has_more_priorities.then_some(elsewhere),
            adds: self.adds,
            retries: self.retries,
            queue_duration: self.queue_duration.clone(),
            work_duration: self.work_duration.clone(),
            unfinished_work,
            longest_running_processor,
        }
    }
}

impl QueueStats {
    /// Adds those of another queue of the same name.
    pub(super) fn merge(&mut self, other: &Self) {
        for &(priority, depth) in &other.depth {
            match self.depth.binary_search_by_key(&priority, |&(known, _)| known) {
                Ok(position) => self.depth[position].1 += depth,
                Err(position) if self.depth.len() < MAX_PRIORITIES => {
                    self.depth.insert(position, (priority, depth));
                }
                Err(_) => *self.depth_elsewhere.get_or_insert(0) += depth,
            }
        }
        if let Some(depth) = other.depth_elsewhere {
            *self.depth_elsewhere.get_or_insert(0) += depth;
        }
        self.adds += other.adds;
        self.retries += other.retries;
        self.queue_duration.merge(&other.queue_duration);
        self.work_duration.merge(&other.work_duration);
        self.unfinished_work = self.unfinished_work.saturating_add(other.unfinished_work);
        self.longest_running_processor = self.longest_running_processor.max(other.longest_running_processor);
    }
}

/// As many series as a dashboard can show; more priorities share one.
///
/// Source: controller-runtime `pkg/internal/metrics/workqueue.go`, issue 3396.
const MAX_PRIORITIES: usize = 25;
