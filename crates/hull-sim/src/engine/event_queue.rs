//! The global event queue: the time of the next action of each packet on a link, each timer and each
//! source.
//!
//! A port knows when a packet will reach the far end of its link as soon as the packet is queued, so
//! the event is scheduled then. It carries the packet's slot ([`PacketRef`]), from which its handler finds
//! packet and next port without the link. A timer or a source has at most one useful event pending.
//! Events at the same picosecond are ordered by entity number, a total order independent of the order
//! of scheduling.
//!
//! It is a calendar queue: near events are unsorted in buckets whose width is a power of two
//! picoseconds, and only events in the current buckets are sorted; events beyond the calendar wait in
//! [`Later`]. Scheduling and serving therefore cost the same with ten links as with ten thousand. The
//! width adapts to the number of events, so that each bucket holds a few. Times are in picoseconds.

use super::buckets::{Buckets, Replaced, WORD};
use super::entity::{Entity, Kind};
use super::later::{Far, Later};
use super::lists::List;
use super::near::{Due, Near, PacketRef};

/// Smallest and largest number of buckets. The largest takes 2 MB.
const FEWEST: u64 = 64;
const MOST: u64 = 1 << 14;

/// Number of buckets that fit into second-level caches, in 256 KB.
const CACHED: u64 = 1 << 11;

/// Number of buckets served between two adjustments of their width, and the bounds of the number of
/// events in them that cause one.
const LOOK_EVERY: u64 = 1 << 12;
const FEW: u64 = LOOK_EVERY * 5 / 2;
const MANY: u64 = LOOK_EVERY * 6;

/// Number of events that are sorted before the first of them is served, if the next buckets hold as
/// many, and the largest number of buckets, empty ones included, that they are taken from. The end of
/// the sorted events, which a processor cannot predict, then comes less often.
const ENOUGH: usize = 16;
const TOGETHER: u64 = WORD as u64;

/// Number of buckets from the first sorted one within which the coming ones begin: few events are
/// added in between.
const REACH: u64 = 2 * TOGETHER;

/// Number of ports from which a network is too large for the cache: 4,000 ports and the packets on
/// their links take 1 MB. What the next events need is then prefetched.
pub const LARGE: usize = 4000;

const _: () = assert!(REACH << Near::WIDEST <= 1 << 32);

/// A bucket with more events is sorted when it is due: an event added to sorted ones moves others.
const CROWD: u8 = 64;

/// Pending events, earliest first.
#[derive(Debug)]
pub struct EventQueue {
    /// Width of a bucket: 2^shift ps.
    shift: u32,
    /// Number of the last bucket whose events are in `sorted` or `coming`, counted from time 0.
    present: u64,
    /// Beginning of the first bucket whose events are sorted, ps; `sorted` has times since then.
    first_ps: u64,
    /// Events of the first buckets, earliest first.
    sorted: Vec<Near>,
    /// Number of these that have been served.
    done: usize,
    /// Events of the buckets after these, also sorted, if the network is large; and if there are any,
    /// the beginning of the first of these buckets, ps. No event in `sorted` is at or after it.
    coming: Vec<Near>,
    coming_ps: u64,
    /// Whether such events are sorted.
    looks_ahead: bool,
    buckets: Buckets,
    /// Time that the calendar must cover, ps.
    horizon_ps: u64,
    later: Later,
    /// First bucket for which `later` holds events, or may hold some; `u64::MAX` if there is none.
    first_later: u64,
    /// Buckets served since the last adjustment, and events in them.
    served: (u64, u64),
}

impl EventQueue {
    /// Creates an empty queue whose calendar covers at least `horizon_ps`, the longest time from
    /// the start of a transmission to its arrival. Most events fall within it.
    pub fn new(horizon_ps: u64, links: usize) -> Self {
        let count = (links as u64 / 8).next_power_of_two().clamp(FEWEST, CACHED);
        let width = (horizon_ps / (count - 2)).max(1);
        let mut queue = EventQueue {
            shift: width.next_power_of_two().trailing_zeros().min(Near::WIDEST),
            present: 0,
            first_ps: 0,
            sorted: Vec::with_capacity(64),
            done: 0,
            coming: Vec::with_capacity(64),
            coming_ps: 0,
            looks_ahead: links >= LARGE,
            buckets: Buckets::new(),
            horizon_ps,
            later: Later::new(),
            first_later: u64::MAX,
            served: (0, 0),
        };
        queue.make_buckets();
        queue
    }

    /// Creates empty buckets that cover the horizon at least twice, or 32 times if these fit into
    /// the cache: packets may wait that long. Returns the previous ones.
    fn make_buckets(&mut self) -> Replaced {
        let count = ((self.horizon_ps >> self.shift) + 2).next_power_of_two();
        let count = (32 * count).min((2 * count).max(CACHED));
        self.buckets.replace(count.clamp(FEWEST, MOST) as usize)
    }

    /// Span of a bucket with this number; a span is as long as the calendar.
    #[inline]
    fn span(&self, bucket: u64) -> u64 {
        bucket >> self.buckets.len().trailing_zeros()
    }

    fn first_bucket(&self, span: u64) -> u64 {
        span << self.buckets.len().trailing_zeros()
    }

    #[inline]
    fn near(&self, at_ps: u64, entity: u32, packet_ref: PacketRef) -> Near {
        Near::new(at_ps & ((1 << self.shift) - 1), entity, packet_ref)
    }

    /// Adds an event at or after the time of the last one served. The caller must ensure that stale
    /// events of an entity are recognized.
    #[inline(always)]
    pub fn push(&mut self, at_ps: u64, entity: Entity, packet_ref: PacketRef) {
        let bucket = at_ps >> self.shift;
        let ahead = bucket.wrapping_sub(self.present);
        if ahead.wrapping_sub(1) < self.buckets.len() as u64 {
            let near = self.near(at_ps, entity.bits(), packet_ref);
            self.buckets.push(bucket, near);
        } else {
            self.push_off_calendar(at_ps, entity.bits(), packet_ref);
        }
    }

    /// Adds an event of the current bucket or one before it, or beyond the calendar.
    #[inline(never)]
    fn push_off_calendar(&mut self, at_ps: u64, entity: u32, packet_ref: PacketRef) {
        let bucket = at_ps >> self.shift;
        if bucket > self.present {
            let span = self.span(bucket);
            let ahead = span - self.span(self.present);
            let far = Far::new(at_ps, entity, packet_ref);
            let is_in_list = self.later.push(span, ahead, far);
            let first = if is_in_list {
                self.first_bucket(span)
            } else {
                bucket
            };
            self.first_later = self.first_later.min(first);
            return;
        }
        if at_ps >= self.coming_ps && !self.coming.is_empty() {
            let near = Near::new(at_ps - self.coming_ps, entity, packet_ref);
            let place = self.coming.partition_point(|&event| event < near);
            self.coming.insert(place, near);
            return;
        }
        // The event is due soon, so few events are before it. They move to the place of one that has
        // been served.
        let near = Near::new(at_ps - self.first_ps, entity, packet_ref);
        let waiting = self.sorted[self.done..].iter();
        let place = self.done + waiting.take_while(|&&event| event < near).count();
        if self.done == 0 {
            self.sorted.insert(place, near);
        } else {
            self.sorted.copy_within(self.done..place, self.done - 1);
            self.done -= 1;
            self.sorted[place - 1] = near;
        }
    }

    /// Removes and returns the earliest event if it is sorted ([`Self::turn`]) and before
    /// `limit_ps`. Events from `limit_ps` on may still be added.
    #[inline(always)]
    pub fn pop_sorted(&mut self, limit_ps: u64) -> Option<Due> {
        let near = *self.sorted.get(self.done)?;
        let at_ps = self.first_ps + near.within_ps();
        if at_ps >= limit_ps {
            return None;
        }
        self.done += 1;
        Some(Due {
            at_ps,
            entity: near.entity(),
            packet_ref: near.packet_ref(),
        })
    }

    /// First sorted event with the beginning of its bucket or of one before it, ps.
    #[inline]
    fn first_sorted(&self) -> Option<(u64, Near)> {
        let first = self
            .sorted
            .get(self.done)
            .map(|&near| (self.first_ps, near));
        first.or_else(|| Some((self.coming_ps, *self.coming.first()?)))
    }

    /// Lower bound of the time of the next event, ps: its time or slightly less.
    pub fn next_not_before_ps(&self) -> u64 {
        if let Some((first_ps, near)) = self.first_sorted() {
            return first_ps + near.within_ps();
        }
        let bucket = self.next_filled().min(self.first_later);
        match bucket {
            u64::MAX => u64::MAX,
            bucket => bucket << self.shift,
        }
    }

    /// Time (ps) and kind of the next event, if it is sorted.
    #[inline]
    pub fn next_sorted(&self) -> Option<(u64, Kind)> {
        let (first_ps, near) = self.first_sorted()?;
        Some((first_ps + near.within_ps(), near.entity().kind()))
    }

    /// Event that follows after `others` further ones, if it is sorted already and no event is added
    /// before it.
    #[inline(always)]
    pub fn ahead(&self, others: usize) -> Option<(Entity, PacketRef)> {
        let at = self.done + others;
        let coming = at.wrapping_sub(self.sorted.len());
        let near = self.sorted.get(at).or_else(|| self.coming.get(coming))?;
        Some((near.entity(), near.packet_ref()))
    }

    /// Sorted events that follow those to be served first, if the network is large.
    #[inline(always)]
    pub fn coming(&self) -> impl ExactSizeIterator<Item = (Entity, PacketRef)> {
        (self.coming.iter()).map(|near| (near.entity(), near.packet_ref()))
    }

    /// Calls `look` with each event in the next bucket that is not sorted, in no particular order,
    /// unless it holds more than `most` events; 255 is no limit. Prefetches the two buckets after.
    #[inline(always)]
    pub fn for_each_of_next(&self, most: u8, mut look: impl FnMut(Entity, PacketRef)) {
        let number = self.next_filled();
        (self.buckets).for_each(number, most, |near| look(near.entity(), near.packet_ref()));
        self.buckets.prefetch_crowded(number.wrapping_add(1));
        self.buckets.prefetch(number.wrapping_add(2));
    }

    /// Prefetches the events of the next buckets that are not sorted.
    #[inline(always)]
    pub fn prefetch_next(&self) {
        // If events are dense, none of these is empty.
        self.buckets.prefetch_crowded(self.present + 1);
        self.buckets.prefetch_crowded(self.present + 2);
        for later in 1..=3 {
            self.buckets.prefetch(self.present + later);
        }
    }

    /// Removes all events of an entity. The cost is proportional to the number of all events, so
    /// this is for links that fail. Returns the packets in the order of time.
    pub fn cancel(&mut self, entity: Entity) -> Vec<PacketRef> {
        let mut cancelled = Vec::new();
        let mut all = self.drain();
        while let Some(event) = self.later.pop(&mut all) {
            if event.entity == entity.bits() {
                cancelled.push(event);
            } else {
                self.push_again(event);
            }
        }
        cancelled.sort_unstable();
        cancelled.iter().map(|event| event.packet_ref).collect()
    }

    fn push_again(&mut self, event: Far) {
        let entity = Entity::from_bits(event.entity);
        self.push(event.at_ps, entity, event.packet_ref);
    }

    /// Moves all events to one list, in no particular order.
    fn drain(&mut self) -> List {
        let mut all = self.later.drain();
        let next = self.present + 1;
        let mut near = std::mem::take(&mut self.sorted);
        near.drain(..std::mem::take(&mut self.done));
        let mut put = |start_ps: u64, near: &mut Vec<Near>| {
            for near in near.drain(..) {
                let at_ps = start_ps + near.within_ps();
                let far = Far::new(at_ps, near.bits(), near.packet_ref());
                self.later.put(&mut all, far);
            }
        };
        put(self.first_ps, &mut near);
        put(self.coming_ps, &mut self.coming);
        for number in next..next + self.buckets.len() as u64 {
            self.buckets.take(number, &mut near);
            put(number << self.shift, &mut near);
        }
        self.sorted = near;
        self.first_later = u64::MAX;
        // Events may be added from here on, although later buckets were sorted.
        self.present = self.first_ps >> self.shift;
        all
    }

    /// Sorts the events of the next buckets, unless all that hold any begin at `limit_ps` or later,
    /// or sorted events wait. Returns whether it did.
    #[inline(never)]
    pub fn turn(&mut self, limit_ps: u64) -> bool {
        if self.done < self.sorted.len() {
            return false;
        }
        self.sorted.clear();
        self.done = 0;
        if self.coming.is_empty() {
            if !self.sort_next(limit_ps) {
                return false;
            }
        } else if self.coming_ps < limit_ps {
            std::mem::swap(&mut self.sorted, &mut self.coming);
            self.first_ps = self.coming_ps;
        } else {
            return false; // events may still be added before these
        }
        if self.looks_ahead && self.served.0 < LOOK_EVERY {
            self.look_ahead(limit_ps);
        }
        true
    }

    /// Sorts the events of the next buckets unless they begin at `limit_ps` or later.
    #[inline(always)]
    fn sort_next(&mut self, limit_ps: u64) -> bool {
        if self.served.0 >= LOOK_EVERY {
            self.fit_width();
            if !self.sorted.is_empty() {
                return true; // a wider present bucket holds what came after the present one
            }
        }
        loop {
            let bucket = self.next_filled().min(self.first_later);
            if bucket == u64::MAX || bucket << self.shift >= limit_ps {
                return false;
            }
            if bucket == self.first_later && self.enters_span(bucket) {
                continue;
            }
            self.first_ps = bucket << self.shift;
            let mut sorted = std::mem::take(&mut self.sorted);
            self.take_sorted(bucket, &mut sorted);
            self.sorted = sorted;
            if bucket == self.first_later {
                self.take_from_heap(bucket);
            }
            return true;
        }
    }

    /// Sorts the events after the sorted ones, if they are few and begin soon, before `limit_ps` and
    /// before all that are beyond the calendar.
    #[inline(always)]
    fn look_ahead(&mut self, limit_ps: u64) {
        let bucket = self.next_filled();
        let begins_soon = bucket < self.first_later.min((self.first_ps >> self.shift) + REACH);
        // Many events that are served add many, which would move the others.
        let is_crowd = self.sorted.len() > usize::from(CROWD);
        if begins_soon
            && bucket << self.shift < limit_ps
            && self.buckets.count(bucket) <= CROWD
            && !is_crowd
        {
            self.coming_ps = bucket << self.shift;
            let mut coming = std::mem::take(&mut self.coming);
            self.take_sorted(bucket, &mut coming);
            self.coming = coming;
        }
    }

    /// Moves the events of a bucket, and of the next ones until there are enough, to the empty
    /// `sorted`.
    #[inline(always)]
    fn take_sorted(&mut self, first: u64, sorted: &mut Vec<Near>) {
        self.present = first;
        self.buckets.take_sorted(first, sorted, 0);
        self.served.0 += 1;
        while sorted.len() < ENOUGH {
            let bucket = self.present + self.buckets.steps_to_filled(self.present);
            let is_near = bucket - first < TOGETHER && bucket < self.first_later;
            if !is_near || self.buckets.count(bucket) > CROWD {
                break;
            }
            self.present = bucket;
            let later_ps = (bucket - first) << self.shift;
            self.buckets.take_sorted(bucket, sorted, later_ps);
            self.served.0 += 1;
        }
        self.served.1 += sorted.len() as u64;
    }

    /// Finds the first bucket for which there are events beyond the calendar.
    fn look_at_later(&mut self) {
        let of_heap = (self.later.first_of_heap_ps()).map_or(u64::MAX, |at_ps| at_ps >> self.shift);
        let of_span = match self.later.first_span() {
            u64::MAX => u64::MAX,
            span => self.first_bucket(span),
        };
        self.first_later = of_heap.min(of_span);
    }

    /// Moves the first events beyond all spans to the current bucket, where they are due.
    #[cold]
    fn take_from_heap(&mut self, bucket: u64) {
        while (self.later.first_of_heap_ps()).is_some_and(|at_ps| at_ps >> self.shift == bucket)
            && let Some(event) = self.later.pop_heap()
        {
            self.push_again(event);
        }
        self.look_at_later();
    }

    /// Moves the events of a span to their buckets if the span begins with this bucket, which no
    /// event precedes.
    #[cold]
    fn enters_span(&mut self, bucket: u64) -> bool {
        let span = self.later.first_span();
        if span == u64::MAX || self.first_bucket(span) != bucket {
            return false;
        }
        self.present = bucket - 1;
        self.first_ps = self.present << self.shift;
        let mut list = self.later.take_first();
        while let Some(event) = self.later.pop(&mut list) {
            self.push_again(event);
        }
        self.look_at_later();
        true
    }

    /// Widens or narrows the buckets if the last ones served held too few or too many events. The
    /// current buckets must be empty.
    #[cold]
    fn fit_width(&mut self) {
        debug_assert!(self.sorted.is_empty() && self.coming.is_empty());
        let (_, events) = std::mem::take(&mut self.served);
        let may_widen = self.shift < Near::WIDEST && 16 << self.shift < self.horizon_ps;
        let shift = if events < FEW && may_widen {
            self.shift + 1
        } else if events > MANY && self.shift > 0 && (self.buckets.len() as u64) < MOST {
            self.shift - 1
        } else {
            return;
        };
        // Events are moved from each old bucket to new ones, so memory is not needed for all of them
        // a second time.
        let (old_shift, next) = (self.shift, self.present + 1);
        let mut later = self.later.drain();
        self.first_later = u64::MAX;
        self.present = self.first_ps >> shift;
        self.first_ps = self.present << shift;
        self.shift = shift;
        let mut old = self.make_buckets();
        while let Some(event) = self.later.pop(&mut later) {
            self.push_again(event);
        }
        let mut events = Vec::new();
        for number in next..next + old.len() as u64 {
            (self.buckets).take_replaced(&mut old, number, &mut events);
            for near in events.drain(..) {
                let at_ps = (number << old_shift) + near.within_ps();
                self.push(at_ps, near.entity(), near.packet_ref());
            }
        }
    }

    /// First bucket after the current one that is not empty; `u64::MAX` if all are empty.
    #[inline]
    fn next_filled(&self) -> u64 {
        self.buckets.next_filled(self.present + 1)
    }
}

#[cfg(test)]
mod tests;
