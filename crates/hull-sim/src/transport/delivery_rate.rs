//! The delivery rate of a flow, sampled at each acknowledgment: the bytes that the network delivered
//! while a segment was on its way, divided by that time.
//!
//! Source: the rules of Linux (`net/ipv4/tcp_rate.c`, 6.1) and draft-cheng-iccrg-delivery-rate-estimation-00.
//!
//! - A segment that is sent records how much was delivered until then, when the last of it was, and when
//!   the segment acknowledged last had been sent.
//! - An acknowledgment yields a sample from the most recently sent segment among those that it delivers.
//!   Its interval is the longer of the time in which the data was sent and the time in which it was
//!   acknowledged, so that bunched acknowledgments do not inflate the rate.
//! - An interval below the shortest round trip gives no sample.
//! - A sample is limited by the application if the sender had nothing to send when the segment left.
//!
//! Linux counts packets, this counts bytes. Linux forgets the shortest round trip after 300 s, this keeps
//! it. Positions are bytes of the stream, times ps.

use std::collections::VecDeque;

/// A segment that is not acknowledged cumulatively.
#[derive(Clone, Debug)]
struct Sent {
    start: u64,
    end: u64,
    sent_ps: u64,
    /// Send time of the segment acknowledged last when this one left.
    first_sent_ps: u64,
    /// Bytes delivered when this one left, and the time of the last delivery.
    delivered: u64,
    delivered_ps: u64,
    is_limited: bool,
    is_resent: bool,
    /// Whether it was acknowledged selectively.
    has_arrived: bool,
    is_lost: bool,
}

/// Delivery rate over the flight of one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Bytes delivered in the interval.
    pub bytes: u64,
    /// Length of the interval, ps; above 0.
    pub interval_ps: u64,
    /// Bytes delivered before the interval.
    pub prior_bytes: u64,
    /// Whether the application limited the rate.
    pub is_limited: bool,
}

/// What one acknowledgment tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliverySample {
    /// Delivery rate; `None` if the acknowledgment delivers nothing or its interval is too short.
    pub rate: Option<Rate>,
    /// Round trip of the last segment that it delivers, ps; `None` for retransmitted data.
    pub rtt_ps: Option<u64>,
    /// Bytes that it delivers, cumulatively or selectively.
    pub acked: u64,
    /// Bytes newly counted as lost.
    pub lost: u64,
    /// Bytes in the network before the acknowledgment.
    pub prior_in_flight: u64,
    /// Bytes in the network after it.
    pub in_flight: u64,
    /// Whether data sent before the last loss is outstanding.
    pub is_recovering: bool,
}

/// Segment from which the current acknowledgment takes its sample.
#[derive(Clone, Copy, Debug)]
struct Newest {
    sent_ps: u64,
    end: u64,
    send_interval_ps: u64,
    prior_ps: u64,
    prior_bytes: u64,
    is_limited: bool,
}

/// Delivery state of a flow.
#[derive(Clone, Debug)]
pub struct DeliveryRate {
    sent: VecDeque<Sent>,
    delivered: u64,
    delivered_ps: u64,
    first_sent_ps: u64,
    /// Delivered bytes at which the last of the data sent without further data is delivered; 0 if the
    /// application does not limit the flow.
    limited_until: u64,
    min_rtt_ps: u64,
    /// Position below which all missing data counts as lost.
    lost_below: u64,
    now_ps: u64,
    newest: Option<Newest>,
    /// Whether the current acknowledgment covers retransmitted data.
    covers_resent: bool,
    sample: DeliverySample,
}

impl Default for DeliveryRate {
    fn default() -> Self {
        DeliveryRate {
            sent: VecDeque::new(),
            delivered: 0,
            delivered_ps: 0,
            first_sent_ps: 0,
            limited_until: 0,
            min_rtt_ps: u64::MAX,
            lost_below: 0,
            now_ps: 0,
            newest: None,
            covers_resent: false,
            sample: DeliverySample::default(),
        }
    }
}

impl DeliveryRate {
    /// Sample of the last acknowledgment.
    pub fn sample(&self) -> DeliverySample {
        self.sample
    }

    /// Bytes delivered so far, and the time of the last delivery, ps.
    pub fn delivered(&self) -> (u64, u64) {
        (self.delivered, self.delivered_ps)
    }

    /// Whether the application limits what is sent now.
    pub fn is_limited(&self) -> bool {
        self.limited_until > 0
    }

    /// Records that the application has nothing to send beyond the `in_flight` bytes in the network.
    pub fn limit(&mut self, in_flight: u64) {
        self.limited_until = (self.delivered + in_flight).max(1);
    }

    /// Records the bytes [start, end), sent for the first time or again.
    pub fn sent(&mut self, now_ps: u64, start: u64, end: u64) {
        if self.sent.is_empty() {
            self.first_sent_ps = now_ps;
            self.delivered_ps = now_ps;
        }
        let new = Sent {
            start,
            end,
            sent_ps: now_ps,
            first_sent_ps: self.first_sent_ps,
            delivered: self.delivered,
            delivered_ps: self.delivered_ps,
            is_limited: self.is_limited(),
            is_resent: false,
            has_arrived: false,
            is_lost: false,
        };
        if self.sent.back().is_none_or(|last| last.end <= start) {
            self.sent.push_back(new);
            return;
        }
        let first = self.sent.partition_point(|one| one.end <= start);
        for one in self.sent.range_mut(first..) {
            if one.start >= end {
                break;
            }
            *one = Sent {
                start: one.start,
                end: one.end,
                is_resent: true,
                has_arrived: one.has_arrived,
                is_lost: one.is_lost,
                ..new
            };
        }
    }

    /// Starts the sample of an acknowledgment with `in_flight` bytes in the network before it.
    pub fn begin(&mut self, now_ps: u64, in_flight: u64) {
        self.now_ps = now_ps;
        self.newest = None;
        self.covers_resent = false;
        self.sample = DeliverySample {
            prior_in_flight: in_flight,
            ..DeliverySample::default()
        };
    }

    /// Records the selective acknowledgment of [start, end).
    pub fn acknowledge_selectively(&mut self, start: u64, end: u64) {
        let first = self.sent.partition_point(|one| one.start < start);
        for at in first..self.sent.len() {
            let one = &mut self.sent[at];
            if one.end > end {
                break;
            }
            if !one.has_arrived {
                one.has_arrived = true;
                let one = one.clone();
                self.deliver(&one);
            }
        }
    }

    /// Records the cumulative acknowledgment of all bytes below `una`.
    pub fn acknowledge(&mut self, una: u64) {
        while self.sent.front().is_some_and(|one| one.end <= una)
            && let Some(one) = self.sent.pop_front()
        {
            if !one.has_arrived {
                self.covers_resent |= one.is_resent;
                self.deliver(&one);
            }
        }
    }

    fn deliver(&mut self, one: &Sent) {
        self.delivered += one.end - one.start;
        self.sample.acked += one.end - one.start;
        if !one.is_resent {
            self.sample.rtt_ps = Some(self.now_ps - one.sent_ps);
        }
        let is_newest = |last: &Newest| (last.sent_ps, last.end) < (one.sent_ps, one.end);
        if self.newest.as_ref().is_none_or(is_newest) {
            self.first_sent_ps = one.sent_ps;
            self.newest = Some(Newest {
                sent_ps: one.sent_ps,
                end: one.end,
                send_interval_ps: one.sent_ps - one.first_sent_ps,
                prior_ps: one.delivered_ps,
                prior_bytes: one.delivered,
                is_limited: one.is_limited,
            });
        }
    }

    /// Counts all missing data below `position` as lost.
    pub fn lose_below(&mut self, position: u64) {
        if position <= self.lost_below {
            return;
        }
        let first = self.sent.partition_point(|one| one.end <= self.lost_below);
        for one in self.sent.range_mut(first..) {
            if one.start >= position {
                break;
            }
            if !one.has_arrived && !one.is_lost {
                one.is_lost = true;
                self.sample.lost += one.end - one.start;
            }
        }
        self.lost_below = position;
    }

    /// Counts all missing data as lost after a timeout. No sample reports it, as in Linux.
    pub fn lose_all(&mut self) {
        if let Some(last) = self.sent.back() {
            self.lose_below(last.end);
        }
        self.sample.lost = 0;
    }

    /// Completes the sample of an acknowledgment, after which `in_flight` bytes are in the network.
    pub fn finish(&mut self, in_flight: u64, is_recovering: bool) {
        if self.delivered > self.limited_until {
            self.limited_until = 0;
        }
        if self.sample.acked > 0 {
            self.delivered_ps = self.now_ps;
        }
        if self.covers_resent {
            self.sample.rtt_ps = None;
        }
        if let Some(rtt_ps) = self.sample.rtt_ps {
            self.min_rtt_ps = self.min_rtt_ps.min(rtt_ps);
        }
        self.sample.in_flight = in_flight;
        self.sample.is_recovering = is_recovering;
        self.sample.rate = self.newest.and_then(|newest| {
            let ack_interval_ps = self.now_ps - newest.prior_ps;
            let interval_ps = newest.send_interval_ps.max(ack_interval_ps);
            let is_too_short = self.min_rtt_ps != u64::MAX && interval_ps < self.min_rtt_ps;
            (interval_ps > 0 && !is_too_short).then_some(Rate {
                bytes: self.delivered - newest.prior_bytes,
                interval_ps,
                prior_bytes: newest.prior_bytes,
                is_limited: newest.is_limited,
            })
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000_000;

    /// An acknowledgment at `now_us`, cumulative up to segment `una`, with a block of segments.
    fn ack(rate: &mut DeliveryRate, now_us: u64, una: u64, block: (u64, u64)) -> DeliverySample {
        rate.begin(now_us * US, 0);
        rate.acknowledge_selectively(1000 * block.0, 1000 * block.1);
        rate.acknowledge(1000 * una);
        rate.finish(0, false);
        rate.sample()
    }

    fn send(rate: &mut DeliveryRate, now_us: u64, segment: u64) {
        rate.sent(now_us * US, 1000 * segment, 1000 * (segment + 1));
    }

    fn of(bytes: u64, interval_us: u64, prior_bytes: u64) -> Option<Rate> {
        Some(Rate {
            bytes,
            interval_ps: interval_us * US,
            prior_bytes,
            is_limited: false,
        })
    }

    /// Segments 0 to 3 leave at 0, 10, 20, 30 us and return 100 us later; each acknowledgment releases
    /// another. Segment 0: 1000 bytes in 100 us. Segment 1 left 10 us after segment 0, the first sent,
    /// and is acknowledged 110 us after it: 2000 bytes in 110 us. Segment 4 leaves at 100 us with 1000
    /// bytes delivered and returns at 200 us with 5000: 4000 bytes in 100 us.
    #[test]
    fn counts_what_is_delivered_during_a_flight() {
        let mut rate = DeliveryRate::default();
        for n in 0..4 {
            send(&mut rate, 10 * n, n);
        }
        for n in 0..4 {
            let sample = ack(&mut rate, 100 + 10 * n, n + 1, (0, 0));
            assert_eq!(sample.rate, of(1000 * (n + 1), 100 + 10 * n, 0));
            assert_eq!((sample.rtt_ps, sample.acked), (Some(100 * US), 1000));
            send(&mut rate, 100 + 10 * n, 4 + n);
        }
        let sample = ack(&mut rate, 200, 5, (0, 0));
        assert_eq!(sample.rate, of(4000, 100, 1000));
        assert_eq!(rate.delivered(), (5000, 200 * US));
    }

    /// The acknowledgment of segment 0 is late, at 200 us, and releases segment 2 at 210 us. Segment 2 is
    /// acknowledged at 310 us: 2000 bytes in 110 us of acknowledgments, but they were sent in the 210 us
    /// from segment 0 to segment 2. Nothing is outstanding at 400 us, so the next interval begins there.
    #[test]
    fn the_longer_interval_decides() {
        let mut rate = DeliveryRate::default();
        send(&mut rate, 0, 0);
        send(&mut rate, 10, 1);
        ack(&mut rate, 200, 1, (0, 0));
        send(&mut rate, 210, 2);
        ack(&mut rate, 215, 2, (0, 0));
        assert_eq!(ack(&mut rate, 310, 3, (0, 0)).rate, of(2000, 210, 1000));
        send(&mut rate, 400, 3);
        assert_eq!(ack(&mut rate, 500, 4, (0, 0)).rate, of(1000, 100, 3000));
    }

    /// Segment 1 of 0 to 3 is lost. Selective acknowledgments deliver 2 and 3; the retransmission of 1,
    /// sent at 130 us with 3000 bytes delivered, is acknowledged at 230 us without a round trip.
    #[test]
    fn selective_acknowledgments_deliver_once() {
        let mut rate = DeliveryRate::default();
        for n in 0..4 {
            send(&mut rate, 10 * n, n);
        }
        ack(&mut rate, 100, 1, (0, 0));
        assert_eq!(ack(&mut rate, 120, 1, (2, 3)).acked, 1000);
        rate.begin(130 * US, 0);
        rate.acknowledge_selectively(2000, 4000);
        rate.lose_below(2000);
        rate.finish(0, true);
        let sample = rate.sample();
        assert_eq!((sample.acked, sample.lost), (1000, 1000));
        assert_eq!(sample.rate, of(3000, 130, 0));
        send(&mut rate, 130, 1);
        let sample = ack(&mut rate, 230, 4, (0, 0));
        assert_eq!((sample.acked, sample.rtt_ps), (1000, None));
        assert_eq!(sample.rate, of(1000, 100, 3000));
        assert_eq!(rate.delivered().0, 4000);
    }

    /// The application has nothing more to send with two segments in the network. The sample of a segment
    /// sent before these are delivered is limited.
    #[test]
    fn the_application_limits_samples() {
        let mut rate = DeliveryRate::default();
        send(&mut rate, 0, 0);
        send(&mut rate, 10, 1);
        rate.limit(2000);
        send(&mut rate, 50, 2);
        let limited = |sample: DeliverySample| sample.rate.map(|rate| rate.is_limited);
        assert_eq!(limited(ack(&mut rate, 100, 2, (0, 0))), Some(false));
        assert!(rate.is_limited());
        assert_eq!(limited(ack(&mut rate, 150, 3, (0, 0))), Some(true));
        assert!(!rate.is_limited());
    }

    /// The shortest round trip is 100 us. Segments 1 and 2 count as lost and are sent again at 250 and 301
    /// us. The second acknowledgment comes 9 us later, of the first transmission, 51 us after the other.
    #[test]
    fn an_interval_below_the_round_trip_is_no_sample() {
        let mut rate = DeliveryRate::default();
        send(&mut rate, 0, 0);
        ack(&mut rate, 100, 1, (0, 0));
        send(&mut rate, 200, 1);
        send(&mut rate, 210, 2);
        rate.lose_all();
        assert_eq!(rate.sample().lost, 0);
        send(&mut rate, 250, 1);
        assert_eq!(ack(&mut rate, 300, 2, (0, 0)).rate, of(1000, 100, 1000));
        send(&mut rate, 301, 2);
        let sample = ack(&mut rate, 310, 3, (0, 0));
        assert_eq!((sample.acked, sample.rate), (1000, None));
    }
}
