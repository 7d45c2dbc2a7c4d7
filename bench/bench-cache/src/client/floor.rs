//! A client that keeps nothing: what remains is the cost of the connection, which every cache pays.

use anyhow::{Result, bail, ensure};
use bytes::Bytes;
use http::{Request, header};
use http_body_util::BodyExt;
use kube::client::Body;

/// Reads a streaming list to its end and gives its length in bytes.
pub(super) async fn read(client: kube::Client) -> Result<u64> {
    let request =
        Request::get(STREAMING_LIST).header(header::ACCEPT, "application/json").body(Body::empty())?;
    let answer = client.send(request).await?;
    ensure!(answer.status().is_success(), "the server answered {}", answer.status());
    let mut body = answer.into_body();
    let (mut tail, mut received) = (Tail::default(), 0);
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame?.into_data() {
            received += data.len() as u64;
            if tail.push(&data) {
                return Ok(received);
            }
        }
    }
    bail!("the list ended early")
}

/// The last bytes of a stream that comes in pieces.
#[derive(Debug, Default)]
struct Tail(Vec<u8>);

impl Tail {
    /// Whether the stream, up to the end of `data`, ends with the bookmark that ends a list.
    fn push(&mut self, data: &Bytes) -> bool {
        let kept = &data[data.len().saturating_sub(BOOKMARK_BYTES)..];
        self.0.extend_from_slice(kept);
        self.0.drain(..self.0.len().saturating_sub(BOOKMARK_BYTES));
        self.0.ends_with(b"\n") && memchr::memmem::find(&self.0, b"\"k8s.io/initial-events-end\"").is_some()
    }
}

const STREAMING_LIST: &str = "/api/v1/pods?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
/// Longer than the bookmark, shorter than a bookmark and a pod.
const BOOKMARK_BYTES: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_found_however_the_stream_is_cut() {
        let stream = [&[b'x'; 2000], b"{\"k8s.io/initial-events-end\":\"true\"}}\n".as_slice()].concat();
        for piece in [1, 7, 64, 600, 5000] {
            let mut tail = Tail::default();
            let ends: Vec<_> =
                stream.chunks(piece).map(|piece| tail.push(&Bytes::copy_from_slice(piece))).collect();
            assert_eq!(ends.iter().position(|end| *end), Some(ends.len() - 1), "in pieces of {piece}");
        }
    }
}
