//! Jain's fairness index (thesis 2.3.1: 0.99 for up to 90 DCTCP flows; Jain, Chiu and Hawe 1984):
//! the square of the sum over n times the sum of the squares, 1 when all shares are equal, 1/n when
//! one flow has everything.

use serde::Serialize;

/// Fairness between long flows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fairness {
    /// Number of compared flows.
    pub flows: usize,
    /// Jain's index of their throughputs.
    pub jain: f64,
}

impl Fairness {
    /// Computes the index from the amounts that flows received in the same time, in any unit.
    /// Returns `None` for fewer than two flows, or if no flow received anything.
    pub fn of(shares: &[u64]) -> Option<Self> {
        let sum: f64 = shares.iter().map(|&share| share as f64).sum();
        let squares: f64 = shares.iter().map(|&share| (share as f64).powi(2)).sum();
        (shares.len() > 1 && sum > 0.0).then(|| Fairness {
            flows: shares.len(),
            jain: sum * sum / (shares.len() as f64 * squares),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Fairness;

    #[test]
    fn has_its_known_values() {
        let jain = |shares: &[u64]| Fairness::of(shares).map(|fairness| fairness.jain);
        assert_eq!(jain(&[7, 7, 7]), Some(1.0));
        assert_eq!(jain(&[0, 0, 5, 0]), Some(0.25));
        assert_eq!(jain(&[1, 3]), Some(0.8)); // 16 / (2 * 10)
        assert_eq!(jain(&[5]), None);
        assert_eq!(jain(&[0, 0]), None);
    }
}
