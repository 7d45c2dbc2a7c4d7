//! One of the two servers, and what it has answered so far.

use std::collections::HashMap;

use anyhow::{Context, bail};
use futures::{AsyncBufReadExt, StreamExt};
use http::{Request, header};
use http_body_util::BodyExt;
use kube::{Client, client::Body};
use serde_json::{Value, json};

use crate::{
    script::{Script, Watched},
    step::Step,
};

/// What a server has said to a request, as it said it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) content_type: String,
    pub(crate) warnings: Vec<String>,
    pub(crate) body: Value,
}

/// A server, for one story.
pub(crate) struct Side {
    client: Client,
    /// By path: uid and versions of objects, tokens of lists.
    seen: HashMap<String, Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    uid: String,
    versions: Vec<String>,
    token: String,
}

impl Side {
    /// Tells the story: the answer to each step, and the events of what is watched.
    pub(crate) async fn tell(client: Client, script: &Script) -> anyhow::Result<(Vec<Answer>, Vec<Value>)> {
        let mut side = Self { client, seen: HashMap::new() };
        for step in &script.preparation {
            let answer = side.ask(step).await?;
            if answer.code != 201 && answer.code != 409 {
                bail!("{step}\n    is refused: {}", answer.body);
            }
        }
        let start = side.served(&script.watched).await?;
        let mut answers = Vec::with_capacity(script.steps.len());
        for step in &script.steps {
            answers.push(side.ask(step).await?);
        }
        let events = side.events(&script.watched, &start).await?;
        Ok((answers, events))
    }

    /// Waits until the kind of the story is served. Returns the version of its collection.
    async fn served(&mut self, watched: &Watched) -> anyhow::Result<String> {
        for _ in 0..1000 {
            let answer = self.ask(&Step::new(http::Method::GET, watched.collection.clone())).await?;
            if let Some(version) =
                answer.body["metadata"]["resourceVersion"].as_str().filter(|_| answer.code == 200)
            {
                return Ok(version.to_owned());
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        bail!("{} is not served after ten seconds", watched.collection)
    }

    async fn ask(&mut self, step: &Step) -> anyhow::Result<Answer> {
        let mut request = Request::builder().method(step.method.clone()).uri(self.uri(step));
        if let Some(kind) = step.content_type {
            request = request.header(header::CONTENT_TYPE, kind);
        }
        request = request.header(header::ACCEPT, step.accept.unwrap_or("application/json"));
        let body =
            step.body.clone().map(|body| self.filled(body).to_string().into_bytes()).unwrap_or_default();
        let response =
            self.client.send(request.body(Body::from(body))?).await.with_context(|| format!("{step}"))?;
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await?.to_bytes();
        let text =
            |name| parts.headers.get(name).and_then(|it| it.to_str().ok()).unwrap_or_default().to_owned();
        let warnings = parts.headers.get_all(header::WARNING).iter();
        let answer = Answer {
            code: parts.status.as_u16(),
            content_type: text(header::CONTENT_TYPE),
            warnings: warnings.filter_map(|it| it.to_str().ok().map(str::to_owned)).collect(),
            body: serde_json::from_slice(&bytes).unwrap_or_else(|_| json!(String::from_utf8_lossy(&bytes))),
        };
        self.note(step, &answer.body);
        Ok(answer)
    }

    fn uri(&self, step: &Step) -> String {
        let mut uri = step.path.clone();
        for (i, (name, value)) in step.query.iter().enumerate() {
            let value: String = encoded(&self.filled_text(value));
            uri.push(if i == 0 { '?' } else { '&' });
            uri.extend([name, "=", &value]);
        }
        uri
    }

    fn note(&mut self, step: &Step, body: &Value) {
        let metadata = &body["metadata"];
        if let Some(token) = metadata["continue"].as_str() {
            self.seen.entry(step.path.clone()).or_default().token = token.to_owned();
        }
        let (Some(name), Some(uid)) = (metadata["name"].as_str(), metadata["uid"].as_str()) else { return };
        let ends_with_name = step.path.rsplit('/').next() == Some(name);
        let path = if ends_with_name { step.path.clone() } else { format!("{}/{name}", step.path) };
        let seen = self.seen.entry(path).or_default();
        uid.clone_into(&mut seen.uid);
        if let Some(version) = metadata["resourceVersion"].as_str() {
            seen.versions.push(version.to_owned());
        }
    }

    fn filled(&self, body: Value) -> Value {
        match body {
            Value::String(text) => Value::String(self.filled_text(&text)),
            Value::Array(items) => items.into_iter().map(|it| self.filled(it)).collect(),
            Value::Object(fields) => fields
                .into_iter()
                .map(|(name, value)| (name, self.filled(value)))
                .collect::<serde_json::Map<_, _>>()
                .into(),
            other => other,
        }
    }

    /// Fills a placeholder; with nothing seen, with what no object has.
    fn filled_text(&self, text: &str) -> String {
        let Some((what, path)) = text.strip_prefix("${").and_then(|it| it.strip_suffix('}')?.split_once(':'))
        else {
            return text.to_owned();
        };
        let seen = self.seen.get(path);
        let known = match what {
            "version" => seen.and_then(|seen| seen.versions.last()),
            "first-version" => seen.and_then(|seen| seen.versions.first()),
            "uid" => seen.map(|seen| &seen.uid),
            _ => seen.map(|seen| &seen.token),
        };
        known.cloned().unwrap_or_else(|| "1".to_owned())
    }

    /// Makes the last object, and reads the watch up to it.
    async fn events(&mut self, watched: &Watched, start: &str) -> anyhow::Result<Vec<Value>> {
        let made = self.ask(&watched.last).await?;
        if made.code != 201 {
            bail!("the last object is refused: {}", made.body);
        }
        let last = made.body["metadata"]["name"].clone();
        let uri = format!("{}?watch=true&resourceVersion={start}&timeoutSeconds=20", watched.collection);
        let stream = self.client.request_stream(Request::get(uri).body(Vec::new())?).await?;
        let mut lines = stream.lines();
        let mut events = Vec::new();
        while let Some(line) = lines.next().await.transpose()? {
            let event: Value = serde_json::from_str(&line)?;
            let name = &event["object"]["metadata"]["name"];
            if *name == last {
                return Ok(events);
            }
            if name.as_str().is_none_or(|name| name.starts_with(&watched.prefix)) {
                events.push(event);
            }
        }
        bail!("the watch ends before the last object")
    }
}

/// A value in a query.
fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}
