//! The command line.

use clap::{Parser, Subcommand};

use crate::{client::Client, door::Door, pods::Pods};

/// Measures caches of many pods: kubewright beside kube-rs, fed by one server.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Options {
    /// How many pods are cached.
    #[arg(long, global = true, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..))]
    objects: u32,

    /// How often everything is measured; the median is shown.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repeat: u32,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The parts that the program starts itself for, and one that feeds the peers in `bench/peers`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print the pods, one JSON object a line, and end.
    Pods,
    /// Hold the pods, say on the first line of output where, and end with the input.
    #[command(hide = true)]
    Server,
    /// Measure one client. Reads where the server is from the input and prints the measurement as one line.
    #[command(hide = true)]
    Client {
        /// Whose cache is measured.
        client: Client,
        /// How it reaches the server.
        door: Door,
    },
}

impl Options {
    pub(crate) fn pods(&self) -> Pods {
        Pods { objects: usize::try_from(self.objects).unwrap_or(usize::MAX) }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed_and_has_the_documented_defaults() {
        Options::command().debug_assert();
        let options = Options::parse_from(["bench-cache"]);
        assert_eq!((options.objects, options.repeat), (20_000, 1));
        assert!(options.command.is_none());
        assert!(Options::try_parse_from(["bench-cache", "--objects", "0"]).is_err());
    }
}
