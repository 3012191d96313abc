//! The tools by name, callable without any protocol.

use std::collections::HashSet;

use fs_core::{Cancel, ErrorKind, Fallback, Progress};
use fs_sandbox::{Backup, Workspace};
use serde_json::{Map, Value};

use crate::error::ToolError;
use crate::memory::Memory;
use crate::output::ToolOutput;
use crate::schema::{Args, Param, object_schema};
use crate::{file, files, history};

/// The tools that a server offers, over one workspace, to one session.
///
/// It remembers what it has shown of each file, see [`Stale`]: who serves several sessions makes a
/// toolbox for each.
///
/// ```no_run
/// # use std::path::Path;
/// # use fs_sandbox::{Rights, Workspace};
/// # use serde_json::{Map, json};
/// # use tool_server::{Call, Settings, Toolbox};
/// let root = Path::new("/srv/project");
/// let workspace = Workspace::builder().root("workspace", root, Rights::ALL).build()?;
/// let toolbox = Toolbox::new(workspace, Settings::default());
/// let arguments = Map::from_iter([("path".to_owned(), json!("README.md"))]);
/// let answer = toolbox.call("files_read", arguments, &Call::default())?;
/// println!("{}", answer.text());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Toolbox {
    workspace: Workspace,
    settings: Settings,
    memory: Option<Memory>,
}

/// What a toolbox offers and what it takes bytes for.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Which tools there are.
    pub set: ToolSet,
    /// Whether only tools that change nothing are offered.
    pub read_only: bool,
    /// Whether tools that delete are taken away.
    pub no_delete: bool,
    /// Tools that are taken away by name.
    pub disabled: HashSet<String>,
    /// What bytes are taken for that are in no sure encoding.
    pub fallback: Fallback,
    /// What is kept beside a file when a call asks for a backup.
    pub backup: Backup,
    /// The largest file that `read_file` reads, in bytes; `None` for no limit.
    pub max_read_bytes: Option<u64>,
    /// What happens to an overwrite of a file that changed since the session saw it.
    pub stale: Stale,
}

/// What happens to an overwrite of a file that changed since the session saw it, by a read or by a
/// change of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stale {
    /// `conflict`, which shows what has changed; the same call again goes through.
    #[default]
    Refuse,
    /// It goes through, and nothing is remembered.
    Allow,
}

/// A set of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolSet {
    /// Every operation once: [`ToolSet::Files`], and of [`ToolSet::File`] those that do what none of
    /// these four does. Reading ranges and tails, appending, exact edits and listing are theirs.
    #[default]
    Standard,
    /// `files_read`, `files_write`, `files_edit` and `files_ls`.
    Files,
    /// The thirteen tools that are named by verb and noun: `read_file`, `edit_file` and so on.
    File,
    /// Both families.
    All,
    /// The names of the MCP reference server for files.
    Reference,
}

/// A tool as its callers see it.
#[derive(Debug)]
pub struct ToolSpec {
    /// Its name.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it does, for a model.
    pub about: &'static str,
    /// Its parameters, in the order in which they are shown.
    pub params: &'static [Param],
    /// What it does to files.
    pub effect: Effect,
    /// The facts that its answers carry: name and JSON type.
    pub facts: &'static [(&'static str, &'static str)],
    pub(crate) sets: &'static [ToolSet],
    pub(crate) run: Run,
    pub(crate) pace: Pace,
}

/// What a tool does.
pub(crate) type Run = fn(&Toolbox, &mut Args, &Call) -> Result<ToolOutput, ToolError>;
/// The same where that is sure to be short, else nothing.
pub(crate) type RunShort = fn(&Toolbox, &Args, &Call) -> Option<Result<ToolOutput, ToolError>>;

/// How long a call of a tool may take.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pace {
    /// So short now and then that another thread is not worth it.
    Short(RunShort),
    /// As long as a read or a change of one file takes.
    Plain,
    /// As long as the walk of a whole tree takes.
    Walk,
    /// As long as the copy of a file of any size takes.
    Copy,
}

/// A call whose tool is there and whose arguments fit.
#[derive(Debug)]
pub struct Checked {
    spec: &'static ToolSpec,
    args: Args,
    call: Call,
}

/// What takes long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LongWork {
    /// The walk of a whole tree, which holds many handles.
    Walk,
    /// The copy of a file of any size.
    Copy,
}

/// What a tool does to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Reads,
    /// It adds to them; what they held stays.
    Adds,
    /// It changes files, and what they held may be lost.
    Changes,
    /// As [`Effect::Changes`], and a name is gone afterwards.
    Deletes,
}

/// What surrounds one call.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Call {
    /// Stops the call; what it was about to change stays as it was.
    pub cancel: Cancel,
    /// Counts what the call has done so far: bytes of a copy, entries of a walk or search.
    pub progress: Progress,
}

/// Why a call gave no answer.
#[derive(Debug, Clone, PartialEq)]
pub enum CallError {
    /// The set has no tool of that name; the names it has.
    UnknownTool(Vec<&'static str>),
    /// The tool failed.
    Failed(ToolError),
}

/// What begins the words of an error of the family `file`.
const ERROR_MARK: &str = "ERROR: ";

static TOOLS: [&ToolSpec; 19] = [
    &files::read::TOOL,
    &files::write::TOOL,
    &files::edit::TOOL,
    &files::ls::TOOL,
    &file::read::TOOL,
    &file::range::TOOL,
    &file::write::WRITE,
    &file::write::APPEND,
    &file::edit::TOOL,
    &file::list::TOOL,
    &file::tree::TOOL,
    &file::stat::TOOL,
    &file::search::TOOL,
    &file::transfer::COPY,
    &file::transfer::MOVE,
    &file::make_dir::TOOL,
    &file::delete::TOOL,
    &history::UNDO,
    &history::LIST,
];

impl Toolbox {
    /// Returns a toolbox over `workspace`.
    pub fn new(workspace: Workspace, settings: Settings) -> Self {
        let memory = (settings.stale == Stale::Refuse).then(Memory::default);
        Self {
            workspace,
            settings,
            memory,
        }
    }

    /// Returns the workspace.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Returns the workspace for changes by the tool of a call.
    pub(crate) fn workspace_for(&self, args: &Args) -> Workspace {
        self.workspace.for_tool(args.tool())
    }

    /// Returns the settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns what its session was shown, unless the settings let it overwrite what it has not seen.
    pub(crate) fn memory(&self) -> Option<&Memory> {
        self.memory.as_ref()
    }

    /// Returns the tools that are offered, in the order in which they are shown.
    pub fn specs(&self) -> impl Iterator<Item = &'static ToolSpec> {
        self.settings.specs()
    }

    /// Calls a tool; nothing is read or changed unless all arguments fit.
    ///
    /// # Errors
    /// [`CallError::UnknownTool`]; everything else is [`CallError::Failed`] with a code of
    /// [`ErrorKind`], `denied_by_policy` for a tool that the settings take away.
    pub fn call(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        call: &Call,
    ) -> Result<ToolOutput, CallError> {
        let checked = self.check(name, arguments, call.clone())?;
        Ok(self.run(checked)?)
    }

    /// Checks a call; reads and changes nothing.
    ///
    /// # Errors
    /// As [`Toolbox::call`]; of the tool's own errors `invalid_argument` only.
    pub fn check(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        call: Call,
    ) -> Result<Checked, CallError> {
        let Some(spec) = self.settings.set.specs().find(|spec| spec.name == name) else {
            return Err(CallError::UnknownTool(
                self.specs().map(|spec| spec.name).collect(),
            ));
        };
        if let Some(reason) = self.settings.takes_away(spec) {
            let denied = ToolError::new(ErrorKind::DeniedByPolicy, reason);
            return Err(spec.marked(denied).into());
        }
        let args = Args::check(spec.name, spec.params, arguments);
        let args = args.map_err(|error| spec.marked(error))?;
        Ok(Checked { spec, args, call })
    }

    /// Does what a checked call asks for.
    ///
    /// # Errors
    /// The tool's own; `cancelled`, with nothing done, for a call that was stopped before it began.
    pub fn run(&self, mut checked: Checked) -> Result<ToolOutput, ToolError> {
        checked.call.cancel.check()?;
        let done = (checked.spec.run)(self, &mut checked.args, &checked.call);
        done.map_err(|error| checked.spec.marked(error))
    }

    /// Does what a checked call asks for if that takes less time than to wake another thread, as
    /// the read of a small file does; answers `None` when it may take longer.
    pub fn run_short(&self, checked: &Checked) -> Option<Result<ToolOutput, ToolError>> {
        let Pace::Short(run_short) = checked.spec.pace else {
            return None;
        };
        let done = run_short(self, &checked.args, &checked.call)?;
        Some(done.map_err(|error| checked.spec.marked(error)))
    }
}

impl Checked {
    /// Returns what the call may take long for, if it may.
    pub fn long_work(&self) -> Option<LongWork> {
        match self.spec.pace {
            Pace::Walk => Some(LongWork::Walk),
            Pace::Copy => Some(LongWork::Copy),
            Pace::Short(_) | Pace::Plain => None,
        }
    }
}

impl Settings {
    /// The largest file that `read_file` reads unless told otherwise, in bytes.
    pub const MAX_READ_BYTES: u64 = 4 * 1024 * 1024;

    /// Returns the tools that these settings offer.
    pub fn specs(&self) -> impl Iterator<Item = &'static ToolSpec> {
        self.set
            .specs()
            .filter(|spec| self.takes_away(spec).is_none())
    }

    fn takes_away(&self, spec: &ToolSpec) -> Option<String> {
        let name = spec.name;
        if self.read_only && spec.effect != Effect::Reads {
            Some(format!(
                "denied by policy: {name} changes files, and this server is read-only"
            ))
        } else if self.no_delete && spec.effect == Effect::Deletes {
            Some(format!(
                "denied by policy: {name} deletes, which this server does not"
            ))
        } else if self.disabled.contains(name) {
            Some(format!(
                "denied by policy: {name} is disabled on this server"
            ))
        } else {
            None
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            set: ToolSet::default(),
            read_only: false,
            no_delete: false,
            disabled: HashSet::new(),
            fallback: Fallback::Auto,
            backup: Backup::Single,
            max_read_bytes: Some(Self::MAX_READ_BYTES),
            stale: Stale::default(),
        }
    }
}

impl ToolSet {
    /// All sets.
    pub const ALL: [Self; 5] = [
        Self::Standard,
        Self::Files,
        Self::File,
        Self::All,
        Self::Reference,
    ];

    /// Returns the set's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Files => "files",
            Self::File => "file",
            Self::All => "all",
            Self::Reference => "reference",
        }
    }

    /// Returns the tools of this set.
    pub fn specs(self) -> impl Iterator<Item = &'static ToolSpec> {
        TOOLS
            .into_iter()
            .filter(move |spec| spec.sets.contains(&self))
    }
}

impl ToolSpec {
    /// Returns the JSON schema of the arguments.
    pub fn input_schema(&self) -> Map<String, Value> {
        object_schema(self.params)
    }

    /// Returns an error of this tool in the words of its family.
    fn marked(&self, error: ToolError) -> ToolError {
        if self.sets.contains(&ToolSet::File) {
            return error.marked(ERROR_MARK);
        }
        error
    }

    /// Returns the JSON schema of an answer's structured content, an error included; nothing in it
    /// is required.
    pub fn output_schema(&self) -> Map<String, Value> {
        let common = [
            ("text", "string"),
            ("notes", "array"),
            ("code", "string"),
            ("message", "string"),
        ];
        let properties: Map<String, Value> = self
            .facts
            .iter()
            .chain(&common)
            .map(|(name, kind)| ((*name).to_owned(), serde_json::json!({ "type": kind })))
            .collect();
        Map::from_iter([
            ("type".to_owned(), "object".into()),
            ("properties".to_owned(), properties.into()),
        ])
    }
}

impl Call {
    /// Returns a call that `cancel` stops.
    pub fn stopped_by(cancel: Cancel) -> Self {
        Self {
            cancel,
            progress: Progress::default(),
        }
    }

    /// Returns the call with `progress` for its counters.
    #[must_use]
    pub fn counted_by(self, progress: Progress) -> Self {
        Self { progress, ..self }
    }
}

impl From<ToolError> for CallError {
    fn from(error: ToolError) -> Self {
        Self::Failed(error)
    }
}

impl std::fmt::Display for CallError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::UnknownTool(names) => write!(f, "unknown tool; there are {}", names.join(", ")),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CallError {}

#[cfg(test)]
mod tests;
