//! Windows against a slow model, and at their edges.

mod edges;
mod large;
mod model;
mod properties;

use std::io::Write;

use cap_std::fs::File;

use super::read::{read_file, read_text};
use super::source::Sizes;
use super::{CutLine, LineRange, Next, ReadOptions, Window};
use crate::encoding::Encoding;
use crate::error::Result;
use crate::index::IndexCache;

/// An open file that holds `bytes` and has no name.
fn file_of(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    File::from_std(file)
}

fn from(line: u64, column: u64, limit: Option<u64>) -> LineRange {
    LineRange::From {
        line,
        column,
        limit,
    }
}

fn options(range: LineRange) -> ReadOptions {
    ReadOptions {
        range,
        ..ReadOptions::default()
    }
}

fn small_blocks(block: usize) -> Sizes {
    Sizes {
        block,
        ..Sizes::DEFAULT
    }
}

/// Sizes for which every file is large.
fn all_large(block: usize) -> Sizes {
    Sizes {
        block,
        whole: 0,
        end: 16,
        shared: 0,
        alone: block as u64,
        stripe: 2 * block as u64,
    }
}
