//! Bodies that come in pieces, and break.

use std::{io, sync::Weak, time::Duration};

use bytes::Bytes;
use futures::{Stream, StreamExt, channel::mpsc::UnboundedReceiver, stream};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use parking_lot::Mutex;
use tokio::time::{Instant, sleep, sleep_until};

use super::{plan::Plan, server::World, watches::Piece};

pub type Body = UnsyncBoxBody<Bytes, io::Error>;

/// All at once.
pub fn whole(text: impl Into<Bytes>) -> Body {
    Full::new(text.into()).map_err(|never| match never {}).boxed_unsync()
}

/// The connection breaks in the middle.
pub fn lost() -> Body {
    frames(stream::iter([Ok(Bytes::from_static(b"{")), Err(io::ErrorKind::ConnectionReset.into())]))
}

/// `text` as `plan` wants it: cut, slow, or never. It breaks when `world` is restored.
pub fn list(text: &[u8], plan: &Plan, world: Weak<Mutex<World>>, restores: u64) -> Body {
    let (slow, silent) = (plan.slow, plan.silent);
    let cut = plan.cut_after.filter(|at| *at < text.len());
    let sent = &text[..cut.unwrap_or(text.len())];
    let size = if slow.is_zero() { sent.len().max(1) } else { sent.len().div_ceil(4).max(1) };
    let mut pieces: Vec<_> = sent.chunks(size).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
    if cut.is_some() && !plan.ends_cleanly {
        pieces.push(Err(io::ErrorKind::ConnectionReset.into()));
    }
    let is_restored = move || world.upgrade().is_none_or(|world| world.lock().history.restores != restores);
    let pieces = stream::iter(pieces).then(move |piece| {
        let is_restored = is_restored.clone();
        async move {
            if silent {
                std::future::pending::<()>().await;
            }
            if !slow.is_zero() {
                sleep(slow).await;
            }
            if is_restored() { Err(io::ErrorKind::ConnectionReset.into()) } else { piece }
        }
    });
    frames(pieces)
}

struct Sending {
    pieces: UnboundedReceiver<Piece>,
    world: Weak<Mutex<World>>,
    watch: u64,
    /// How many bytes come before the break.
    left: Option<usize>,
    clean: bool,
    ends_at: Option<Instant>,
    bookmark_at: Instant,
    over: bool,
}

/// A watch, until it breaks or its time is over.
pub fn watch(
    pieces: UnboundedReceiver<Piece>,
    world: Weak<Mutex<World>>,
    watch: u64,
    plan: &Plan,
    timeout: Duration,
) -> Body {
    let sending = Sending {
        pieces,
        world,
        watch,
        left: plan.cut_after,
        clean: plan.ends_cleanly,
        ends_at: plan.keeps_timeout.then(|| Instant::now() + timeout),
        bookmark_at: Instant::now() + BOOKMARK_INTERVAL,
        over: false,
    };
    frames(stream::unfold(sending, |mut sending| async move {
        let piece = sending.next().await?;
        Some((piece, sending))
    }))
}

impl Sending {
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        if self.over {
            return None;
        }
        loop {
            let end = async {
                match self.ends_at {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased; // what has been sent comes before the end
                piece = self.pieces.next() => return match piece {
                    Some(Piece::Bytes(bytes)) => self.cut(bytes),
                    Some(Piece::Cut { clean: true }) | None => None,
                    Some(Piece::Cut { clean: false }) => Some(self.broken()),
                },
                () = end => return None,
                () = sleep_until(self.bookmark_at) => {
                    self.bookmark_at += BOOKMARK_INTERVAL;
                    if let Some(world) = self.world.upgrade() {
                        world.lock().bookmark(self.watch);
                    }
                }
            }
        }
    }

    /// As much of `bytes` as comes before the break.
    fn cut(&mut self, mut bytes: Vec<u8>) -> Option<io::Result<Bytes>> {
        let Some(left) = &mut self.left else { return Some(Ok(bytes.into())) };
        if bytes.len() < *left {
            *left -= bytes.len();
            return Some(Ok(bytes.into()));
        }
        bytes.truncate(std::mem::take(left));
        if !bytes.is_empty() {
            return Some(Ok(bytes.into()));
        }
        if self.clean { None } else { Some(self.broken()) }
    }

    fn broken(&mut self) -> io::Result<Bytes> {
        self.over = true;
        Err(io::ErrorKind::ConnectionReset.into())
    }
}

fn frames(pieces: impl Stream<Item = io::Result<Bytes>> + Send + 'static) -> Body {
    StreamBody::new(pieces.map(|piece| piece.map(Frame::data))).boxed_unsync()
}

/// Source: apiserver `cacher.go`, `defaultBookmarkFrequency`.
const BOOKMARK_INTERVAL: Duration = Duration::from_secs(60);
