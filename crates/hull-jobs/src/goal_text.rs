//! GOAL, the text form (Group Operation Assembly Language): `num_ranks N`, then `rank r { ... }` for each rank with one
//! statement a line. Sizes are bytes, computations ns. Compiled to the binary form rank by rank, so that memory
//! holds one rank.

use std::collections::HashMap;
use std::io::{BufRead, Read, Seek, Write};

use crate::op::{ANY, Kind, Op};
use crate::problem::Problem;
use crate::schedule::{RankBlock, Writer};
use crate::text::refuse;

/// Longest line, bytes.
const LONGEST_LINE: u64 = 1 << 16;

/// Most ranks; the file's header has 16 bytes for each.
const MOST_RANKS: u32 = 1 << 22;

/// What a reader decided without being told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Labels that a rank declares again; the first meaning holds, as with others' readers.
    pub repeated_labels: u64,
    /// Line of the first of them.
    pub first_repeated: u64,
    /// Lines with statements behind the last rank, which are not read.
    pub lines_behind: u64,
}

/// Reads a schedule in text form from `input` and writes its binary form to `out`.
///
/// # Errors
/// The line, what was found and what was expected.
pub fn compile<W: Write + Seek>(input: impl BufRead, out: W) -> Result<(W, Notes), Problem> {
    let mut reader = Reader::new(input);
    let ranks = reader.ranks()?;
    let mut writer = Writer::new(out, ranks)?;
    for rank in 0..ranks {
        reader.rank(rank, ranks)?;
        writer.write(&mut reader.block)?;
    }
    while reader.next_statement()? {
        reader.notes.lines_behind += 1;
    }
    Ok((writer.finish()?, reader.notes))
}

struct Reader<R> {
    input: R,
    line: u64,
    text: String,
    raw: Vec<u8>,
    in_comment: bool,
    labels: HashMap<String, u32>,
    block: RankBlock,
    notes: Notes,
}

/// The words of a statement, from front to back.
struct Words<'a> {
    line: u64,
    rest: std::iter::Peekable<std::str::SplitAsciiWhitespace<'a>>,
}

impl<'a> Words<'a> {
    fn problem(&self, found: Option<&str>, expected: &str) -> Problem {
        refuse(self.line, found, expected)
    }

    fn expect(&mut self, word: &str) -> Result<(), Problem> {
        match self.rest.next() {
            Some(found) if found == word => Ok(()),
            found => Err(self.problem(found, &format!("`{word}`"))),
        }
    }

    fn number<T: std::str::FromStr>(&mut self, expected: &str) -> Result<T, Problem> {
        let word = self.rest.next();
        word.and_then(|word| word.parse().ok())
            .ok_or_else(|| self.problem(word, expected))
    }

    /// A number of bytes, as `5b` or `5 b`.
    fn bytes(&mut self) -> Result<u64, Problem> {
        let expected = "a size in bytes, such as `1024b`";
        let word = self.rest.next();
        let found = word.unwrap_or_default();
        let number = match found.strip_suffix('b') {
            Some(number) => number,
            None => {
                if self.rest.next_if_eq(&"b").is_none() {
                    return Err(self.problem(word, expected));
                }
                found
            }
        };
        number.parse().map_err(|_| self.problem(word, expected))
    }

    /// A rank or a tag, where -1 stands for any.
    fn or_any(&mut self, expected: &str) -> Result<u32, Problem> {
        if self.rest.next_if_eq(&"-1").is_some() {
            return Ok(ANY);
        }
        let word = self.rest.peek().copied();
        match self.number(expected)? {
            ANY => Err(self.problem(word, expected)),
            number => Ok(number),
        }
    }

    fn end(&mut self, expected: &str) -> Result<(), Problem> {
        match self.rest.next() {
            None => Ok(()),
            found => Err(self.problem(found, expected)),
        }
    }
}

fn is_label(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphabetic())
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

impl<R: BufRead> Reader<R> {
    fn new(input: R) -> Self {
        Reader {
            input,
            line: 0,
            text: String::new(),
            raw: Vec::new(),
            in_comment: false,
            labels: HashMap::new(),
            block: RankBlock::default(),
            notes: Notes::default(),
        }
    }

    /// Reads up to the next line with a statement into `text`, without its comments. False at the end.
    fn next_statement(&mut self) -> Result<bool, Problem> {
        loop {
            self.raw.clear();
            let mut limited = (&mut self.input).take(LONGEST_LINE);
            let read = limited.read_until(b'\n', &mut self.raw)?;
            if read == 0 {
                if self.in_comment {
                    let told = "the file ends within a comment; expected `*/`";
                    return Err(Problem::new(format!("line {}", self.line), told));
                }
                return Ok(false);
            }
            self.line += 1;
            let place = || format!("line {}", self.line);
            if read as u64 == LONGEST_LINE && self.raw.last() != Some(&b'\n') {
                let told =
                    format!("longer than {LONGEST_LINE} bytes; expected one statement a line");
                return Err(Problem::new(place(), told));
            }
            let line = std::str::from_utf8(&self.raw)
                .map_err(|_| Problem::new(place(), "not text; expected ASCII or UTF-8"))?;
            self.text.clear();
            strip_comments(line, &mut self.in_comment, &mut self.text);
            if !self.text.trim().is_empty() {
                return Ok(true);
            }
        }
    }

    fn words(&self) -> Words<'_> {
        Words {
            line: self.line,
            rest: self.text.split_ascii_whitespace().peekable(),
        }
    }

    /// The next statement's words, which must exist.
    fn statement(&mut self, expected: &str) -> Result<Words<'_>, Problem> {
        if !self.next_statement()? {
            let told = format!("the file ends; expected {expected}");
            return Err(Problem::new(format!("line {}", self.line), told));
        }
        Ok(self.words())
    }

    fn ranks(&mut self) -> Result<u32, Problem> {
        let mut words = self.statement("`num_ranks N`")?;
        words.expect("num_ranks")?;
        let word = words.rest.peek().copied();
        let expected = format!("a number of ranks from 1 to {MOST_RANKS}");
        let ranks: u32 = words.number(&expected)?;
        if ranks == 0 || ranks > MOST_RANKS {
            return Err(words.problem(word, &expected));
        }
        words.end("the end of the line")?;
        Ok(ranks)
    }

    /// Reads the block of a rank into `block`.
    fn rank(&mut self, rank: u32, ranks: u32) -> Result<(), Problem> {
        let header = format!("`rank {rank} {{`: ranks are in order, and none is missing");
        let mut words = self.statement(&header)?;
        words.expect("rank")?;
        let word = words.rest.next();
        // The brace may follow without a blank.
        let (number, has_brace) = match word.and_then(|word| word.strip_suffix('{')) {
            Some(number) => (number, true),
            None => (word.unwrap_or_default(), false),
        };
        if number != rank.to_string() {
            return Err(words.problem(word, &header));
        }
        if !has_brace {
            words.expect("{")?;
        }
        words.end("the end of the line")?;
        self.labels.clear();
        loop {
            let expected = format!("`}}`, the end of rank {rank}");
            let first = {
                let mut words = self.statement(&expected)?;
                words.rest.next().unwrap_or_default().to_owned()
            };
            if first == "}" {
                self.after_first().end("the end of the line")?;
                return Ok(());
            }
            self.line_of_rank(&first, ranks)?;
        }
    }

    fn after_first(&self) -> Words<'_> {
        let mut words = self.words();
        words.rest.next();
        words
    }

    fn line_of_rank(&mut self, first: &str, ranks: u32) -> Result<(), Problem> {
        if let Some(label) = first.strip_suffix(':') {
            if !is_label(label) {
                let expected = "a label: a letter, then letters, digits and `_`";
                return Err(self.words().problem(Some(first), expected));
            }
            let op = read_op(self.after_first(), ranks)?;
            let index = self.push(op)?;
            if self.labels.contains_key(label) {
                self.notes.repeated_labels += 1;
                if self.notes.repeated_labels == 1 {
                    self.notes.first_repeated = self.line;
                }
            } else {
                self.labels.insert(label.to_owned(), index);
            }
            return Ok(());
        }
        if matches!(first, "send" | "recv" | "calc") {
            let op = read_op(self.words(), ranks)?;
            self.push(op)?;
            return Ok(());
        }
        let mut words = self.after_first();
        let relation = words.rest.next();
        if !matches!(relation, Some("requires" | "irequires")) {
            let expected = "`send`, `recv`, `calc`, `a requires b`, `a irequires b` or `}`";
            return Err(words.problem(Some(first), expected));
        }
        let earlier = words.rest.next().unwrap_or_default();
        let later_index = self.label(&words, first)?;
        let earlier_index = self.label(&words, earlier)?;
        words.end("the end of the line")?;
        if relation == Some("requires") {
            self.block.requires(later_index, earlier_index);
        } else {
            self.block.irequires(later_index, earlier_index);
        }
        Ok(())
    }

    fn label(&self, words: &Words<'_>, label: &str) -> Result<u32, Problem> {
        self.labels.get(label).copied().ok_or_else(|| {
            words.problem(
                Some(label),
                "a label that an earlier line of this rank declares",
            )
        })
    }

    fn push(&mut self, op: Op) -> Result<u32, Problem> {
        if self.block.len() >= ANY as usize {
            let told = format!("more than {} operations of a rank", ANY - 1);
            return Err(Problem::new(format!("line {}", self.line), told));
        }
        Ok(self.block.push(op))
    }
}

/// Appends a line without its comments to `out`.
fn strip_comments(line: &str, in_comment: &mut bool, out: &mut String) {
    let mut rest = line;
    loop {
        if *in_comment {
            let Some((_, after)) = rest.split_once("*/") else {
                return;
            };
            *in_comment = false;
            rest = after;
            // What stood on both sides of a comment is two words.
            out.push(' ');
        }
        match rest.find('/') {
            Some(at) if rest[at..].starts_with("//") => {
                out.push_str(&rest[..at]);
                return;
            }
            Some(at) if rest[at..].starts_with("/*") => {
                out.push_str(&rest[..at]);
                rest = &rest[at + 2..];
                *in_comment = true;
            }
            Some(at) => {
                out.push_str(&rest[..=at]);
                rest = &rest[at + 1..];
            }
            None => {
                out.push_str(rest);
                return;
            }
        }
    }
}

/// Reads `send`, `recv` or `calc` and what follows.
fn read_op(mut words: Words<'_>, ranks: u32) -> Result<Op, Problem> {
    let word = words.rest.next();
    let mut op = Op {
        kind: Kind::Compute,
        size: 0,
        peer: 0,
        tag: 0,
        cpu: 0,
        nic: 0,
        needs: 0,
    };
    match word {
        Some("send") => {
            op.kind = Kind::Send;
            op.size = words.bytes()?;
            words.expect("to")?;
        }
        Some("recv") => {
            op.kind = Kind::Receive;
            op.size = words.bytes()?;
            words.expect("from")?;
        }
        Some("calc") => op.size = words.number("a time in ns")?,
        _ => return Err(words.problem(word, "`send`, `recv` or `calc`")),
    }
    if op.kind != Kind::Compute {
        let word = words.rest.peek().copied();
        let expected = format!("a rank from 0 to {}", ranks - 1);
        op.peer = match op.kind {
            Kind::Receive => words.or_any(&format!("{expected}, or -1 for any"))?,
            Kind::Send | Kind::Compute => words.number(&expected)?,
        };
        if op.peer >= ranks && !(op.peer == ANY && op.kind == Kind::Receive) {
            return Err(words.problem(word, &expected));
        }
        if words.rest.next_if_eq(&"tag").is_some() {
            op.tag = words.or_any("a tag, or -1 for any")?;
        }
    }
    if words.rest.next_if_eq(&"cpu").is_some() {
        op.cpu = words.number("a processor from 0 to 255")?;
    }
    if op.kind != Kind::Compute && words.rest.next_if_eq(&"nic").is_some() {
        op.nic = words.number("an interface from 0 to 255")?;
    }
    words.end(match op.kind {
        Kind::Compute => "`cpu` or the end of the line",
        Kind::Send | Kind::Receive => "`tag`, `cpu`, `nic` (in this order) or the end of the line",
    })?;
    Ok(op)
}

#[cfg(test)]
#[path = "goal_text_tests.rs"]
mod tests;
