//! 32-bit sequence numbers on the wire, 64-bit positions in the stream (RFC 9293, 3.4).

/// Sequence number on the wire for a position in the stream.
#[inline]
pub fn wrap(position: u64) -> u32 {
    position as u32
}

/// Position nearest to `near` whose sequence number is `number`.
#[inline]
pub fn unwrap(number: u32, near: u64) -> u64 {
    let distance = number.wrapping_sub(near as u32) as i32;
    near.wrapping_add_signed(i64::from(distance))
}

#[cfg(test)]
mod tests {
    use super::{unwrap, wrap};

    #[test]
    fn finds_the_position_on_either_side_of_a_wrap() {
        for near in [0x7fff_ffff_u64, 0x1_0000_0000, 0x5_ffff_fff0] {
            for distance in [-0x7fff_0000_i64, -1, 0, 1, 0x7fff_0000] {
                let position = near.wrapping_add_signed(distance);
                assert_eq!(unwrap(wrap(position), near), position);
            }
        }
    }
}
