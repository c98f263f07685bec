//! What a reader leaves out or decides by itself, counted.

use std::fmt;

/// Counted remarks on a file, in the order in which the reader made them first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remarks(Vec<(String, u64)>);

impl Remarks {
    /// Adds `count` to a remark.
    pub(crate) fn add(&mut self, remark: &str, count: u64) {
        if count == 0 {
            return;
        }
        match self.0.iter_mut().find(|(known, _)| known == remark) {
            Some((_, sum)) => *sum += count,
            None => self.0.push((remark.to_owned(), count)),
        }
    }

    /// The remarks, each with its count.
    pub fn list(&self) -> &[(String, u64)] {
        &self.0
    }
}

impl fmt::Display for Remarks {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (remark, count)) in self.0.iter().enumerate() {
            let between = if number == 0 { "" } else { "; " };
            write!(out, "{between}{remark}: {count}")?;
        }
        Ok(())
    }
}
