//! Clients that mean no good, or know no better.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::future::{BoxFuture, join_all};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use tokio::{io::AsyncWriteExt, net::TcpStream};

use crate::house::{HOUR, House, rest};

async fn started() -> (House, std::net::SocketAddr) {
    let mut house = House::new(|options| options.header_timeout = HOUR);
    house.write_certificate("hook");
    let address = house.start().await;
    (house, address)
}

#[tokio::test]
async fn headers_are_bounded_in_size_and_number() {
    let (house, address) = started().await;
    let large = format!("x: {}\r\n", "a".repeat(17 << 10));
    let many = "x: a\r\n".repeat(200);
    for headers in [large, many] {
        let mut stream = house.connect(address, "hook", false).await.unwrap();
        let request = format!("POST /echo HTTP/1.1\r\nhost: hook\r\n{headers}\r\n");
        // The server need not read all of it.
        let _ = stream.write_all(request.as_bytes()).await;
        let answer = String::from_utf8(rest(stream).await).unwrap();
        assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    }
    assert!(house.post(address, "/echo", "hello").await.ends_with("hello"));
    house.stopped().await;
}

#[tokio::test]
async fn what_is_no_http_ends_the_connection() {
    let (house, address) = started().await;
    for nonsense in
        [&b"\x16\x03\x01 nonsense\r\n\r\n"[..], b"GET\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]
    {
        let mut stream = house.connect(address, "hook", false).await.unwrap();
        stream.write_all(nonsense).await.unwrap();
        let answer = String::from_utf8_lossy(&rest(stream).await).into_owned();
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400 "), "{answer}");
    }
    assert!(house.post(address, "/echo", "hello").await.ends_with("hello"));
    house.stopped().await;
}

/// A `ClientHello` of a client that knows nothing newer than TLS 1.1.
#[tokio::test]
async fn tls_1_1_is_refused() {
    let (house, address) = started().await;
    let groups = [0x00, 0x0a, 0x00, 0x04, 0x00, 0x02, 0x00, 0x17];
    let signatures = [0x00, 0x0d, 0x00, 0x04, 0x00, 0x02, 0x04, 0x03];
    let extensions = [&groups[..], &signatures].concat();
    let mut hello = vec![0x03, 0x02];
    hello.extend([7; 32]);
    // No session, one cipher suite, no compression.
    hello.extend([0x00, 0x00, 0x02, 0xc0, 0x13, 0x01, 0x00]);
    hello.extend([0x00, u8::try_from(extensions.len()).unwrap()]);
    hello.extend(extensions);
    let mut message = vec![0x01, 0x00, 0x00, u8::try_from(hello.len()).unwrap()];
    message.extend(hello);
    let mut record = vec![0x16, 0x03, 0x01, 0x00, u8::try_from(message.len()).unwrap()];
    record.extend(message);

    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(&record).await.unwrap();
    let answer = rest(stream).await;
    let (alert, fatal, protocol_version) = (21, 2, 70);
    assert_eq!((answer.first(), answer.get(5..)), (Some(&alert), Some(&[fatal, protocol_version][..])));
    house.stopped().await;
}

/// Notes how many bytes of bodies are held at once.
#[derive(Clone, Default)]
struct Scales {
    held: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl tower_service::Service<Request<Full<Bytes>>> for Scales {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let scales = self.clone();
        Box::pin(async move {
            let bytes = request.into_body().collect().await?.to_bytes();
            let held = scales.held.fetch_add(bytes.len(), Ordering::Relaxed) + bytes.len();
            scales.most.fetch_max(held, Ordering::Relaxed);
            // Others come meanwhile, if they may.
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            scales.held.fetch_sub(bytes.len(), Ordering::Relaxed);
            Ok(Response::new(Full::new(Bytes::from(bytes.len().to_string()))))
        })
    }
}

#[tokio::test]
async fn sixty_four_bodies_of_seven_mebibytes_are_held_one_after_the_other_and_small_ones_pass() {
    const BODY: usize = 7 << 20;
    const BUDGET: usize = 16 << 20;
    let mut house = House::new(|options| {
        options.max_bytes_in_flight = BUDGET;
        (options.body_timeout, options.header_timeout) = (HOUR, HOUR);
    });
    let scales = Scales::default();
    house.server.register("/scales", scales.clone()).unwrap();
    house.write_certificate("hook");
    let address = house.start().await;
    let body = "a".repeat(BODY);
    let large = join_all((0..64).map(|_| house.post(address, "/scales", &body)));
    // While they wait for each other, nobody waits for them.
    let small = async {
        for _ in 0..64 {
            assert!(house.post(address, "/echo", "hello").await.ends_with("hello"));
        }
    };
    let (answers, ()) = tokio::join!(large, small);
    for answer in answers {
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with(&BODY.to_string()), "{answer}");
    }
    let most = scales.most.load(Ordering::Relaxed);
    assert!((BODY..=BUDGET).contains(&most), "{most}");
    house.stopped().await;
}

/// Requests that are taken back at once, by hand: a client that behaves has no way to write them.
#[tokio::test]
async fn who_resets_requests_faster_than_they_are_answered_is_cut_off() {
    let mut house = House::new(|options| {
        options.http2 = true;
        options.header_timeout = HOUR;
    });
    house.write_certificate("hook");
    let address = house.start().await;
    let mut stream = house.connect_with(address, &[b"h2"]).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));

    // POST https://hook/echo, whose body never comes.
    let headers = [&[0x83, 0x87, 0x44, 5][..], b"/echo", &[0x41, 4], b"hook"].concat();
    let mut flood = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    let mut frame = |kind: u8, flags: u8, stream: u32, payload: &[u8]| {
        flood.extend(&u32::try_from(payload.len()).unwrap().to_be_bytes()[1..]);
        flood.extend([kind, flags]);
        flood.extend(stream.to_be_bytes());
        flood.extend(payload);
    };
    let (settings, head, reset, end_of_headers, cancel) = (4, 1, 3, 4, 8_u32.to_be_bytes());
    frame(settings, 0, 0, &[]);
    for stream in (1..).step_by(2).take(2_000) {
        frame(head, end_of_headers, stream, &headers);
        frame(reset, 0, stream, &cancel);
    }
    // The server stops reading before the end of it.
    let _ = stream.write_all(&flood).await;
    rest(stream).await;
    assert!(house.post(address, "/echo", "hello").await.ends_with("hello"), "others are served");
    house.stopped().await;
}
