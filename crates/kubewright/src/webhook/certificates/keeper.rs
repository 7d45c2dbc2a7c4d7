//! Certificates of one replica: what it asks of the API server, and when it shows what.

use std::time::Duration;

use k8s_openapi::{api::core::v1::Secret, jiff::Timestamp};
use kube::{
    Api,
    api::{DynamicObject, ObjectMeta, PostParams},
};

use super::{
    ManageError, SelfManagedCertificates, WebhookTarget,
    certificate::{Certificate, Pair},
    contents::Contents,
    injection::Ours,
    policy::Policy,
};

/// Keeps the Secret as the [`Policy`] wants it, and has the targets trust it.
pub(in crate::webhook) struct Keeper {
    options: SelfManagedCertificates,
    policy: Policy,
    ours: Ours,
    secrets: Api<Secret>,
    /// What the Secret held when it was last seen.
    known: Contents,
    /// The CAs that all targets are known to trust.
    injected: Vec<Certificate>,
}

/// What a replica shows, in PEM, and what keeps clients from accepting it.
pub(in crate::webhook) struct Kept {
    pub(in crate::webhook) files: [Vec<u8>; 2],
    pub(in crate::webhook) untrusted: Option<ManageError>,
}

impl Keeper {
    pub(in crate::webhook) fn new(options: &SelfManagedCertificates) -> Self {
        let SelfManagedCertificates { client, namespace, service, .. } = options;
        let mut names = vec![format!("{service}.{namespace}.svc")];
        names.extend(options.extra_names.iter().cloned());
        Self {
            policy: Policy {
                authority_name: format!("{service}.{namespace} webhook ca"),
                names: names.clone(),
                authority_life: options.authority_life,
                serving_life: options.serving_life,
                propagation: options.propagation,
            },
            ours: Ours { namespace: namespace.clone(), service: service.clone(), names },
            secrets: Api::namespaced(client.clone(), namespace),
            known: Contents::default(),
            injected: Vec::new(),
            options: options.clone(),
        }
    }

    /// How long to wait between two looks.
    pub(in crate::webhook) fn interval(&self) -> Duration {
        self.options.check_interval
    }

    /// Looks at everything once, and gives what to show from now on.
    ///
    /// # Cancel safety
    /// Dropped, it leaves everything in a state that the next look goes on from.
    pub(in crate::webhook) async fn look(&mut self, now: Timestamp) -> Result<Kept, ManageError> {
        self.known = self.agree(now).await?;
        self.policy.check(&self.known, now)?;
        let untrusted = self.inject(now).await.err();
        if untrusted.is_none() {
            self.injected.clone_from(&self.known.authorities);
        }
        let Some(Pair { certificate, key }) = &self.known.serving else {
            return Err(rustls::Error::NoCertificatesPresented.into());
        };
        Ok(Kept { files: [certificate.pem().into_bytes(), key.clone().into_bytes()], untrusted })
    }

    #[cfg(test)]
    pub(super) fn known(&self) -> Contents {
        self.known.clone()
    }

    /// Brings the Secret to where it should be. What another replica has written before counts.
    async fn agree(&self, now: Timestamp) -> Result<Contents, ManageError> {
        let name = &self.options.secret;
        for _ in 0..MAX_ATTEMPTS {
            let read = |source| ManageError::Read { name: name.clone(), source };
            let found = self.secrets.get_opt(name).await.map_err(read)?;
            let is_new = found.is_none();
            let mut secret = found.unwrap_or_else(|| self.empty());
            let stored = Contents::read(secret.data.get_or_insert_default());
            // One that was deleted or emptied is written again as it was.
            let held = if stored == Contents::default() { &self.known } else { &stored };
            let next = self.policy.next(held, now, held.authorities == self.injected)?;
            if next == stored {
                return Ok(next);
            }
            next.write(secret.data.get_or_insert_default());
            let written = if is_new {
                self.secrets.create(&PostParams::default(), &secret).await
            } else {
                self.secrets.replace(name, &PostParams::default(), &secret).await
            };
            match written {
                Ok(_) => return Ok(next),
                Err(failed) if is_outrun(&failed) => {}
                Err(source) => return Err(ManageError::Write { name: name.clone(), source }),
            }
        }
        Err(ManageError::Contended(format!("secret {name}")))
    }

    /// Has all targets trust the CAs. One that fails does not keep the others from it.
    async fn inject(&self, now: Timestamp) -> Result<(), ManageError> {
        let mut all = Ok(());
        for target in &self.options.targets {
            let injected = self.inject_one(target, now).await;
            all = all.and(injected);
        }
        all
    }

    async fn inject_one(&self, target: &WebhookTarget, now: Timestamp) -> Result<(), ManageError> {
        let (resource, name) = (target.resource(), target.name());
        let kind = resource.kind.clone();
        let objects = Api::<DynamicObject>::all_with(self.options.client.clone(), &resource);
        let failed = |source| ManageError::Inject { kind: kind.clone(), name: name.to_owned(), source };
        for _ in 0..MAX_ATTEMPTS {
            let Some(mut object) = objects.get_opt(name).await.map_err(failed)? else {
                tracing::debug!(kind, name, "nobody is told to trust our ca yet");
                return Ok(());
            };
            if !self.ours.inject(&mut object.data, &self.known.authorities, now) {
                return Ok(());
            }
            match objects.replace(name, &PostParams::default(), &object).await {
                Ok(_) => {
                    tracing::info!(kind, name, "trusts our ca");
                    return Ok(());
                }
                Err(failed) if is_outrun(&failed) => {}
                Err(source) => return Err(failed(source)),
            }
        }
        Err(ManageError::Contended(format!("{kind} {name}")))
    }

    fn empty(&self) -> Secret {
        let metadata = ObjectMeta {
            name: Some(self.options.secret.clone()),
            namespace: Some(self.options.namespace.clone()),
            ..ObjectMeta::default()
        };
        Secret { metadata, type_: Some("kubernetes.io/tls".to_owned()), ..Secret::default() }
    }
}

/// Whether somebody else has changed the object since it was read.
fn is_outrun(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.is_conflict() || status.is_already_exists() || status.is_not_found())
}

/// Enough for many replicas that start at once; the next look is seconds away.
const MAX_ATTEMPTS: usize = 8;
