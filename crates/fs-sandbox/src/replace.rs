//! replace
