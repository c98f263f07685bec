//! Damaged input files: a panic in a reader of another crate becomes an error, without its message
//! on standard error. Readers of Parquet and of captures trust lengths that a file states.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

/// Reason in messages about a file whose content makes its reader panic.
pub const DAMAGED: &str = "cannot be read: its content is damaged";

thread_local! {
    /// Whether this thread reads a file.
    static READS: Cell<bool> = const { Cell::new(false) };
}

static HOOK: Once = Once::new();

/// Calls `read`, which reads a file on this thread. Returns None if it panics. What `read` has
/// changed must not be used then.
pub fn undamaged<T>(read: impl FnOnce() -> T) -> Option<T> {
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !READS.get() {
                before(panic);
            }
        }));
    });
    let outer = READS.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(read));
    READS.set(outer);
    result.ok()
}

#[cfg(test)]
mod tests {
    use super::{READS, undamaged};

    #[test]
    fn panic_of_a_reader_is_caught() {
        assert_eq!(undamaged(|| 5), Some(5));
        let text = String::from("short");
        assert_eq!(undamaged(|| text.as_bytes()[9]), None);
        let nested = undamaged(|| {
            let inner = undamaged(|| panic!("of the inner reader")).is_none();
            (inner, READS.get())
        });
        assert_eq!(nested, Some((true, true)));
        assert!(!READS.get(), "later panics are reported");
    }
}
