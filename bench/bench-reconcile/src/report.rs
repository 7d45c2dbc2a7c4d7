//! The table for people, and the line of goals.

use std::{fmt, num::NonZeroU16};

use bench_common::goals::{Goal, Goals};

use crate::{client::Client, measurement::Measurement, options::Load};

/// Everything that was measured.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) load: Load,
    pub(crate) rows: Vec<Row>,
}

/// One peer with so many workers.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) peer: Peer,
    pub(crate) workers: NonZeroU16,
    pub(crate) measurement: Measurement,
}

/// Who is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    /// A client in this program.
    This(Client),
    /// The one in the Go program.
    ControllerRuntime,
}

impl Report {
    fn ours(&self, workers: NonZeroU16) -> Option<&Row> {
        self.rows.iter().find(|row| (row.peer, row.workers) == (Peer::This(Client::Kubewright), workers))
    }

    /// How much more CPU a reconcile takes in `row` than in kubewright's with as many workers.
    fn ratio(&self, row: &Row) -> Option<f64> {
        let ours = self.ours(row.workers)?.measurement.cpu_us_per_reconcile(self.load.objects)?;
        Some(row.measurement.cpu_us_per_reconcile(self.load.objects)? / ours)
    }

    /// Each peer that has to be beaten, and the floor that has to be near, with 1 and with 8 workers.
    fn goals(&self) -> Goals {
        let ratio = |peer, workers| {
            let row = self.rows.iter().find(|row| (row.peer, row.workers.get()) == (peer, workers));
            row.and_then(|row| self.ratio(row))
        };
        let beaten = |(peer, limit), workers| {
            let name = format!("reconciles per CPU-second over those of {peer}, {workers} workers");
            Goal::at_least(&name, ratio(peer, workers), limit)
        };
        let near = |workers| {
            let floor = Peer::This(Client::Floor);
            let name = format!("CPU per reconcile over that of {floor}, {workers} workers");
            Goal::at_most(&name, ratio(floor, workers).map(f64::recip), OVER_THE_FLOOR)
        };
        let of = |workers| BEATEN.map(|peer| beaten(peer, workers)).into_iter().chain([near(workers)]);
        [1, 8].into_iter().flat_map(of).collect()
    }

    fn head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Load { objects, rounds } = self.load;
        let cpus = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
        writeln!(
            f,
            "{objects} ConfigMaps of 1 kB, every one changed once a round; {rounds} rounds, medians; {cpus} CPUs shared with the server"
        )?;
        writeln!(
            f,
            "JSON over plain HTTP/1.1 for all, each event a chunk of its own; default options but for the workers:"
        )?;
        writeln!(
            f,
            "kubewright drops managedFields and has its metrics on; kube-rs keeps them and has no metrics;"
        )?;
        writeln!(
            f,
            "controller-runtime keeps them, has its priority queue, and no server for its metrics. For built-in kinds it would"
        )?;
        writeln!(
            f,
            "ask for protobuf by default, which costs it less than JSON; custom resources are always JSON.\n"
        )
    }

    fn table(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:>7}  {:<26} {:>12} {:>14} {:>22} {:>8} {:>8}",
            "workers", "controller", "reconciles/s", "CPU/reconcile", "first list CPU/object", "RSS", "ratio"
        )?;
        for row in &self.rows {
            let (measurement, objects) = (&row.measurement, self.load.objects);
            let (workers, peer) = (row.workers, row.peer);
            let rate = cell(measurement.reconciles_per_second(objects), 0, "");
            let cpu = cell(measurement.cpu_us_per_reconcile(objects), 2, " µs");
            let first = cell(Some(measurement.first_list_us_per_object(objects)), 2, " µs");
            let rss = cell(measurement.rss_megabytes(), 0, " MB");
            let ratio = cell(self.ratio(row), 1, "x");
            writeln!(f, "{workers:>7}  {peer:<26} {rate:>12} {cpu:>14} {first:>22} {rss:>8} {ratio:>8}")?;
        }
        writeln!(f, "\nratio: CPU for each reconcile, over kubewright's with as many workers")
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.head(f)?;
        self.table(f)?;
        writeln!(f, "\n{}", self.goals())
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::This(Client::Kubewright) => "kubewright",
            Self::This(Client::KubeRs) => "kube-rs",
            Self::This(Client::Floor) => "(events read and dropped)",
            Self::ControllerRuntime => "controller-runtime",
        })
    }
}

fn cell(value: Option<f64>, decimals: usize, unit: &str) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}{unit}"))
}

/// By which factor kubewright has to reconcile more in a second of CPU.
const BEATEN: [(Peer, f64); 2] = [(Peer::ControllerRuntime, 14.0), (Peer::This(Client::KubeRs), 6.0)];

/// How much more CPU than reading and dropping the events it may take. All of these are ratios: what a microsecond is worth depends on the day.
const OVER_THE_FLOOR: f64 = 5.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurement::Cost;

    fn row(peer: Peer, workers: u16, cpu_us: f64) -> Row {
        let cost = Cost { wall_seconds: 0.5, cpu_seconds: cpu_us * 10.0 / 1e6 };
        let measurement = Measurement { first_list: cost, rounds: vec![cost], rss_bytes: Some(7_000_000) };
        Row { peer, workers: NonZeroU16::new(workers).unwrap(), measurement }
    }

    fn report(rows: Vec<Row>) -> String {
        Report { load: Load { objects: 10, rounds: 1 }, rows }.to_string()
    }

    #[test]
    fn goals_compare_rows_of_as_many_workers() {
        let (ours, kube_rs) = (Peer::This(Client::Kubewright), Peer::This(Client::KubeRs));
        let text = report(vec![
            row(Peer::This(Client::Floor), 1, 2.0),
            row(ours, 1, 10.0),
            row(kube_rs, 1, 61.0),
            row(Peer::ControllerRuntime, 1, 141.0),
            row(Peer::This(Client::Floor), 8, 2.0),
            row(ours, 8, 20.0),
            row(kube_rs, 8, 100.0),
        ]);
        assert_eq!(
            text.lines().last().unwrap(),
            "goals: 3 met, 3 missed: reconciles per CPU-second over those of controller-runtime, 8 workers (not measured), \
             reconciles per CPU-second over those of kube-rs, 8 workers (5.0 < 6), \
             CPU per reconcile over that of (events read and dropped), 8 workers (10.0 > 5)"
        );
    }

    #[test]
    fn the_table_has_a_line_for_each_row() {
        let text =
            report(vec![row(Peer::This(Client::Kubewright), 1, 10.0), row(Peer::ControllerRuntime, 1, 51.0)]);
        let line = text.lines().find(|line| line.contains("  controller-runtime ")).unwrap();
        assert_eq!(
            line.split_whitespace().collect::<Vec<_>>(),
            ["1", "controller-runtime", "20", "51.00", "µs", "51.00", "µs", "7", "MB", "5.1x"]
        );
    }
}
