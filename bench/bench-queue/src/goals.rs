//! What kubewright's queue has to reach.

use bench_common::goals::{Goal, Goals};

use crate::round::Row;

/// Judges the rows of kubewright's queue, and what an empty queue holds after ten million keys.
pub(crate) fn judge(rows: &[Row], left_behind: usize) -> Goals {
    #[expect(clippy::cast_precision_loss, reason = "a queue does not hold 2⁵² bytes")]
    let left_behind = Goal::at_most("bytes left behind", Some(left_behind as f64), LEFT_BEHIND);
    rows.iter()
        .filter(|row| row.queue.starts_with("kubewright"))
        .flat_map(goals)
        .chain([left_behind])
        .collect()
}

/// What an empty queue may hold, whatever has gone through it: 32 KiB.
const LEFT_BEHIND: f64 = 32_768.0;

/// The goals for one row: 100 ns an add, 150 ns (10⁴ keys) to 300 ns (10⁶ keys) a get + forget + done, 130 B a key. Being
/// measured by Prometheus may add 20 ns to each operation.
fn goals(row: &Row) -> [Goal; 3] {
    let get_limit = match row.load.keys {
        10_000 => 150.0,
        _ => 300.0,
    };
    let (add_extra, get_extra) = if row.queue.ends_with("measured") { (20.0, 60.0) } else { (0.0, 0.0) };
    let goal = |what: &str, figure: f64, limit: f64| {
        let name = format!("{} {what}, {} keys, {} producers", row.queue, row.load.keys, row.load.producers);
        Goal::at_most(&name, Some(figure), limit)
    };
    [
        goal("ns per add", row.add, 100.0 + add_extra),
        goal("ns per get + forget + done", row.get_forget_done, get_limit + get_extra),
        goal("bytes per key", row.bytes, 130.0),
    ]
}
