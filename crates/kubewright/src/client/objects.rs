//! The objects of one kind that may be known at run time only.

use std::{fmt, marker::PhantomData};

use super::Client;
use crate::object::{Kind, Object};

/// Reads and writes the objects of one kind as `V`; see [`Client::objects`].
pub struct Objects<'a, V> {
    pub(super) client: &'a Client,
    pub(super) kind: Kind,
    view: PhantomData<fn() -> V>,
}

impl Client {
    /// The objects of a kind that is a value, not a type. Everything that this client does with the type of a kind is done through it.
    ///
    /// `V` is what the objects are read as: [`DynamicObject`](kube::core::DynamicObject) for kinds that nobody has a type for, or a struct of the
    /// few fields that a reader needs. They share the watch and the store with all other reads of the kind.
    ///
    /// # Example: a kind that has no type
    /// ```
    /// use kubewright::{
    ///     kube::core::{ApiResource, DynamicObject, GroupVersionKind},
    ///     object::{Kind, ObjectKey, Scope},
    ///     prelude::*,
    /// };
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), BoxError> {
    /// # let env = kubewright_testing::TestEnv::start().await;
    /// # let manager = env.manager().build().await?;
    /// # let client = manager.client();
    /// # let _running = env.run(manager);
    /// let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "ConfigMap"));
    /// let kind = Kind::new(resource, Scope::Namespaced);
    /// let mut settings = DynamicObject::new("settings", &kind.api_resource()).within("default");
    /// settings.data = serde_json::json!({"data": {"colour": "red"}});
    ///
    /// let config_maps = client.objects::<DynamicObject>(kind);
    /// config_maps.create(&settings).await?;
    /// let read = config_maps.get(&ObjectKey::new("default", "settings")).await?;
    /// assert_eq!(read.data["data"]["colour"], "red");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Example: the fields that matter
    /// ```
    /// use kubewright::{object::{Kind, ObjectKey}, prelude::*};
    /// # use k8s_openapi::{api::core::v1::Node, apimachinery::pkg::apis::meta::v1::ObjectMeta};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Cordon {
    ///     spec: CordonSpec,
    /// }
    /// #[derive(Default, serde::Deserialize)]
    /// #[serde(default)]
    /// struct CordonSpec {
    ///     unschedulable: bool,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), BoxError> {
    /// # let env = kubewright_testing::TestEnv::start().await;
    /// # let manager = env.manager().build().await?;
    /// # let client = manager.client();
    /// # let _running = env.run(manager);
    /// # let metadata = ObjectMeta { name: Some("node-1".into()), ..ObjectMeta::default() };
    /// # client.create(&Node { metadata, spec: Some(Default::default()), ..Node::default() }).await?;
    /// let nodes = client.objects::<Cordon>(Kind::of::<Node>());
    /// assert!(!nodes.get(&ObjectKey::cluster_scoped("node-1")).await?.spec.unschedulable);
    /// # Ok(())
    /// # }
    /// ```
    pub fn objects<V>(&self, kind: Kind) -> Objects<'_, V> {
        Objects { client: self, kind, view: PhantomData }
    }

    /// The objects of the kind that `K` is the type of.
    pub(super) fn objects_of<K: Object>(&self) -> Objects<'_, K> {
        self.objects(Kind::of::<K>())
    }
}

impl<'a, V> Objects<'a, V> {
    /// The client behind it.
    pub fn client(&self) -> &'a Client {
        self.client
    }

    /// The kind.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }
}

/// Functions that take `impl Into<Objects<K>>` take a client, if `K` is the type of a kind.
impl<'a, K: Object> From<&'a Client> for Objects<'a, K> {
    fn from(client: &'a Client) -> Self {
        client.objects_of()
    }
}

impl<'a, V> From<&Objects<'a, V>> for Objects<'a, V> {
    fn from(objects: &Objects<'a, V>) -> Self {
        objects.clone()
    }
}

impl<V> Clone for Objects<'_, V> {
    fn clone(&self) -> Self {
        Self { client: self.client, kind: self.kind.clone(), view: PhantomData }
    }
}

impl<V> fmt::Debug for Objects<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Objects").field("kind", &self.kind).finish_non_exhaustive()
    }
}
