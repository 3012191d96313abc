//! The entries of one directory, sorted, in as little memory as their names take.

use std::os::fd::OwnedFd;

use crate::cancel::Cancel;
use crate::error::Result;
use crate::list::{EntryKind, Order, compare, each_entry};

/// The entries of a directory, in order.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    names: Vec<u8>,
    list: Vec<Row>,
    order: Order,
}

/// Where an entry's name lies, and what it is.
#[derive(Debug, Clone, Copy)]
struct Row {
    start: u32,
    len: u16,
    kind: EntryKind,
}

impl Rows {
    /// Reads the entries of `dir` that are `visible`, sorted.
    pub(crate) fn read(
        dir: &OwnedFd,
        order: Order,
        cancel: &Cancel,
        buffer: &mut Vec<u8>,
        visible: &mut dyn FnMut(&[u8], EntryKind) -> bool,
    ) -> Result<Self> {
        let mut rows = Self {
            order,
            ..Self::default()
        };
        each_entry(dir, cancel, buffer, &mut |name, kind| {
            if visible(name, kind) {
                rows.push(name, kind);
            }
        })?;
        rows.sort();
        Ok(rows)
    }

    /// Returns how many there are.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the entry at `index`.
    pub(crate) fn get(&self, index: usize) -> Option<(&[u8], EntryKind)> {
        self.list.get(index).map(|row| row.of(&self.names))
    }

    /// Returns whether there is an entry of this name and kind.
    pub(crate) fn has(&self, name: &[u8], kind: EntryKind) -> bool {
        let found = self.list.binary_search_by(|row| {
            let entry = row.of(&self.names);
            compare(self.order, entry, (name, kind))
        });
        found.is_ok_and(|index| self.list.get(index).is_some_and(|row| row.kind == kind))
    }

    /// Adds an entry; the 4 GiB of names that fit are more than a directory has.
    fn push(&mut self, name: &[u8], kind: EntryKind) {
        let start = u32::try_from(self.names.len());
        let len = u16::try_from(name.len());
        if let (Ok(start), Ok(len)) = (start, len) {
            self.names.extend_from_slice(name);
            self.list.push(Row { start, len, kind });
        }
    }

    fn sort(&mut self) {
        let (names, order) = (&self.names, self.order);
        self.list
            .sort_unstable_by(|a, b| compare(order, a.of(names), b.of(names)));
    }
}

impl Row {
    fn of(self, names: &[u8]) -> (&[u8], EntryKind) {
        let start = self.start as usize;
        let name = names.get(start..start + usize::from(self.len));
        (name.unwrap_or_default(), self.kind)
    }
}
