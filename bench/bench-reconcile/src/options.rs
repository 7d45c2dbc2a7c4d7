//! The command line.

use std::num::NonZeroU16;

use clap::{Parser, Subcommand};

use crate::client::Client;

/// Measures reconciles from event to end: kubewright beside kube-rs and controller-runtime, fed by one server.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Options {
    /// How many objects there are.
    #[arg(long, global = true, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..))]
    objects: u32,

    /// How often every object changes; the median is shown.
    #[arg(long, global = true, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The parts that the program starts itself for.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the objects, say on the first line of output where, and end with the input.
    #[command(hide = true)]
    Server,
    /// Measure one client and print the measurement as one line.
    #[command(hide = true)]
    Client {
        /// Whose controller is measured.
        client: Client,
        /// How many reconciles may run at once.
        workers: NonZeroU16,
        /// Where the server is.
        url: String,
    },
}

/// How much work every client does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) objects: usize,
    pub(crate) rounds: u32,
}

impl Options {
    pub(crate) fn load(&self) -> Load {
        Load { objects: usize::try_from(self.objects).unwrap_or(usize::MAX), rounds: self.rounds }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed_and_has_the_documented_defaults() {
        Options::command().debug_assert();
        let options = Options::parse_from(["bench-reconcile"]);
        assert_eq!(options.load(), Load { objects: 100_000, rounds: 3 });
        assert!(options.command.is_none());
        assert!(Options::try_parse_from(["bench-reconcile", "--objects", "0"]).is_err());
        assert!(Options::try_parse_from(["bench-reconcile", "--rounds", "0"]).is_err());
    }
}
