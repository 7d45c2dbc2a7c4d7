//! What kubewright's queue has to reach: memory for itself, time beside the queues of the same run.
//!
//! A shared machine may be twice as slow for hours, so a time by itself says nothing about the queue.

use bench_common::goals::{Goal, Goals};

use crate::round::Row;

/// Judges the rows of kubewright's queue, and what an empty queue holds after ten million keys.
pub(crate) fn judge(rows: &[Row], left_behind: usize) -> Goals {
    #[expect(clippy::cast_precision_loss, reason = "a queue does not hold 2⁵² bytes")]
    let left_behind = Goal::at_most("bytes left behind", Some(left_behind as f64), LEFT_BEHIND);
    let memory = rows.iter().filter(|row| row.queue.starts_with(OURS)).map(bytes);
    // Of ours, the row whose keys are those of the others.
    let time = rows.iter().filter(|row| row.queue == OURS).flat_map(|ours| beside_others(ours, rows));
    memory.chain(time).chain([left_behind]).collect()
}

pub(crate) const OURS: &str = "kubewright";
pub(crate) const LIST: &str = "a list under a lock";
pub(crate) const KUBE_RS: &str = "kube-rs scheduler";
pub(crate) const CONTROLLER_RUNTIME: &str = "controller-runtime priority queue";

/// What an empty queue may hold, whatever has gone through it: 32 KiB.
const LEFT_BEHIND: f64 = 32_768.0;

fn bytes(row: &Row) -> Goal {
    Goal::at_most(&named("bytes per key", row), Some(row.bytes), 130.0)
}

/// An add may take 3.5 times as long as the list's, which is the floor; a get + forget + done has to be 10 times faster than
/// controller-runtime's, and 2.5 times faster than kube-rs' from 10⁵ keys on.
///
/// With 10⁴ everything lies in the caches, and the scheduler of kube-rs, which one task owns, takes no lock: there two locks and the counts
/// of a key's strings are a third of what is left, and 1.8 times has to do.
fn beside_others(ours: &Row, rows: &[Row]) -> [Goal; 3] {
    let of = |queue: &str| rows.iter().find(|row| row.queue == queue && row.load == ours.load);
    let add = of(LIST).map(|list| ours.add / list.add);
    let get = |peer: &str| of(peer).map(|peer| peer.get_forget_done / ours.get_forget_done);
    [
        Goal::at_most(&named("add over the list's", ours), add, 3.5),
        Goal::at_least(
            &named("get + forget + done of kube-rs over it", ours),
            get(KUBE_RS),
            if ours.load.keys < 100_000 { 1.8 } else { 2.5 },
        ),
        Goal::at_least(
            &named("get + forget + done of controller-runtime over it", ours),
            get(CONTROLLER_RUNTIME),
            10.0,
        ),
    ]
}

fn named(what: &str, row: &Row) -> String {
    format!("{} {what}, {} keys, {} producers", row.queue, row.load.keys, row.load.producers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round::Load;

    /// Rows of one load, by name, add and get + forget + done; all take 100 bytes a key.
    fn judged(rows: &[(&'static str, f64, f64)]) -> String {
        let load = Load { keys: 100_000, producers: 1 };
        let row = |&(queue, add, get_forget_done)| Row {
            queue,
            load,
            first_add: add,
            add,
            get_forget_done,
            together: None,
            bytes: 100.0,
        };
        judge(&rows.iter().map(row).collect::<Vec<_>>(), 0).to_string()
    }

    #[test]
    fn a_slow_machine_misses_no_goal() {
        for factor in [1.0, 20.0] {
            let rows = [
                (OURS, 35.0, 10.0),
                (LIST, 10.0, 1.0),
                (KUBE_RS, 1.0, 25.0),
                (CONTROLLER_RUNTIME, 1.0, 100.0),
            ];
            let rows = rows.map(|(queue, add, get)| (queue, add * factor, get * factor));
            assert_eq!(judged(&rows), "goals: 5 met, 0 missed");
        }
    }

    #[test]
    fn a_peer_that_is_missing_or_near_misses_a_goal() {
        let line = judged(&[(OURS, 36.0, 10.0), (LIST, 10.0, 1.0), (KUBE_RS, 1.0, 24.0)]);
        assert_eq!(
            line,
            "goals: 2 met, 3 missed: kubewright add over the list's, 100000 keys, 1 producers (3.6 > 3.5), \
             kubewright get + forget + done of kube-rs over it, 100000 keys, 1 producers (2.4 < 2.5), \
             kubewright get + forget + done of controller-runtime over it, 100000 keys, 1 producers (not measured)"
        );
    }
}
