//! The largest of recent values, as Linux estimates it (`lib/win_minmax.c`, after K. Nichols): the best
//! three values of the window in the order of their times, instead of all. The estimate is exact while
//! values rise, and forgets a maximum within the window plus a quarter of it.

/// Value and its time.
type Entry = (u64, u64);

/// Estimator of the maximum over a window of time; times never fall.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowedMax {
    /// Time and value of the best entry, the best after it, and the best after that.
    best: [Entry; 3],
}

impl WindowedMax {
    /// Current maximum; 0 before the first value.
    pub fn get(&self) -> u64 {
        self.best[0].1
    }

    /// Adds `value` at `time`; entries older than `window` are forgotten.
    pub fn add(&mut self, window: u64, time: u64, value: u64) {
        let new = (time, value);
        let [first, second, third] = &mut self.best;
        if value >= first.1 || time - third.0 > window {
            self.best = [new; 3];
            return;
        }
        if value >= second.1 {
            (*second, *third) = (new, new);
        } else if value >= third.1 {
            *third = new;
        }
        let age = time - first.0;
        if age > window {
            self.best = [*second, *third, new];
            if time - self.best[0].0 > window {
                self.best = [self.best[1], new, new];
            }
        } else if second.0 == first.0 && age > window / 4 {
            // No entry is younger than the best one: take a second before the best one expires.
            (*second, *third) = (new, new);
        } else if third.0 == second.0 && age > window / 2 {
            *third = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::WindowedMax;

    /// A window of 10 rounds. 50 holds from round 0 to 10. Round 3 is past a quarter of the window: 20
    /// becomes second best, 30 in round 4 replaces it, and 25 of round 6 is third. In round 11 the 50 is
    /// too old: 30 of round 4 remains, until round 15, when 25 of round 6 remains.
    #[test]
    fn keeps_the_largest_of_ten_rounds() {
        let values = [
            50, 10, 10, 20, 30, 10, 25, 10, 10, 10, 10, 10, 10, 10, 10, 10,
        ];
        let mut max = WindowedMax::default();
        let mut found = Vec::new();
        for (round, value) in (0..).zip(values) {
            max.add(10, round, value);
            found.push(max.get());
        }
        assert_eq!(found[..=10], [50; 11]);
        assert_eq!(found[11..=14], [30; 4]);
        assert_eq!(found[15], 25);
    }

    /// A larger value replaces all; after a pause longer than the window the next value stands alone.
    #[test]
    fn a_larger_value_and_a_pause_reset() {
        let mut max = WindowedMax::default();
        for (round, value, expected) in [(1, 10, 10), (2, 40, 40), (3, 5, 40), (14, 7, 7)] {
            max.add(10, round, value);
            assert_eq!(max.get(), expected, "{round}");
        }
    }
}
