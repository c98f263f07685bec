//! An entity that can act (a link, a timer, a source): kind and index in one number.

/// Kind of the entity whose event is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// The first packet in flight on a link reaches the far end.
    Link = 0,
    /// A `Queued` port selects its next packet.
    Transmit = 1,
    /// A packet reaches the head of a host's NIC queue and is handed to the pacer.
    NicHead = 2,
    /// A pacer updates its rate or releases the head of its FIFO.
    Pacer = 3,
    /// A packet leaves a host's stack, when sending or receiving.
    Stack = 4,
    /// A host takes received packets from its NIC: an interrupt, or the end of the processor's
    /// work.
    Receive = 5,
    /// A flow's retransmission timer.
    Rto = 6,
    /// A flow's delayed-ACK timer.
    DelayedAck = 7,
    /// The workload's next action is due.
    Workload = 8,
    /// The latency probe sends.
    Probe = 9,
    /// The sampler records.
    Sample = 10,
    /// The warm-up ends.
    Warmup = 11,
    /// A link fails or is restored.
    LinkState = 12,
    /// A flow learns that a switch has lost one of its packets.
    Loss = 13,
    /// A switch's notice reaches a sender.
    Notice = 14,
    /// A paced flow may send its next segment.
    Pace = 15,
    /// The link of a host with the message transport is free.
    MessageNic = 16,
    /// A host may grant credit.
    Pull = 17,
    /// A host adapts the rate at which it grants credit.
    PullRate = 18,
    /// A port admits packets that it has held back.
    Held = 19,
    /// A sender of the message transport has waited too long for credit.
    Credit = 20,
    /// A rate limiter that flows share may send its next packet.
    Limiter = 21,
    /// The processor of a host that sends has done a packet or piece.
    Send = 22,
    /// A pause between ports begins, ends or is refreshed.
    Pause = 23,
}

impl Kind {
    /// All kinds, in the order of their numbers.
    const ALL: [Kind; 24] = [
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
        Kind::Credit,
        Kind::Limiter,
        Kind::Send,
        Kind::Pause,
    ];
}

/// Compile-time check that each kind is at the place of its number.
const _: () = {
    let mut number = 0;
    while number < Kind::ALL.len() {
        assert!(Kind::ALL[number] as usize == number);
        number += 1;
    }
};

/// Kind (high byte) and index of an entity, so that entities compare as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entity(u32);

impl Entity {
    const INDEX_BITS: u32 = 24;

    /// Largest number of entities of one kind.
    pub const MOST: usize = 1 << Self::INDEX_BITS;

    /// Creates the entity `index` of `kind`. `index` must be below [`Entity::MOST`], which `limits`
    /// checks when flows and ports are counted.
    #[inline]
    pub fn new(kind: Kind, index: usize) -> Self {
        debug_assert!(index < Self::MOST);
        Entity(((kind as u32) << Self::INDEX_BITS) | index as u32)
    }

    /// Whether the entity is a link, as most are.
    #[inline]
    pub fn is_link(self) -> bool {
        self.0 < 1 << Self::INDEX_BITS
    }

    /// Kind of the entity.
    #[inline]
    pub fn kind(self) -> Kind {
        Kind::ALL[(self.0 >> Self::INDEX_BITS) as usize]
    }

    /// Index among the entities of its kind.
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

/// Compile-time check that kind (one byte) and index fit into the number.
const _: () = assert!(size_of::<Kind>() == 1 && Entity::INDEX_BITS + 8 == u32::BITS);
