//! Size classes of flows in the results, as in thesis table 4.6: (0, 10KB], (10KB, 100KB], (100KB,
//! 10MB], (10MB, inf). Bytes.

use crate::units::Size;

/// Size classes, by their upper bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SizeClasses {
    bounds: Vec<u64>,
    names: Vec<String>,
}

impl SizeClasses {
    /// Creates classes that end at the ascending `bounds`, and an unbounded last one.
    pub fn new(bounds: &[Size]) -> Self {
        let text = |size: &Size| size.to_string();
        let lower = std::iter::once("0".to_owned()).chain(bounds.iter().map(text));
        let upper = bounds
            .iter()
            .map(|bound| format!("{bound}]"))
            .chain(std::iter::once("inf)".to_owned()));
        SizeClasses {
            bounds: bounds.iter().map(|bound| bound.0).collect(),
            names: lower
                .zip(upper)
                .map(|(lower, upper)| format!("({lower}, {upper}"))
                .collect(),
        }
    }

    /// Index of the class of a flow.
    pub fn of(&self, bytes: u64) -> u16 {
        self.bounds.partition_point(|&bound| bound < bytes) as u16
    }

    /// Names of the classes.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classes_of_table_4_6() {
        let classes = SizeClasses::new(&[10_000, 100_000, 10_000_000].map(Size));
        assert_eq!(
            classes.names(),
            ["(0, 10KB]", "(10KB, 100KB]", "(100KB, 10MB]", "(10MB, inf)"]
        );
        for (bytes, class) in [
            (1, 0),
            (10_000, 0),
            (10_001, 1),
            (100_000, 1),
            (10_000_000, 2),
            (10_000_001, 3),
        ] {
            assert_eq!(classes.of(bytes), class, "{bytes}");
        }
        assert_eq!(SizeClasses::new(&[]).names(), ["(0, inf)"]);
    }
}
