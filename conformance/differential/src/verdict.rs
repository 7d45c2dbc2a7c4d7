//! Two servers, one story: where they part.

use anyhow::Context;
use kube::Client;
use serde_json::json;

use crate::{
    normal::{Normaliser, differences},
    script::Script,
    side::{Answer, Side},
    step::Need,
};

/// The two servers.
#[derive(Clone)]
pub(crate) struct Servers {
    pub(crate) ours: Client,
    pub(crate) theirs: Client,
}

/// Where a story parts.
#[derive(Debug)]
pub(crate) struct Difference {
    /// The step, or `None` for what the watch heard.
    pub(crate) step: Option<usize>,
    /// Known, because the step needs what is not built yet.
    pub(crate) known: Option<Need>,
    pub(crate) places: Vec<String>,
}

impl Difference {
    /// What it has in common with others of its sort: the method, and the first place.
    pub(crate) fn sort(&self, script: &Script) -> String {
        let method = self.step.map_or("WATCH", |step| script.steps[step].method.as_str());
        let place = self.places.first().map_or("", String::as_str);
        // Names and numbers of the story are no difference in sort.
        let place: String = place
            .replace(script.namespace(), "")
            .chars()
            .filter(|it| !it.is_ascii_digit())
            .take(120)
            .collect();
        format!("{method} {place}")
    }
}

/// What became of a story.
#[derive(Debug)]
pub(crate) struct Verdict {
    /// How many answers were compared.
    pub(crate) compared: usize,
    pub(crate) difference: Option<Difference>,
}

impl Servers {
    pub(crate) async fn judge(&self, script: &Script) -> anyhow::Result<Verdict> {
        let (ours, theirs) =
            futures::join!(Side::tell(self.ours.clone(), script), Side::tell(self.theirs.clone(), script));
        let (ours, our_events) = ours.context("our server")?;
        let (theirs, their_events) = theirs.context("the original")?;
        let (mut a, mut b) = (Normaliser::default(), Normaliser::default());
        for (i, (ours, theirs)) in ours.into_iter().zip(theirs).enumerate() {
            let places = places(&a.answer(ours), &b.answer(theirs));
            if !places.is_empty() {
                let difference = Difference { step: Some(i), known: script.steps[i].needs, places };
                return Ok(Verdict { compared: i + 1, difference: Some(difference) });
            }
        }
        let ours = our_events.into_iter().map(|it| a.event(it)).collect();
        let theirs = their_events.into_iter().map(|it| b.event(it)).collect();
        let mut places = Vec::new();
        differences("events", &ours, &theirs, &mut places);
        let difference = (!places.is_empty()).then_some(Difference { step: None, known: None, places });
        Ok(Verdict { compared: script.steps.len(), difference })
    }
}

fn places(ours: &Answer, theirs: &Answer) -> Vec<String> {
    let value = |answer: &Answer| json!({"code": answer.code, "content-type": answer.content_type, "warnings": answer.warnings, "body": answer.body});
    let mut found = Vec::new();
    differences("", &value(ours), &value(theirs), &mut found);
    found
}
