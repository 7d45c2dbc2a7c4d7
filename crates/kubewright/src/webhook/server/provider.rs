//! Where the server's certificate comes from.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use parking_lot::Mutex;

use super::WebhookServerOptions;
use crate::{
    error,
    http_server::{Shown, read_files},
    webhook::certificates::Keeper,
};

/// Looks for the certificate again and again.
pub(super) enum Provider {
    /// In a folder, where somebody else renews it.
    Files,
    /// It makes and renews it.
    Managed { keeper: Box<Keeper>, failures: u32 },
}

/// What a server that manages its certificates last stumbled over.
#[derive(Debug, Default)]
pub(super) struct Trouble(Mutex<Option<Reason>>);

#[derive(Debug)]
pub(super) enum Reason {
    /// It could not look; what it shows may be good all the same.
    Failed(String),
    /// Clients do not trust what it shows.
    Untrusted(String),
}

impl Provider {
    pub(super) fn new(options: &WebhookServerOptions) -> Self {
        match &options.self_managed {
            None => Self::Files,
            Some(managed) => Self::Managed { keeper: Box::new(Keeper::new(managed)), failures: 0 },
        }
    }

    /// Looks once, and says how long to wait before the next time.
    pub(super) async fn look(
        &mut self,
        options: &WebhookServerOptions,
        shown: &Shown,
        trouble: &Trouble,
    ) -> Duration {
        let Self::Managed { keeper, failures } = self else {
            let directory = &options.certificate_directory;
            let (chain, key) = (directory.join(&options.certificate_name), directory.join(&options.key_name));
            shown.offer(read_files(&chain, &key).await);
            return options.reload_interval;
        };
        let reason = match keeper.look(Timestamp::now()).await {
            Ok(kept) => {
                shown.offer(Ok(kept.files));
                kept.untrusted.map(|failed| Reason::Untrusted(error::chain(&failed)))
            }
            Err(failed) => Some(Reason::Failed(error::chain(&failed))),
        };
        let interval = keeper.interval();
        *failures = if reason.is_some() { failures.saturating_add(1) } else { 0 };
        trouble.set(reason);
        match failures {
            0 => interval,
            times => FIRST_RETRY.saturating_mul(1 << (*times - 1).min(10)).min(interval),
        }
    }
}

impl Trouble {
    fn set(&self, reason: Option<Reason>) {
        let mut last = self.0.lock();
        match (&reason, last.as_ref()) {
            (None, Some(_)) => tracing::info!("webhook certificates are managed again"),
            (Some(new), last) if last.map(Reason::text) != Some(new.text()) => {
                tracing::error!(error = new.text(), "failed to manage webhook certificates");
            }
            _ => {}
        }
        *last = reason;
    }

    /// Why clients refuse a certificate that looks good.
    pub(super) fn untrusted(&self) -> Option<String> {
        match &*self.0.lock() {
            Some(Reason::Untrusted(text)) => Some(text.clone()),
            _ => None,
        }
    }

    /// Why there may be no certificate at all.
    pub(super) fn failed(&self) -> Option<String> {
        self.0.lock().as_ref().map(|reason| reason.text().to_owned())
    }
}

impl Reason {
    fn text(&self) -> &str {
        match self {
            Self::Failed(text) | Self::Untrusted(text) => text,
        }
    }
}

const FIRST_RETRY: Duration = Duration::from_millis(500);
