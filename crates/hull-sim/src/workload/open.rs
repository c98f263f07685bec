//! The numbers of a workload's messages that have been sent and have not arrived: a bit for each
//! number up to the largest one.

/// Set of numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Open(Vec<u64>);

impl Open {
    /// Adds a number.
    pub fn insert(&mut self, number: u64) {
        let (word, bit) = place(number);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= bit;
    }

    /// Removes a number.
    pub fn remove(&mut self, number: u64) {
        let (word, bit) = place(number);
        self.0[word] &= !bit;
    }

    /// Numbers in the set, ascending.
    pub fn numbers(&self) -> impl Iterator<Item = u64> {
        let words = self.0.iter().zip((0_u64..).step_by(64));
        words.flat_map(|(&word, first)| {
            let bits = (0..64).filter(move |bit| word >> bit & 1 == 1);
            bits.map(move |bit| first + bit)
        })
    }
}

/// Word and bit of a number.
fn place(number: u64) -> (usize, u64) {
    ((number / 64) as usize, 1 << (number % 64))
}

#[cfg(test)]
mod tests {
    use super::Open;

    #[test]
    fn holds_what_was_inserted_and_not_removed() {
        let mut open = Open::default();
        for number in [200, 0, 63, 64, 127] {
            open.insert(number);
        }
        open.remove(63);
        open.remove(200);
        assert_eq!(Vec::from_iter(open.numbers()), [0, 64, 127]);
    }
}
