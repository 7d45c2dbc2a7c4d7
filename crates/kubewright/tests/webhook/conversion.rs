//! Conversion: reviews in, all objects or none out.

use std::{borrow::Cow, convert::Infallible};

use bytes::Bytes;
use http::{Request, StatusCode};
use k8s_openapi::NamespaceResourceScope;
use kube::{Resource, core::ObjectMeta};
use kubewright::{
    http_server::RegisterError,
    metrics::Registry,
    webhook::{
        WebhookServer, WebhookServerOptions,
        conversion::{Conversion, Convertible, round_trip},
    },
};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A version of the kind `Timer`.
macro_rules! version {
    ($name:ident, $version:literal, $field:ident: $type:ty) => {
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        struct $name {
            metadata: ObjectMeta,
            $field: $type,
        }

        impl Resource for $name {
            type DynamicType = ();
            type Scope = NamespaceResourceScope;

            fn kind((): &()) -> Cow<'_, str> {
                "Timer".into()
            }
            fn group((): &()) -> Cow<'_, str> {
                "example.com".into()
            }
            fn version((): &()) -> Cow<'_, str> {
                $version.into()
            }
            fn plural((): &()) -> Cow<'_, str> {
                "timers".into()
            }
            fn meta(&self) -> &ObjectMeta {
                &self.metadata
            }
            fn meta_mut(&mut self) -> &mut ObjectMeta {
                &mut self.metadata
            }
        }
    };
}

version!(Seconds, "v1", seconds: u64);
version!(Words, "v2", interval: String);
version!(Minutes, "v3", minutes: u64);

impl Convertible<Words> for Seconds {
    type Error = String;

    fn convert_to(self) -> Result<Words, String> {
        assert_ne!(self.seconds, 13, "as it was told");
        Ok(Words { metadata: self.metadata, interval: format!("{}s", self.seconds) })
    }

    fn convert_from(hub: Words) -> Result<Self, String> {
        let number = hub.interval.trim_end_matches('s').parse();
        let seconds = number.map_err(|_| format!("{:?} is no number of seconds", hub.interval))?;
        Ok(Self { metadata: hub.metadata, seconds })
    }
}

impl Convertible<Words> for Minutes {
    type Error = Infallible;

    fn convert_to(self) -> Result<Words, Infallible> {
        // It does what it should not with the metadata, and what it may with the labels.
        let labels = Some([("from".to_owned(), "minutes".to_owned())].into());
        let metadata = ObjectMeta { labels, ..ObjectMeta::default() };
        Ok(Words { metadata, interval: format!("{}s", self.minutes * 60) })
    }

    /// It forgets what is less than a minute.
    fn convert_from(hub: Words) -> Result<Self, Infallible> {
        let seconds: u64 = hub.interval.trim_end_matches('s').parse().unwrap_or_default();
        Ok(Self { metadata: hub.metadata, minutes: seconds / 60 })
    }
}

fn server() -> (WebhookServer, Registry) {
    let mut options = WebhookServerOptions::default();
    let registry = Registry::new();
    options.metrics_registry = registry.clone();
    let server = WebhookServer::new(options);
    Conversion::<Words>::hub().spoke::<Seconds>().spoke::<Minutes>().register(&server).unwrap();
    (server, registry)
}

async fn send(server: &WebhookServer, body: String) -> (StatusCode, Value) {
    let request =
        Request::post("/convert").header("content-type", "application/json").body(Bytes::from(body));
    let answer = server.call(request.unwrap()).await;
    (answer.status(), serde_json::from_slice(answer.body()).unwrap_or_default())
}

fn review(to: &str, objects: &Value) -> String {
    let request = json!({"uid": "u", "desiredAPIVersion": to, "objects": objects});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request})
        .to_string()
}

/// The converted objects; or why there are none.
async fn convert(server: &WebhookServer, to: &str, objects: Value) -> Result<Value, String> {
    let (status, mut answer) = send(server, review(to, &objects)).await;
    assert_eq!((status, &answer["kind"]), (StatusCode::OK, &json!("ConversionReview")));
    let response = &mut answer["response"];
    assert_eq!(response["uid"], "u");
    if response["result"]["status"] == "Success" {
        return Ok(response["convertedObjects"].take());
    }
    assert_eq!(response["convertedObjects"], json!([]), "all or nothing");
    Err(response["result"]["message"].as_str().unwrap().to_owned())
}

fn timer(version: &str, field: &str, value: impl Into<Value>) -> Value {
    let metadata = json!({
        "name": "tea", "uid": "1", "managedFields": [{"manager": "m"}], "annotations": {"kept": "yes"}, "newer": 1,
    });
    let mut timer =
        json!({"apiVersion": format!("example.com/{version}"), "kind": "Timer", "metadata": metadata});
    timer[field] = value.into();
    timer
}

#[tokio::test]
async fn any_version_becomes_any_other_and_metadata_stays() {
    let (server, _) = server();
    let seconds = || timer("v1", "seconds", 120);
    let words = || timer("v2", "interval", "120s");
    let mut minutes = timer("v3", "minutes", 2);
    assert_eq!(convert(&server, "example.com/v2", json!([seconds()])).await, Ok(json!([words()])));
    assert_eq!(convert(&server, "example.com/v1", json!([words()])).await, Ok(json!([seconds()])));
    assert_eq!(
        convert(&server, "example.com/v3", json!([seconds(), words()])).await,
        Ok(json!([minutes, minutes]))
    );
    assert_eq!(convert(&server, "example.com/v1", json!([])).await, Ok(json!([])));
    // Labels and annotations are what the converter made of them, the rest is as it was.
    let mut expected = seconds();
    expected["metadata"]["labels"] = json!({"from": "minutes"});
    expected["metadata"].as_object_mut().unwrap().remove("annotations");
    minutes["metadata"]["labels"] = json!({"lost": "yes"});
    assert_eq!(convert(&server, "example.com/v1", json!([minutes])).await, Ok(json!([expected])));
}

#[tokio::test]
async fn one_object_that_cannot_be_converted_fails_all_of_them() {
    let (server, registry) = server();
    let bad = timer("v2", "interval", "soon");
    let good = timer("v2", "interval", "1s");
    let other = json!({"apiVersion": "other.com/v1", "kind": "Timer"});
    let rows = [
        (
            "example.com/v1",
            bad,
            "failed to convert example.com/v2 to example.com/v1: \"soon\" is no number of seconds",
        ),
        ("example.com/v9", good.clone(), "example.com/v9 is not a version that can be converted"),
        ("example.com/v2", good.clone(), "conversion is not allowed between example.com/v2 and itself"),
        ("other.com/v1", good.clone(), "example.com/v2, Kind=Timer is not a version that can be converted"),
        ("example.com/v2", other, "other.com/v1, Kind=Timer is not a version that can be converted"),
        ("example.com/v2", json!({}), "object has no apiVersion and kind"),
        ("example.com/v2", timer("v1", "seconds", 13), "internal error occurred during conversion"),
    ];
    for (to, object, expected) in rows {
        let message = convert(&server, to, json!([good, object])).await.unwrap_err();
        let message = if to == "example.com/v2" {
            convert(&server, to, json!([object])).await.unwrap_err()
        } else {
            message
        };
        assert_eq!(message, expected);
    }
    assert!(registry.text().contains("controller_runtime_conversion_webhook_panics_total 1"));
}

#[tokio::test]
async fn what_is_no_review_is_a_bad_request() {
    let (server, _) = server();
    let review = |version: &str| json!({"apiVersion": version, "kind": "ConversionReview"}).to_string();
    for body in [String::new(), "{".to_owned(), review("apiextensions.k8s.io/v1"), review("other/v1")] {
        assert_eq!(send(&server, body.clone()).await.0, StatusCode::BAD_REQUEST, "{body}");
    }
    let (status, answer) = send(&server, "x".repeat((32 << 20) + 1)).await;
    assert_eq!((status, answer), (StatusCode::PAYLOAD_TOO_LARGE, Value::Null));
}

#[test]
fn a_kind_is_converted_by_one_family() {
    let (server, _) = server();
    let again = Conversion::<Words>::hub().spoke::<Seconds>().register(&server);
    assert_eq!(again, Err(RegisterError::Taken("/convert of Timer.example.com".to_owned())));
}

proptest! {
    #[test]
    fn nothing_is_lost_on_the_way_to_the_hub_and_back(seconds in 14_u64..) {
        let timer = Seconds { seconds, ..Seconds::default() };
        prop_assert!(round_trip::<Seconds, Words>(&timer).is_ok());
    }
}

#[test]
fn what_is_lost_on_the_way_is_named() {
    // The labels come from the converter, and the name went.
    let timer = Minutes { minutes: 1, ..Minutes::default() };
    let lost = round_trip::<Minutes, Words>(&timer).unwrap_err().to_string();
    assert!(lost.starts_with("what came back differs: ") && lost.contains("\"from\":\"minutes\""), "{lost}");
}
