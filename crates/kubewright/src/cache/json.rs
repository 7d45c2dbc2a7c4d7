//! Finds pieces of JSON text without decoding it.
//!
//! A cache of whole objects needs six fields of each and throws a seventh away. Reading just these costs a tenth of decoding the object;
//! the scan stops where `metadata` ends, and `metadata` comes first in what API servers send. Text that is well-formed as far as
//! the scan goes may still be broken further on: that is found by whoever decodes the object, and hurts nobody else.

use std::ops::Range;

use memchr::memchr2;

/// The text is not the JSON that it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("malformed JSON at byte {at}: expected {expected}")]
pub(crate) struct ScanError {
    pub(crate) at: usize,
    pub(crate) expected: &'static str,
}

/// One `"key": value` of an object, as ranges of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member<'a> {
    /// Between the quotes, escapes untouched.
    pub(crate) key: &'a [u8],
    /// The value without surrounding space.
    pub(crate) value: Range<usize>,
    /// What to cut so that the rest is still an object: key, value and one neighbouring comma.
    pub(crate) cut: Range<usize>,
}

/// The members of the JSON object that starts at byte `start` of `text`, in order of appearance.
pub(crate) fn members(text: &[u8], start: usize) -> Result<Members<'_>, ScanError> {
    Ok(Members { at: expect(text, start, b'{', "`{`")?, text, previous_comma: None, done: false })
}

/// Where the value of `key` starts in the JSON object that starts at byte `start` of `text`; `None` if it has no such member. The value itself
/// is not read.
pub(crate) fn value_start(text: &[u8], start: usize, key: &[u8]) -> Result<Option<usize>, ScanError> {
    let mut members = members(text, start)?;
    loop {
        let Some((found, value)) = members.read_key()? else { return Ok(None) };
        if found == key {
            return Ok(Some(value));
        }
        members.read_value(value)?;
    }
}

/// The ranges of the elements of the JSON array that starts at byte `start` of `text`.
pub(crate) fn elements(text: &[u8], start: usize) -> Result<Elements<'_>, ScanError> {
    Ok(Elements { at: expect(text, start, b'[', "`[`")?, text, first: true, done: false })
}

/// See [`members`].
#[derive(Debug)]
pub(crate) struct Members<'a> {
    text: &'a [u8],
    at: usize,
    previous_comma: Option<usize>,
    done: bool,
}

impl<'a> Members<'a> {
    fn read(&mut self) -> Result<Option<Member<'a>>, ScanError> {
        let start = skip_space(self.text, self.at);
        let Some((key, value)) = self.read_key()? else { return Ok(None) };
        let comma_before = self.previous_comma;
        let value_end = self.read_value(value)?;
        let cut = if self.done {
            comma_before.unwrap_or(start)..value_end
        } else {
            start..skip_space(self.text, self.at)
        };
        Ok(Some(Member { key, value: value..value_end, cut }))
    }

    /// Reads up to the start of the next value; `None` after the last member.
    fn read_key(&mut self) -> Result<Option<(&'a [u8], usize)>, ScanError> {
        let text = self.text;
        let start = skip_space(text, self.at);
        if self.done || (self.previous_comma.is_none() && text.get(start) == Some(&b'}')) {
            self.done = true;
            return Ok(None);
        }
        let key_end = skip_string(text, start)?;
        let colon = expect(text, key_end, b':', "`:`")?;
        Ok(Some((&text[start + 1..key_end - 1], skip_space(text, colon))))
    }

    /// Reads the value that starts at `start`, and the comma or the brace behind it; gives the byte after the value.
    fn read_value(&mut self, start: usize) -> Result<usize, ScanError> {
        let end = skip_value(self.text, start)?;
        let next = skip_space(self.text, end);
        match self.text.get(next) {
            Some(b',') => self.previous_comma = Some(next),
            Some(b'}') => self.done = true,
            _ => return Err(ScanError { at: next, expected: "`,` or `}`" }),
        }
        self.at = next + 1;
        Ok(end)
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = Result<Member<'a>, ScanError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let member = self.read().transpose();
        self.done |= matches!(member, Some(Err(_)) | None);
        member
    }
}

/// See [`elements`].
#[derive(Debug)]
pub(crate) struct Elements<'a> {
    text: &'a [u8],
    at: usize,
    first: bool,
    done: bool,
}

impl Elements<'_> {
    fn read(&mut self) -> Result<Option<Range<usize>>, ScanError> {
        let start = skip_space(self.text, self.at);
        if self.first && self.text.get(start) == Some(&b']') {
            return Ok(None);
        }
        self.first = false;
        let end = skip_value(self.text, start)?;
        let next = skip_space(self.text, end);
        match self.text.get(next) {
            Some(b',') => self.at = next + 1,
            Some(b']') => self.done = true,
            _ => return Err(ScanError { at: next, expected: "`,` or `]`" }),
        }
        Ok(Some(start..end))
    }
}

impl Iterator for Elements<'_> {
    type Item = Result<Range<usize>, ScanError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let element = self.read().transpose();
        self.done |= matches!(element, Some(Err(_)) | None);
        element
    }
}

/// The first byte at or after `at` that is not white space.
pub(crate) fn skip_space(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// The byte after the value that starts at `at`.
pub(crate) fn skip_value(text: &[u8], at: usize) -> Result<usize, ScanError> {
    match text.get(at) {
        Some(b'"') => skip_string(text, at),
        Some(b'{' | b'[') => skip_container(text, at),
        Some(b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => Ok(skip_scalar(text, at)),
        _ => Err(ScanError { at, expected: "a value" }),
    }
}

fn skip_string(text: &[u8], start: usize) -> Result<usize, ScanError> {
    let first = expect(text, start, b'"', "`\"`")?;
    string_end(text, first).ok_or(ScanError { at: start, expected: "the end of the string" })
}

/// The byte after the closing quote of the string whose first byte is at `at`.
#[inline]
fn string_end(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let rest = text.get(at..)?;
        // Most strings are short: their bytes are looked at one by one in less time than it takes to set up a vector search.
        let near = rest.len().min(SHORT_STRING);
        let mut found = 0;
        while found < near {
            if rest[found] == b'"' {
                return Some(at + found + 1);
            }
            if rest[found] == b'\\' {
                break;
            }
            found += 1;
        }
        if found == near {
            found += memchr2(b'"', b'\\', &rest[near..])?;
            if rest[found] == b'"' {
                return Some(at + found + 1);
            }
        }
        at += found + 2; // the backslash and what it escapes
    }
}

fn skip_container(text: &[u8], start: usize) -> Result<usize, ScanError> {
    let mut depth = 0_usize;
    let mut at = start;
    while let Some(&byte) = text.get(at) {
        if byte == b'"' {
            let Some(end) = string_end(text, at + 1) else { break };
            at = end;
            continue;
        }
        // Brackets and braces differ in this one bit, and no other byte becomes either. Counting without branches halves the mispredictions.
        let opens = byte | 0x20 == b'{';
        let closes = byte | 0x20 == b'}';
        depth = depth + usize::from(opens) - usize::from(closes);
        at += 1;
        if closes && depth == 0 {
            return Ok(at);
        }
    }
    Err(ScanError { at: start, expected: "the end of the object or array" })
}

fn skip_scalar(text: &[u8], mut at: usize) -> usize {
    while !matches!(text.get(at), None | Some(b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

fn expect(text: &[u8], at: usize, byte: u8, expected: &'static str) -> Result<usize, ScanError> {
    let at = skip_space(text, at);
    if text.get(at) == Some(&byte) { Ok(at + 1) } else { Err(ScanError { at, expected }) }
}

/// Field names of Kubernetes objects are shorter than this.
const SHORT_STRING: usize = 24;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-z\"\\\\{}\\[\\],: \n\u{e9}]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map("[a-z\"\\\\}]{0,4}", inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn object() -> impl Strategy<Value = Value> {
        prop::collection::btree_map("[a-z\"\\\\}]{0,4}", value(), 0..6)
            .prop_map(|map| Value::Object(map.into_iter().collect()))
    }

    proptest! {
        #[test]
        fn members_are_those_that_a_decoder_finds(object in object(), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&object) } else { serde_json::to_string(&object) }.unwrap();
            let found: Vec<_> = members(text.as_bytes(), 0).unwrap().map(Result::unwrap).collect();
            let expected = object.as_object().unwrap();
            prop_assert_eq!(found.len(), expected.len());
            for (member, (key, value)) in found.iter().zip(expected) {
                prop_assert_eq!(&format!("\"{}\"", std::str::from_utf8(member.key).unwrap()), &serde_json::to_string(key).unwrap());
                prop_assert_eq!(&serde_json::from_str::<Value>(&text[member.value.clone()]).unwrap(), value);
            }
        }

        #[test]
        fn cutting_a_member_leaves_the_others(object in object(), pretty in any::<bool>(), pick in any::<prop::sample::Index>()) {
            let text = if pretty { serde_json::to_string_pretty(&object) } else { serde_json::to_string(&object) }.unwrap();
            let found: Vec<_> = members(text.as_bytes(), 0).unwrap().map(Result::unwrap).collect();
            prop_assume!(!found.is_empty());
            let pick = pick.index(found.len());
            let rest = format!("{}{}", &text[..found[pick].cut.start], &text[found[pick].cut.end..]);
            let mut expected = object.as_object().unwrap().clone();
            let key = expected.keys().nth(pick).unwrap().clone();
            expected.remove(&key);
            prop_assert_eq!(serde_json::from_str::<Value>(&rest).unwrap(), Value::Object(expected));
        }

        #[test]
        fn elements_are_those_that_a_decoder_finds(array in prop::collection::vec(value(), 0..5)) {
            let text = serde_json::to_string(&array).unwrap();
            let found: Vec<Value> = elements(text.as_bytes(), 0).unwrap()
                .map(|range| serde_json::from_str(&text[range.unwrap()]).unwrap()).collect();
            prop_assert_eq!(found, array);
        }

        #[test]
        fn no_text_panics(text in prop::collection::vec(prop::sample::select(b"{}[]\",:\\ 1atn".to_vec()), 0..40)) {
            if let Ok(found) = members(&text, 0) { found.for_each(drop); }
            if let Ok(found) = elements(&text, 0) { found.for_each(drop); }
        }
    }
}
