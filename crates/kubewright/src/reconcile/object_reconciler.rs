//! Reconcilers that are handed the object instead of its key.

use std::{marker::PhantomData, sync::Arc};

use super::{Action, Context, Reconciler, Request};
use crate::{
    BoxError,
    client::{Client, Optional as _},
    error,
    object::Object,
};

/// A reconciler that starts with its object already read.
///
/// Source: controller-runtime `reconcile.ObjectReconciler`.
pub trait ObjectReconciler<K>: Send + Sync + 'static {
    /// What goes wrong; anything that becomes a boxed error.
    type Error: Into<BoxError> + 'static;

    /// Looks at `object` and does what is missing.
    fn reconcile(
        &self,
        context: Context,
        object: Arc<K>,
    ) -> impl Future<Output = Result<Action, Self::Error>> + Send;
}

/// Reads the object of each request through `client` and hands it to `reconciler`; an object that is gone needs nothing.
pub fn as_reconciler<K: Object, T: ObjectReconciler<K>>(client: Client, reconciler: T) -> AsReconciler<K, T> {
    AsReconciler { client, reconciler, object: PhantomData }
}

/// See [`as_reconciler`].
#[derive(Debug)]
pub struct AsReconciler<K, T> {
    client: Client,
    reconciler: T,
    object: PhantomData<fn() -> K>,
}

impl<K: Object, T: ObjectReconciler<K>> Reconciler for AsReconciler<K, T> {
    type Error = BoxError;

    async fn reconcile(&self, context: Context, request: Request) -> Result<Action, BoxError> {
        match self.client.get::<K>(&request).await.optional()? {
            Some(object) => self.reconciler.reconcile(context, object).await.map_err(error::boxed),
            None => Ok(Action::await_change()),
        }
    }
}
