//! The server: certificates, limits, drain.

use std::{fs, time::Duration};

use kubewright::http_server::RegisterError;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::house::{Echo, House, exchange};

#[tokio::test]
async fn a_mounted_service_is_called_over_tls_and_counted() {
    let mut house = House::new(|_| {});
    house.write_certificate("hook");
    let address = house.start().await;
    assert!(house.server.ready().is_ok());
    let answer = house.post(address, "/echo", "hello").await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("hello"), "{answer}");
    assert!(house.post(address, "/other", "").await.starts_with("HTTP/1.1 404"));
    // What panics is contained, and the next request is served.
    assert!(house.post(address, "/echo", "panic").await.starts_with("HTTP/1.1 500"));
    // What is mounted later is served, too; a path is mounted once.
    assert_eq!(
        house.server.register("/echo", Echo::default()),
        Err(RegisterError::Taken("/echo".to_owned()))
    );
    house.server.register("/other", Echo::default()).unwrap();
    assert!(house.post(address, "/other", "").await.starts_with("HTTP/1.1 200"));
    let counted = house.counted();
    let expected = [
        r#"in_flight{webhook="/echo"} 0"#,
        r#"in_flight{webhook="/other"} 0"#,
        r#"total{code="200",webhook="/echo"} 1"#,
        r#"total{code="200",webhook="/other"} 1"#,
        r#"total{code="500",webhook="/echo"} 1"#,
        r#"total{code="500",webhook="/other"} 0"#,
    ];
    assert_eq!(counted, expected);
    house.stopped().await;
}

#[tokio::test]
async fn a_certificate_that_comes_later_or_changes_is_shown_to_the_next_connection() {
    let mut house = House::new(|_| {});
    assert!(house.server.ready().unwrap_err().to_string().contains("not listening"));
    let address = house.start().await;
    assert!(house.server.ready().unwrap_err().to_string().contains("tls.crt"));
    assert!(house.connect(address, "hook", false).await.is_err());
    let counted = |name: &str| {
        let text = house.registry.text();
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().parse::<u64>().unwrap()
    };
    let reads = counted("certwatcher_read_certificate_total ");
    assert!(reads > 0 && counted("certwatcher_read_certificate_errors_total ") > 0);
    for name in ["hook", "renewed"] {
        house.write_certificate(name);
        let shown = async { while house.connect(address, name, false).await.is_err() {} };
        timeout(Duration::from_secs(20), shown).await.unwrap();
        assert!(house.server.ready().is_ok());
    }
    house.stopped().await;
}

#[tokio::test]
async fn a_stopping_server_answers_what_it_has() {
    let mut house = House::new(|_| {});
    house.write_certificate("hook");
    let address = house.start().await;
    let (echo, stop) = (house.echo.clone(), house.stop.clone());
    let (answer, ()) = tokio::join!(house.post(address, "/echo", "wait"), async {
        echo.begun.notified().await;
        stop.cancel();
        echo.go.notify_one();
    });
    assert!(answer.ends_with("wait"), "{answer}");
    house.stopped().await;
}

#[tokio::test]
async fn a_client_without_a_certificate_is_refused_where_one_is_required() {
    let mut house = House::new(|options| options.client_ca = Some("ca.crt".into()));
    house.write_certificate("hook");
    fs::write(house.folder.join("ca.crt"), house.ca.pem()).unwrap();
    let address = house.start().await;
    // In TLS 1.3 the client hears of it when it reads.
    let refused = async { exchange(house.connect(address, "hook", false).await?, "/echo", "hello").await };
    assert!(refused.await.is_err());
    let stream = house.connect(address, "hook", true).await.unwrap();
    assert!(exchange(stream, "/echo", "hello").await.unwrap().ends_with("hello"));
    house.stopped().await;
}

#[tokio::test]
async fn slow_headers_slow_bodies_and_silent_sockets_are_cut_off() {
    let short = Duration::from_millis(50);
    let mut house = House::new(|options| {
        (options.handshake_timeout, options.header_timeout, options.body_timeout) = (short, short, short);
    });
    house.write_certificate("hook");
    let address = house.start().await;
    let patience = Duration::from_secs(20);

    let mut silent = TcpStream::connect(address).await.unwrap();
    assert_eq!(timeout(patience, silent.read(&mut [0])).await.unwrap().unwrap_or(0), 0);

    for (sent, answer) in [
        ("POST /echo HTTP/1.1\r\nhost: ", ""),
        ("POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nhel", "HTTP/1.1 408"),
        ("POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 99999999\r\n\r\n", "HTTP/1.1 413"),
    ] {
        let mut stream = house.connect(address, "hook", false).await.unwrap();
        stream.write_all(sent.as_bytes()).await.unwrap();
        let mut got = Vec::new();
        // Whether the end is announced is of no matter.
        let _ = timeout(patience, stream.read_to_end(&mut got)).await.unwrap();
        let got = String::from_utf8_lossy(&got);
        assert!(got.starts_with(answer), "{sent:?}: {got}");
    }
    house.stopped().await;
}
