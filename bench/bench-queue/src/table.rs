//! The figures, as a table for people.

use crate::round::Row;

/// Prints a line per queue and load, with ratios to kubewright's line under the same load.
pub(crate) fn print(rows: &[Row]) {
    println!(
        "{:>9} {:>5}  {:<34} {:>12} {:>9} {:>7} {:>14} {:>7} {:>12} {:>9} {:>7}",
        "keys",
        "prod",
        "queue",
        "first add ns",
        "add ns",
        "ratio",
        "get+..+done ns",
        "ratio",
        "together ns",
        "bytes/key",
        "ratio"
    );
    for row in rows {
        let ours = ours(rows, row);
        println!(
            "{:>9} {:>5}  {:<34} {:>12.0} {:>9.0} {:>7} {:>14.0} {:>7} {:>12} {:>9.0} {:>7}",
            row.load.keys,
            row.load.producers,
            row.queue,
            row.first_add,
            row.add,
            ratio(row.add, ours.map(|ours| ours.add)),
            row.get_forget_done,
            ratio(row.get_forget_done, ours.map(|ours| ours.get_forget_done)),
            row.together.map_or_else(|| "-".to_owned(), |together| format!("{together:.0}")),
            row.bytes,
            ratio(row.bytes, ours.map(|ours| ours.bytes)),
        );
    }
    println!();
}

fn ours<'a>(rows: &'a [Row], row: &Row) -> Option<&'a Row> {
    rows.iter().find(|other| other.queue == "kubewright" && other.load == row.load)
}

fn ratio(theirs: f64, ours: Option<f64>) -> String {
    ours.map_or_else(String::new, |ours| format!("{:.1}x", theirs / ours))
}
