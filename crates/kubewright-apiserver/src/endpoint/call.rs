//! One request to a resource, and which verb it goes to.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use tokio_util::sync::CancellationToken;

use super::{
    binding, create, delete, delete_collection, eviction, get, list, patch, scale, service_token, update,
    watch,
};
use crate::{
    context::{Context, ResourceInfo, Verb},
    error::Status,
    kind::{Kind, Part, Subresource},
    options::resource_version,
    registry::{Cluster, Resource, no_such_path},
    wire::{Accept, Reply},
};

/// One request to a resource.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) kind: Arc<Kind>,
    pub(crate) context: Context,
    /// The resource of the request.
    pub(crate) info: ResourceInfo,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) accept: Accept,
    /// Fires when the door closes; watches end then.
    pub(crate) closing: CancellationToken,
    /// After how many events the fault plan cuts a watch.
    pub(crate) cut_after: Option<usize>,
    /// Fires when the fault plan cuts a watch that is open.
    pub(crate) cut: Arc<CancellationToken>,
}

impl Call {
    /// Does what the request asks for.
    pub(crate) async fn handle(self) -> Result<Reply, Status> {
        self.check_scope()?;
        let subresource = match self.info.subresource.as_str() {
            "" => None,
            name => Some(self.kind.subresource(name).cloned().ok_or_else(|| self.no_such_subresource())?),
        };
        let verbs = subresource.as_ref().map_or(self.kind.verbs, Subresource::verbs);
        if !verbs.contains(&self.context.info.verb.as_str()) {
            return Err(self.no_such_method());
        }
        self.check_name(subresource.is_some())?;
        if let Some(deprecation) = &self.kind.deprecation {
            self.context.warnings.add(deprecation);
        }
        self.cluster.expire(&self.kind);
        match (self.context.info.verb, subresource) {
            (Verb::Get, None | Some(Subresource::Status | Subresource::Approval)) => get::get(&self).await,
            (Verb::List, None) => list::list(&self).await,
            (Verb::Watch, None) => watch::watch(self).await,
            (Verb::Create, None) => create::create(&self).await,
            (Verb::Update, None) => update::update(&self, Part::Main).await,
            (Verb::Update, Some(Subresource::Status)) => update::update(&self, Part::Status).await,
            (Verb::Update, Some(Subresource::Finalize)) => update::update(&self, Part::Finalize).await,
            (Verb::Update, Some(Subresource::Approval)) => update::update(&self, Part::Approval).await,
            (Verb::Patch, Some(Subresource::Approval)) => patch::patch(&self, Part::Approval).await,
            (Verb::Patch, None) => patch::patch(&self, Part::Main).await,
            (Verb::Patch, Some(Subresource::Status)) => patch::patch(&self, Part::Status).await,
            (Verb::Delete, None) => delete::delete(&self).await,
            (Verb::DeleteCollection, None) => delete_collection::delete_collection(&self).await,
            (Verb::Create, Some(Subresource::Binding)) => binding::create(&self).await,
            (Verb::Create, Some(Subresource::Token)) => service_token::create(&self).await,
            (Verb::Create, Some(Subresource::Eviction)) => eviction::create(&self).await,
            (Verb::Get, Some(Subresource::Scale(paths))) => scale::get(&self, paths).await,
            (Verb::Update, Some(Subresource::Scale(paths))) => scale::update(&self, paths).await,
            (Verb::Patch, Some(Subresource::Scale(paths))) => scale::patch(&self, paths).await,
            _ => Err(self.no_such_method()),
        }
    }

    /// What the registry is asked about.
    pub(super) fn resource(&self) -> Resource<'_> {
        let Self { cluster, kind, context, info, .. } = self;
        Resource { cluster, kind, context, info }
    }

    /// The version that a get or a watch asks for.
    ///
    /// # Errors
    /// 500 for text that is no version, as upstream answers outside of lists.
    pub(super) fn single_version(&self) -> Result<Option<u64>, Status> {
        let parsed = resource_version(&self.context.query.text("resourceVersion"));
        parsed.map_err(|error| Status::new(StatusCode::INTERNAL_SERVER_ERROR, "", error))
    }

    /// The path has a namespace if the kind has one; without it, only collections are read.
    fn check_scope(&self) -> Result<(), Status> {
        let (namespace, name) = (!self.info.namespace.is_empty(), !self.info.name.is_empty());
        let reads_all = matches!(self.context.info.verb, Verb::List | Verb::Watch);
        match (self.kind.is_namespaced(), namespace) {
            (true, true) | (false, false) => Ok(()),
            // The path of a namespace is one in a namespace.
            (false, true) if self.kind.strategy.is_of_namespaces() => Ok(()),
            (true, false) if reads_all => Ok(()),
            // There is such a path, for readers.
            (true, false) if !name && !self.kind.is_custom => Err(Status::method_not_allowed()),
            _ => Err(self.no_such_path()),
        }
    }

    /// Writes to one object or a part of it name it in the path, and what makes one does not.
    fn check_name(&self, is_part: bool) -> Result<(), Status> {
        let named = !self.info.name.is_empty();
        let wants_name = matches!(self.context.info.verb, Verb::Update | Verb::Patch);
        match (self.kind.is_custom, named) {
            (true, false) if wants_name => Err(Status::bad_request("name must be provided")),
            (false, false) if wants_name => Err(Status::method_not_allowed()),
            (false, true) if self.context.info.verb == Verb::Create && !is_part => {
                Err(Status::method_not_allowed())
            }
            _ => Ok(()),
        }
    }

    fn no_such_path(&self) -> Status {
        if self.kind.is_custom { no_such_path() } else { Status::no_such_resource() }
    }

    /// Source: apiextensions `crdHandler.ServeHTTP` looks at the object's kind alone, routes of built-in kinds are fixed.
    fn no_such_subresource(&self) -> Status {
        if self.kind.is_custom {
            Status::not_found(&self.kind, &self.info.name)
        } else {
            Status::no_such_resource()
        }
    }

    fn no_such_method(&self) -> Status {
        if self.kind.is_custom {
            Status::method_not_supported(&self.kind, self.context.info.verb.as_str())
        } else {
            Status::method_not_allowed()
        }
    }
}
