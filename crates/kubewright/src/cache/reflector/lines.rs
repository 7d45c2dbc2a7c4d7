//! Cuts a body into lines, however the network cut it before.

use bytes::BytesMut;

use super::failure::Failure;

/// Holds the beginning of a line whose end has not arrived. A line that lies within one chunk is never copied.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    begun: BytesMut,
}

impl Lines {
    /// Calls `each` with every line that `chunk` completes, without its newline; empty lines are skipped.
    pub(crate) fn feed(
        &mut self,
        mut chunk: &[u8],
        mut each: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        while let Some(end) = memchr::memchr(b'\n', chunk) {
            let (line, rest) = (&chunk[..end], &chunk[end + 1..]);
            chunk = rest;
            if self.begun.is_empty() {
                if !line.is_empty() {
                    each(line)?;
                }
            } else {
                self.begun.extend_from_slice(line);
                let result = each(&self.begun);
                self.begun.clear();
                result?;
            }
        }
        if self.begun.len() + chunk.len() > LONGEST_LINE {
            return Err(Failure::Malformed(format!("a line is longer than {LONGEST_LINE} bytes")));
        }
        self.begun.extend_from_slice(chunk);
        Ok(())
    }
}

/// etcd refuses values beyond 1.5 MiB and API servers bodies beyond 3 MiB; what is far beyond both is no event.
const LONGEST_LINE: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lines_do_not_depend_on_how_the_body_was_cut(
            lines in prop::collection::vec("[a-z]{0,6}", 0..12), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let body: Vec<u8> = lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect();
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(body.len() + 1)).chain([0, body.len()]).collect();
            cuts.sort_unstable();
            let (mut cutter, mut found) = (Lines::default(), Vec::new());
            for window in cuts.windows(2) {
                cutter.feed(&body[window[0]..window[1]], |line| { found.push(String::from_utf8(line.to_vec()).unwrap()); Ok(()) }).unwrap();
            }
            let expected: Vec<_> = lines.into_iter().filter(|line| !line.is_empty()).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
