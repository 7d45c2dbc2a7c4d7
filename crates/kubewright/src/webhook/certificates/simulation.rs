//! Replicas that share a Secret and a webhook configuration, and are interrupted wherever they may be.

use std::{collections::BTreeMap, time::Duration};

use fastrand::Rng;
use k8s_openapi::{ByteString, jiff::Timestamp};
use serde_json::{Value, json};

use super::{
    certificate::{Certificate, Pair},
    contents::Contents,
    injection::Ours,
    policy::Policy,
};

const DAY: Duration = Duration::from_secs(24 * 3600);
const NAME: &str = "hook.system.svc";

fn policy(authority_days: u32, serving_days: u32) -> Policy {
    Policy {
        authority_name: "hook.system webhook ca".to_owned(),
        names: vec![NAME.to_owned()],
        authority_life: DAY * authority_days,
        serving_life: DAY * serving_days,
        propagation: Duration::from_secs(60),
    }
}

/// What the API server keeps, each with the version that a write has to name.
#[derive(Default)]
struct Cluster {
    secret: (u32, BTreeMap<String, ByteString>),
    configuration: (u32, Value),
}

impl Cluster {
    fn new() -> Self {
        let webhook = json!({"clientConfig": {"service": {"namespace": "system", "name": "hook"}}});
        Self { configuration: (0, json!({"webhooks": [webhook]})), ..Self::default() }
    }

    fn trusted(&self) -> Vec<Certificate> {
        use base64::{Engine, engine::general_purpose::STANDARD};
        let bundle = self.configuration.1["webhooks"][0]["clientConfig"]["caBundle"].as_str();
        Certificate::read_all(&STANDARD.decode(bundle.unwrap_or_default()).unwrap())
    }
}

/// One replica. A step is what happens between two calls of the API server, so that others come in between.
#[derive(Default)]
struct Replica {
    step: Step,
    /// The authorities that the configuration is known to name.
    injected: Vec<Certificate>,
    serving: Option<Pair>,
}

#[derive(Default)]
enum Step {
    #[default]
    Read,
    Write(u32, Contents),
    Look(Contents),
    Inject(u32, Value, Contents),
}

impl Replica {
    fn run(&mut self, cluster: &mut Cluster, policy: &Policy, now: Timestamp) {
        let ours = Ours { namespace: "system".to_owned(), service: "hook".to_owned(), names: vec![] };
        self.step = match std::mem::take(&mut self.step) {
            Step::Read => {
                let held = Contents::read(&cluster.secret.1);
                let next = policy.next(&held, now, held.authorities == self.injected).unwrap();
                if next == held { Step::Look(held) } else { Step::Write(cluster.secret.0, next) }
            }
            Step::Write(version, next) if version == cluster.secret.0 => {
                next.write(&mut cluster.secret.1);
                cluster.secret.0 += 1;
                Step::Look(next)
            }
            Step::Look(held) => {
                let (version, mut configuration) = cluster.configuration.clone();
                if ours.inject(&mut configuration, &held.authorities, now) {
                    Step::Inject(version, configuration, held)
                } else {
                    self.serve(held)
                }
            }
            Step::Inject(version, configuration, held) if version == cluster.configuration.0 => {
                cluster.configuration = (version + 1, configuration);
                self.serve(held)
            }
            Step::Write(..) | Step::Inject(..) => Step::Read,
        };
    }

    fn serve(&mut self, held: Contents) -> Step {
        self.injected = held.authorities;
        self.serving = held.serving;
        Step::Read
    }
}

/// Lets three replicas live for so many days. After each step every one of them is called.
#[track_caller]
fn check(seed: u64, policy: &Policy, days: u64, authorities: usize) {
    let mut rng = Rng::with_seed(seed);
    let (mut cluster, mut replicas) = (Cluster::new(), [const { Option::<Replica>::None }; 3]);
    let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    let end = start + DAY * u32::try_from(days).unwrap();
    let (mut now, mut seen) = (start, Vec::new());
    while now < end {
        // Mostly they sleep; what comes between takes seconds.
        let all_rest = replicas.iter().flatten().all(|replica| matches!(replica.step, Step::Read));
        now += Duration::from_secs(if all_rest { rng.u64(1..48 * 3600) } else { rng.u64(0..30) });
        let one = rng.usize(0..3);
        replicas[one].get_or_insert_default().run(&mut cluster, policy, now);
        if rng.u32(0..100) == 0 {
            replicas[one] = None; // Restarted, it has forgotten everything.
        }
        let trusted = cluster.trusted();
        assert!(trusted.iter().all(|certificate| certificate.is_ca), "seed {seed}: a bundle holds a leaf");
        for authority in &trusted {
            if !seen.contains(authority) {
                seen.push(authority.clone());
            }
        }
        for pair in replicas.iter().flatten().filter_map(|replica| replica.serving.as_ref()) {
            let verified = pair.certificate.verify(&trusted, NAME, now);
            assert!(verified.is_ok(), "seed {seed}, {now}: {verified:?}");
        }
    }
    assert_eq!(seen.len(), authorities, "seed {seed}");
}

#[test]
fn three_replicas_agree_on_one_authority_and_every_certificate_verifies_at_every_moment() {
    for seed in 0..2 {
        check(seed, &policy(3650, 90), 200, 1);
    }
}

#[test]
fn a_new_authority_overlaps_with_the_old_one() {
    // Due after 40, 80, 120, 160 and 200 days.
    for seed in 0..2 {
        check(seed, &policy(60, 30), 199, 5);
    }
}

#[test]
fn what_was_lost_or_broken_is_made_again() {
    let policy = policy(60, 30);
    let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    let sound = policy.next(&Contents::default(), now, false).unwrap();
    assert_eq!(policy.check(&sound, now), Ok(()));
    assert_eq!(policy.next(&sound, now, true).unwrap(), sound, "what is good stays");

    let mut data = BTreeMap::new();
    sound.write(&mut data);
    assert_eq!(Contents::read(&data), sound);
    for broken in ["ca.crt", "ca.key", "tls.crt", "tls.key"] {
        let mut data = data.clone();
        data.insert(broken.to_owned(), ByteString(b"nonsense".to_vec()));
        let next = policy.next(&Contents::read(&data), now, true).unwrap();
        assert_eq!(policy.check(&next, now), Ok(()), "{broken}");
        assert!(next.signer().is_some(), "{broken}");
    }

    let renamed = Policy { names: vec!["other.system.svc".to_owned()], ..policy };
    let next = renamed.next(&sound, now, true).unwrap();
    assert_eq!((renamed.check(&next, now), next.authorities), (Ok(()), sound.authorities));
}
