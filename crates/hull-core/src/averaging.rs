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

/// 1.0 of the factor.
pub const ONE: u32 = 1 << 16;
/// The thesis's factor, one half.
pub const HALF: u32 = ONE / 2;

/// The input of a plant and when it changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Averaging {
    /// I_C.
    current: i64,
    /// I_T.
    target: i64,
    interval_ps: u64,
    averages: u8,
    factor: u32,
    /// Averages since the last feedback.
    averaged: u8,
    last_feedback_ps: u64,
}

impl Averaging {
    /// An input that the controller changes every `interval_ps`, first after one interval, with
    /// `averages` changes in between at equal distances, which move it by `factor` of the way back (scaled
    /// by [`ONE`]).
    ///
    /// # Panics
    /// When the interval has fewer picoseconds than changes, or the factor is above 1.
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

    /// The input now (I_C).
    #[inline]
    pub fn current(&self) -> i64 {
        self.current
    }

    /// The input before the last feedback (I_T).
    pub fn target(&self) -> i64 {
        self.target
    }

    /// When the next change is due.
    #[inline]
    pub fn next_ps(&self) -> u64 {
        let parts = u128::from(self.averages) + 1;
        let passed = u128::from(self.interval_ps) * (u128::from(self.averaged) + 1) / parts;
        self.last_feedback_ps.saturating_add(passed as u64)
    }

    /// Whether the next change is one by feedback.
    pub fn is_feedback_next(&self) -> bool {
        self.averaged == self.averages
    }

    /// Makes the next change; `controller` gives the input that follows the present one, and is asked
    /// when the change is one by feedback.
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

    /// Leaves out as many whole intervals as lie before `now_ps`: for an input that stands still.
    pub fn skip(&mut self, now_ps: u64) {
        let idle_ps = now_ps.saturating_sub(self.next_ps());
        self.last_feedback_ps += idle_ps / self.interval_ps * self.interval_ps;
    }
}

/// The PD controller that AP is equivalent to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProportionalDerivative {
    last_error: i64,
}

impl ProportionalDerivative {
    /// An error of this much is sampled; returns 4 w, which needs no rounding.
    pub fn four_times_feedback(&mut self, error: i64) -> i64 {
        let change = error.saturating_sub(self.last_error);
        self.last_error = error;
        error.saturating_mul(2).saturating_add(change)
    }
}
