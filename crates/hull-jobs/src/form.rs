//! Which of the forms a job's file has, by its first bytes.

/// Form of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// GOAL, text.
    GoalText,
    /// GOAL, binary.
    GoalBinary,
    /// SimAI's layer text.
    SimaiText,
    /// aicb's table.
    AicbTable,
    /// Chakra, one rank's file.
    ChakraTrace,
    /// htsim's connection matrix.
    HtsimMatrix,
}

/// What a message says that a file should begin with.
pub const EXPECTED: &str = "a job: GOAL (`num_ranks N`, or its binary form), SimAI's layers (`HYBRID_TRANSFORMER..` or `MICRO`), \
    aicb's table (`comm_type,..`), htsim's connection matrix (`Nodes N`), or a Chakra trace";

/// First bytes of GOAL's binary form: its cookie.
const GOAL_BINARY: [u8; 8] = [0x7f, 0x10, 0, 0, 0, 0, 0, 0];

impl Form {
    /// Tells the form of a file from its first bytes.
    pub fn of(first: &[u8]) -> Option<Self> {
        if first.starts_with(&GOAL_BINARY) {
            return Some(Form::GoalBinary);
        }
        if let Some(form) = of_text(first) {
            return Some(form);
        }
        // The length of the first message, then its version or an attribute; it may be empty.
        let varint = first.iter().take_while(|&&byte| byte >= 0x80).count() + 1;
        let is_blank = first.iter().all(u8::is_ascii_whitespace);
        let begin = (first.first(), first.get(varint));
        let is_trace = matches!(begin, (Some(0), _) | (Some(_), Some(0x0a | 0x12))) && !is_blank;
        is_trace.then_some(Form::ChakraTrace)
    }
}

fn of_text(first: &[u8]) -> Option<Form> {
    let text = String::from_utf8_lossy(first);
    let lines = text.lines().map(str::trim_ascii_start);
    let line = lines.into_iter().find(|line| !line.is_empty())?;
    let word = line.split_ascii_whitespace().next()?;
    let is = |name: &str| word.eq_ignore_ascii_case(name);
    if word == "num_ranks" || word.starts_with("//") || word.starts_with("/*") {
        return Some(Form::GoalText);
    }
    if word == "MICRO" || word.starts_with("HYBRID_") {
        return Some(Form::SimaiText);
    }
    if word.starts_with("comm_type,") || word.starts_with("[rank") {
        return Some(Form::AicbTable);
    }
    let is_matrix = ["Nodes", "Connections", "Triggers", "Failures"]
        .into_iter()
        .any(is);
    if is_matrix {
        return Some(Form::HtsimMatrix);
    }
    // A trace may begin with this byte too, then a line's end; a comment goes on.
    let comment = line.strip_prefix('#')?;
    (!comment.is_empty()
        || text
            .lines()
            .nth(1)
            .is_some_and(|next| next.contains("odes")))
    .then_some(Form::HtsimMatrix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_told_by_the_first_bytes() {
        for (first, form) in [
            (b"num_ranks 2\n".as_slice(), Form::GoalText),
            (b"\n/* a job */ num_ranks 2\n", Form::GoalText),
            (b"\x7f\x10\0\0\0\0\0\0\x02\0", Form::GoalBinary),
            (b"MICRO\n19\n", Form::SimaiText),
            (b"HYBRID_TRANSFORMER_FWD_IN_BCKWD\tep: 1", Form::SimaiText),
            (b"[rank0 ~ rank7]\ncomm_type,", Form::AicbTable),
            (b"comm_type,comm_group", Form::AicbTable),
            (b"Nodes 16\n", Form::HtsimMatrix),
            (b"\n# hosts\nconnections 3\n", Form::HtsimMatrix),
            (b"#\nNodes 3\n", Form::HtsimMatrix),
            (b"\x07\n\x050.0.4H\x12", Form::ChakraTrace),
            (b"\xda\xd0\x01\x12\x1d", Form::ChakraTrace),
            (b"\0\x0c\x18\x07", Form::ChakraTrace),
        ] {
            assert_eq!(Form::of(first), Some(form), "{first:?}");
        }
        for first in [
            b"".as_slice(),
            b"\n\n",
            b"hello",
            b"{\"a\": 1}",
            b"PAR1\x15",
        ] {
            assert_eq!(Form::of(first), None, "{first:?}");
        }
    }
}
