//! Identifiers that the server makes: UIDs, name suffixes, audit ids.

use std::{fmt, time::Duration};

use fastrand::Rng;
use parking_lot::Mutex;

/// Makes identifiers. With a seed the same calls give the same identifiers.
///
/// Nothing secret is made of them.
pub(crate) struct Identity {
    objects: Mutex<Rng>,
    /// A stream of its own: how often somebody has looked does not change what is made.
    requests: Mutex<Rng>,
}

impl Identity {
    pub(crate) fn random() -> Self {
        Self::of(Rng::new())
    }

    pub(crate) fn seeded(seed: u64) -> Self {
        Self::of(Rng::with_seed(seed))
    }

    fn of(mut rng: Rng) -> Self {
        let requests = Mutex::new(rng.fork());
        Self { objects: Mutex::new(rng), requests }
    }

    /// What an answer calls the request.
    pub(crate) fn audit_id(&self) -> String {
        Self::uuid(&self.requests)
    }

    /// A version 4 UUID.
    pub(crate) fn uid(&self) -> String {
        Self::uuid(&self.objects)
    }

    fn uuid(stream: &Mutex<Rng>) -> String {
        let bits: u128 = stream.lock().u128(..);
        uuid::Builder::from_random_bytes(bits.to_be_bytes()).into_uuid().to_string()
    }

    /// A name that starts with `base` and ends in five random characters.
    ///
    /// The base is cut so that the name stays within 63 characters.
    ///
    /// Source: apiserver `names.SimpleNameGenerator`.
    pub(crate) fn generate_name(&self, base: &str) -> String {
        let base: String = base.chars().take(MAX_BASE).collect();
        let mut rng = self.objects.lock();
        let suffix = (0..SUFFIX_LENGTH).map(|_| char::from(ALPHABET[rng.usize(..ALPHABET.len())]));
        base.chars().chain(suffix).collect()
    }

    /// How long a watch lasts when the client does not say: 30 to 60 minutes, so that they do not all end at once.
    ///
    /// Source: apiserver `handlers.ListResource` with `--min-request-timeout=1800`.
    pub(crate) fn watch_timeout(&self) -> Duration {
        MIN_WATCH_TIMEOUT.mul_f64(1.0 + self.requests.lock().f64())
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Identity")
    }
}

/// No vowels and nothing that looks like one, so that no words come out.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH: usize = 5;
const MIN_WATCH_TIMEOUT: Duration = Duration::from_secs(30 * 60);
const MAX_BASE: usize = 63 - SUFFIX_LENGTH;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_itself() {
        let (first, second) = (Identity::seeded(7), Identity::seeded(7));
        assert_eq!(first.uid(), second.uid());
        assert_eq!(first.generate_name("a-"), second.generate_name("a-"));
        assert_eq!(first.uid().as_bytes()[14], b'4');
    }

    #[test]
    fn requests_do_not_change_what_objects_get() {
        let (asked, quiet) = (Identity::seeded(7), Identity::seeded(7));
        let audit_id = asked.audit_id();
        asked.watch_timeout();
        let uid = quiet.uid();
        assert_eq!(asked.uid(), uid);
        assert_ne!(audit_id, uid);
    }

    #[test]
    fn generated_names_fit_a_label() {
        let name = Identity::seeded(1).generate_name(&"x".repeat(100));
        assert_eq!(name.len(), 63);
    }
}
