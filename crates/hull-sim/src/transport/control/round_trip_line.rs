//! Unloaded round trips as a line over the number of links of a path, ps: through the longest ones over the
//! fewest and over the most links, and raised where one between them is longer. If all paths have the same
//! number of links, each link takes the same share.

use std::collections::BTreeMap;

/// Line that no unloaded round trip exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTripLine {
    /// Smallest number of links, and the round trip over as many, ps.
    least_links: u16,
    least_ps: u64,
    /// Addition of each further link, ps.
    pub link_ps: u64,
}

impl RoundTripLine {
    /// The same round trip over any number of links.
    pub fn constant(ps: u64) -> Self {
        RoundTripLine {
            least_links: 0,
            least_ps: ps,
            link_ps: 0,
        }
    }

    /// The line above the longest round trips for each number of links, ps.
    pub fn above(longest_ps: &BTreeMap<u16, u64>) -> Self {
        let (first, last) = (longest_ps.first_key_value(), longest_ps.last_key_value());
        let (Some((&least_links, &ps)), Some((&most_links, &most_ps))) = (first, last) else {
            return RoundTripLine::constant(0);
        };
        let further = u64::from(most_links - least_links);
        let mut line = RoundTripLine {
            least_links,
            least_ps: ps,
            link_ps: match further {
                0 => ps / u64::from(least_links.max(1)),
                further => most_ps.saturating_sub(ps) / further,
            },
        };
        let below = (longest_ps.iter()).map(|(&links, &ps)| ps.saturating_sub(line.over_ps(links)));
        line.least_ps += below.max().unwrap_or_default();
        line
    }

    /// Round trip over so many links, ps.
    pub fn over_ps(&self, links: u16) -> u64 {
        let further = links.saturating_sub(self.least_links);
        self.least_ps + u64::from(further) * self.link_ps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 4 and 12 us over 2 and 6 links are 2 us a link. 9 us over 4 links are 1 us more than that,
    /// by which the line is raised.
    #[test]
    fn no_round_trip_is_above_the_line() {
        let mut longest = BTreeMap::from([(2, 4_000_000), (4, 8_000_000), (6, 12_000_000)]);
        let line = RoundTripLine::above(&longest);
        assert_eq!(
            [2, 4, 6, 8].map(|links| line.over_ps(links)),
            [4_000_000, 8_000_000, 12_000_000, 16_000_000]
        );
        longest.insert(4, 9_000_000);
        let line = RoundTripLine::above(&longest);
        assert_eq!(line.link_ps, 2_000_000);
        assert_eq!(
            [2, 4, 6].map(|links| line.over_ps(links)),
            [5_000_000, 9_000_000, 13_000_000]
        );
    }

    #[test]
    fn one_number_of_links() {
        let line = RoundTripLine::above(&BTreeMap::from([(2, 5_000_000)]));
        assert_eq!((line.over_ps(2), line.link_ps), (5_000_000, 2_500_000));
        assert_eq!(RoundTripLine::constant(7).over_ps(6), 7);
    }
}
