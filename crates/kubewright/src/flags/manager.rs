//! Flags of the manager.

use std::{path::PathBuf, time::Duration};

use kube::{
    Config,
    config::{KubeConfigOptions, Kubeconfig, KubeconfigError},
};

use super::{MetricsFlags, duration::duration};
use crate::{
    http_server::BindAddress, leader_election::LeaderElection, manager::ManagerBuilder,
    metrics::MetricsServerOptions,
};

/// `--leader-elect` and what belongs to it, `--health-probe-bind-address`, `--kubeconfig`, those of [`MetricsFlags`], and with the feature `http2`
/// `--enable-http2`.
///
/// Source: kubebuilder's `cmd/main.go`; controller-runtime `pkg/client/config` for `--kubeconfig`; component-base `config/options.BindLeaderElectionFlags`
/// for the durations of `--leader-elect-…`.
#[derive(Clone, Debug, clap::Args)]
#[non_exhaustive]
pub struct ManagerFlags {
    /// Runs controllers on one replica at a time, the leader
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true")]
    pub leader_elect: bool,

    /// The namespace of the leader's lease [default: the one that the process runs in]
    #[arg(long, value_name = "NAMESPACE")]
    pub leader_elect_resource_namespace: Option<String>,

    /// How long others wait for a leader that is silent; whole seconds [default: 15s]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub leader_elect_lease_duration: Option<Duration>,

    /// How long a leader that cannot renew its lease leads [default: 10s]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub leader_elect_renew_deadline: Option<Duration>,

    /// How long a leader waits between renewals [default: 2s]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub leader_elect_retry_period: Option<Duration>,

    /// Where probes are answered; 0 turns it off
    #[arg(long, value_name = "ADDRESS", default_value = ":8081")]
    pub health_probe_bind_address: BindAddress,

    /// Where and how metrics are served.
    #[command(flatten)]
    pub metrics: MetricsFlags,

    /// Offers HTTP/2 to clients of metrics and webhooks
    #[cfg(feature = "http2")]
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", action = clap::ArgAction::Set)]
    pub enable_http2: bool,

    /// A kubeconfig [default: $KUBECONFIG, ~/.kube/config, or the cluster that the process runs in]
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
}

/// What flags ask for cannot be had; whoever runs the process has to mend it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlagsError {
    /// The file of `--kubeconfig` is not usable.
    #[error("failed to use kubeconfig {}", file.display())]
    Kubeconfig {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        #[source]
        source: KubeconfigError,
    },
}

impl ManagerFlags {
    /// Does to `builder` what the flags say. `election` is how to elect if `--leader-elect` asks for it.
    ///
    /// # Errors
    /// [`FlagsError::Kubeconfig`] if the file that was named cannot be read, or names no cluster.
    pub async fn apply(
        &self,
        mut builder: ManagerBuilder,
        election: LeaderElection,
    ) -> Result<ManagerBuilder, FlagsError> {
        if let Some(file) = &self.kubeconfig {
            let failed = |source| FlagsError::Kubeconfig { file: file.clone(), source };
            let kubeconfig = Kubeconfig::read_from(file).map_err(failed)?;
            let options = KubeConfigOptions::default();
            builder =
                builder.config(Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(failed)?);
        }
        builder = builder
            .health_probe_bind_address(self.health_probe_bind_address.clone())
            .metrics_server(self.metrics_server());
        if self.leader_elect {
            builder = builder.leader_election(self.election(election));
        }
        Ok(builder)
    }

    fn election(&self, mut election: LeaderElection) -> LeaderElection {
        if let Some(namespace) = &self.leader_elect_resource_namespace {
            election.namespace = Some(namespace.clone());
        }
        election.lease_duration = self.leader_elect_lease_duration.unwrap_or(election.lease_duration);
        election.renew_deadline = self.leader_elect_renew_deadline.unwrap_or(election.renew_deadline);
        election.retry_period = self.leader_elect_retry_period.unwrap_or(election.retry_period);
        election
    }

    fn metrics_server(&self) -> MetricsServerOptions {
        MetricsServerOptions {
            #[cfg(feature = "http2")]
            http2: self.enable_http2,
            ..self.metrics.apply(MetricsServerOptions::default())
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::manager::Manager;

    #[derive(Debug, Parser)]
    struct Args {
        #[command(flatten)]
        manager: ManagerFlags,
    }

    fn parsed(line: &str) -> ManagerFlags {
        Args::try_parse_from(line.split_whitespace()).unwrap().manager
    }

    async fn built(line: &str) -> Result<Manager, String> {
        let builder = parsed(line).apply(Manager::builder(), LeaderElection::new("test.example.com")).await;
        let builder = builder.map_err(|error| error.to_string())?;
        builder.build().await.map_err(|error| crate::error::chain(&error))
    }

    #[test]
    fn a_switch_is_set_as_in_go() {
        for (line, expected) in [
            ("operator", false),
            ("operator --leader-elect", true),
            ("operator --leader-elect=true", true),
            ("operator --leader-elect=false", false),
        ] {
            assert_eq!(parsed(line).leader_elect, expected, "{line}");
        }
    }

    #[test]
    fn durations_of_the_election_are_those_of_the_flags_or_the_operators_own() {
        let mut own = LeaderElection::new("test.example.com");
        own.retry_period = Duration::from_secs(3);
        let durations = |line: &str| {
            let election = parsed(line).election(own.clone());
            [election.lease_duration, election.renew_deadline, election.retry_period].map(|it| it.as_millis())
        };
        assert_eq!(durations("operator"), [15_000, 10_000, 3_000]);
        let flags = "operator --leader-elect-lease-duration=1m --leader-elect-renew-deadline=40s \
                     --leader-elect-retry-period=500ms";
        assert_eq!(durations(flags), [60_000, 40_000, 500]);
    }

    /// Each flag is seen in the manager that comes of it.
    #[tokio::test]
    async fn flags_do_what_they_say() {
        let file = std::env::temp_dir().join(format!("kubewright-flags-{}", uuid::Uuid::new_v4()));
        let kubeconfig = r#"{"clusters": [{"name": "c", "cluster": {"server": "http://192.0.2.1:8080"}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": ""}}], "current-context": "c"}"#;
        std::fs::write(&file, kubeconfig).unwrap();
        let flags = format!("operator --kubeconfig {}", file.display());

        assert!(built(&flags).await.unwrap().leadership().is_none());
        let elected = format!("{flags} --leader-elect --leader-elect-resource-namespace shop");
        assert!(built(&elected).await.unwrap().leadership().is_some());
        let nowhere = built(&format!("{flags} --leader-elect")).await.unwrap_err();
        assert!(nowhere.contains("please specify a namespace"), "{nowhere}");
        std::fs::remove_file(&file).unwrap();
        let missing = built(&flags).await.unwrap_err();
        assert_eq!(missing, format!("failed to use kubeconfig {}", file.display()));
    }
}
