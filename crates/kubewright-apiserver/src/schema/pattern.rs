//! Regular expressions as Go writes them.

use std::{
    fmt::{self, Write as _},
    sync::OnceLock,
};

use regex::{Regex, RegexBuilder};

/// A regular expression of a schema. It is compiled when the first text is held against it.
#[derive(Debug)]
pub(super) struct Pattern {
    /// As the schema writes it.
    pub(super) text: String,
    compiled: OnceLock<Result<Regex, String>>,
}

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), compiled: OnceLock::new() }
    }

    /// Whether `text` matches anywhere.
    ///
    /// # Errors
    /// What is wrong with the expression.
    pub(super) fn matches(&self, text: &str) -> Result<bool, &str> {
        match self.compiled.get_or_init(|| compile(&self.text)) {
            Ok(regex) => Ok(regex.is_match(text)),
            Err(problem) => Err(problem),
        }
    }
}

/// Compiles an expression in the syntax of Go, which is RE2's.
///
/// # Errors
/// What is wrong with it. Mistakes that people make are told as Go tells them.
///
/// # Differences from Go
/// A repetition may be larger than 1,000, as long as the whole stays small enough.
pub(super) fn compile(expression: &str) -> Result<Regex, String> {
    let translated = Translator::new(expression).run()?;
    RegexBuilder::new(&translated).size_limit(SIZE_LIMIT).build().map_err(|error| {
        let cause = match error {
            regex::Error::CompiledTooBig(_) => "expression too large".to_owned(),
            // The first lines draw the place of the mistake, the last one names it.
            other => {
                other.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
            }
        };
        format!("error parsing regexp: {cause}: `{expression}`")
    })
}

/// Writes an expression of RE2 as one of the `regex` crate.
///
/// Both know the same expressions but for these: what Perl's classes mean (ASCII only, in RE2), braces that are no
/// repetition, `\Q…\E`, octal numbers, and operators on sets, which RE2 does not have.
struct Translator<'a> {
    rest: &'a str,
    out: String,
}

impl<'a> Translator<'a> {
    fn new(expression: &'a str) -> Self {
        Self { rest: expression, out: String::with_capacity(expression.len()) }
    }

    fn run(mut self) -> Result<String, String> {
        while let Some(c) = self.next() {
            match c {
                '\\' => self.escape(false)?,
                '[' => self.class()?,
                '{' if !is_repetition(self.rest) => self.out.push_str("\\{"),
                '}' => self.out.push('}'),
                '(' if is_perl_only(self.rest) => {
                    let shown: String =
                        self.rest.chars().take(if self.rest.starts_with("?<") { 3 } else { 2 }).collect();
                    return Err(format!(
                        "error parsing regexp: invalid or unsupported Perl syntax: `({shown}`"
                    ));
                }
                other => self.out.push(other),
            }
        }
        Ok(self.out)
    }

    fn put(&mut self, text: fmt::Arguments<'_>) {
        // Writing to a text cannot fail.
        let _ = self.out.write_fmt(text);
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn take(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// What stands behind a backslash. Says nothing about where a class of Perl ends; see [`class`](Self::class).
    fn escape(&mut self, in_class: bool) -> Result<(), String> {
        let Some(c) = self.next() else {
            return Err("error parsing regexp: trailing backslash at end of expression: ``".to_owned());
        };
        match c {
            'd' | 'w' | 's' => self.ascii(c, in_class, ""),
            'D' | 'W' | 'S' => self.ascii(c.to_ascii_lowercase(), in_class, "^"),
            'b' if !in_class => self.out.push_str("(?-u:\\b)"),
            'Q' => {
                let (quoted, rest) = self.rest.split_once("\\E").unwrap_or((self.rest, ""));
                self.rest = rest;
                self.out.push_str(&regex::escape(quoted));
            }
            '0'..='7' if c == '0' || self.rest.starts_with(|c: char| c.is_digit(8)) => {
                let more = self.rest.find(|c: char| !c.is_digit(8)).unwrap_or(self.rest.len()).min(2);
                let (digits, rest) = self.rest.split_at(more);
                let value = u32::from_str_radix(&format!("{c}{digits}"), 8).unwrap_or_default();
                self.rest = rest;
                self.put(format_args!("\\x{{{value:x}}}"));
            }
            '1'..='9' | 'Z' | 'G' | 'K' | 'R' | 'X' | 'h' | 'H' | 'N' | 'u' | 'U' => {
                return Err(format!("error parsing regexp: invalid escape sequence: `\\{c}`"));
            }
            // The other crate means the ends of words.
            '<' | '>' => self.out.push(c),
            other => {
                self.out.push('\\');
                self.out.push(other);
            }
        }
        Ok(())
    }

    fn ascii(&mut self, class: char, in_class: bool, negation: &str) {
        let ranges = match class {
            'd' => "0-9",
            'w' => "0-9A-Za-z_",
            _ => "\\t\\n\\x0c\\r ",
        };
        if in_class && negation.is_empty() {
            self.out.push_str(ranges);
        } else {
            self.put(format_args!("[{negation}{ranges}]"));
        }
    }

    /// A class in brackets, whose bracket has been read.
    fn class(&mut self) -> Result<(), String> {
        self.out.push('[');
        if self.take("^") {
            self.out.push('^');
        }
        let mut is_first = true;
        loop {
            let Some(c) = self.next() else {
                return Err(format!("error parsing regexp: missing closing ]: `{}`", self.out));
            };
            match c {
                ']' if !is_first => break,
                ']' => self.out.push_str("\\]"),
                '\\' => {
                    let is_set = self.rest.starts_with(['d', 'w', 's', 'D', 'W', 'S', 'p', 'P']);
                    let is_property = self.rest.starts_with(['p', 'P']);
                    self.escape(true)?;
                    if is_property {
                        self.property();
                    }
                    self.dash_after(is_set);
                }
                '[' if self.rest.starts_with(':') && self.rest.contains(":]") => {
                    let end = self.rest.find(":]").map_or(0, |end| end + 2);
                    let (name, rest) = self.rest.split_at(end);
                    self.out.push('[');
                    self.out.push_str(name);
                    self.rest = rest;
                    self.dash_after(true);
                }
                '[' | '&' | '~' => {
                    self.out.push('\\');
                    self.out.push(c);
                }
                '-' if is_first || self.rest.starts_with(']') => self.out.push_str("\\-"),
                other => self.out.push(other),
            }
            is_first = false;
        }
        self.out.push(']');
        Ok(())
    }

    /// The name behind `\p`.
    fn property(&mut self) {
        let end = if self.rest.starts_with('{') {
            self.rest.find('}').map_or(0, |end| end + 1)
        } else {
            self.rest.chars().next().map_or(0, char::len_utf8)
        };
        let (name, rest) = self.rest.split_at(end);
        self.out.push_str(name);
        self.rest = rest;
    }

    /// A dash behind a set begins no range.
    fn dash_after(&mut self, is_set: bool) {
        if is_set && self.take("-") {
            self.out.push_str("\\-");
        }
    }
}

/// Whether what stands behind a brace says how often something is repeated.
fn is_repetition(rest: &str) -> bool {
    let Some((inner, _)) = rest.split_once('}') else { return false };
    let (low, high) = inner.split_once(',').unwrap_or((inner, "0"));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    !low.is_empty() && are_digits(low) && are_digits(high)
}

/// Whether what stands behind a parenthesis looks around.
fn is_perl_only(rest: &str) -> bool {
    ["?=", "?!", "?<=", "?<!", "?>", "?#", "?|"].iter().any(|start| rest.starts_with(start))
}

/// How large a compiled expression may be. Bounded repetitions of Unicode classes are large.
const SIZE_LIMIT: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_mean_what_they_mean_to_go() {
        for (expression, good, bad) in [
            (r"^\d+$", "12", "१२"),
            (r"^\w+$", "a_1", "ä"),
            (r"^[\w-.]+$", "a-b.c", "a b"),
            (r"^[\d-]+$", "1-2", "a"),
            (r"^[^\s]+$", "a\u{a0}b", "a b"),
            (r"^[\D]$", "x", "1"),
            (r"^a{,2}$", "a{,2}", "aa"),
            (r"^a{2}$", "aa", "a{2}"),
            (r"^{x}$", "{x}", "x"),
            (r"^\Qa.b\E.$", "a.bc", "axbc"),
            (r"^[[:alpha:]-]+$", "a-b", "1"),
            (r"^[a&&b]+$", "&&a", "c"),
            (r"^[[]$", "[", "]"),
            (r"^[]a]$", "]", "b"),
            (r"^[a-z]+\z", "ab", "A"),
            (r"^\x41\101$", "AA", "A"),
            (r"(?i)^abc$", "ABC", "abd"),
            (r"^\<a\>$", "<a>", "a"),
            (r"^[+-]?\pL$", "-é", "1"),
            (r"^[\pL-]+$", "é-", "1"),
            (r"^[a\]b]+$", "]", "c"),
            (r"\ba\b", "x a y", "xay"),
        ] {
            let pattern = Pattern::new(expression);
            assert_eq!(pattern.matches(good), Ok(true), "{expression} {good}");
            assert_eq!(pattern.matches(bad), Ok(false), "{expression} {bad}");
        }
    }

    #[test]
    fn what_go_does_not_know_is_refused() {
        for (expression, problem) in [
            ("a(?=b)", "error parsing regexp: invalid or unsupported Perl syntax: `(?=`"),
            ("(?<!a)b", "error parsing regexp: invalid or unsupported Perl syntax: `(?<!`"),
            (r"(a)\1", r"error parsing regexp: invalid escape sequence: `\1`"),
            ("a\\", "error parsing regexp: trailing backslash at end of expression: ``"),
            ("[a", "error parsing regexp: missing closing ]: `[a`"),
        ] {
            assert_eq!(Pattern::new(expression).matches("a"), Err(problem));
        }
        assert!(compile("a(").unwrap_err().starts_with("error parsing regexp: "));
    }
}
