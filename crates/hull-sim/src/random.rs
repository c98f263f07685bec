//! Random numbers by purpose: each purpose and index has its own ChaCha8 stream of the run's seed, so
//! an additional measurement or flow changes no other random numbers.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rand_distr::Distribution;

/// What a stream is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Purpose {
    /// Times between requests, one stream for each class of sizes.
    Arrivals = 1,
    /// Which connection a request takes, one stream for each class.
    Connections = 2,
    /// Whether an ECN-Echo associates its flow with the pacer, one stream for each host.
    Association = 3,
    /// The phase of a pacer's clock, one stream for each host.
    ClockPhase = 4,
    /// What the delay of a stack varies by, one stream for each host and direction.
    StackJitter = 5,
    /// RED's and PI's lots, one stream for each port.
    Marking = 6,
    /// Random loss, one stream for each port.
    LinkLoss = 7,
    /// Which packets QCN samples, one stream for each port.
    Sampling = 8,
    /// Which packet is trimmed, one stream for each port.
    Trimming = 9,
    /// Paths of the message transport's packets, one stream for each host.
    Paths = 10,
    /// When hosts adapt the rate of their pulls, one stream for each host.
    PullRate = 11,
    /// The lots of Uno's phantom queue, one stream for each port.
    PhantomMarking = 12,
    /// Times between Poisson flows.
    FlowArrivals = 32,
    /// Sizes of Poisson flows.
    FlowSizes = 33,
    /// Sources and destinations of Poisson flows.
    FlowEndpoints = 34,
    /// Jitter of the requests of an incast, one stream for each client.
    RequestJitter = 35,
    /// Times between partition/aggregate queries.
    QueryArrivals = 36,
    /// Service times of partition/aggregate, one stream for each server.
    ServiceTimes = 37,
    /// Jitter of the starts of a shuffle, one stream for each host.
    ShuffleJitter = 38,
    /// Times between queries of the production benchmark, one stream for each server.
    ProductionQueries = 39,
    /// Times between background flows of the production benchmark, one stream for each server.
    ProductionArrivals = 40,
    /// Sizes of background flows of the production benchmark, one stream for each server.
    ProductionSizes = 41,
    /// Far ends of background flows of the production benchmark, one stream for each server.
    ProductionEndpoints = 42,
    /// Service times of requests.
    RequestService = 43,
    /// Who sends to whom in a permutation.
    Permutation = 44,
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream of `seed` for `purpose`, number `index`.
    pub fn new(seed: u64, purpose: Purpose, index: usize) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(((purpose as u64) << 48) | index as u64);
        Stream(rng)
    }

    /// 32 uniform bits.
    #[inline]
    pub fn bits(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// 64 uniform bits.
    #[inline]
    pub fn bits64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in (0, 1], 53 bits.
    pub fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Exponential with the given mean, rounded to an integer.
    pub fn exponential(&mut self, mean: f64) -> u64 {
        (-self.uniform().ln() * mean).round() as u64
    }

    /// One draw of a distribution.
    pub fn sample(&mut self, distribution: &impl Distribution<f64>) -> f64 {
        distribution.sample(&mut self.0)
    }

    /// Uniform in 0..bound (Lemire's multiplication; the bias is below bound / 2^64).
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.0.next_u64()) * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::{Purpose, Stream};

    #[test]
    fn streams_differ_by_seed_purpose_and_index_and_repeat() {
        let first = |seed, purpose, index| Stream::new(seed, purpose, index).bits();
        let one = first(1, Purpose::Arrivals, 0);
        assert_eq!(one, first(1, Purpose::Arrivals, 0));
        assert_ne!(one, first(2, Purpose::Arrivals, 0));
        assert_ne!(one, first(1, Purpose::Association, 0));
        assert_ne!(one, first(1, Purpose::Arrivals, 1));
    }

    #[test]
    fn exponential_has_its_mean() {
        let mut stream = Stream::new(3, Purpose::Arrivals, 0);
        let n = 200_000;
        let sum: f64 = (0..n).map(|_| stream.exponential(1e6) as f64).sum();
        assert!((sum / f64::from(n) / 1e6 - 1.0).abs() < 0.01);
    }
}
