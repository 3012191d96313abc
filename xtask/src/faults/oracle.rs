//! What must hold after a fault, said without any of the product's code.

use std::collections::BTreeSet;

use super::fault::Fault;
use super::operations::{Holds, Operation, State};
use super::said::Said;
use super::trace::{Call, On};
use super::world::{Seen, World};

/// How the process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Success,
    Failure,
    /// By a signal: ours, or its own because there was no memory.
    Signal,
}

/// What the fault came to, when all is as it must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outcome {
    /// The change was made and the process says so.
    Made,
    /// The change was made, and the fault cost the history that could undo it.
    Unkept,
    /// The change was not made and the process says so.
    Refused,
    /// The change was made; only the answer did not get out.
    Unanswered,
    /// The process ended by a signal before the change.
    EndedBefore,
    /// The process ended by a signal while the change was made.
    EndedBetween,
    /// The process ended by a signal after the change.
    EndedAfter,
}

/// A run to be judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run<'a> {
    pub(super) world: &'a World,
    pub(super) operation: &'a Operation,
    pub(super) call: &'a Call,
    pub(super) fault: Fault,
    pub(super) end: End,
    pub(super) said: &'a Said,
    pub(super) before: &'a Seen,
    pub(super) after: &'a Seen,
}

impl Outcome {
    /// Returns the outcome's name in the report.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Made => "made",
            Self::Unkept => "made, not kept",
            Self::Refused => "refused",
            Self::Unanswered => "made, unanswered",
            Self::EndedBefore => "ended before",
            Self::EndedBetween => "ended between",
            Self::EndedAfter => "ended after",
        }
    }

    /// Returns whether the change was made as a whole.
    pub(super) fn is_made(self) -> bool {
        let made = [Self::Made, Self::Unkept, Self::Unanswered, Self::EndedAfter];
        made.contains(&self)
    }

    /// Returns whether nothing was changed.
    pub(super) fn is_not_made(self) -> bool {
        matches!(self, Self::Refused | Self::EndedBefore)
    }

    /// Returns the outcome where the history could not be kept.
    pub(super) fn without_history(self) -> Self {
        match self {
            Self::Made => Self::Unkept,
            other => other,
        }
    }
}

impl Run<'_> {
    /// Returns what the fault came to.
    ///
    /// # Errors
    /// Says what is not as it must be.
    pub(super) fn judge(&self) -> Result<Outcome, String> {
        self.check_temps()?;
        self.said.check(self.end)?;
        let old = self.first_not(|name| self.is_old(name));
        let new = self.first_not(|name| self.is_new(name));
        match self.end {
            End::Success if self.is_unsynced() && !self.said.says_unsynced() => Err(format!(
                "it is not on the disk and nobody says so: {}",
                self.said
            )),
            End::Success if new.is_none() => Ok(Outcome::Made),
            End::Success => Err(said("success, but not as it must be after", new)),
            End::Failure if self.fault.is_harmless(self.call) => {
                Err("interrupted where the call is to be made again, and failed".to_owned())
            }
            End::Failure if self.call.on == On::Answer => match new {
                None => Ok(Outcome::Unanswered),
                Some(_) => Err(said("only the answer failed, and it is not as after", new)),
            },
            End::Failure if old.is_none() => Ok(Outcome::Refused),
            End::Failure => Err(said("failure, but not as it was before", old)),
            End::Signal if old.is_none() => Ok(Outcome::EndedBefore),
            End::Signal if new.is_none() => Ok(Outcome::EndedAfter),
            End::Signal => self.check_between().map(|()| Outcome::EndedBetween),
        }
    }

    /// Returns whether the fault kept the file or its directory from the disk, which no look at them
    /// tells.
    fn is_unsynced(&self) -> bool {
        let syncs = ["fsync", "fdatasync", "syncfs"].contains(&self.call.name.as_str());
        syncs && self.call.on == On::Tree && self.fault != Fault::Kill
    }

    /// A change that was made and cannot be undone says so; an answer that did not get out says nothing.
    ///
    /// # Errors
    /// It does not.
    pub(super) fn check_says_no_undo(&self) -> Result<(), String> {
        if self.said.gives_up_history() || self.end == End::Failure {
            return Ok(());
        }
        let said = self.said;
        Err(format!("it cannot be undone and nobody says so: {said}"))
    }

    /// A temporary name stays only where the process was ended, or where it could not be taken away.
    fn check_temps(&self) -> Result<(), String> {
        let renames = ["unlinkat", "unlink", "renameat2", "renameat", "rename"];
        let may_stay = self.end == End::Signal || renames.contains(&self.call.name.as_str());
        match self.after.temps.first() {
            Some(temp) if !may_stay => Err(format!("{temp} stayed behind")),
            _ => Ok(()),
        }
    }

    fn check_between(&self) -> Result<(), String> {
        for name in self.names() {
            let torn = self
                .operation
                .torn
                .is_some_and(|(torn, kept)| self.is_same(torn, name) && self.is_new(kept));
            if !(torn || self.is_old(name) || self.is_new(name)) {
                return Err(format!("{name} holds neither the old nor the new"));
            }
        }
        for (first, second) in self.operation.order {
            if self.is_new(second) && !self.is_old(second) && !self.is_new(first) {
                return Err(format!("{second} is as after, {first} is not"));
            }
        }
        Ok(())
    }

    /// Returns whether two names are one file, before and after.
    fn is_same(&self, a: &str, b: &str) -> bool {
        let same = |seen: &Seen| {
            let id = |name| seen.names.get(name).map(|found| found.id);
            id(a).is_some() && id(a) == id(b)
        };
        same(self.before) && same(self.after)
    }

    fn names(&self) -> BTreeSet<&str> {
        let wanted = self.operation.before.iter().chain(self.operation.after);
        let wanted = wanted.map(|(name, _)| *name);
        let seen = self.before.names.keys().chain(self.after.names.keys());
        wanted.chain(seen.map(String::as_str)).collect()
    }

    fn first_not(&self, is: impl Fn(&str) -> bool) -> Option<&str> {
        self.names().into_iter().find(|name| !is(name))
    }

    /// Returns whether the name has what it had: bytes, mode, time and identity.
    fn is_old(&self, name: &str) -> bool {
        self.before.names.get(name) == self.after.names.get(name)
    }

    /// Returns whether the name has what it must have after the change; what the change leaves alone
    /// must be untouched, time and identity included.
    fn is_new(&self, name: &str) -> bool {
        let wanted = holds(self.operation.after, name);
        let was = self
            .operation
            .first
            .is_empty()
            .then(|| holds(self.operation.before, name));
        let stays = was == Some(wanted) && !matches!(wanted, Some(Holds::Same(_)));
        let is_narrow = self.operation.narrow == Some(name) && self.fault != Fault::Kill;
        let narrowed = wanted.filter(|_| is_narrow).map(World::narrowed);
        let fits = |wanted| self.world.fits(self.after, name, wanted);
        (fits(wanted) || (narrowed.is_some() && fits(narrowed))) && (!stays || self.is_old(name))
    }
}

fn holds(state: State, name: &str) -> Option<Holds> {
    let found = state.iter().find(|(each, _)| *each == name);
    found.map(|(_, holds)| *holds)
}

fn said(what: &str, name: Option<&str>) -> String {
    format!("{what}: {}", name.unwrap_or_default())
}

#[cfg(test)]
mod tests;
