//! Guestbooks to start with.

use anyhow::Context as _;
use kube::core::ObjectMeta;
use kubewright::prelude::*;

use crate::{Guestbook, GuestbookSpec};

/// Three guestbooks in the namespace `default`.
pub fn all() -> Vec<Guestbook> {
    [
        ("garden", 1, "Please close the gate."),
        ("harbour", 2, "Mind the tide."),
        ("library", 3, "Whisper, and sign below."),
    ]
    .map(|(name, replicas, message)| Guestbook {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            namespace: Some("default".to_owned()),
            ..ObjectMeta::default()
        },
        spec: GuestbookSpec {
            image: "registry.example.com/guestbook:1.0".to_owned(),
            replicas,
            message: message.to_owned(),
        },
        status: None,
    })
    .into()
}

/// The requests that stand for them.
pub fn requests() -> Vec<Request> {
    all().iter().map(Request::of).collect()
}

/// Creates them, but for those that are there.
pub async fn create(client: &Client) -> anyhow::Result<()> {
    for sample in all() {
        match client.create(&sample).await {
            Err(error) if error.is_already_exists() => {}
            result => drop(result.context("hint: apply what --manifests prints first")?),
        }
    }
    Ok(())
}
