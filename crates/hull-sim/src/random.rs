//! Random numbers by purpose: each purpose and index has its own ChaCha8 stream of the run's seed, so
//! an additional measurement or flow changes no other random numbers.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rand_distr::Distribution;

/// Purpose of a random stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Purpose {
    /// Times between requests; one stream per size class.
    Arrivals = 1,
    /// Choice of a request's connection; one stream per size class.
    Connections = 2,
    /// Draws of the flow association by ECN-Echoes; one stream per host.
    Association = 3,
    /// Phase of a pacer's clock; one stream per host.
    ClockPhase = 4,
    /// Variable part of a stack's delay; one stream per host and direction.
    StackJitter = 5,
    /// Marking draws of RED and PI; one stream per port.
    Marking = 6,
    /// Random loss; one stream per port.
    LinkLoss = 7,
    /// QCN's sampling of packets; one stream per port.
    Sampling = 8,
    /// Choice of the packet to trim; one stream per port.
    Trimming = 9,
    /// Paths of the message transport's packets; one stream per host.
    Paths = 10,
    /// Times at which hosts adapt the rate of their pulls; one stream per host.
    PullRate = 11,
    /// Marking draws of Uno's phantom queue; one stream per port.
    PhantomMarking = 12,
    /// Times between Poisson flows.
    FlowArrivals = 32,
    /// Sizes of Poisson flows.
    FlowSizes = 33,
    /// Sources and destinations of Poisson flows.
    FlowEndpoints = 34,
    /// Jitter of the requests of an incast; one stream per client, or one for random clients.
    RequestJitter = 35,
    /// Times between partition/aggregate queries.
    QueryArrivals = 36,
    /// Service times of partition/aggregate; one stream per server.
    ServiceTimes = 37,
    /// Jitter of the starts of a shuffle; one stream per host.
    ShuffleJitter = 38,
    /// Times between queries of the production benchmark; one stream per server.
    ProductionQueries = 39,
    /// Times between background flows of the production benchmark; one stream per server.
    ProductionArrivals = 40,
    /// Sizes of background flows of the production benchmark; one stream per server.
    ProductionSizes = 41,
    /// Far ends of background flows of the production benchmark; one stream per server.
    ProductionEndpoints = 42,
    /// Service times of requests.
    RequestService = 43,
    /// Pairs of a permutation.
    Permutation = 44,
    /// Times between the queries of an incast to random receivers.
    IncastArrivals = 45,
    /// Clients and servers of these queries.
    IncastEndpoints = 46,
    /// Times between the queries to an aggregation tree.
    TreeArrivals = 47,
    /// Service times in an aggregation tree; one stream per host.
    TreeService = 48,
    /// Jitter of the requests in an aggregation tree.
    TreeJitter = 49,
    /// Order of the hosts in which a job's ranks take them.
    JobPlacement = 50,
    /// Time that a job's computations take longer.
    JobJitter = 51,
}

/// Stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// Creates stream number `index` of `seed` for `purpose`.
    pub fn new(seed: u64, purpose: Purpose, index: usize) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(((purpose as u64) << 48) | index as u64);
        Stream(rng)
    }

    /// Draws 32 uniform bits.
    #[inline]
    pub fn bits(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// Draws 64 uniform bits.
    #[inline]
    pub fn bits64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Draws a uniform number in (0, 1] with 53 bits.
    pub fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Draws an exponential number with the given mean, rounded to an integer.
    pub fn exponential(&mut self, mean: f64) -> u64 {
        (-self.uniform().ln() * mean).round() as u64
    }

    /// Draws from a distribution.
    pub fn sample(&mut self, distribution: &impl Distribution<f64>) -> f64 {
        distribution.sample(&mut self.0)
    }

    /// Draws a uniform number below `bound`; 0, without a draw, if `bound` is 0.
    pub fn up_to(&mut self, bound: u64) -> u64 {
        match bound {
            0 => 0,
            _ => self.below(bound as usize) as u64,
        }
    }

    /// Draws a uniform number in 0..bound (Lemire's multiplication; the bias is below bound /
    /// 2^64).
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
