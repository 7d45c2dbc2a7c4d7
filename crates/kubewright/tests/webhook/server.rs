//! The server: certificates, limits, drain.

use std::{fs, time::Duration};

use kubewright::{http_server::RegisterError, webhook::WebhookServerOptions};
use tokio::{io::AsyncWriteExt, net::TcpStream, time::timeout};

use crate::house::{Echo, HOUR, House, PATIENCE, exchange, rest};

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
        timeout(PATIENCE, shown).await.unwrap();
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

/// What a connection gets that says `sent` and no more, where all deadlines but those that `change` shortens are far away.
async fn answer_to(sent: &str, change: impl FnOnce(&mut WebhookServerOptions, Duration)) -> String {
    let mut house = House::new(|options| {
        (options.handshake_timeout, options.header_timeout, options.body_timeout) = (HOUR, HOUR, HOUR);
        change(options, Duration::from_millis(50));
    });
    house.write_certificate("hook");
    let address = house.start().await;
    let mut stream = house.connect(address, "hook", false).await.unwrap();
    // On a machine with other things to do, it may have been cut off by now.
    let _ = stream.write_all(sent.as_bytes()).await;
    let answer = String::from_utf8(rest(stream).await).unwrap();
    house.stopped().await;
    answer
}

#[tokio::test]
async fn a_silent_socket_is_cut_off() {
    let mut house = House::new(|options| options.handshake_timeout = Duration::from_millis(50));
    house.write_certificate("hook");
    let address = house.start().await;
    assert!(rest(TcpStream::connect(address).await.unwrap()).await.is_empty());
    house.stopped().await;
}

#[tokio::test]
async fn slow_headers_and_slow_bodies_are_cut_off() {
    let headers = "POST /echo HTTP/1.1\r\nhost: ";
    assert_eq!(answer_to(headers, |options, short| options.header_timeout = short).await, "");
    let body = "POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nhel";
    let answer = answer_to(body, |options, short| options.body_timeout = short).await;
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
}

#[tokio::test]
async fn a_body_that_says_it_is_too_large_is_not_waited_for() {
    let headers = "POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 99999999\r\n\r\n";
    let answer = answer_to(headers, |_, _| {}).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
}
