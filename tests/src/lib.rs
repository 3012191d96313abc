//! The shared suite's drivers and models.
