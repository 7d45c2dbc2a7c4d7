//! One request to a resource, and which handler it goes to.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use tokio_util::sync::CancellationToken;

use super::{Expiry, create, delete, list, patch, scale, update, watch};
use crate::{
    kind::{Kind, Subresource},
    object::Object,
    server::Shared,
    storage::{Document, Key},
    wire::{Accept, DeleteOptions, Reply, ResourceInfo, Status, Verb, decode_delete_options},
};

/// One request to a resource.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) shared: Arc<Shared>,
    pub(crate) kind: Arc<Kind>,
    pub(crate) verb: Verb,
    pub(crate) info: ResourceInfo,
    pub(crate) headers: HeaderMap,
    pub(crate) query: Vec<(String, String)>,
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
        let subresource = match self.info.subresource.as_str() {
            "" => None,
            name => Some(self.kind.subresource(name).cloned().ok_or_else(no_such_path)?),
        };
        self.check_path(subresource.is_some())?;
        let verbs = subresource.as_ref().map_or(self.kind.verbs, Subresource::verbs);
        if !verbs.contains(&self.verb.as_str()) {
            return Err(method_not_allowed());
        }
        if Expiry::concerns(&self.kind) {
            self.shared.expiry.remove_due(&self.shared.store, &self.kind);
        }
        match (self.verb, subresource) {
            (Verb::Get, None | Some(Subresource::Status)) => self.get(),
            (Verb::List, None) => list::list(&self).await,
            (Verb::Watch, None) => watch::watch(self).await,
            (Verb::Create, None) if self.info.name.is_empty() => create::create(&self),
            (Verb::Update, None) => update::update(&self, update::Part::Main),
            (Verb::Update, Some(Subresource::Status)) => update::update(&self, update::Part::Status),
            (Verb::Update, Some(Subresource::Finalize)) => update::update(&self, update::Part::Finalize),
            (Verb::Patch, None) => patch::patch(&self, update::Part::Main),
            (Verb::Patch, Some(Subresource::Status)) => patch::patch(&self, update::Part::Status),
            (Verb::Delete, None) => delete::delete(&self),
            (Verb::DeleteCollection, None) => delete::delete_collection(&self),
            (verb, Some(Subresource::Scale { replicas, status_replicas, selector })) => {
                let paths = scale::Paths { replicas, status_replicas, selector };
                match verb {
                    Verb::Update => scale::update(&self, &paths),
                    Verb::Patch => scale::patch(&self, &paths),
                    _ => scale::get(&self, &paths),
                }
            }
            _ => Err(method_not_allowed()),
        }
    }

    fn get(&self) -> Result<Reply, Status> {
        let document = self.read()?;
        Ok(Reply::object(StatusCode::OK, &self.kind, document))
    }

    /// The object that the request names.
    pub(super) fn read(&self) -> Result<Document, Status> {
        let found = self.shared.store.get(&self.kind.prefix, &self.key());
        found.ok_or_else(|| Status::not_found(&self.kind, &self.info.name))
    }

    pub(super) fn key(&self) -> Key {
        Key::new(self.namespace(), &self.info.name)
    }

    /// The namespace of the object; empty for cluster scope, also for namespaces themselves.
    pub(super) fn namespace(&self) -> &str {
        if self.kind.is_namespaced() { &self.info.namespace } else { "" }
    }

    /// Decodes the body as an object of the kind.
    pub(super) fn decode(&self) -> Result<Object, Status> {
        crate::wire::decode(&self.kind, &self.headers, &self.body)
    }

    /// The options of a deletion: the body, or the query if there is none.
    pub(super) fn delete_options(&self) -> Result<DeleteOptions, Status> {
        let body =
            if self.body.is_empty() { None } else { Some(decode_delete_options(&self.headers, &self.body)?) };
        DeleteOptions::read(body.as_ref(), &self.query)
    }

    /// Paths that no route leads to: the wrong scope, or no namespace where one is needed.
    fn check_path(&self, is_subresource: bool) -> Result<(), Status> {
        let own_namespace = self.kind.is("", "namespaces");
        let everywhere = matches!(self.verb, Verb::List | Verb::Watch);
        let good = match (self.kind.is_namespaced(), self.info.namespace.is_empty()) {
            (true, true) => everywhere && !is_subresource,
            (false, false) => own_namespace,
            _ => true,
        };
        if good { Ok(()) } else { Err(no_such_path()) }
    }
}

/// A path that no route leads to. Without a message the door answers in plain text, as upstream's router does.
pub(crate) fn no_such_path() -> Status {
    Status::new(StatusCode::NOT_FOUND, "", "")
}

fn method_not_allowed() -> Status {
    Status::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
    )
}
