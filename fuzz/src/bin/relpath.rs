//! See the library's function of this name.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| postern_fuzz::relpath(data));
