//! What the flags and the configuration file mean: roots, rules, settings, and what to do.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use fs_core::{Encoding, Fallback};
use fs_sandbox::{
    AGENT_CONFIG, Backup, GIT_INTERNALS, HardLinks, HistoryLimits, Rights, SECRETS, Workspace,
};
use tool_server::schema::nearest;
use tool_server::{Settings, Stale, ToolSet};

use crate::failure::Failure;
use crate::flags::{Access, Flags, OrderedRoots};
use crate::switches::Outside;

/// What this run is to do and with what.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) command: Command,
    pub(crate) settings: Settings,
    pub(crate) structured_content: bool,
    pub(crate) confine: bool,
    pub(crate) outside: Outside,
    roots: Vec<Root>,
    deny: Vec<String>,
    deny_edit: Vec<String>,
    hard_links: HardLinks,
    one_filesystem: bool,
    state: Option<PathBuf>,
    limits: HistoryLimits,
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    /// Serve MCP over standard input and output.
    Serve,
    /// Call one tool.
    Call {
        tool: String,
        arguments: Vec<String>,
        print: Print,
    },
    /// Print the tools.
    Tools { print: Print },
    /// List changes.
    History { path: Option<String>, print: Print },
    /// Take changes back.
    Undo { path: String, entry: Option<u64> },
    /// Show a change.
    Show { path: String, entry: Option<u64> },
}

/// The form of what is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Print {
    Text,
    Json,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Root {
    name: String,
    path: PathBuf,
    rights: Rights,
}

impl Config {
    /// Returns what a command line asks for.
    pub(crate) fn from_line(line: impl IntoIterator<Item = OsString>) -> Result<Self, Failure> {
        let (flags, OrderedRoots(mut given)) = Flags::parse_line(line)?;
        let flags = match flags.config.clone() {
            None => flags,
            Some(path) => {
                let file = read_file(&path)?;
                let base = path.parent().unwrap_or(Path::new("")).to_owned();
                let in_file = file.file_roots().into_iter();
                given.extend(in_file.map(|(root, access)| (below(&base, &root), access)));
                flags.or(file)
            }
        };
        Self::resolve(flags, &given)
    }

    /// Returns this with rights outside the roots, as far as the flags leave any.
    pub(crate) fn with_outside(mut self, outside: Outside) -> Self {
        let left = rights(Access::Full, &self.settings);
        self.outside = Outside {
            rights: outside.rights & left,
            ..outside
        };
        self
    }

    /// Returns this with a directory for state, where no flag names one.
    pub(crate) fn with_state(mut self, state: Option<PathBuf>) -> Self {
        self.state = self.state.or(state);
        self
    }

    /// Returns the directory for state.
    pub(crate) fn state(&self) -> Option<&Path> {
        self.state.as_deref()
    }

    /// Opens the roots.
    pub(crate) fn workspace(&self) -> Result<Workspace, Failure> {
        if self.roots.is_empty() {
            return Err(Failure::usage(
                "no root: nothing is allowed by default. Name the directories to work in, \
                 for example `--root .` or `--root work=/srv/project --read-only-root docs=/srv/docs`",
            ));
        }
        let mut builder = Workspace::builder()
            .outside(self.outside.rights)
            .hard_links(self.hard_links)
            .one_filesystem(self.one_filesystem);
        for root in &self.roots {
            builder = builder.root(&root.name, &root.path, root.rights);
        }
        for glob in &self.deny {
            builder = builder.deny(glob);
        }
        for glob in &self.deny_edit {
            builder = builder.deny_edit(glob);
        }
        if let Some(state) = &self.state {
            builder = builder.history(state, self.limits);
        }
        builder
            .build()
            .map_err(|error| Failure::failed(error.to_string()))
    }

    fn resolve(flags: Flags, given: &[(OsString, Access)]) -> Result<Self, Failure> {
        refuse_what_cannot_act(&flags)?;
        let settings = settings(&flags)?;
        let print = if flags.json { Print::Json } else { Print::Text };
        let (mut deny, mut deny_edit) = (flags.deny, flags.deny_edit);
        deny_edit.extend(globs(GIT_INTERNALS));
        for preset in &flags.deny_preset {
            match preset.as_str() {
                "secrets" => deny.extend(globs(SECRETS)),
                "agent-config" => deny_edit.extend(globs(AGENT_CONFIG)),
                other => return Err(unknown("deny-preset", other, &["secrets", "agent-config"])),
            }
        }
        Ok(Self {
            command: command(flags.words, print)?,
            roots: roots(given, &settings)?,
            settings,
            structured_content: flags.structured_content,
            confine: flags.confine,
            outside: Outside::default(),
            deny,
            deny_edit,
            hard_links: hard_links(flags.hard_links.as_deref())?,
            one_filesystem: flags.one_filesystem,
            state: flags.state,
            limits: limits(flags.history_entries, flags.history_bytes),
        })
    }
}

/// Returns the roots of a workspace as one line: names, paths and rights.
pub(crate) fn describe_roots(workspace: &Workspace) -> String {
    let roots = workspace.roots().into_iter().map(|root| {
        let rights = describe_rights(root.rights);
        format!("{}={} ({rights})", root.name, root.path.display())
    });
    roots.collect::<Vec<_>>().join(", ")
}

/// Returns what may be done outside the roots as one line, and by which switches; `None` for nothing.
pub(crate) fn describe_outside(outside: &Outside) -> Option<String> {
    if outside.rights == Rights::NONE {
        return None;
    }
    let rights = describe_rights(outside.rights);
    let switches = outside.switches.join(", ");
    Some(format!("outside the roots: {rights} (by {switches})"))
}

/// Returns rights in words.
pub(crate) fn describe_rights(rights: Rights) -> String {
    let all = [
        (Rights::READ, "read"),
        (Rights::EDIT, "edit"),
        (Rights::DELETE, "delete"),
    ];
    let held = all.iter().filter(|(right, _)| rights.contains(*right));
    let words: Vec<&str> = held.map(|(_, word)| *word).collect();
    words.join(", ")
}

fn refuse_what_cannot_act(flags: &Flags) -> Result<(), Failure> {
    let later = "is not there yet, and is not ignored in silence: leave it out";
    if flags.http.is_some() {
        return Err(Failure::usage(format!(
            "--http {later}; MCP is served over stdio"
        )));
    }
    if flags.client_roots {
        let stays = "the roots of the command line hold";
        return Err(Failure::usage(format!("--client-roots {later}; {stays}")));
    }
    Ok(())
}

fn globs(names: &[&str]) -> impl Iterator<Item = String> {
    names.iter().map(|name| (*name).to_owned())
}

fn settings(flags: &Flags) -> Result<Settings, Failure> {
    let settings = Settings {
        set: tool_set(flags.tools.as_deref())?,
        read_only: flags.read_only,
        no_delete: flags.no_delete,
        disabled: flags.disable_tool.iter().cloned().collect(),
        fallback: fallback(flags.fallback_encoding.as_deref())?,
        backup: backup(flags.backup.as_deref())?,
        max_read_bytes: match flags.max_read_bytes {
            None => Some(Settings::MAX_READ_BYTES),
            Some(0) => None,
            limit => limit,
        },
        stale: stale(flags.stale.as_deref())?,
    };
    let names: Vec<&str> = ToolSet::All.specs().map(|spec| spec.name).collect();
    for name in &flags.disable_tool {
        if !names.contains(&name.as_str()) {
            return Err(unknown("disable-tool", name, &names));
        }
    }
    Ok(settings)
}

fn tool_set(name: Option<&str>) -> Result<ToolSet, Failure> {
    let Some(name) = name else {
        return Ok(ToolSet::default());
    };
    let found = ToolSet::ALL.into_iter().find(|set| set.name() == name);
    found.ok_or_else(|| unknown("tools", name, &ToolSet::ALL.map(ToolSet::name)))
}

fn fallback(label: Option<&str>) -> Result<Fallback, Failure> {
    match label {
        None | Some("auto") => Ok(Fallback::Auto),
        Some("none") => Ok(Fallback::None),
        Some("gbk") => Ok(Fallback::Encoding(Encoding::GBK)),
        Some(label) => Encoding::for_label(label)
            .map(Fallback::Encoding)
            .map_err(|_| unknown("fallback-encoding", label, &["auto", "gbk", "none"])),
    }
}

fn backup(policy: Option<&str>) -> Result<Backup, Failure> {
    match policy {
        None | Some("single") => Ok(Backup::Single),
        Some("keep") => Ok(Backup::Keep),
        Some("off") => Ok(Backup::Off),
        Some(other) => Err(unknown("backup", other, &["single", "keep", "off"])),
    }
}

fn hard_links(policy: Option<&str>) -> Result<HardLinks, Failure> {
    match policy {
        None | Some("break") => Ok(HardLinks::Break),
        Some("refuse") => Ok(HardLinks::Refuse),
        Some("in-place") => Ok(HardLinks::InPlace),
        Some(other) => Err(unknown(
            "hard-links",
            other,
            &["break", "refuse", "in-place"],
        )),
    }
}

fn stale(policy: Option<&str>) -> Result<Stale, Failure> {
    match policy {
        None | Some("refuse") => Ok(Stale::Refuse),
        Some("allow") => Ok(Stale::Allow),
        Some(other) => Err(unknown("stale", other, &["refuse", "allow"])),
    }
}

fn command(words: Vec<String>, print: Print) -> Result<Command, Failure> {
    let mut words = words.into_iter();
    match words.next().as_deref() {
        None => Ok(Command::Serve),
        Some("tools") => match words.next() {
            None => Ok(Command::Tools { print }),
            Some(word) => Err(Failure::usage(format!("`tools` takes no {word:?}"))),
        },
        Some("call") => match words.next() {
            Some(tool) => Ok(Command::Call {
                tool,
                arguments: words.collect(),
                print,
            }),
            None => Err(Failure::usage("`call` needs a tool: call TOOL ARG=VALUE…")),
        },
        Some("history") => match (words.next(), words.next()) {
            (path, None) => Ok(Command::History { path, print }),
            _ => Err(Failure::usage("`history` takes one path at most")),
        },
        Some("undo") => {
            let (path, entry) = change("undo", words)?;
            Ok(Command::Undo { path, entry })
        }
        Some("show") => {
            let (path, entry) = change("show", words)?;
            Ok(Command::Show { path, entry })
        }
        Some(other) => {
            let commands = ["call", "tools", "history", "undo", "show"];
            Err(unknown("command", other, &commands))
        }
    }
}

/// Returns the path and the entry that a command names: `7` and `#7` are the same.
fn change(
    command: &str,
    mut words: impl Iterator<Item = String>,
) -> Result<(String, Option<u64>), Failure> {
    let usage = || Failure::usage(format!("`{command}` needs a file: {command} PATH [ENTRY]"));
    let path = words.next().ok_or_else(usage)?;
    let number = |word: String| {
        let digits = word.strip_prefix('#').unwrap_or(&word);
        let no_number = || Failure::usage(format!("{word}: an entry is a number, see `history`"));
        digits.parse().map_err(|_| no_number())
    };
    let entry = words.next().map(number).transpose()?;
    match words.next() {
        None => Ok((path, entry)),
        Some(_) => Err(usage()),
    }
}

fn limits(entries: Option<u64>, bytes: Option<u64>) -> HistoryLimits {
    let limits = HistoryLimits::default();
    HistoryLimits {
        entries: entries.unwrap_or(limits.entries),
        bytes: bytes.unwrap_or(limits.bytes),
    }
}

fn roots(given: &[(OsString, Access)], settings: &Settings) -> Result<Vec<Root>, Failure> {
    let mut roots: Vec<Root> = Vec::with_capacity(given.len());
    let split: Vec<_> = given.iter().map(|(root, _)| split_name(root)).collect();
    let taken: HashSet<&str> = split.iter().filter_map(|(name, _)| *name).collect();
    for ((name, path), (_, access)) in split.iter().zip(given) {
        let path = std::path::absolute(path)
            .map_err(|error| Failure::usage(format!("--root {}: {error}", path.display())))?;
        let name = match name {
            Some(name) if roots.iter().any(|root| root.name == *name) => {
                return Err(Failure::usage(format!("two roots are named {name}")));
            }
            Some(name) => (*name).to_owned(),
            None => free_name(&path, &roots, &taken),
        };
        roots.push(Root {
            name,
            path,
            rights: rights(*access, settings),
        });
    }
    Ok(roots)
}

fn rights(access: Access, settings: &Settings) -> Rights {
    if access == Access::Read || settings.read_only {
        Rights::READ
    } else if settings.no_delete {
        Rights::READ | Rights::EDIT
    } else {
        Rights::ALL
    }
}

/// Splits `NAME=PATH`; what stands before `=` is a name only when it looks like one.
fn split_name(root: &OsStr) -> (Option<&str>, &Path) {
    let text = root.to_str().and_then(|text| text.split_once('='));
    match text {
        Some((name, path)) if is_name(name) => (Some(name), Path::new(path)),
        _ => (None, Path::new(root)),
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_name_char)
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_')
}

/// Returns `workspace` for the first root and the directory's own name for the others, with a
/// number where that is taken.
fn free_name(path: &Path, roots: &[Root], taken: &HashSet<&str>) -> String {
    let base = if roots.is_empty() {
        "workspace".to_owned()
    } else {
        let name = path.file_name().unwrap_or(OsStr::new("root"));
        let plain = |c: char| if is_name_char(c) { c } else { '-' };
        name.to_string_lossy().chars().map(plain).collect()
    };
    let is_free = |name: &str| !taken.contains(name) && roots.iter().all(|root| root.name != *name);
    // One of these is free: there are fewer names than numbers.
    std::iter::once(base.clone())
        .chain((2..u64::MAX).map(|number| format!("{base}-{number}")))
        .find(|name| is_free(name))
        .unwrap_or(base)
}

fn read_file(path: &Path) -> Result<Flags, Failure> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the operator names this file before there is a workspace"
    )]
    let text = std::fs::read_to_string(path);
    let text =
        text.map_err(|error| Failure::usage(format!("--config {}: {error}", path.display())))?;
    toml::from_str(&text)
        .map_err(|error| Failure::usage(format!("--config {}: {error}", path.display())))
}

/// Returns a root of a configuration file; a relative path starts at the file's directory.
fn below(base: &Path, root: &OsStr) -> OsString {
    match split_name(root) {
        (Some(name), path) => {
            let mut root = OsString::from(format!("{name}="));
            root.push(base.join(path));
            root
        }
        (None, path) => base.join(path).into(),
    }
}

fn unknown(flag: &str, value: &str, accepted: &[&str]) -> Failure {
    let dashes = if flag == "command" { "" } else { "--" };
    let meant = nearest(value, accepted.iter().copied())
        .map_or_else(|| ".".to_owned(), |near| format!("; did you mean {near}?"));
    let accepted = accepted.join(", ");
    Failure::usage(format!(
        "{dashes}{flag}: unknown {value:?}{meant} There are: {accepted}"
    ))
}

#[cfg(test)]
mod tests;
