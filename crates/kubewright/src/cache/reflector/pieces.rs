//! Reads a body, as many pieces at once as have arrived.

use std::task::Poll;

use bytes::Bytes;
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use tokio::task::yield_now;

/// A body that is read in batches of pieces.
///
/// API servers send each event as a piece of its own, and the task of the connection hands over one piece at a time, also when it holds
/// many. Collected first, a burst becomes one batch, and whoever hears of its events is woken once. To be woken for each costs more than
/// to read it.
#[derive(Debug)]
pub(super) struct Pieces<B: Body> {
    body: B,
    /// How the body ended, once it has; behind the last batch.
    end: Option<Result<(), B::Error>>,
}

impl<B: Body<Data = Bytes> + Unpin> Pieces<B> {
    pub(super) fn new(body: B) -> Self {
        Self { body, end: None }
    }

    /// Waits for a piece, and gives it with those that arrived right behind it; no pieces at the end of the body.
    pub(super) async fn next(&mut self) -> Result<Vec<Bytes>, B::Error> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while self.end.is_none() && batch.len() < BATCH_PIECES && bytes < BATCH_BYTES {
            let next =
                if batch.is_empty() { Poll::Ready(self.body.frame().await) } else { self.arrived().await };
            match next {
                Poll::Ready(Some(Ok(frame))) => {
                    // Trailers say nothing about events.
                    if let Ok(data) = frame.into_data() {
                        bytes += data.len();
                        batch.push(data);
                    }
                }
                Poll::Ready(end) => self.end = Some(end.transpose().map(drop)),
                Poll::Pending => break,
            }
        }
        if batch.is_empty()
            && let Some(end) = self.end.replace(Ok(()))
        {
            end?;
        }
        Ok(batch)
    }

    /// The next frame if it is there. Before that is denied, the task of the connection runs.
    async fn arrived(&mut self) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        if let Poll::Ready(frame) = futures::poll!(self.body.frame()) {
            return Poll::Ready(frame);
        }
        yield_now().await;
        futures::poll!(self.body.frame())
    }
}

/// Some hundred microseconds of work: those who hear of the events begin while the reflector goes on.
const BATCH_PIECES: usize = 64;
/// The pieces of a list are large; a batch of them would only cost memory.
const BATCH_BYTES: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use std::io;

    use futures::{SinkExt, StreamExt, channel::mpsc};
    use http_body_util::StreamBody;
    use tokio::task::JoinSet;

    use super::*;

    /// A body that is handed over as connections do: by a task, and the next piece once the last one has been taken.
    fn pieces(
        sent: Vec<io::Result<Bytes>>,
    ) -> (JoinSet<()>, Pieces<impl Body<Data = Bytes, Error = io::Error> + Unpin>) {
        let (mut sender, receiver) = mpsc::channel(0);
        let mut connection = JoinSet::new();
        connection.spawn(async move {
            for piece in sent {
                sender.send(piece).await.unwrap();
            }
        });
        (connection, Pieces::new(StreamBody::new(receiver.map(|piece| piece.map(Frame::data)))))
    }

    fn piece(number: usize) -> Bytes {
        number.to_string().into()
    }

    #[tokio::test]
    async fn a_burst_is_one_batch_up_to_its_bound() {
        let (_connection, mut pieces) =
            pieces((0..BATCH_PIECES + 3).map(|number| Ok(piece(number))).collect());
        let batches = [pieces.next().await.unwrap(), pieces.next().await.unwrap()];
        assert_eq!(batches.iter().map(Vec::len).collect::<Vec<_>>(), [BATCH_PIECES, 3]);
        assert!(batches.concat().iter().zip(0..).all(|(found, number)| *found == piece(number)));
        assert_eq!(pieces.next().await.unwrap(), [""; 0]);
    }

    #[tokio::test]
    async fn large_pieces_come_alone() {
        let large = Bytes::from(vec![b'x'; BATCH_BYTES]);
        let (_connection, mut pieces) = pieces(vec![Ok(large.clone()), Ok(large.clone())]);
        for _ in 0..2 {
            assert_eq!(pieces.next().await.unwrap(), std::slice::from_ref(&large));
        }
    }

    #[tokio::test]
    async fn an_error_comes_after_what_came_before_it_and_once() {
        let (_connection, mut pieces) =
            pieces(vec![Ok(piece(1)), Ok(piece(2)), Err(io::ErrorKind::BrokenPipe.into())]);
        assert_eq!(pieces.next().await.unwrap(), ["1", "2"]);
        assert_eq!(pieces.next().await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        assert_eq!(pieces.next().await.unwrap(), [""; 0]);
    }
}
