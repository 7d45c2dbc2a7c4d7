//! One request, in words that hold for both servers.

use std::fmt;

use http::Method;
use serde_json::Value;

/// A request. Texts in it may hold placeholders, which each server fills with what it has answered before:
/// `${version:PATH}` and `${uid:PATH}` of an object, `${first-version:PATH}`, the oldest version that was seen of it, and `${continue:PATH}`
/// of a list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Step {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: Vec<(&'static str, String)>,
    pub(crate) content_type: Option<&'static str>,
    pub(crate) accept: Option<&'static str>,
    pub(crate) body: Option<Value>,
    /// What this request asks for that our server is known not to have yet.
    pub(crate) needs: Option<Need>,
}

/// What is not built yet: a difference at a step that needs it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    ServerSideApply,
    Validation,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ServerSideApply => "server-side apply",
            Self::Validation => "validation of built-in kinds",
        })
    }
}

impl Step {
    pub(crate) fn new(method: Method, path: impl Into<String>) -> Self {
        let path = path.into();
        Self { method, path, query: Vec::new(), content_type: None, accept: None, body: None, needs: None }
    }

    pub(crate) fn body(mut self, content_type: &'static str, body: Value) -> Self {
        self.content_type = Some(content_type);
        self.body = Some(body);
        self
    }

    pub(crate) fn query(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.query.push((name, value.into()));
        self
    }

    pub(crate) fn needs(mut self, need: Need) -> Self {
        self.needs = Some(need);
        self
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)?;
        for (i, (name, value)) in self.query.iter().enumerate() {
            write!(f, "{}{name}={value}", if i == 0 { '?' } else { '&' })?;
        }
        if let Some(accept) = self.accept {
            write!(f, "\n    Accept: {accept}")?;
        }
        if let (Some(kind), Some(body)) = (self.content_type, &self.body) {
            write!(f, "\n    {kind}: {body}")?;
        }
        Ok(())
    }
}
