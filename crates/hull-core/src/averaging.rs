//! The Averaging Principle (AP) keeps a control loop stable at longer delays: between two feedback
//! updates the controller moves its output halfway back to the previous value.
//!
//! Source: thesis 5.5.1 and 5.5.2. The controller updates the plant's input by feedback every T. I_C is
//! the current input, I_T the input before the last feedback update:
//!
//! ```text
//! at nT            I_T <- I_C,  I_C <- the controller's update of I_C (5.24)
//! in between       I_C <- (1 - a) I_C + a I_T
//! ```
//!
//! with a = 1/2, or another factor between 0 and 1 (remark 5.4).
//!
//! AP averages once, at T/2; AP2 twice, at T/3 and 2T/3 (thesis 5.5.3); without averaging it is the
//! plain controller. [`Averaging`] returns the time of the next update and applies it. For an integral
//! controller AP is equivalent to feeding back, in place of the error e (theorem 5.4),
//!
//! ```text
//! w(nT) = e(nT) / 2 + (e(nT) - e((n - 1) T)) / 4
//! ```
//!
//! except for a ripple of mean zero within each T: [`ProportionalDerivative`], with e(-T) = 0.
//!
//! Units: times in picoseconds; inputs are integers of any unit; a is scaled by 2^16. Averages are
//! rounded down.

/// The factor a = 1, fixed point.
pub const ONE: u32 = 1 << 16;
/// The thesis's factor a = 1/2.
pub const HALF: u32 = ONE / 2;

/// Input of a plant and the schedule of its updates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Averaging {
    /// Current input, I_C.
    current: i64,
    /// Input before the last feedback update, I_T.
    target: i64,
    interval_ps: u64,
    averages: u8,
    factor: u32,
    /// Averaging steps since the last feedback update.
    averaged: u8,
    last_feedback_ps: u64,
}

impl Averaging {
    /// Creates an input that the controller updates every `interval_ps`, first after one interval.
    /// Between two updates `averages` equally spaced steps each move it by `factor` (scaled by
    /// [`ONE`]) of the way back to I_T.
    ///
    /// # Panics
    /// Panics if `interval_ps` is not above `averages`, or `factor` is above [`ONE`].
    pub fn new(initial: i64, interval_ps: u64, averages: u8, factor: u32) -> Self {
        let fits = interval_ps > u64::from(averages);
        assert!(fits, "interval_ps must be above averages");
        assert!(factor <= ONE, "factor must be at most ONE");
        Self {
            current: initial,
            target: initial,
            interval_ps,
            averages,
            factor,
            averaged: averages,
            last_feedback_ps: 0,
        }
    }

    /// Current input (I_C).
    #[inline]
    pub fn current(&self) -> i64 {
        self.current
    }

    /// Input before the last feedback update (I_T).
    pub fn target(&self) -> i64 {
        self.target
    }

    /// Time of the next update, ps.
    #[inline]
    pub fn next_ps(&self) -> u64 {
        let parts = u128::from(self.averages) + 1;
        let passed = u128::from(self.interval_ps) * (u128::from(self.averaged) + 1) / parts;
        self.last_feedback_ps.saturating_add(passed as u64)
    }

    /// Whether the next update is a feedback update.
    pub fn is_feedback_next(&self) -> bool {
        self.averaged == self.averages
    }

    /// Applies the next update. A feedback update calls `controller`, which maps the current input
    /// to the new one; an averaging step does not.
    pub fn change(&mut self, controller: impl FnOnce(i64) -> i64) {
        if self.is_feedback_next() {
            self.last_feedback_ps = self.next_ps();
            self.averaged = 0;
            self.target = self.current;
            self.current = controller(self.current);
        } else {
            self.averaged += 1;
            let (way, factor) = (i128::from(ONE), i128::from(self.factor));
            let sum = i128::from(self.current) * (way - factor) + i128::from(self.target) * factor;
            self.current = sum.div_euclid(way) as i64;
        }
    }

    /// Skips the whole intervals that end before `now_ps`, for an input that does not change.
    pub fn skip(&mut self, now_ps: u64) {
        let idle_ps = now_ps.saturating_sub(self.next_ps());
        self.last_feedback_ps += idle_ps / self.interval_ps * self.interval_ps;
    }
}

/// PD controller equivalent to AP (theorem 5.4).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProportionalDerivative {
    last_error: i64,
}

impl ProportionalDerivative {
    /// Takes the sampled error and returns 4 w, which needs no rounding.
    pub fn four_times_feedback(&mut self, error: i64) -> i64 {
        let change = error.saturating_sub(self.last_error);
        self.last_error = error;
        error.saturating_mul(2).saturating_add(change)
    }
}
