//! What kubewright's queue has to reach.

use crate::round::Row;

/// Prints how many goals are met, and the names of the others, on one line.
pub(crate) fn print(rows: &[Row], left_behind: usize) {
    let mut goals: Vec<(String, bool)> =
        rows.iter().filter(|row| row.queue.starts_with("kubewright")).flat_map(goals).collect();
    goals.push((format!("{left_behind} bytes left behind > {LEFT_BEHIND}"), left_behind <= LEFT_BEHIND));
    let missed: Vec<&str> = goals.iter().filter(|(_, met)| !met).map(|(name, _)| name.as_str()).collect();
    let names = if missed.is_empty() { String::new() } else { format!(": {}", missed.join("; ")) };
    println!("goals: {} met, {} missed{names}", goals.len() - missed.len(), missed.len());
}

/// What an empty queue may hold, whatever has gone through it.
const LEFT_BEHIND: usize = 32 * 1024;

/// The goals for one row: 100 ns an add, 150 ns (10⁴ keys) to 300 ns (10⁶ keys) a get + forget + done, 130 B a key. Being
/// measured by Prometheus may add 20 ns to each operation.
fn goals(row: &Row) -> Vec<(String, bool)> {
    let get_goal = match row.load.keys {
        10_000 => 150.0,
        _ => 300.0,
    };
    let (add_extra, get_extra) = if row.queue.ends_with("measured") { (20.0, 60.0) } else { (0.0, 0.0) };
    let goal = |what: &str, value: f64, goal: f64, unit: &str| {
        let name = format!(
            "{} {what} {value:.0} > {goal:.0} {unit} ({} keys, {} producers)",
            row.queue, row.load.keys, row.load.producers
        );
        (name, value <= goal)
    };
    vec![
        goal("add", row.add, 100.0 + add_extra, "ns"),
        goal("get+forget+done", row.get_forget_done, get_goal + get_extra, "ns"),
        goal("bytes", row.bytes, 130.0, "B"),
    ]
}
