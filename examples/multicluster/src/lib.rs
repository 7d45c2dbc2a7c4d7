//! One controller, two clusters: whatever ConfigMap in either of them is labelled `share: yes` is kept equal in the other.
//!
//! The point of interest is the request type. A key alone would not say in which cluster to look; a [`Shared`] does. Everything else is as in
//! any controller.

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright::{
    cluster::Cluster,
    controllerutil::create_or_patch,
    event::Event,
    handler::Requests,
    kube::core::{ObjectMeta, Selector},
    prelude::*,
};

/// The label of ConfigMaps that are shared.
pub const SHARE: (&str, &str) = ("share", "yes");

/// A ConfigMap of one of the clusters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shared {
    /// Where it was seen.
    pub origin: Side,
    /// Which one it is.
    pub key: Request,
}

/// One of two clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The manager's own cluster.
    Left,
    /// The other one.
    Right,
}

/// Copies what is shared from the side where it was seen to the other one.
struct Share {
    left: Client,
    right: Client,
}

impl Reconciler<Shared> for Share {
    type Error = BoxError;

    async fn reconcile(&self, _context: Context, shared: Shared) -> Result<Action, BoxError> {
        let (from, to) = match shared.origin {
            Side::Left => (&self.left, &self.right),
            Side::Right => (&self.right, &self.left),
        };
        let Some(original) = from.get::<ConfigMap>(&shared.key).await.optional()? else {
            return Ok(Action::await_change());
        };
        let metadata = ObjectMeta {
            name: original.metadata.name.clone(),
            namespace: original.metadata.namespace.clone(),
            ..ObjectMeta::default()
        };
        // The copy is labelled too: a change of either is a change of both, and equal copies end the exchange.
        create_or_patch(to, ConfigMap { metadata, ..ConfigMap::default() }, |copy| {
            copy.data.clone_from(&original.data);
            let labels = copy.metadata.labels.get_or_insert_default();
            labels.insert(SHARE.0.to_owned(), SHARE.1.to_owned());
            Ok::<_, BoxError>(())
        })
        .await?;
        Ok(Action::await_change())
    }
}

/// Adds the controller to `manager`, and `right` beside the manager's own cluster.
pub fn add_to_manager(manager: &Manager, right: &Cluster) -> anyhow::Result<()> {
    manager.add_cluster(right)?;
    Controller::typed::<Shared>(manager)
        .named("share")
        .watches_raw_source(
            source::kind(manager.cache(), enqueue(Side::Left))
                .with_predicate(predicate::selector(is_shared())),
        )
        .watches_raw_source(
            source::kind(right.cache(), enqueue(Side::Right))
                .with_predicate(predicate::selector(is_shared())),
        )
        .complete(Share { left: manager.client(), right: right.client() })?;
    Ok(())
}

/// Requests that remember from which side their event came.
fn enqueue(origin: Side) -> impl Fn(&Event<ConfigMap>, &Requests<'_, Shared>) + Send + Sync + 'static {
    move |event, requests| requests.add(Shared { origin, key: event.object().key().clone() })
}

fn is_shared() -> Selector {
    Selector::from_iter([(SHARE.0.to_owned(), SHARE.1.to_owned())])
}
