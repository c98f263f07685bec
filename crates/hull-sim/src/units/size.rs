//! Sizes in bytes, sizes of buffers, and lengths of queues.

use std::fmt;

use super::{Literal, Quantity, factor_of, scaled, split, text_form, write_unit};

const MOST_BYTES: u64 = 1_000_000_000_000_000;
/// Largest number of packets of a threshold or capacity; with any mtu far below the largest number
/// of bytes.
const MOST_PACKETS: u64 = 1_000_000_000;
const UNITS: [(&str, u64); 4] = [
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("B", 1),
];
/// Further units that are read. A bare K, M or G is invalid, because tools differ in whether it is
/// 1000 or 1024.
const ALSO_READ: [(&str, u64); 4] = [
    ("kB", 1_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// Number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Size(pub u64);

impl Quantity for Size {
    const EXAMPLE: &'static str = "30KB";

    fn read(literal: Literal<'_>) -> Result<Self, String> {
        let found = literal.parts().and_then(|(number, unit)| {
            let factor = match unit.as_str() {
                "" => 1,
                unit => factor_of(unit, &UNITS).or_else(|| factor_of(unit, &ALSO_READ))?,
            };
            number.times(factor, MOST_BYTES)
        });
        found.map(Size).ok_or_else(|| Self::refused(literal))
    }

    fn allowed() -> String {
        "a number with one of the units GB, MB, KB, B, GiB, MiB, KiB (without a unit: bytes), such as \
         \"30KB\", at most 1000000GB"
            .to_owned()
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_unit(f, self.0, &UNITS)
    }
}

text_form!(Size);

/// Number part of a text such as `"65pkts"`.
fn packets(text: &str) -> Option<&str> {
    let (number, unit) = split(text)?;
    matches!(unit, "pkts" | "pkt" | "packets" | "packet").then_some(number)
}

/// Whether a value is a number of packets, which [`in_bytes`] converts. Fractions of a packet need
/// not be a whole number of bytes with every mtu.
pub(super) fn is_packets(literal: Literal<'_>) -> bool {
    let Literal::Text(text) = literal else {
        return false;
    };
    let thousandths = packets(text).and_then(|number| scaled(number, 1000));
    thousandths.is_some_and(|found| found <= MOST_PACKETS * 1000)
}

/// Bytes of a number of packets such as `"65pkts"`, each of `mtu`, rounded to nearest; `None` if
/// the text is not a number of packets.
pub(crate) fn in_bytes(text: &str, mtu: Size) -> Option<Size> {
    let thousandths = scaled(packets(text)?, 1000).filter(|&found| found <= MOST_PACKETS * 1000)?;
    let bytes = (u128::from(thousandths) * u128::from(mtu.0) + 500) / 1000;
    u64::try_from(bytes).ok().map(Size)
}

/// Capacity of a buffer: `"unlimited"`, `"700KB"` or `"500pkts"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// Unlimited capacity.
    Unlimited,
    /// Capacity in bytes.
    Bytes(u64),
    /// Capacity in packets.
    Packets(u64),
}

impl Quantity for Buffer {
    const EXAMPLE: &'static str = "500pkts";

    fn read(literal: Literal<'_>) -> Result<Self, String> {
        if let Literal::Text(text) = literal {
            if text.trim() == "unlimited" {
                return Ok(Buffer::Unlimited);
            }
            if let Some(number) = packets(text) {
                let found = scaled(number, 1).map(Buffer::Packets);
                return found.ok_or_else(|| Self::refused(literal));
            }
        }
        let bytes = Size::read(literal).map(|size| Buffer::Bytes(size.0));
        bytes.map_err(|_| Self::refused(literal))
    }

    fn allowed() -> String {
        "\"unlimited\", a size such as \"700KB\" (without a unit: bytes) or a number of packets such as \
         \"500pkts\""
            .to_owned()
    }
}

impl fmt::Display for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Buffer::Unlimited => write!(f, "unlimited"),
            Buffer::Bytes(bytes) => Size(bytes).fmt(f),
            Buffer::Packets(packets) => write!(f, "{packets}pkts"),
        }
    }
}

text_form!(Buffer);

/// Length of a queue: `"75KB"` or `"50pkts"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLength {
    /// Length in bytes.
    Bytes(u64),
    /// Length in packets.
    Packets(u64),
}

impl Quantity for QueueLength {
    const EXAMPLE: &'static str = "50pkts";

    fn read(literal: Literal<'_>) -> Result<Self, String> {
        match Buffer::read(literal) {
            Ok(Buffer::Bytes(bytes)) => Ok(QueueLength::Bytes(bytes)),
            Ok(Buffer::Packets(packets)) => Ok(QueueLength::Packets(packets)),
            Ok(Buffer::Unlimited) | Err(_) => Err(Self::refused(literal)),
        }
    }

    fn allowed() -> String {
        "a number of packets such as \"50pkts\" or a size such as \"75KB\" (without a unit: bytes)"
            .to_owned()
    }
}

impl fmt::Display for QueueLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            QueueLength::Bytes(bytes) => Buffer::Bytes(bytes).fmt(f),
            QueueLength::Packets(packets) => Buffer::Packets(packets).fmt(f),
        }
    }
}

text_form!(QueueLength);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_common_notations() {
        for (text, bytes) in [
            ("1KB", 1000),
            ("1kB", 1000),
            ("64KiB", 65_536),
            ("1.5MiB", 1_572_864),
            ("2 GiB", 2_147_483_648),
            ("1500", 1500),
            ("1500B", 1500),
        ] {
            assert_eq!(Size::parse(text), Ok(Size(bytes)), "{text}");
        }
        assert_eq!(Buffer::parse("500pkts"), Ok(Buffer::Packets(500)));
        assert_eq!(Buffer::parse("1 packet"), Ok(Buffer::Packets(1)));
        assert_eq!(Buffer::parse("64KiB"), Ok(Buffer::Bytes(65_536)));
        assert_eq!(Buffer::parse("500"), Ok(Buffer::Bytes(500)));
    }

    #[test]
    fn length_of_a_queue_is_finite() {
        for (text, length) in [
            ("50pkts", QueueLength::Packets(50)),
            ("75KB", QueueLength::Bytes(75_000)),
        ] {
            assert_eq!(QueueLength::parse(text), Ok(length));
            assert_eq!(length.to_string(), text);
        }
        for text in ["unlimited", "400cells"] {
            let told = QueueLength::parse(text).expect_err("no length");
            let expected = format!("\"{text}\" is invalid; expected a number of packets such as ");
            assert!(told.starts_with(&expected), "{told}");
            assert!(!told.contains("\"unlimited\","), "{told}");
        }
    }

    #[test]
    fn numbers_are_bytes() {
        assert_eq!(Size::read(Literal::Whole(1500)), Ok(Size(1500)));
        assert_eq!(Size::read(Literal::Float(1e6)), Ok(Size(1_000_000)));
        assert_eq!(Buffer::read(Literal::Whole(700)), Ok(Buffer::Bytes(700)));
        for number in [0.5, -1.0, 1e16, f64::NAN] {
            let told = Size::read(Literal::Float(number)).expect_err("no bytes");
            assert!(told.contains("without a unit: bytes"), "{told}");
        }
    }

    #[test]
    fn rejects_meaningless_values() {
        // Ambiguous: 1000 or 1024, bits or bytes?
        for text in ["64K", "1M", "1G", "64k", "1kb", "8Kb", "1Kib"] {
            assert!(Size::parse(text).is_err(), "{text}");
        }
        for text in ["", "KB", "-1KB", "0.0001KB", "1e3", "65pkts", "2000000GB"] {
            assert!(Size::parse(text).is_err(), "{text}");
        }
        for text in ["", "1.5pkts", "-1pkts", "endless", "3 apples"] {
            assert!(Buffer::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn packets_are_mtu_sized() {
        assert_eq!(in_bytes("65pkts", Size(1500)), Some(Size(97_500)));
        assert_eq!(in_bytes("65 packets", Size(9000)), Some(Size(585_000)));
        assert_eq!(in_bytes("0.5pkts", Size(1501)), Some(Size(751)));
        assert_eq!(in_bytes("65KB", Size(1500)), None);
        assert_eq!(in_bytes("-1pkts", Size(1500)), None);
    }

    #[test]
    fn display_parses_back() {
        for text in ["30KB", "950B", "128KB", "unlimited", "500pkts"] {
            let read = Buffer::parse(text).map(|buffer| buffer.to_string());
            assert_eq!(read, Ok(text.to_owned()));
        }
    }
}
