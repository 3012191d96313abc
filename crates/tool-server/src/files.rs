//! The family `files`: read a window, write, edit exactly, list.

pub(crate) mod edit;
pub(crate) mod ls;
pub(crate) mod read;
pub(crate) mod write;

use fs_core::{Encoding, ErrorKind, TextFormat, Version};
use fs_sandbox::{Backup, UpdateOptions};

use crate::error::ToolError;
use crate::output::ToolOutput;
use crate::render::{counted, format_words, with_format};
use crate::schema::{Args, Param};
use crate::toolbox::{Call, Toolbox};

pub(crate) const ENCODING: Param = Param::text("encoding", "Else detected.");
pub(crate) const IF_VERSION: Param = Param::text("if_version", "Refuse another version.");
/// The path of what a tool is about; its description says what that is.
pub(crate) const PATH: Param = Param::text("path", "").required();
const CREATE_BACKUP: Param = Param::flag("create_backup", "Keep NAME.bak.");

/// Returns the encoding that the call names.
pub(crate) fn encoding(args: &Args) -> Result<Option<Encoding>, ToolError> {
    let label = args.text("encoding").filter(|label| !label.is_empty());
    Ok(label.map(Encoding::for_label).transpose()?)
}

/// Returns how the file is to be replaced.
pub(crate) fn update_options(
    toolbox: &Toolbox,
    args: &Args,
    call: &Call,
) -> Result<UpdateOptions, ToolError> {
    Ok(UpdateOptions {
        if_version: if_version(args)?,
        served: None,
        backup: backup(toolbox, args)?,
        hard_links: None,
        cancel: call.cancel.clone(),
    })
}

/// Returns the version that the call names.
pub(crate) fn if_version(args: &Args) -> Result<Option<Version>, ToolError> {
    Ok(args.text("if_version").map(Version::parse).transpose()?)
}

fn backup(toolbox: &Toolbox, args: &Args) -> Result<Backup, ToolError> {
    let wanted = args.takes("create_backup") && args.flag("create_backup");
    match (wanted, toolbox.settings().backup) {
        (false, _) => Ok(Backup::Off),
        (true, Backup::Off) if !args.is_given("create_backup") => Ok(Backup::Off),
        (true, Backup::Off) => {
            let message = "denied by policy: this server makes no backups";
            Err(ToolError::new(ErrorKind::DeniedByPolicy, message)
                .hinting("leave create_backup out"))
        }
        (true, policy) => Ok(policy),
    }
}

/// What a change did beside its bytes.
pub(crate) struct Aftermath<'a> {
    pub(crate) format: Option<TextFormat>,
    pub(crate) backup: Option<&'a str>,
    pub(crate) parted_links: u64,
    pub(crate) warnings: &'a [String],
    pub(crate) version: &'a Version,
    /// Whether the caller follows versions and so wants the new one.
    pub(crate) show_version: bool,
}

impl Aftermath<'_> {
    /// Returns what is added to the line that says what was done.
    pub(crate) fn clauses(&self) -> String {
        let backup = self.backup.map(|name| format!(", backup {name}"));
        let links = (self.parted_links > 0).then(|| {
            let names = counted(self.parted_links, "other name");
            format!(", {names} of the file kept the old bytes")
        });
        [backup, links].map(Option::unwrap_or_default).concat()
    }

    /// Returns the answer with its notes and facts.
    pub(crate) fn finish(&self, mut output: ToolOutput, args: &Args) -> ToolOutput {
        let mut words = self.format.map_or_else(
            || vec!["encoding unknown".to_owned()],
            |format| format_words(format, None),
        );
        words.extend_from_slice(args.clamped());
        if self.show_version {
            words.push(format!("version {}", self.version.as_str()));
        }
        output = output.with_words(&words);
        for warning in self.warnings {
            output = output.with_note(format!("warning: {warning}"));
        }
        if let Some(format) = self.format {
            output = with_format(output, format);
        }
        output
            .with_fact("version", self.version.as_str())
            .with_known("backup", self.backup)
            .with_fact("parted_links", self.parted_links)
            .with_fact("warnings", self.warnings.to_vec())
    }
}

#[cfg(test)]
mod tests;
