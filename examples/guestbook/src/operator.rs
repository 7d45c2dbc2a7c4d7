//! Wires the reconciler to its watches.

use std::time::Duration;

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Service},
};
use kubewright::{controller::BuildError, prelude::*};

use crate::{Guestbook, Story, reconciler::GuestbookReconciler};

/// Adds the guestbook controller to `manager`; it tells `story` what it does.
pub fn add_to_manager(manager: &Manager, story: Story) -> Result<(), BuildError> {
    let client = manager.client();
    let all_guestbooks = move || {
        let client = client.clone();
        async move {
            let guestbooks = client.list::<Guestbook>().await?;
            Ok::<_, BoxError>(
                guestbooks.iter().map(|guestbook| Request::of(&**guestbook)).collect::<Vec<_>>(),
            )
        }
    };
    Controller::builder(manager)
        .for_::<Guestbook>()
        .owns::<Deployment>()
        .owns::<Service>()
        .owns::<ConfigMap>()
        .watches_raw_source(source::interval(Duration::from_secs(1800), all_guestbooks))
        .max_concurrent_reconciles(4)
        .complete(GuestbookReconciler {
            client: manager.client(),
            recorder: manager.event_recorder("guestbook"),
            story,
        })?;
    Ok(())
}
