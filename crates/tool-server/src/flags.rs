//! The command line and the configuration file, which has the same names.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Parser;
use serde::Deserialize;

/// Flags may stand anywhere, also after `call TOOL ARG=VALUE`.
#[derive(Debug, Default, Parser, Deserialize)]
#[command(
    name = "tool-server",
    version,
    about = "File tools for language models over MCP, inside the roots you name",
    override_usage = "tool-server --root [NAME=]PATH… [OPTIONS]\n       \
                      tool-server call TOOL ARG=VALUE… --root PATH [--json]\n       \
                      tool-server tools [--json]\n       \
                      tool-server history [PATH] | undo PATH [ENTRY] | show PATH [ENTRY] --root PATH",
    after_help = "Without a command it serves MCP on its standard input and output.\n\
                  VALUE is JSON where the parameter is no text.\n\
                  What lies outside the roots can be read, edited or deleted when the variables\n\
                  VOTX_FILE_{READ,EDIT,DELETE}_OUTSIDE_SANDBOX are 1 (WRITE is another name of \
                  EDIT);\nVOTX_FILE_OUTSIDE_SANDBOX stands for all of them.",
    max_term_width = 100
)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
pub(crate) struct Flags {
    /// A directory that may be read, changed and deleted in; the first one is where relative paths
    /// start
    #[arg(long, value_name = "[NAME=]PATH")]
    #[serde(deserialize_with = "one_or_many")]
    pub(crate) root: Vec<OsString>,
    /// A directory that may only be read
    #[arg(long, value_name = "[NAME=]PATH")]
    #[serde(deserialize_with = "one_or_many")]
    pub(crate) read_only_root: Vec<OsString>,
    /// Nothing may be changed; tools that change are not offered
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Nothing may be deleted; tools that delete are not offered
    #[arg(long)]
    pub(crate) no_delete: bool,
    /// The tools to offer: standard, files, file, all or reference
    #[arg(long, value_name = "SET")]
    pub(crate) tools: Option<String>,
    /// Do not offer this tool
    #[arg(long, value_name = "NAME")]
    #[serde(deserialize_with = "one_or_many")]
    pub(crate) disable_tool: Vec<String>,
    /// Names that can neither be read nor changed
    #[arg(long, value_name = "GLOB")]
    #[serde(deserialize_with = "one_or_many")]
    pub(crate) deny: Vec<String>,
    /// Names that can be read but not changed, beside .git/hooks/** and .git/config
    #[arg(long, value_name = "GLOB")]
    #[serde(deserialize_with = "one_or_many")]
    pub(crate) deny_edit: Vec<String>,
    /// Rules by name: secrets (keys and passwords cannot be read), agent-config (what can start
    /// programs cannot be changed)
    #[arg(long, value_name = "NAME")]
    #[serde(deserialize_with = "one_or_many")]
    pub(crate) deny_preset: Vec<String>,
    /// When a file with several names is changed: break, refuse or in-place
    #[arg(long, value_name = "POLICY")]
    pub(crate) hard_links: Option<String>,
    /// Refuse paths that cross into another file system
    #[arg(long)]
    pub(crate) one_filesystem: bool,
    /// The largest file that is read whole, in bytes, 4 MiB when absent; 0 for no limit
    #[arg(long, value_name = "N")]
    pub(crate) max_read_bytes: Option<u64>,
    /// What bytes are taken for that are not UTF-8: auto, gbk, none or an encoding's label
    #[arg(long, value_name = "LABEL")]
    pub(crate) fallback_encoding: Option<String>,
    /// What a backup is: single (NAME.bak, replaced each time), keep (numbered) or off
    #[arg(long, value_name = "POLICY")]
    pub(crate) backup: Option<String>,
    /// Overwriting a file that changed since this session read or wrote it: refuse (the answer shows
    /// the change, and the same call again goes through) or allow
    #[arg(long, value_name = "POLICY")]
    pub(crate) stale: Option<String>,
    /// The directory for the history of changes; by default `$XDG_STATE_HOME/postern` or
    /// `~/.local/state/postern`
    #[arg(long, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
    /// How many changes the history keeps for each root, 5000 when absent; 0 keeps none
    #[arg(long, value_name = "N")]
    pub(crate) history_entries: Option<u64>,
    /// How many bytes of earlier files it keeps for each root, 2 GiB when absent
    #[arg(long, value_name = "N")]
    pub(crate) history_bytes: Option<u64>,
    /// Let the client's roots narrow these; not there yet
    #[arg(long)]
    pub(crate) client_roots: bool,
    /// Add output schemas, and structured content that holds the text too
    #[arg(long)]
    pub(crate) structured_content: bool,
    /// Serve over HTTP at this address; not there yet
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<String>,
    /// Let the kernel confine this process to the roots too, where it can
    #[arg(long)]
    pub(crate) confine: bool,
    /// Read flags from a TOML file too; those of the command line come first
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON (with call, tools and history)
    #[arg(long)]
    #[serde(skip)]
    pub(crate) json: bool,
    /// call TOOL ARG=VALUE…, tools, history [PATH], undo PATH [ENTRY] or show PATH [ENTRY]
    #[arg(value_name = "COMMAND")]
    #[serde(skip)]
    pub(crate) words: Vec<String>,
    /// `plugin.files.dir` of the configuration file.
    #[arg(skip)]
    pub(crate) plugin: Plugin,
    /// The same as one quoted key.
    #[arg(skip)]
    #[serde(rename = "plugin.files.dir")]
    pub(crate) plugin_files_dir: Option<PathBuf>,
}

/// What other programs' configuration files say under `plugin`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Plugin {
    pub(crate) files: PluginFiles,
}

/// What they say under `plugin.files`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PluginFiles {
    pub(crate) dir: Option<PathBuf>,
}

/// The roots of a command line, in its order: the values of both kinds with whether they may only
/// be read.
pub(crate) struct OrderedRoots(pub(crate) Vec<(OsString, Access)>);

/// What may be done below a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Full,
    Read,
}

impl Flags {
    /// Returns the flags of a command line, and its roots in the order in which they stand there.
    pub(crate) fn parse_line(
        line: impl IntoIterator<Item = OsString>,
    ) -> Result<(Self, OrderedRoots), clap::Error> {
        use clap::{CommandFactory as _, FromArgMatches as _};

        let matches = Self::command().try_get_matches_from(line)?;
        let mut roots = Vec::new();
        for (name, access) in [("root", Access::Full), ("read_only_root", Access::Read)] {
            let indices = matches.indices_of(name).into_iter().flatten();
            let values = matches.get_many::<OsString>(name).into_iter().flatten();
            roots.extend(indices.zip(values.map(|value| (value.clone(), access))));
        }
        roots.sort_by_key(|(index, _)| *index);
        let ordered = roots.into_iter().map(|(_, root)| root).collect();
        Ok((Self::from_arg_matches(&matches)?, OrderedRoots(ordered)))
    }

    /// Returns the roots of a configuration file: those that may be changed first.
    pub(crate) fn file_roots(&self) -> Vec<(OsString, Access)> {
        let dir = self.plugin.files.dir.as_ref();
        let dir = dir.or(self.plugin_files_dir.as_ref()).cloned();
        let full = dir.map(OsString::from).into_iter();
        let full = self.root.iter().cloned().chain(full);
        let read = self.read_only_root.iter().cloned();
        full.map(|root| (root, Access::Full))
            .chain(read.map(|root| (root, Access::Read)))
            .collect()
    }

    /// Returns these flags completed by those of a file: lists are joined, single values of the
    /// command line win.
    pub(crate) fn or(mut self, file: Self) -> Self {
        self.read_only |= file.read_only;
        self.no_delete |= file.no_delete;
        self.one_filesystem |= file.one_filesystem;
        self.client_roots |= file.client_roots;
        self.structured_content |= file.structured_content;
        self.confine |= file.confine;
        self.tools = self.tools.or(file.tools);
        self.hard_links = self.hard_links.or(file.hard_links);
        self.max_read_bytes = self.max_read_bytes.or(file.max_read_bytes);
        self.fallback_encoding = self.fallback_encoding.or(file.fallback_encoding);
        self.backup = self.backup.or(file.backup);
        self.stale = self.stale.or(file.stale);
        self.state = self.state.or(file.state);
        self.history_entries = self.history_entries.or(file.history_entries);
        self.history_bytes = self.history_bytes.or(file.history_bytes);
        self.http = self.http.or(file.http);
        self.disable_tool.extend(file.disable_tool);
        self.deny.extend(file.deny);
        self.deny_edit.extend(file.deny_edit);
        self.deny_preset.extend(file.deny_preset);
        self
    }
}

fn one_or_many<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: From<String>,
{
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::One(text) => vec![text.into()],
        OneOrMany::Many(texts) => texts.into_iter().map(T::from).collect(),
    })
}
