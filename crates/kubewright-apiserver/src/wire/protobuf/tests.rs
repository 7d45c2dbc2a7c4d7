use base64::{Engine, engine::general_purpose::STANDARD};
use proptest::prelude::*;

use super::*;
use crate::value::{Map, Value, json};

/// Bodies that Go has encoded: the version and the kind, the bytes, and the JSON that Go gives.
fn golden() -> Vec<(String, String, Vec<u8>, Value)> {
    let read = |line: &str| {
        let mut words = line.splitn(4, ' ').map(str::to_owned);
        let mut next = || words.next().unwrap();
        let (api_version, kind, bytes) = (next(), next(), STANDARD.decode(next()).unwrap());
        (api_version, kind, bytes, serde_json::from_str(&next()).unwrap())
    };
    include_str!("golden.txt").lines().map(read).collect()
}

fn decode(body: &[u8], api_version: &str, kind: &str) -> Result<Map, ProtobufError> {
    Envelope::open(body)?.decode(api_version, kind)
}

#[test]
fn what_go_encodes_reads_as_the_json_of_go() {
    let golden = golden();
    assert_eq!(golden.len(), 15);
    for (api_version, kind, body, json) in golden {
        let envelope = Envelope::open(&body).unwrap();
        assert_eq!((&envelope.api_version, &envelope.kind), (&api_version, &kind));
        let mut decoded = envelope.decode(&api_version, &kind).unwrap();
        decoded.insert("apiVersion".into(), api_version.into());
        decoded.insert("kind".into(), kind.clone().into());
        assert_eq!(Value::from(decoded), json, "{kind}");
    }
}

/// A `ConfigMap` whose message is `message`.
fn config_map(message: &[u8]) -> Result<Map, ProtobufError> {
    let mut body = b"k8s\0".to_vec();
    body.extend(field(2, message));
    decode(&body, "v1", "ConfigMap")
}

fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut length = bytes.len();
    let mut field = vec![number << 3 | 2];
    while length >= 0x80 {
        field.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
        length >>= 7;
    }
    field.push(u8::try_from(length).unwrap());
    field.extend_from_slice(bytes);
    field
}

#[test]
fn malformed_bodies_fail_in_the_words_of_upstream() {
    let rows: [(&[u8], &str); 12] = [
        (&[0x0a, 0x05], "unexpected EOF"),
        (&[0x08, 0x01], "proto: wrong wireType = 0 for field ObjectMeta"),
        (&[0x00], "proto: ConfigMap: illegal tag 0 (wire type 0)"),
        (&[0x0c], "proto: ConfigMap: wiretype end group for non-group"),
        (&[0x7f], "proto: illegal wireType 7"),
        (&[0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f], "unexpected EOF"),
        (
            &[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
            "proto: negative length found during unmarshaling",
        ),
        (&[0xff; 11], "proto: integer overflow"),
        (&[0x7b, 0x7b, 0x7c], "unexpected EOF"),
        (&[0x0a, 0x02, 0x0a, 0x09], "unexpected EOF"),
        (&[0x12, 0x02, 0x0a, 0x09], "unexpected EOF"),
        (&[0x12, 0x01, 0x1c], "proto: unexpected end of group"),
    ];
    for (message, text) in rows {
        assert_eq!(config_map(message).unwrap_err().to_string(), text, "{message:?}");
    }
    for (body, text) in [
        (&b""[..], "empty data"),
        (b"k8s\0", "empty body"),
        (b"{}", "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"),
        (b"k8s\0\x0a\x09", "unexpected EOF"),
    ] {
        assert_eq!(decode(body, "v1", "ConfigMap").unwrap_err().to_string(), text, "{body:?}");
    }
}

#[test]
fn what_is_unknown_is_skipped_and_what_is_no_utf8_is_replaced() {
    let mut message = vec![0x98, 0x06, 0x01]; // Field 99.
    message.extend([0x7b, 0x7b, 0x08, 0x01, 0x7c, 0x7c]); // A group in a group.
    message.extend(field(2, &[field(1, b"a"), field(2, b"\xff")].concat()));
    message.extend(field(2, &field(1, b"empty")));
    let expected = json!({"data": {"a": "\u{fffd}", "empty": ""}});
    assert_eq!(Value::from(config_map(&message).unwrap()), expected);
}

#[test]
fn a_message_that_comes_twice_is_merged() {
    let message = [field(1, &field(1, b"a")), field(1, &field(3, b"n"))].concat();
    assert_eq!(
        Value::Object(config_map(&message).unwrap())["metadata"],
        json!({"name": "a", "namespace": "n"})
    );
}

#[test]
fn the_depth_of_messages_is_limited() {
    // A schema in `not`, which is field 28 of a schema.
    let mut schema = Vec::new();
    for _ in 0..2_000 {
        schema = [vec![0xe2], [vec![0x01], field(0, &schema).split_off(1)].concat()].concat();
    }
    let version = field(4, &field(1, &schema));
    let mut body = b"k8s\0".to_vec();
    body.extend(field(2, &field(2, &field(7, &version))));
    let refused = decode(&body, "apiextensions.k8s.io/v1", "CustomResourceDefinition").unwrap_err();
    assert_eq!(refused, ProtobufError::TooDeep);
}

#[test]
fn a_body_does_not_grow_beyond_what_json_may_be() {
    // Two bytes stand for a name of 15 bytes.
    let many = field(1, &[]).repeat(1_000_000);
    let mut body = b"k8s\0".to_vec();
    body.extend(field(2, &many));
    assert_eq!(decode(&body, "v1", "ConfigMap").unwrap_err(), ProtobufError::TooLarge);
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut body = b"k8s\0".to_vec();
        body.extend(field(2, &bytes));
        for (api_version, kind) in
            [("v1", "Pod"), ("apiextensions.k8s.io/v1", "CustomResourceDefinition"), ("events.k8s.io/v1", "Event")]
        {
            let _ = decode(&body, api_version, kind);
            let _ = decode(&bytes, api_version, kind);
        }
    }

    #[test]
    fn bodies_that_were_damaged_never_panic(
        which in 0..15_usize,
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let (api_version, kind, mut body, _) = golden().swap_remove(which);
        for (place, byte) in damage {
            let place = place.index(body.len());
            body[place] = byte;
        }
        let _ = decode(&body, &api_version, &kind);
        body.truncate(cut.index(body.len()));
        let _ = decode(&body, &api_version, &kind);
    }
}
