//! The table for people, and the line of goals.

use std::fmt;

use bench_common::{
    goals::{Goal, Goals},
    median::median,
    usage::Memory,
};

use crate::{client::Client, door::Door, measurement::Measurement, pods::Shape};

/// Everything that was measured.
#[derive(Debug)]
pub(crate) struct Report {
    shape: Shape,
    rounds: u32,
    rows: Vec<Row>,
}

/// The medians of one client over one door.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    client: Client,
    door: Door,
    rss_per_pod: Option<f64>,
    peak_to_steady: Option<f64>,
    cpu_per_pod_us: f64,
    wall_seconds: f64,
    received_per_pod: Option<f64>,
}

impl Report {
    /// Rows in the order of `plan`.
    pub(crate) fn new(
        shape: Shape,
        rounds: u32,
        plan: &[(Client, Door)],
        measurements: &[Measurement],
    ) -> Self {
        let rows = plan.iter().filter_map(|(client, door)| {
            let of_row: Vec<_> =
                measurements.iter().filter(|found| (found.client, found.door) == (*client, *door)).collect();
            Row::new(*client, *door, &of_row)
        });
        Self { shape, rounds, rows: rows.collect() }
    }

    fn row(&self, client: Client, door: Door) -> Option<&Row> {
        self.rows.iter().find(|row| (row.client, row.door) == (client, door))
    }

    /// Memory by itself, CPU beside kube-rs' default and the floor of the same run: what a microsecond is worth depends on the day.
    fn goals(&self) -> Goals {
        let ours = self.row(Client::Kubewright, Door::Tls);
        let rss = ours.and_then(|row| row.rss_per_pod).map(|bytes| bytes / 1000.0);
        let over = |other, row: &Row| Some(row.cpu_per_pod_us / self.row(other, Door::Tls)?.cpu_per_pod_us);
        let kube_rs = ours.and_then(|row| over(Client::KubeRsPaged, row)).map(f64::recip);
        let floor = ours.and_then(|row| over(Client::Floor, row));
        [
            Goal::at_most("RSS per pod over TLS in kB", rss, 8.0),
            Goal::at_least("CPU per pod over TLS of kube-rs' default over it", kube_rs, 7.0),
            Goal::at_most("CPU per pod over TLS over the floor's", floor, 3.0),
        ]
        .into_iter()
        .collect()
    }

    /// What kubewright's side costs where the server runs in the same process: what is left without serving, carrying and dropping the bytes, which
    /// the floor measures.
    fn own_cpu_in_process(&self) -> Option<f64> {
        let cpu = |client| self.row(client, Door::InProcess).map(|row| row.cpu_per_pod_us);
        Some(cpu(Client::Kubewright)? - cpu(Client::Floor)?)
    }

    fn head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { objects, workloads, .. } = self.shape;
        let (mean, share) = (self.shape.mean_bytes() / 1000.0, self.shape.managed_fields_share() * 100.0);
        writeln!(
            f,
            "{objects} pods of {workloads} workloads; {mean:.1} kB of JSON each, {share:.0} % of it managedFields"
        )?;
        if let Some(received) = self.rows.iter().find_map(|row| row.received_per_pod) {
            writeln!(f, "as served: {:.1} kB of JSON per pod", received / 1000.0)?;
            if received < self.shape.mean_bytes() * WHOLE {
                writeln!(
                    f,
                    "the server has dropped a part of what it was given: every figure is kinder than for whole pods"
                )?;
            }
        }
        let cpus = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
        writeln!(f, "{cpus} CPUs shared with the server; median of {}; kB are 1000 bytes\n", self.rounds)
    }

    fn table(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<11} {:<28} {:>8} {:>12} {:>9} {:>7}",
            "door", "client", "RSS/pod", "peak/steady", "CPU/pod", "wall"
        )?;
        for row in &self.rows {
            let rss = cell(row.rss_per_pod.map(|bytes| bytes / 1000.0), 1, " kB");
            let peak = cell(row.peak_to_steady, 2, "");
            let (client, door) = (row.client, row.door);
            let (cpu, wall) =
                (cell(Some(row.cpu_per_pod_us), 1, " µs"), cell(Some(row.wall_seconds), 2, " s"));
            writeln!(f, "{door:<11} {client:<28} {rss:>8} {peak:>12} {cpu:>9} {wall:>7}")?;
        }
        if !Memory::IS_KNOWN {
            writeln!(f, "\nmemory is measured on Linux only")?;
        }
        writeln!(
            f,
            "\nin process, client and server share a process: CPU counts both, memory is not told apart"
        )?;
        if let Some(own) = self.own_cpu_in_process() {
            writeln!(
                f,
                "in process, kubewright by itself (without what the floor costs): {own:.1} µs CPU/pod"
            )?;
        }
        Ok(())
    }

    fn ratios(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nkube-rs : kubewright")?;
        for row in self.rows.iter().filter(|row| row.client.is_kube_rs()) {
            let Some(ours) = self.row(Client::Kubewright, row.door) else { continue };
            let rss = row.rss_per_pod.zip(ours.rss_per_pod).map(|(theirs, ours)| theirs / ours);
            let cpu = row.cpu_per_pod_us / ours.cpu_per_pod_us;
            let (client, door) = (row.client, row.door);
            writeln!(f, "{door:<11} {client:<28} RSS {} CPU {cpu:.1} : 1", cell(rss, 1, " : 1,"))?;
        }
        Ok(())
    }
}

impl Row {
    fn new(client: Client, door: Door, measurements: &[&Measurement]) -> Option<Self> {
        let of = |figure: &dyn Fn(&Measurement) -> Option<f64>| {
            median(measurements.iter().filter_map(|it| figure(it)))
        };
        Some(Self {
            client,
            door,
            // The floor keeps nothing: its memory is noise.
            rss_per_pod: of(&Measurement::rss_per_pod).filter(|_| client != Client::Floor),
            peak_to_steady: of(&Measurement::peak_to_steady).filter(|_| client != Client::Floor),
            cpu_per_pod_us: of(&|it| Some(it.cpu_per_pod_us()))?,
            wall_seconds: of(&|it| Some(it.wall.as_secs_f64()))?,
            received_per_pod: of(&Measurement::received_per_pod),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.head(f)?;
        self.table(f)?;
        self.ratios(f)?;
        writeln!(f, "\n{}", self.goals())
    }
}

fn cell(value: Option<f64>, decimals: usize, unit: &str) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}{unit}"))
}

/// Which part of a pod's JSON has to arrive for the figures to be those of whole pods. (Servers write other times and uids.)
const WHOLE: f64 = 0.98;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn measurement(client: Client, door: Door, cpu_us: u64, rss: u64) -> Measurement {
        Measurement {
            client,
            door,
            objects: 1,
            received_bytes: None,
            cpu: Duration::from_micros(cpu_us),
            wall: Duration::from_secs(1),
            memory_before: Some(Memory { rss_bytes: 1000, peak_bytes: 1000 }),
            memory_after: Some(Memory { rss_bytes: 1000 + rss, peak_bytes: 2 * (1000 + rss) }),
        }
    }

    fn report(measurements: &[Measurement]) -> String {
        let plan: Vec<_> = measurements.iter().map(|it| (it.client, it.door)).collect();
        let shape = Shape { objects: 1, workloads: 1, json_bytes: 10_600, managed_fields_bytes: 4240 };
        Report::new(shape, 1, &plan, measurements).to_string()
    }

    #[test]
    fn a_slow_machine_misses_no_goal() {
        for factor in [1, 10] {
            let text = report(&[
                measurement(Client::Floor, Door::Tls, 5 * factor, 0),
                measurement(Client::Kubewright, Door::Tls, 15 * factor, 8000),
                measurement(Client::KubeRsPaged, Door::Tls, 105 * factor, 0),
            ]);
            assert!(text.ends_with("\ngoals: 3 met, 0 missed\n"), "{text}");
        }
    }

    #[test]
    fn a_peer_that_is_missing_or_near_misses_a_goal() {
        let ours = measurement(Client::Kubewright, Door::Tls, 16, 8000);
        let text = report(&[ours, measurement(Client::KubeRsPaged, Door::Tls, 96, 0)]);
        assert_eq!(
            text.lines().last().unwrap(),
            "goals: 1 met, 2 missed: CPU per pod over TLS of kube-rs' default over it (6.0 < 7), \
             CPU per pod over TLS over the floor's (not measured)"
        );
    }

    #[test]
    fn a_server_that_drops_a_part_of_the_pods_is_named() {
        let floor = |received| Measurement {
            received_bytes: Some(received),
            ..measurement(Client::Floor, Door::Plain, 1, 0)
        };
        assert!(report(&[floor(6400)]).contains("dropped a part"));
        assert!(!report(&[floor(10_600)]).contains("dropped a part"));
    }

    #[test]
    fn the_table_has_a_line_for_each_client_and_a_ratio_for_each_of_kube_rs() {
        let text = report(&[
            measurement(Client::Kubewright, Door::Tls, 10, 7000),
            measurement(Client::KubeRsStreaming, Door::Tls, 150, 84_000),
        ]);
        let lines: Vec<_> = text.lines().filter(|line| line.starts_with("TLS")).collect();
        assert_eq!(
            lines[0].split_whitespace().collect::<Vec<_>>(),
            ["TLS", "kubewright", "7.0", "kB", "2.00", "10.0", "µs", "1.00", "s"]
        );
        assert!(lines[1].contains("84.0 kB"));
        assert!(lines[2].ends_with("RSS 12.0 : 1, CPU 15.0 : 1"), "{}", lines[2]);
    }
}
