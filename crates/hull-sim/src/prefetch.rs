//! Prefetches data that will be needed soon into the processor's cache. A no-op on processors without
//! an implementation here.

#![allow(unsafe_code)]

/// Size of a cache line, bytes.
const LINE: usize = 64;

/// Prefetches all cache lines of a value.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    prefetch_lines(value, size_of::<T>().div_ceil(LINE));
}

/// Prefetches the first `lines` cache lines of a value.
#[inline(always)]
pub fn prefetch_lines<T: ?Sized>(value: &T, lines: usize) {
    let start = std::ptr::from_ref(value).cast::<i8>();
    for line in 0..lines {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a prefetch reads nothing and cannot fail, for any address; all x86-64 have it.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(line * LINE));
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (start, line);
    }
}
