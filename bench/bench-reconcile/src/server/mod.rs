//! The server that all clients read: as much of an API server as a controller of `ConfigMap`s asks for, and as cheap as it can be.
//!
//! - `config_map` makes up the objects, `prepared` keeps their text so that an event is a copy of bytes.
//! - `history` knows which event has which version: every object is created once and then changed once in each round.
//! - `route` reads requests, `discovery` has the documents that tell what is served, `answer` writes answers.
//! - `door` listens.

mod answer;
mod config_map;
mod discovery;
mod door;
mod history;
mod prepared;
mod route;

use anyhow::{Context, Result};
use tokio::{io::AsyncReadExt, net::TcpListener};

pub(crate) use answer::Server;
pub(crate) use door::serve;

/// Serves `objects` objects over plain HTTP until the input ends.
pub(crate) async fn run(objects: usize) -> Result<()> {
    let server = Server::new(objects)?;
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("failed to listen")?;
    println!("http://{}", listener.local_addr()?);
    let input_ends =
        async { tokio::io::stdin().read_to_end(&mut Vec::new()).await.context("failed to read the input") };
    tokio::select! {
        ended = input_ends => ended.map(drop),
        never = serve(listener, server) => match never? {},
    }
}
