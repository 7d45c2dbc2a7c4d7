//! Both versions, through the API server.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use conversion::{
    definition, v1,
    v2::{self, Schedule},
    webhook,
};
use kube::{Api, ResourceExt as _, api::PostParams};
use kubewright::{
    object::ObjectKey,
    webhook::{WebhookServer, conversion::round_trip},
};
use kubewright_testing::TestEnv;
use proptest::prelude::*;

async fn env() -> TestEnv {
    let env = TestEnv::start().await;
    let server = WebhookServer::default();
    webhook::register(&server).unwrap();
    env.install_webhooks("backups", &server).await;
    env.install_crds([definition(&env.webhook_address("backups")).unwrap()]).await;
    env
}

fn nightly() -> v2::BackupSpec {
    let schedule = Schedule { minute: Some("30".into()), hour: Some("3".into()), ..Schedule::default() };
    v2::BackupSpec { volume: "home".into(), schedule }
}

#[tokio::test(start_paused = true)]
async fn what_is_written_in_one_version_is_read_in_the_other() {
    let env = env().await;
    let old: Api<v1::Backup> = Api::default_namespaced(env.kube());
    let new: Api<v2::Backup> = Api::default_namespaced(env.kube());
    let made = new.create(&PostParams::default(), &v2::Backup::new("home", nightly())).await.unwrap();
    assert_eq!(made.spec, nightly());
    let seen = old.get("home").await.unwrap();
    assert_eq!((&*seen.spec.schedule, seen.uid()), ("30 3 * * *", made.uid()));

    let mut changed = seen;
    changed.spec.schedule = "0 * * * 1".to_owned();
    old.replace("home", &PostParams::default(), &changed).await.unwrap();
    let expected =
        Schedule { minute: Some("0".into()), day_of_week: Some("1".into()), ..Schedule::default() };
    assert_eq!(new.get("home").await.unwrap().spec.schedule, expected);

    // A cache holds the version that a controller has asked for.
    let key = ObjectKey::new("default", "home");
    env.wait_for::<v2::Backup>(&key, |backup| backup.is_some_and(|backup| backup.spec.schedule == expected))
        .await;
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_said_in_the_stored_version_is_refused_with_the_reason() {
    let env = env().await;
    let new: Api<v2::Backup> = Api::default_namespaced(env.kube());
    let mut spec = nightly();
    spec.schedule.hour = Some("3 or 4".into());
    let refused = new.create(&PostParams::default(), &v2::Backup::new("home", spec)).await.unwrap_err();
    let expected = "conversion webhook for example.com/v2, Kind=Backup failed: failed to convert example.com/v2 to example.com/v1: \
         spec.schedule: \"3 or 4\" is not one word";
    assert!(refused.to_string().contains(expected), "{refused}");
}

proptest! {
    #[test]
    fn nothing_is_lost_on_the_way(words in proptest::array::uniform5(proptest::option::of("[0-9/,-]{1,5}"))) {
        let [minute, hour, day_of_month, month, day_of_week] = words;
        let schedule = Schedule { minute, hour, day_of_month, month, day_of_week };
        let backup = v2::Backup::new("home", v2::BackupSpec { volume: "home".into(), schedule });
        prop_assert!(round_trip::<v2::Backup, v1::Backup>(&backup).is_ok());
    }
}
