//! Random scripts of bad days: nothing is lost, nothing is doubled, nothing goes back, and the cache catches up in bounded time.
//!
//! `KUBEWRIGHT_SCRIPTS` says how many scripts are run, `KUBEWRIGHT_SEED` the first seed. A script that fails is printed with its seed, shortened.

use std::time::Duration;

use super::listener::Listener;
use crate::scripted::{Plan, Server, Streaming};

#[derive(Clone, Debug)]
enum Step {
    Put(u8),
    Delete(u8),
    Wait(Duration),
    /// How the next list or watch is answered.
    Next(Plan),
    /// How those are answered for which there is no plan.
    Otherwise(Plan),
    Cut {
        clean: bool,
    },
    Lag {
        behind: u64,
    },
    CatchUp,
    Compact,
    Restore {
        back: u64,
    },
}

#[test]
fn no_script_loses_doubles_or_turns_back_anything() {
    let number = |name: &str, default| {
        std::env::var(name).map_or(default, |text| text.parse().expect("a number of scripts, or a seed"))
    };
    let (scripts, first) = (number("KUBEWRIGHT_SCRIPTS", 400), number("KUBEWRIGHT_SEED", 1));
    let mut slowest = (Duration::ZERO, 0);
    for seed in first..first + scripts {
        let steps = script(&mut fastrand::Rng::with_seed(seed));
        match run(seed, &steps) {
            Ok(time) => slowest = slowest.max((time, seed)),
            Err(error) => {
                let steps = shorten(seed, steps);
                let shorter = run(seed, &steps);
                panic!("seed {seed}: {error}\nshortened: {shorter:?}\n{steps:#?}");
            }
        }
    }
    eprintln!(
        "{scripts} scripts from seed {first}; the slowest to catch up was {}: {:?}",
        slowest.1, slowest.0
    );
}

/// Runs a script, and gives how long the cache took to catch up after it.
fn run(seed: u64, steps: &[Step]) -> Result<Duration, String> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        // The reflector takes its jitter from here.
        fastrand::seed(seed);
        let server = Server::new();
        server.put("0");
        let mut listener = Listener::start(&server);
        let mut restored = false;
        for step in steps {
            take(step, &listener, &mut restored);
            let pause = if let Step::Wait(time) = step { *time } else { Duration::from_millis(1) };
            listener.wait(pause).await;
        }
        server.heal();
        let time = listener.catch_up(CATCH_UP_LIMIT).await?;
        // It is not only up to date, but hears of what comes.
        server.put("last");
        listener.catch_up(CATCH_UP_LIMIT).await?;
        listener.verdict().map(|()| time)
    })
}

fn take(step: &Step, listener: &Listener, restored: &mut bool) {
    let server = &listener.server;
    // A server that is restored and overtakes its former version before anybody has asked it can be told by nobody.
    if listener.is_up_to_date() && !listener.is_ahead() {
        *restored = false;
    }
    let may_write = !*restored || server.head() + 1 < listener.informer.progress().version;
    match step {
        Step::Put(name) if may_write => {
            server.put(&name.to_string());
        }
        Step::Delete(name) if may_write => {
            server.delete(&name.to_string());
        }
        Step::Put(_) | Step::Delete(_) | Step::Wait(_) => {}
        Step::Next(plan) => server.next(plan.clone()),
        Step::Otherwise(plan) => server.otherwise(plan.clone()),
        Step::Cut { clean } => server.cut(*clean),
        Step::Lag { behind } => server.lag(1, *behind),
        Step::CatchUp => server.catch_up(),
        Step::Compact => server.compact(),
        Step::Restore { back } => {
            *restored = true;
            server.restore(server.head().saturating_sub(*back));
        }
    }
}

fn script(random: &mut fastrand::Rng) -> Vec<Step> {
    // Of a replica that lags and denies it, two answers are as much as can be told from a restore.
    let mut stale = random.u8(0..=1);
    let steps = (0..random.usize(5..40)).map(|_| match random.u8(0..100) {
        0..30 => Step::Put(random.u8(0..5)),
        30..40 => Step::Delete(random.u8(0..5)),
        40..60 => Step::Wait(Duration::from_millis(1 << random.u64(0..19))),
        60..80 => Step::Next(plan(random, &mut stale)),
        80..83 => Step::Otherwise(Plan {
            bookmarks: random.bool(),
            streaming: streaming(random),
            ..Plan::default()
        }),
        83..89 => Step::Cut { clean: random.bool() },
        89..92 => Step::Lag { behind: random.u64(0..4) },
        92..95 => Step::CatchUp,
        95..98 => Step::Compact,
        _ => Step::Restore { back: random.u64(0..20) },
    });
    steps.collect()
}

fn plan(random: &mut fastrand::Rng, stale: &mut u8) -> Plan {
    let default = Plan { page: random.usize(1..4), streaming: streaming(random), ..Plan::default() };
    match random.u8(0..12) {
        0..4 => Plan { cut_after: Some(random.usize(0..1500)), ends_cleanly: random.bool(), ..default },
        4..6 => {
            let (code, reason) = STATUSES[random.usize(0..STATUSES.len())];
            Plan { status: Some((code, reason)), ..default }
        }
        6 => Plan { silent: true, ..default },
        7 => Plan { delay: Duration::from_millis(random.u64(0..100_000)), ..default },
        8 => Plan { slow: Duration::from_secs(random.u64(1..100)), ..default },
        9 => Plan { bookmarks: false, keeps_timeout: random.bool(), ..default },
        10 => Plan { replica: 1, ..default },
        _ if *stale > 0 => {
            *stale -= 1;
            Plan { replica: 1, stale_latest: true, ..default }
        }
        _ => default,
    }
}

fn streaming(random: &mut fastrand::Rng) -> Streaming {
    match random.u8(0..6) {
        0 => Streaming::Refused,
        1 => Streaming::Ignored,
        _ => Streaming::Works,
    }
}

/// Leaves out what the failure does not need.
fn shorten(seed: u64, mut steps: Vec<Step>) -> Vec<Step> {
    let mut index = 0;
    while index < steps.len() {
        let mut fewer = steps.clone();
        fewer.remove(index);
        if run(seed, &fewer).is_err() {
            steps = fewer;
        } else {
            index += 1;
        }
    }
    steps
}

const STATUSES: [(u16, &str); 9] = [
    (400, "BadRequest"),
    (403, "Forbidden"),
    (404, "NotFound"),
    (410, "Expired"),
    (429, "TooManyRequests"),
    (500, "InternalError"),
    (502, "BadGateway"),
    (503, "ServiceUnavailable"),
    (504, "Timeout"),
];
/// The longest watch that brings no bookmarks, the slowest list of all scripts, what a silent answer may take, and the longest backoff.
const CATCH_UP_LIMIT: Duration = Duration::from_secs(630 + 400 + 90 + 60);
