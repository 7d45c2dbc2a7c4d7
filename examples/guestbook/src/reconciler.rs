//! Drives the cluster to what a guestbook says.

use anyhow::Context as _;
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Service},
};
use kube::{
    ResourceExt as _,
    core::{ObjectMeta, params::Patch},
};
use kubewright::{
    controllerutil::{self, OperationResult, create_or_patch, set_controller_reference},
    object::Object,
    prelude::*,
    recorder::{Event, EventRecorder},
};
use serde::Serialize;
use serde_json::json;

use crate::{ARCHIVE, FINALIZER, Guestbook, Story, children, status};

pub(crate) struct GuestbookReconciler {
    pub(crate) client: Client,
    pub(crate) recorder: EventRecorder,
    pub(crate) story: Story,
}

impl Reconciler for GuestbookReconciler {
    type Error = anyhow::Error;

    async fn reconcile(&self, _context: Context, request: Request) -> anyhow::Result<Action> {
        let Some(guestbook) = self.client.get::<Guestbook>(&request).await.optional()? else {
            self.story.gone(&request);
            return Ok(Action::await_change());
        };
        if guestbook.metadata.deletion_timestamp.is_some() {
            self.clean_up(&request, &guestbook).await?;
            return Ok(Action::await_change());
        }
        let guestbook = match controllerutil::ensure_finalizer(&self.client, &*guestbook, FINALIZER).await? {
            Some(stored) => stored,
            None => Guestbook::clone(&guestbook),
        };

        self.child(&request, &guestbook, "ConfigMap", children::set_config_map, |metadata| ConfigMap {
            metadata,
            ..ConfigMap::default()
        })
        .await?;
        self.child(&request, &guestbook, "Service", children::set_service, |metadata| Service {
            metadata,
            ..Service::default()
        })
        .await?;
        let deployment = self
            .child(&request, &guestbook, "Deployment", children::set_deployment, |metadata| Deployment {
                metadata,
                ..Deployment::default()
            })
            .await?;

        self.report(&request, &guestbook, &deployment).await?;
        Ok(Action::await_change())
    }
}

impl GuestbookReconciler {
    /// Creates or changes a child, which goes when the guestbook goes.
    async fn child<K: Object + Serialize>(
        &self,
        request: &Request,
        guestbook: &Guestbook,
        kind: &str,
        set: impl FnOnce(&Guestbook, &mut K),
        make: impl FnOnce(ObjectMeta) -> K,
    ) -> anyhow::Result<K> {
        let (child, result) = create_or_patch(&self.client, make(children::meta(guestbook)), |child| {
            set(guestbook, child);
            set_controller_reference(guestbook, child)
        })
        .await
        .with_context(|| format!("failed to bring the {kind} to its desired state"))?;
        let (reason, did) = match result {
            OperationResult::Created => ("Created", format!("created its {kind}")),
            OperationResult::Unchanged => return Ok(child),
            _ => ("Changed", format!("changed its {kind}")),
        };
        self.recorder
            .record(guestbook, Event::normal(reason, &did).action(format!("Set{kind}")).related(&child));
        self.story.did(request, &did);
        Ok(child)
    }

    /// Writes the status if there is something new to say.
    async fn report(
        &self,
        request: &Request,
        guestbook: &Guestbook,
        deployment: &Deployment,
    ) -> anyhow::Result<()> {
        let desired = status::desired(guestbook, deployment, jiff::Timestamp::now());
        let stored = if guestbook.status.as_ref() == Some(&desired) {
            guestbook.clone()
        } else {
            let patch = json!({ "metadata": { "resourceVersion": guestbook.metadata.resource_version }, "status": desired });
            self.client.status().patch::<Guestbook, _>(request, &Patch::Merge(patch)).await?
        };
        self.story.has(
            request,
            &stored.spec.message,
            desired.available_replicas,
            stored.spec.replicas,
            status::is_ready(&stored),
        );
        Ok(())
    }

    /// Keeps the last message of a guestbook that is being deleted, then lets it go.
    async fn clean_up(&self, request: &Request, guestbook: &Guestbook) -> anyhow::Result<()> {
        if !controllerutil::contains_finalizer(guestbook, FINALIZER) {
            return Ok(());
        }
        let archive = ObjectMeta {
            name: Some(ARCHIVE.to_owned()),
            namespace: guestbook.namespace(),
            ..ObjectMeta::default()
        };
        create_or_patch(&self.client, ConfigMap { metadata: archive, ..ConfigMap::default() }, |archive| {
            archive.data.get_or_insert_default().insert(guestbook.name_any(), guestbook.spec.message.clone());
            Ok::<_, BoxError>(())
        })
        .await
        .context("failed to archive the message")?;
        controllerutil::release_finalizer(&self.client, guestbook, FINALIZER).await?;
        self.story.did(request, &format!("is being deleted: its message is in ConfigMap {ARCHIVE}"));
        Ok(())
    }
}
