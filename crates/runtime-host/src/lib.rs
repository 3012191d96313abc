//! runtime-host
