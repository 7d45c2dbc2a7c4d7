//! From one version to the other, and back.

use kubewright::{BoxError, webhook::conversion::Convertible};

use crate::{v1, v2};

/// v1 is the hub.
impl Convertible<v1::Backup> for v2::Backup {
    type Error = BoxError;

    fn convert_to(self) -> Result<v1::Backup, BoxError> {
        let Self { metadata, spec } = self;
        let schedule = text(spec.schedule)?;
        Ok(v1::Backup { metadata, spec: v1::BackupSpec { volume: spec.volume, schedule } })
    }

    fn convert_from(hub: v1::Backup) -> Result<Self, BoxError> {
        let v1::Backup { metadata, spec } = hub;
        let schedule = fields(&spec.schedule)?;
        Ok(Self { metadata, spec: v2::BackupSpec { volume: spec.volume, schedule } })
    }
}

fn text(schedule: v2::Schedule) -> Result<String, BoxError> {
    let v2::Schedule { minute, hour, day_of_month, month, day_of_week } = schedule;
    let words = [minute, hour, day_of_month, month, day_of_week].map(|word| word.unwrap_or(ANY.to_owned()));
    // It could not be taken apart again.
    match words.iter().find(|word| word.is_empty() || word.contains(char::is_whitespace)) {
        Some(word) => Err(format!("spec.schedule: {word:?} is not one word").into()),
        None => Ok(words.join(" ")),
    }
}

fn fields(schedule: &str) -> Result<v2::Schedule, BoxError> {
    let word = |word: &str| (word != ANY).then(|| word.to_owned());
    let words: Vec<_> = schedule.split_whitespace().map(word).collect();
    let Ok([minute, hour, day_of_month, month, day_of_week]) = <[_; 5]>::try_from(words) else {
        return Err(format!("spec.schedule: {schedule:?} does not have five words").into());
    };
    Ok(v2::Schedule { minute, hour, day_of_month, month, day_of_week })
}

const ANY: &str = "*";
