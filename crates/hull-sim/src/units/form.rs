//! Quantities by their name in the schema (`x-quantity`), which allows checking the form of a
//! scenario before its values are read.

use toml::Value;

use super::{
    Buffer, Literal, Quantity, QueueLength, Rate, RelativeRate, Share, Size, Tick, Time, size,
};
use crate::quote;

/// Checks the value of a quantity; `in_packets` tells whether the key also accepts packets. Fails
/// with the message.
pub(crate) fn check(quantity: &str, in_packets: bool, value: &Value) -> Result<(), String> {
    let literal = match value {
        Value::String(text) => Literal::Text(text),
        Value::Integer(number) => Literal::Whole((*number).into()),
        Value::Float(number) => Literal::Float(*number),
        other => {
            let found = quote::value(other);
            let allowed = expected(quantity, in_packets);
            return Err(format!("{found} is invalid; expected {allowed}"));
        }
    };
    if in_packets && size::is_packets(literal) {
        return Ok(());
    }
    let read = match quantity {
        "Time" => Time::read(literal).map(drop),
        "Rate" => Rate::read(literal).map(drop),
        "RelativeRate" => RelativeRate::read(literal).map(drop),
        "Size" => Size::read(literal).map(drop),
        "Buffer" => Buffer::read(literal).map(drop),
        "QueueLength" => QueueLength::read(literal).map(drop),
        "Share" => Share::read(literal).map(drop),
        "Tick" => Tick::read(literal).map(drop),
        _ => Ok(()),
    };
    match read {
        Err(_) if in_packets => Err(format!(
            "{} is invalid; expected {}",
            literal.shown(),
            expected(quantity, in_packets)
        )),
        read => read,
    }
}

/// Expected form of a quantity, for messages.
pub(crate) fn expected(quantity: &str, in_packets: bool) -> String {
    let allowed = match quantity {
        "Time" => Time::allowed(),
        "Rate" => Rate::allowed(),
        "RelativeRate" => RelativeRate::allowed(),
        "Size" => Size::allowed(),
        "Buffer" => Buffer::allowed(),
        "QueueLength" => QueueLength::allowed(),
        "Share" => Share::allowed(),
        "Tick" => Tick::allowed(),
        _ => "a value".to_owned(),
    };
    match in_packets {
        true => format!("{allowed}, or packets of transport.mtu, such as \"65pkts\""),
        false => allowed,
    }
}

#[cfg(test)]
mod tests {
    use toml::Value;

    use super::{check, expected};

    #[test]
    fn a_wrong_value_is_shown_with_what_is_allowed() {
        let told = check("Size", true, &Value::String("3 apples".to_owned())).expect_err("wrong");
        assert_eq!(
            told,
            "\"3 apples\" is invalid; expected a number with one of the units GB, MB, KB, B, GiB, MiB, KiB \
             (without a unit: bytes), such as \"30KB\", at most 1000000GB, or packets of transport.mtu, such \
             as \"65pkts\""
        );
        let told = check("Time", false, &Value::Boolean(true)).expect_err("wrong");
        assert!(told.starts_with("true is invalid; expected a number with one of the units s, "));
        for quantity in [
            "Time",
            "Rate",
            "RelativeRate",
            "Size",
            "Buffer",
            "QueueLength",
            "Share",
            "Tick",
        ] {
            assert!(
                expected(quantity, false).contains("such as \""),
                "{quantity}"
            );
        }
    }

    #[test]
    fn packets_are_accepted_only_for_queue_keys() {
        for text in ["65pkts", "1 pkt", "0.5pkts"] {
            assert_eq!(check("Size", true, &Value::String(text.to_owned())), Ok(()));
            assert!(check("Size", false, &Value::String(text.to_owned())).is_err());
        }
        for text in ["-1pkts", "pkts", "1e9pkts", "99999999999pkts"] {
            assert!(
                check("Size", true, &Value::String(text.to_owned())).is_err(),
                "{text}"
            );
        }
    }
}
