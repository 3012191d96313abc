//! The shared suite's drivers, worlds and models.
//!
//! A suite is a function over [`FrontEnd`]: the same calls and the same expectations, whatever
//! carries them. [`Engines`] calls the libraries; [`Mcp`] talks to the real binary over its pipes,
//! in the words of the family `files` where it has some; [`McpFile`] does in those of the family
//! `file` alone; [`Acp`] is an agent behind the proxy. [`suite!`] makes a test per driver out of a
//! suite.
//!
//! - [`World`] is a fresh folder with a root and an outside, and what a case sets up in it.
//! - [`Conditions`] are what a thread can be put under: `openat2` blocked, another user, own mounts.
//! - [`model`] holds slow, plain models that share no code with the engines.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    clippy::print_stderr,
    reason = "a suite fails by panicking"
)]

pub mod acp;
pub mod acp_editor;
pub mod acp_record;
pub mod binary;
pub mod clients;
pub mod conditions;
pub mod corpus;
mod engines;
mod front_end;
pub mod group;
pub mod mcp;
mod mcp_file;
pub mod model;
pub mod property;
mod race;
pub mod setup;
mod snapshot;
pub mod wire;
mod world;

pub use acp::{Acp, Stage};
pub use conditions::{Conditions, Openat2};
pub use engines::Engines;
pub use front_end::{
    Answer, Block, Done, Edit, FrontEnd, List, Mode, NewDir, Op, Order, Range, Read, Refusal, Root,
    Search, Settings, Transfer, Walk, Within, Write,
};
pub use mcp::Mcp;
pub use mcp_file::McpFile;
pub use race::Race;
pub use snapshot::{Item, Tree};
pub use wire::{Lines, Pending, Wire};
pub use world::{CANARY, World};

/// Makes each named suite, a function generic over [`FrontEnd`], a test of the engines and of the
/// server in both families; those after `[engines, mcp]`, of these two. What an agent can ask for,
/// too, is named after `[acp]`.
#[macro_export]
macro_rules! suite {
    (@ $module:ident $driver:ident $($name:ident),*) => {
        mod $module {
            $( #[test] fn $name() { super::$name::<$crate::$driver>(); } )*
        }
    };
    ([acp] $($name:ident),+ $(,)?) => {
        $crate::suite!(@ acp Acp $($name),+);
    };
    ([engines, mcp] $($name:ident),+ $(,)?) => {
        $crate::suite!(@ engines Engines $($name),+);
        $crate::suite!(@ mcp Mcp $($name),+);
    };
    ($($name:ident),+ ; [engines, mcp] $($other:ident),+ $(,)?) => {
        $crate::suite!(@ engines Engines $($name,)+ $($other),+);
        $crate::suite!(@ mcp Mcp $($name,)+ $($other),+);
        $crate::suite!(@ mcp_file McpFile $($name),+);
    };
    ($($name:ident),+ $(,)?) => {
        $crate::suite!(@ engines Engines $($name),+);
        $crate::suite!(@ mcp Mcp $($name),+);
        $crate::suite!(@ mcp_file McpFile $($name),+);
    };
}
