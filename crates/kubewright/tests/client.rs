//! What a client reads after its own writes, and what it says when something goes wrong.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

#[path = "client/own_writes.rs"]
mod own_writes;

use common::{config_map, key};
use k8s_openapi::api::core::v1::ConfigMap;
use kubewright::{cache::CacheError, client::ClientError, prelude::*};
use kubewright_testing::{
    TestEnv,
    apiserver::{Fault, Verb},
};

async fn client() -> (TestEnv, Client) {
    let env = TestEnv::start().await;
    let client = env.manager().build().await.unwrap().client();
    (env, client)
}

/// The error and its causes, as they would be printed.
fn lines(error: &ClientError) -> Vec<String> {
    std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source())
        .map(ToString::to_string)
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_refusal_says_what_was_tried_and_why_it_was_refused() {
    let (_env, client) = client().await;
    let error = client.live().get::<ConfigMap>(&key("a")).await.unwrap_err();
    assert_eq!(
        lines(&error),
        ["failed to get ConfigMap \"default/a\"", "configmaps \"a\" not found: NotFound"]
    );
    assert!(error.is_not_found());

    client.create(&config_map("a", &[])).await.unwrap();
    let error = client.create(&config_map("a", &[])).await.unwrap_err();
    assert_eq!(
        lines(&error),
        ["failed to create ConfigMap \"default/a\"", "configmaps \"a\" already exists: AlreadyExists"]
    );
    assert!(error.is_already_exists());
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_lost_is_no_refusal() {
    let (env, client) = client().await;
    env.server().faults().add(Fault::lose_answer().when(|request| request.is(Verb::Create, "configmaps")));
    let error = client.create(&config_map("a", &[])).await.unwrap_err();
    assert_eq!(error.to_string(), "failed to create ConfigMap \"default/a\"");
    assert!(matches!(error, ClientError::Request { .. }), "{error:?}");
    assert!(error.status().is_none());
    client.live().get::<ConfigMap>(&key("a")).await.unwrap();
}

/// What an error consists of can be named by who has no other dependency.
#[test]
fn the_causes_of_errors_are_exported() {
    fn encoding(error: &ClientError) -> Option<&kubewright::serde_json::Error> {
        match error {
            ClientError::Encode { source, .. } => Some(source),
            _ => None,
        }
    }
    fn request(error: &ClientError) -> Option<&kubewright::kube::Error> {
        match error {
            ClientError::Request { source, .. } => Some(source),
            _ => None,
        }
    }
    fn listing(error: &CacheError) -> Option<&kubewright::cache::ListWatchError> {
        match error {
            CacheError::Refused { failure, .. } => Some(failure),
            _ => None,
        }
    }
    let error = CacheError::NotStarted;
    assert!(listing(&error).is_none());
    let error = ClientError::from(error);
    assert!(encoding(&error).is_none() && request(&error).is_none());
}
