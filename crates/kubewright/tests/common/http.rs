//! A client of one request, without TLS.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// What a server answers.
#[derive(Debug, PartialEq, Eq)]
pub struct Answered {
    pub status: u16,
    pub head: String,
    pub body: String,
}

/// Asks for `path`, with some more header lines.
pub async fn get_with(address: SocketAddr, path: &str, headers: &[&str]) -> Answered {
    // A server of all addresses says so; nobody can connect to that.
    let mut stream = TcpStream::connect(("localhost", address.port())).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close");
    let request = [&[&*request], headers, &["\r\n"]].concat().join("\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answered { status, head: head.to_owned(), body: body.to_owned() }
}

/// Status and body of `path`.
pub async fn get(address: SocketAddr, path: &str) -> (u16, String) {
    let answer = get_with(address, path, &[]).await;
    (answer.status, answer.body)
}
