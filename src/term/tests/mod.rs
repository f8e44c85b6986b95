//! Whole behaviour, by function.

mod props;
