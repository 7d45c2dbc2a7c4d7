//! What is logged.

use std::{io, sync::Arc};

use kubewright::tracing::{self, subscriber::DefaultGuard};
use parking_lot::Mutex;

/// The warnings and errors that this thread logs, for as long as it lives.
#[derive(Debug)]
pub struct Lines {
    text: Text,
    _capture: DefaultGuard,
}

#[derive(Clone, Debug, Default)]
struct Text(Arc<Mutex<Vec<u8>>>);

impl Lines {
    pub fn capture() -> Self {
        let text = Text::default();
        let writer = text.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || writer.clone())
            .with_max_level(tracing::Level::WARN)
            .with_ansi(false)
            .without_time()
            .finish();
        Self { text, _capture: tracing::subscriber::set_default(subscriber) }
    }

    /// The lines that contain every one of `parts`.
    pub fn with(&self, parts: &[&str]) -> Vec<String> {
        let text = String::from_utf8(self.text.0.lock().clone()).unwrap();
        let wanted = text.lines().filter(|line| parts.iter().all(|part| line.contains(part)));
        wanted.map(ToOwned::to_owned).collect()
    }
}

impl io::Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
