//! The command line: roots, rules, who serves the files, and what to do.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use acp_fs::{FileOptions, MissingFile, NullResult, Stale};
use clap::{Parser, ValueEnum};
use fs_core::{Encoding, Fallback};
use fs_sandbox::{
    AGENT_CONFIG, GIT_INTERNALS, HistoryLimits, Rights, SECRETS, Workspace, WorkspaceBuilder,
};

use crate::failure::Failure;
use crate::mcp_server::McpServer;
use crate::proxy::Serve;

/// Stands between an editor and an agent that speak the Agent Client Protocol.
#[derive(Debug, Parser)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
#[command(
    name = "acp-fs",
    version,
    about = "Files for an agent that speaks the Agent Client Protocol, inside the directories you name",
    override_usage = "acp-fs --root DIR… [OPTIONS] -- AGENT ARGS…\n       \
                      acp-fs log [--session ID] --root DIR… [--json]\n       \
                      acp-fs show --session ID [PATH] --root DIR…\n       \
                      acp-fs undo --session ID [PATH] --root DIR…",
    after_help = "An editor starts this in place of the agent. Reads and writes of text files that the agent asks\n\
                  for are served within the session's directories, as far as they lie in a --root; everything\n\
                  else passes as it is. An agent that opens files by itself is not kept from it.",
    max_term_width = 100
)]
struct Flags {
    /// A directory that sessions may work in
    #[arg(long, value_name = "DIR")]
    root: Vec<PathBuf>,
    /// Who serves the files: auto (the editor what it has unsaved, else the disk), disk or editor
    #[arg(
        long,
        value_enum,
        value_name = "WHO",
        default_value = "auto",
        hide_possible_values = true
    )]
    serve: ServeFlag,
    /// Nothing may be written; the agent is told that it cannot
    #[arg(long)]
    read_only: bool,
    /// Names that can neither be read nor written
    #[arg(long, value_name = "GLOB")]
    deny: Vec<String>,
    /// Names that can be read but not written, beside .git/hooks/** and .git/config
    #[arg(long, value_name = "GLOB")]
    deny_edit: Vec<String>,
    /// Rules by name: secrets (keys and passwords cannot be read), agent-config (what can start
    /// programs cannot be written)
    #[arg(long, value_name = "NAME")]
    deny_preset: Vec<String>,
    /// What bytes are taken for that are not UTF-8: none, auto, gbk or an encoding's label
    #[arg(long, value_name = "LABEL", default_value = "none")]
    fallback_encoding: String,
    /// A write over a text that the session has not seen: merge (by lines, or refuse), reject or
    /// allow
    #[arg(
        long,
        value_enum,
        value_name = "POLICY",
        default_value = "merge",
        hide_possible_values = true
    )]
    stale: StaleFlag,
    /// What a file that is not there is read as: error, empty, or auto (by the agent's name)
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        default_value = "auto",
        hide_possible_values = true
    )]
    missing: MissingFlag,
    /// How long the editor has to show a document, in seconds; to take one, twenty times as long
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    editor_timeout: f32,
    /// Answer a write by null, as older pages of the protocol show it
    #[arg(long)]
    null_result: bool,
    /// Add tool-server with the same directories to the servers of each session
    #[arg(long)]
    mcp: bool,
    /// The program for --mcp; by default the tool-server beside this one
    #[arg(long, value_name = "PROGRAM", requires = "mcp")]
    mcp_server: Option<PathBuf>,
    /// The directory for the history of changes and the journal; by default
    /// `$XDG_STATE_HOME/postern` or `~/.local/state/postern`
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// The session that is meant (with log, show and undo)
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Print JSON (with log)
    #[arg(long)]
    json: bool,
    /// log, show [PATH] or undo [PATH]
    #[arg(value_name = "COMMAND")]
    words: Vec<String>,
    /// The agent, and what it is given
    #[arg(last = true, value_name = "AGENT")]
    agent: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ServeFlag {
    Auto,
    Disk,
    Editor,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum StaleFlag {
    Merge,
    Reject,
    Allow,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MissingFlag {
    Auto,
    Error,
    Empty,
}

/// What to do.
#[derive(Debug)]
pub(crate) enum Command {
    /// Stand between an editor and an agent.
    Pass(ProxySettings),
    /// Say what sessions asked for.
    Log {
        session: Option<String>,
        print: Print,
    },
    /// Show what a session changed.
    Show {
        session: String,
        path: Option<String>,
    },
    /// Take back what a session changed.
    Undo {
        session: String,
        path: Option<String>,
    },
}

/// The form of what is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Print {
    Text,
    Json,
}

/// What this run is to do and with what.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) command: Command,
    pub(crate) workspace: Workspace,
}

/// How the proxy serves files.
#[derive(Debug, Clone)]
pub(crate) struct ProxySettings {
    pub(crate) agent: Vec<OsString>,
    pub(crate) workspace: Workspace,
    pub(crate) serve: Serve,
    pub(crate) options: FileOptions,
    pub(crate) is_read_only: bool,
    pub(crate) missing: Option<MissingFile>,
    pub(crate) editor_timeout: Duration,
    pub(crate) null: NullResult,
    pub(crate) mcp: Option<McpServer>,
    /// What this run is called in the journal: nobody can guess it.
    pub(crate) run: String,
}

impl Config {
    /// Returns what a command line asks for; `state` is the directory for state where it names none.
    pub(crate) fn from_line(
        line: impl IntoIterator<Item = OsString>,
        state: Option<PathBuf>,
        own_program: Option<PathBuf>,
    ) -> Result<Self, Failure> {
        let mut flags = Flags::try_parse_from(line)?;
        flags.state = flags.state.or(state);
        let mut words = std::mem::take(&mut flags.words).into_iter();
        let word = words.next();
        let (path, further) = (words.next(), words.next());
        if let Some(word) = further {
            return Err(Failure::usage(format!("one path at most, so no {word:?}")));
        }
        let is_command = word.is_some();
        if is_command && !flags.agent.is_empty() {
            return Err(Failure::usage("a command takes no agent"));
        }
        let workspace = flags.workspace(if is_command {
            Rights::ALL
        } else {
            flags.rights()
        })?;
        let command = match word.as_deref() {
            None => Command::Pass(flags.into_settings(workspace.clone(), own_program)?),
            Some("log") => Command::Log {
                session: flags.session.or(path),
                print: if flags.json { Print::Json } else { Print::Text },
            },
            Some("show") => Command::Show {
                session: named(flags.session)?,
                path,
            },
            Some("undo") => Command::Undo {
                session: named(flags.session)?,
                path,
            },
            Some(other) => {
                let message = format!("no command {other:?}; there are: log, show, undo");
                return Err(Failure::usage(format!(
                    "{message}. An agent stands after `--`"
                )));
            }
        };
        Ok(Self { command, workspace })
    }
}

impl Flags {
    fn rights(&self) -> Rights {
        if self.read_only {
            Rights::READ
        } else {
            Rights::READ | Rights::EDIT
        }
    }

    fn workspace(&self, rights: Rights) -> Result<Workspace, Failure> {
        if self.root.is_empty() {
            return Err(Failure::usage(
                "no root: nothing is allowed by default. Name the directories that sessions may \
                 work in, for example `--root ~/src`",
            ));
        }
        let mut builder = Workspace::builder();
        for (index, root) in self.root.iter().enumerate() {
            let path = std::path::absolute(root)
                .map_err(|error| Failure::usage(format!("--root {}: {error}", root.display())))?;
            builder = builder.root(&format!("root-{}", index + 1), &path, rights);
        }
        builder = self.deny.iter().fold(builder, |it, glob| it.deny(glob));
        let internals = GIT_INTERNALS.iter().copied();
        let kept = internals.chain(self.deny_edit.iter().map(String::as_str));
        builder = kept.fold(builder, WorkspaceBuilder::deny_edit);
        for preset in &self.deny_preset {
            builder = match preset.as_str() {
                "secrets" => SECRETS.iter().fold(builder, |it, glob| it.deny(glob)),
                "agent-config" => AGENT_CONFIG
                    .iter()
                    .fold(builder, |it, glob| it.deny_edit(glob)),
                other => {
                    return Err(Failure::usage(format!(
                        "--deny-preset: unknown {other:?}. There are: secrets, agent-config"
                    )));
                }
            };
        }
        if let Some(state) = &self.state {
            builder = builder.history(state, HistoryLimits::default());
        }
        Ok(builder.build()?)
    }

    fn into_settings(
        self,
        workspace: Workspace,
        own_program: Option<PathBuf>,
    ) -> Result<ProxySettings, Failure> {
        if self.agent.is_empty() {
            return Err(Failure::usage(
                "no agent: name it after `--`, for example `acp-fs --root . -- gemini --acp`",
            ));
        }
        if !(self.editor_timeout > 0.0 && self.editor_timeout <= 86_400.0) {
            return Err(Failure::usage("--editor-timeout: from 0 to 86400 seconds"));
        }
        Ok(ProxySettings {
            mcp: self.server(own_program)?,
            serve: match self.serve {
                ServeFlag::Auto => Serve::Auto,
                ServeFlag::Disk => Serve::Disk,
                ServeFlag::Editor => Serve::Editor,
            },
            options: FileOptions {
                fallback: fallback(&self.fallback_encoding)?,
                stale: match self.stale {
                    StaleFlag::Merge => Stale::Merge,
                    StaleFlag::Reject => Stale::Reject,
                    StaleFlag::Allow => Stale::Allow,
                },
                ..FileOptions::default()
            },
            is_read_only: self.read_only,
            missing: match self.missing {
                MissingFlag::Auto => None,
                MissingFlag::Error => Some(MissingFile::Error),
                MissingFlag::Empty => Some(MissingFile::Empty),
            },
            editor_timeout: Duration::from_secs_f32(self.editor_timeout),
            null: if self.null_result {
                NullResult::Yes
            } else {
                NullResult::No
            },
            run: token()?,
            agent: self.agent,
            workspace,
        })
    }

    /// Returns the tool server for sessions, under the same rules.
    fn server(&self, own_program: Option<PathBuf>) -> Result<Option<McpServer>, Failure> {
        if !self.mcp {
            return Ok(None);
        }
        let beside = || Some(own_program?.parent()?.join("tool-server"));
        let program = self.mcp_server.clone().or_else(beside);
        let program = program.and_then(|program| std::path::absolute(program).ok());
        let program = program.as_deref().and_then(Path::to_str);
        let program = program.ok_or_else(|| Failure::usage("--mcp: name --mcp-server"))?;
        let mut arguments = Vec::new();
        let mut flag = |name: &str, value: &str| {
            arguments.extend([name.to_owned(), value.to_owned()]);
        };
        self.deny_preset
            .iter()
            .for_each(|name| flag("--deny-preset", name));
        if self.fallback_encoding != "none" {
            flag("--fallback-encoding", &self.fallback_encoding);
        }
        if let Some(state) = self.state.as_deref().and_then(Path::to_str) {
            flag("--state", state);
        }
        arguments.extend(self.read_only.then(|| "--read-only".to_owned()));
        Ok(Some(McpServer {
            program: program.to_owned(),
            rules: named_rules("--deny", &self.deny)
                .chain(named_rules("--deny-edit", &self.deny_edit))
                .collect(),
            arguments,
        }))
    }
}

fn named_rules<'g>(
    flag: &'static str,
    globs: &'g [String],
) -> impl Iterator<Item = (&'static str, String)> + use<'g> {
    globs.iter().map(move |glob| (flag, glob.clone()))
}

fn named(session: Option<String>) -> Result<String, Failure> {
    session.ok_or_else(|| Failure::usage("name the session: --session ID; `acp-fs log` lists them"))
}

fn fallback(label: &str) -> Result<Fallback, Failure> {
    match label {
        "none" => Ok(Fallback::None),
        "auto" => Ok(Fallback::Auto),
        "gbk" => Ok(Fallback::Encoding(Encoding::GBK)),
        label => Encoding::for_label(label)
            .map(Fallback::Encoding)
            .map_err(|_| Failure::usage(format!("--fallback-encoding: unknown {label:?}"))),
    }
}

/// Returns a word that nobody can guess.
fn token() -> Result<String, Failure> {
    use rustix::rand::{GetRandomFlags, getrandom};

    let mut bytes = [0_u8; 8];
    getrandom(&mut bytes, GetRandomFlags::empty())
        .map_err(|error| Failure::failed(error.to_string()))?;
    Ok(format!("{:016x}", u64::from_le_bytes(bytes)))
}
