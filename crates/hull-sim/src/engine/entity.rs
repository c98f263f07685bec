//! An entity that can act (a link, a timer, a source): kind and index in one number.

/// What acts when an event comes due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// The first packet in flight on a link reaches its far end.
    Link = 0,
    /// A link is free and a queue of its port holds packets: strict-priority ports only.
    Transmit = 1,
    /// A packet reaches the head of a host's NIC queue and is handed to the pacer.
    NicHead = 2,
    /// A pacer updates its rate or releases the head of its FIFO.
    Pacer = 3,
    /// A packet leaves a host's stack, out or in.
    Stack = 4,
    /// A host takes received packets from its NIC: an interrupt, or the processor is free again.
    Receive = 5,
    /// A flow's retransmission timer.
    Rto = 6,
    /// A flow's delayed-ACK timer.
    DelayedAck = 7,
    /// The workload has something to do.
    Workload = 8,
    /// The latency probe.
    Probe = 9,
    /// The sampler.
    Sample = 10,
    /// The end of the warm-up.
    Warmup = 11,
    /// A link fails or comes back.
    LinkState = 12,
    /// The loss of a packet in a switch becomes known to its flow.
    Loss = 13,
    /// A notice of a switch reaches a sender.
    Notice = 14,
    /// A flow with a pace may send its next segment.
    Pace = 15,
    /// The link of a host with the message transport is free.
    MessageNic = 16,
    /// A host may grant credit.
    Pull = 17,
    /// A host adapts the rate at which it grants credit.
    PullRate = 18,
    /// Packets that a port holds back are to be let in.
    Held = 19,
}

impl Kind {
    /// All kinds, by their number.
    const ALL: [Kind; 20] = [
        Kind::Link,
        Kind::Transmit,
        Kind::NicHead,
        Kind::Pacer,
        Kind::Stack,
        Kind::Receive,
        Kind::Rto,
        Kind::DelayedAck,
        Kind::Workload,
        Kind::Probe,
        Kind::Sample,
        Kind::Warmup,
        Kind::LinkState,
        Kind::Loss,
        Kind::Notice,
        Kind::Pace,
        Kind::MessageNic,
        Kind::Pull,
        Kind::PullRate,
        Kind::Held,
    ];
}

/// A kind has the place of its number: one that is added out of order does not compile.
const _: () = {
    let mut number = 0;
    while number < Kind::ALL.len() {
        assert!(Kind::ALL[number] as usize == number);
        number += 1;
    }
};

/// A kind, in the high byte, and an index, so that they compare as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entity(u32);

impl Entity {
    const INDEX_BITS: u32 = 24;

    /// Entities of one kind.
    pub const MOST: usize = 1 << Self::INDEX_BITS;

    /// The entity `index` of `kind`; `index` must be below [`Entity::MOST`], which is checked where
    /// flows and ports are counted (`limits`).
    #[inline]
    pub fn new(kind: Kind, index: usize) -> Self {
        debug_assert!(index < Self::MOST);
        Entity(((kind as u32) << Self::INDEX_BITS) | index as u32)
    }

    /// Whether it is a link: most are.
    #[inline]
    pub fn is_link(self) -> bool {
        self.0 < 1 << Self::INDEX_BITS
    }

    /// What the entity is.
    #[inline]
    pub fn kind(self) -> Kind {
        Kind::ALL[(self.0 >> Self::INDEX_BITS) as usize]
    }

    /// Which one of its kind.
    #[inline]
    pub fn index(self) -> usize {
        (self.0 & (Self::MOST as u32 - 1)) as usize
    }

    pub(super) fn bits(self) -> u32 {
        self.0
    }

    pub(super) fn from_bits(bits: u32) -> Self {
        Entity(bits)
    }
}

/// A kind is a byte beside the index.
const _: () = assert!(size_of::<Kind>() == 1 && Entity::INDEX_BITS + 8 == u32::BITS);
