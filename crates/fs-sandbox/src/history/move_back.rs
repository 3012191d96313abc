//! The undo of a move: what was moved goes back, and what it replaced comes back.

use fs_core::{Error, RelPath, Result};

use super::record::{FileState, NameChange, State};
use super::undo::{Step, state_at, taken_is_conflict};
use crate::replace::SecondName;
use crate::resolve::{Missing, Place};
use crate::rights::{OpenFlags, Operation, Rights, needed};
use crate::transfer::{TransferOptions, Transferred};
use crate::write::{HardLinks, Held, UpdateOptions};

impl Step<'_> {
    /// Moves what a move has moved back, and gives its target what it had before.
    pub(super) fn move_back(
        &self,
        source: &NameChange,
        target: &NameChange,
    ) -> Result<Vec<String>> {
        let from = RelPath::parse_escaped(&target.path)?;
        let to = RelPath::parse_escaped(&source.path)?;
        if let (State::File(replaced), State::File(_)) = (&target.before, &target.after)
            && let Some(warnings) = self.part(&from, &to, target, replaced)?
        {
            return Ok(warnings);
        }
        let place = self.place_of(&from, Operation::MoveSource, Missing::Refuse)?;
        self.check_still(&place, &from, &target.after)?;
        let goal = self.place_of(&to, Operation::MoveTarget, Missing::MakeParents)?;
        self.check_still(&goal, &to, &source.after)?;
        let options = TransferOptions {
            // What an undo put there goes, if it is still that.
            overwrite: source.after != State::Absent,
            served: source.after.file().and_then(FileState::strong_version),
            ..self.options()
        };
        let undoes = Some(self.entry.id);
        let moved = self.workspace.move_as(place, goal, &options, undoes);
        let mut warnings = moved.map_err(taken_is_conflict)?.warnings;
        if target.before != State::Absent {
            let put_back = NameChange {
                after: State::Absent,
                ..target.clone()
            };
            let put_back = self.put_back(&put_back);
            warnings.extend(put_back.map_err(|error| self.take_forth(&to, &from, error))?);
        }
        Ok(warnings)
    }

    /// Gives the moved file its old name as a second one, and only then its present name to what the
    /// move replaced: whoever is killed in between leaves neither of them without a name. `None` where
    /// the file cannot have a second name.
    fn part(
        &self,
        from: &RelPath,
        to: &RelPath,
        target: &NameChange,
        replaced: &FileState,
    ) -> Result<Option<Vec<String>>> {
        let restored = self.kept(replaced)?;
        // Its name goes and comes back, and both are to be allowed.
        self.place_of(from, Operation::Update, Missing::Refuse)?;
        let mut place = self.place_of(from, Operation::MoveSource, Missing::Refuse)?;
        let mut goal = self.place_of(to, Operation::MoveTarget, Missing::MakeParents)?;
        let [one, _other] = self.workspace.lock_both(&place, &goal, &self.options())?;
        place.look_again()?;
        goal.look_again()?;
        let moved = state_at(&place)?;
        self.check_still(&place, from, &target.after)?;
        let State::File(moved) = moved else {
            return Ok(None);
        };
        let durability = self.workspace.durability();
        let Some(second) = SecondName::give(place.target(), goal.target(), durability)? else {
            return Ok(None);
        };
        let options = UpdateOptions {
            hard_links: Some(HardLinks::Break),
            cancel: self.cancel.clone(),
            ..UpdateOptions::default()
        };
        let held = Held::under(self.workspace, place, &options, one)?;
        self.check_still(held.place(), from, &target.after)?;
        let pending = self
            .workspace
            .pending(&[&goal, held.place()], Some(self.entry.id))?;
        let pending = pending.with_second_name(moved);
        let replaced = held.restore(&restored, &pending);
        restored.forget(replaced.as_ref().err());
        let mut warnings = replaced?.warnings;
        warnings.extend(second.keep());
        Ok(Some(warnings))
    }

    /// Moves what was moved back to where it was before, since what it replaced cannot come back;
    /// returns the error that leads here.
    fn take_forth(&self, from: &RelPath, to: &RelPath, error: Error) -> Error {
        let moved = self.moved_forth(from, to);
        // Best effort: the error that leads here is the one to report.
        drop(moved);
        error
    }

    fn moved_forth(&self, from: &RelPath, to: &RelPath) -> Result<Transferred> {
        let place = self.place_of(from, Operation::MoveSource, Missing::Refuse)?;
        let goal = self.place_of(to, Operation::MoveTarget, Missing::Refuse)?;
        let entries = self.store.entries()?;
        let undo = entries
            .iter()
            .rev()
            .find(|it| it.record.undoes == Some(self.entry.id));
        let id = undo.map(|it| it.id);
        let options = TransferOptions::default();
        let moved = self.workspace.move_as(place, goal, &options, id)?;
        // Both are nothing together: what is to be undone is the move itself, as before.
        for entry in self.store.entries()? {
            if id.is_some() && (Some(entry.id) == id || entry.record.undoes == id) {
                self.store.void(entry.id, &mut [])?;
            }
        }
        Ok(moved)
    }

    fn place_of(&self, path: &RelPath, operation: Operation, missing: Missing) -> Result<Place> {
        let need: Rights = needed(operation, OpenFlags::NONE);
        self.workspace.locate_below(self.root, path, need, missing)
    }

    fn options(&self) -> TransferOptions {
        TransferOptions {
            cancel: self.cancel.clone(),
            ..TransferOptions::default()
        }
    }
}
