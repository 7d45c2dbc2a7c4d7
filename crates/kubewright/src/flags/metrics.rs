//! Flags of the metrics server.

use std::path::PathBuf;

use crate::{
    http_server::BindAddress,
    metrics::{MetricsAccess, MetricsServerOptions},
};

/// `--metrics-bind-address`, `--metrics-secure`, `--metrics-cert-path`, `--metrics-cert-name`, `--metrics-cert-key`: a part of
/// [`ManagerFlags`](super::ManagerFlags).
///
/// Source: kubebuilder's `cmd/main.go`.
#[derive(Clone, Debug, clap::Args)]
#[non_exhaustive]
pub struct MetricsFlags {
    /// Where metrics are served, as :8443 over HTTPS or :8080 over HTTP; 0 turns it off
    #[arg(long, value_name = "ADDRESS", default_value = "0")]
    pub metrics_bind_address: BindAddress,

    /// Serves metrics over HTTPS, to those whom the API server lets read them
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    pub metrics_secure: bool,

    /// The folder of the metrics server's certificate [default: one is made at each start]
    #[arg(long, value_name = "FOLDER")]
    pub metrics_cert_path: Option<PathBuf>,

    /// The file with the metrics server's certificate chain
    #[arg(long, value_name = "FILE", default_value = "tls.crt")]
    pub metrics_cert_name: String,

    /// The file with the metrics server's private key
    #[arg(long, value_name = "FILE", default_value = "tls.key")]
    pub metrics_cert_key: String,
}

impl MetricsFlags {
    /// Does to `options` what the flags say.
    pub fn apply(&self, mut options: MetricsServerOptions) -> MetricsServerOptions {
        options.bind_address = self.metrics_bind_address.clone();
        options.secure_serving = self.metrics_secure;
        if self.metrics_secure {
            options.access = MetricsAccess::Authorized;
        }
        if let Some(folder) = &self.metrics_cert_path {
            options.certificate_directory = Some(folder.clone());
        }
        options.certificate_name.clone_from(&self.metrics_cert_name);
        options.key_name.clone_from(&self.metrics_cert_key);
        options
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Args {
        #[command(flatten)]
        metrics: MetricsFlags,
    }

    fn applied(line: &str) -> MetricsServerOptions {
        let args = Args::try_parse_from(line.split_whitespace()).unwrap();
        args.metrics.apply(MetricsServerOptions::default())
    }

    #[test]
    fn metrics_are_off_and_would_be_secure() {
        let options = applied("operator");
        assert!(options.bind_address.is_off() && options.secure_serving);
        assert_eq!(options.access, MetricsAccess::Authorized);
        assert_eq!(options.certificate_directory, None);
        assert_eq!((&*options.certificate_name, &*options.key_name), ("tls.crt", "tls.key"));
    }

    #[test]
    fn flags_do_what_they_say() {
        let options = applied("operator --metrics-bind-address :8080 --metrics-secure=false");
        assert_eq!(options.bind_address, BindAddress::port(8080));
        assert_eq!((options.secure_serving, options.access), (false, MetricsAccess::Anybody));
        let options = applied(
            "operator --metrics-secure --metrics-cert-path /certs --metrics-cert-name a.pem --metrics-cert-key b.pem",
        );
        assert!(options.secure_serving);
        assert_eq!(options.certificate_directory, Some("/certs".into()));
        assert_eq!((&*options.certificate_name, &*options.key_name), ("a.pem", "b.pem"));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        assert!(Args::try_parse_from(["operator", "--metrics-bind-address", "8443"]).is_err());
    }
}
