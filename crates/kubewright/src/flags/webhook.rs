//! Flags of a webhook server.

use std::path::PathBuf;

use super::ManagerFlags;
use crate::webhook::WebhookServerOptions;

/// `--webhook-port`, `--webhook-cert-path`, `--webhook-cert-name`, `--webhook-cert-key`.
///
/// Source: kubebuilder's `cmd/main.go`.
#[derive(Clone, Debug, clap::Args)]
#[non_exhaustive]
pub struct WebhookFlags {
    /// The port of the webhook server; 0 is any free one
    #[arg(long, value_name = "PORT", default_value_t = 9443)]
    pub webhook_port: u16,

    /// The folder of the webhook server's certificate [default: k8s-webhook-server/serving-certs in the folder for temporary files]
    #[arg(long, value_name = "FOLDER")]
    pub webhook_cert_path: Option<PathBuf>,

    /// The file with the webhook server's certificate chain
    #[arg(long, value_name = "FILE", default_value = "tls.crt")]
    pub webhook_cert_name: String,

    /// The file with the webhook server's private key
    #[arg(long, value_name = "FILE", default_value = "tls.key")]
    pub webhook_cert_key: String,
}

impl WebhookFlags {
    /// Does to `options` what the flags say, and those of the manager that speak of all servers (`--enable-http2`).
    #[cfg_attr(
        not(feature = "http2"),
        expect(unused_variables, reason = "no other flag speaks of all servers")
    )]
    pub fn apply(&self, manager: &ManagerFlags, mut options: WebhookServerOptions) -> WebhookServerOptions {
        options.address.set_port(self.webhook_port);
        if let Some(folder) = &self.webhook_cert_path {
            options.certificate_directory.clone_from(folder);
        }
        options.certificate_name.clone_from(&self.webhook_cert_name);
        options.key_name.clone_from(&self.webhook_cert_key);
        #[cfg(feature = "http2")]
        {
            options.http2 = manager.enable_http2;
        }
        options
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Args {
        #[command(flatten)]
        manager: ManagerFlags,
        #[command(flatten)]
        webhook: WebhookFlags,
    }

    fn applied(line: &str) -> WebhookServerOptions {
        let args = Args::try_parse_from(line.split_whitespace()).unwrap();
        args.webhook.apply(&args.manager, WebhookServerOptions::default())
    }

    #[test]
    fn without_flags_all_stays_as_it_is() {
        let (options, default) = (applied("operator"), WebhookServerOptions::default());
        assert_eq!(options.address, default.address);
        assert_eq!(options.certificate_directory, default.certificate_directory);
        assert_eq!(
            (options.certificate_name, options.key_name),
            (default.certificate_name, default.key_name)
        );
    }

    #[test]
    fn flags_do_what_they_say() {
        let options = applied(
            "operator --webhook-port 8443 --webhook-cert-path /certs --webhook-cert-name a.pem --webhook-cert-key b.pem",
        );
        assert_eq!(options.address.port(), 8443);
        assert_eq!(options.certificate_directory, Path::new("/certs"));
        assert_eq!((&*options.certificate_name, &*options.key_name), ("a.pem", "b.pem"));
    }

    #[cfg(feature = "http2")]
    #[test]
    fn http2_is_offered_on_demand() {
        for (line, expected) in
            [("operator", false), ("operator --enable-http2", true), ("operator --enable-http2=false", false)]
        {
            assert_eq!(applied(line).http2, expected, "{line}");
        }
    }
}
