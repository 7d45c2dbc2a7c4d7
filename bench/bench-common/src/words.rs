//! Random words, numbers and ids from a seed.

use fastrand::Rng;

/// A source of made-up text; the same seed makes the same text.
#[derive(Debug, Clone)]
pub struct Words {
    random: Rng,
}

impl Words {
    /// A source that starts at `seed`; neighbouring seeds give unlike text.
    pub fn with_seed(seed: u64) -> Self {
        // Neighbouring seeds must not begin alike; the odd constant spreads them over all bits.
        Self { random: Rng::with_seed(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15)) }
    }

    /// A word of `syllables` syllables.
    pub fn word(&mut self, syllables: usize) -> String {
        (0..syllables).map(|_| self.pick(SYLLABLES)).collect()
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.random.usize(..end)
    }

    /// One of `choices`.
    pub fn pick(&mut self, choices: &'static [&'static str]) -> &'static str {
        choices[self.random.usize(..choices.len())]
    }

    /// `digits` hexadecimal digits.
    pub fn hex(&mut self, digits: usize) -> String {
        (0..digits).map(|_| self.random.digit(16)).collect()
    }

    /// The suffix of a generated name: Kubernetes leaves out vowels, so that it spells nothing.
    pub fn suffix(&mut self, characters: usize) -> String {
        (0..characters).map(|_| char::from(SAFE[self.random.usize(..SAFE.len())])).collect()
    }

    /// A UUID of version 4.
    pub fn uuid(&mut self) -> String {
        let variant = ["8", "9", "a", "b"][self.below(4)];
        format!("{}-{}-4{}-{variant}{}-{}", self.hex(8), self.hex(4), self.hex(3), self.hex(3), self.hex(12))
    }

    /// A moment of September 2026.
    pub fn moment(&mut self) -> String {
        let (day, hour) = (1 + self.below(30), self.below(24));
        format!("2026-09-{day:02}T{hour:02}:{:02}:{:02}Z", self.below(60), self.below(60))
    }
}

const SYLLABLES: &[&str] = &[
    "ka", "re", "mi", "to", "lo", "ser", "ver", "ing", "pay", "ord", "cat", "bil", "user", "auth", "data",
    "flow", "sync", "job", "api", "web", "grid", "node", "hub", "core", "log", "met", "box", "key", "map",
    "net",
];
/// Source: apimachinery `util/rand`, `alphanums`.
const SAFE: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
