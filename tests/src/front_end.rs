//! One call in words that no protocol owns, and what came back.

use std::path::PathBuf;

use fs_edit::{Edit as Replacement, EolMode};
use serde_json::Value;

/// Whatever carries calls to the engines: the engines themselves, or a server over its wire.
pub trait FrontEnd: Sync + Sized {
    /// The driver's name in reports.
    const NAME: &'static str;

    /// Whether a window has the breaks of its lines; without them its lines are joined by LF.
    const BREAKS: bool = true;

    /// Starts it on these settings.
    fn start(settings: &Settings) -> Self;

    /// Says why this front end has no words for `op`; `None` when it has.
    fn lacks(op: &Op) -> Option<&'static str>;

    /// Says why this front end cannot be started on `settings`; `None` when it can.
    fn lacks_settings(settings: &Settings) -> Option<&'static str> {
        let _ = settings;
        None
    }

    /// Makes the call and waits for its answer.
    fn call(&self, op: &Op) -> Answer;

    /// Returns the peak memory of the process that serves, in bytes, where it is one of its own.
    fn peak_memory(&self) -> Option<u64> {
        None
    }

    /// Reads the whole file.
    fn read(&self, path: &str) -> Answer {
        self.call(&Op::Read(Read::whole(path)))
    }

    /// Overwrites or creates the file.
    fn write(&self, path: &str, text: &str) -> Answer {
        self.call(&Op::Write(Write::over(path, text)))
    }

    /// Replaces `old`, which must occur once, by `new`.
    fn edit(&self, path: &str, old: &str, new: &str) -> Answer {
        self.call(&Op::Edit(Edit::once(path, old, new)))
    }

    /// Lists a directory.
    fn list(&self, path: &str) -> Answer {
        self.call(&Op::List(List::of(path)))
    }

    /// Searches a directory for a literal text.
    fn search(&self, path: &str, query: &str) -> Answer {
        self.call(&Op::Search(Search::text(path, query)))
    }
}

/// What a front end is started with.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The roots, the first one first.
    pub roots: Vec<Root>,
    /// Globs of names that do not exist for callers.
    pub deny: Vec<String>,
    /// The rights outside the roots: `read`, `edit`, `delete`.
    pub outside: Vec<String>,
    /// `break`, `refuse` or `in-place`.
    pub hard_links: Option<String>,
    /// Whether paths may not cross into another file system.
    pub one_filesystem: bool,
    /// `auto`, `gbk`, `none` or a label; `None` for the suite's default, `auto`.
    pub fallback: Option<String>,
    /// A file over this many bytes is not read whole.
    pub max_read_bytes: Option<u64>,
}

/// A root with its rights: `read`, `edit`, `delete`.
#[derive(Debug, Clone)]
pub struct Root {
    /// Its name.
    pub name: String,
    /// Its directory.
    pub path: PathBuf,
    /// Its rights.
    pub rights: Vec<String>,
}

/// A call.
#[derive(Debug, Clone)]
pub enum Op {
    /// Read a window.
    Read(Read),
    /// Write text.
    Write(Write),
    /// Edit exactly.
    Edit(Edit),
    /// List a directory.
    List(List),
    /// Show what is below a directory.
    Tree(Walk),
    /// Search below a directory.
    Search(Search),
    /// Copy a file.
    Copy(Transfer),
    /// Move a file or a link.
    Move(Transfer),
    /// Say what a path names.
    Stat(String),
    /// Create a directory.
    CreateDir(NewDir),
    /// Remove a file or a link.
    Remove(String),
    /// Take back the newest change of a file.
    Undo(String),
}

/// A read.
#[derive(Debug, Clone)]
pub struct Read {
    /// The path as sent.
    pub path: String,
    /// The lines wanted.
    pub range: Range,
    /// The declared encoding.
    pub encoding: Option<String>,
    /// The most bytes of text.
    pub max_bytes: Option<u64>,
    /// The most characters of a line.
    pub max_line_chars: Option<u64>,
}

/// The lines wanted.
#[derive(Debug, Clone, Copy)]
pub enum Range {
    /// All of them.
    All,
    /// From a place on; lines and columns from 1.
    From {
        /// The line.
        line: u64,
        /// The column in it.
        column: u64,
        /// How many lines at most.
        limit: Option<u64>,
    },
    /// The last so many.
    Tail(u64),
}

/// A write.
#[derive(Debug, Clone)]
pub struct Write {
    /// The path as sent.
    pub path: String,
    /// The text.
    pub text: String,
    /// How what is there is treated.
    pub mode: Mode,
    /// The declared encoding.
    pub encoding: Option<String>,
    /// The version that the file must be.
    pub if_version: Option<String>,
}

/// How a write treats what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Replaces it.
    Overwrite,
    /// Goes after it.
    Append,
    /// Goes before this line.
    Insert(u64),
    /// Refuses it.
    Create,
}

/// An edit.
#[derive(Debug, Clone)]
pub struct Edit {
    /// The path as sent.
    pub path: String,
    /// What to change.
    pub target: fs_edit::Target,
    /// How line breaks are treated.
    pub eol: EolMode,
    /// The declared encoding.
    pub encoding: Option<String>,
    /// The version that the file must be.
    pub if_version: Option<String>,
    /// Whether a backup is wanted.
    pub backup: bool,
    /// Whether only to say what would change.
    pub dry_run: bool,
}

/// A listing.
#[derive(Debug, Clone)]
pub struct List {
    /// The path as sent.
    pub path: String,
    /// The most entries.
    pub limit: Option<u64>,
    /// The last entry of the page before.
    pub after: Option<String>,
    /// The order.
    pub order: Order,
}

/// The order of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// The front end's own.
    #[default]
    Own,
    /// By name.
    Name,
    /// Folders first, then by name.
    FoldersFirst,
}

/// A walk of a tree.
#[derive(Debug, Clone)]
pub struct Walk {
    /// The path as sent.
    pub path: String,
    /// How deep to go; with 1 only the entries of the directory itself.
    pub max_depth: u64,
    /// The most entries.
    pub max_entries: u64,
    /// Whether hidden names are shown and every folder is entered.
    pub include_hidden: bool,
}

/// A search.
#[derive(Debug, Clone)]
pub struct Search {
    /// The path as sent.
    pub path: String,
    /// What to search for.
    pub query: String,
    /// Where to look for it.
    pub within: Within,
    /// Whether the query is a regular expression.
    pub regex: bool,
    /// A glob that files must match.
    pub file_glob: Option<String>,
    /// The most results.
    pub max_results: Option<u64>,
    /// Lines around each hit.
    pub context_lines: u64,
    /// Whether hidden names are searched.
    pub include_hidden: bool,
    /// What files are taken for that are not UTF-8.
    pub encoding: Option<String>,
}

/// Where a search looks for its query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Within {
    /// In texts.
    #[default]
    Text,
    /// In names.
    Names,
    /// Where a name is defined.
    Definitions,
}

/// A copy or a move.
#[derive(Debug, Clone)]
pub struct Transfer {
    /// The source's path as sent.
    pub from: String,
    /// The target's path as sent.
    pub to: String,
    /// Whether a file that is there is replaced.
    pub overwrite: bool,
}

/// A directory to be made.
#[derive(Debug, Clone)]
pub struct NewDir {
    /// The path as sent.
    pub path: String,
    /// Whether missing directories above it are made too.
    pub parents: bool,
    /// Whether a directory that is there will do.
    pub exist_ok: bool,
}

/// What came back.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The outcome.
    pub result: Result<Done, Refusal>,
    /// All that the caller could see, as it was sent.
    pub raw: String,
}

/// A success.
#[derive(Debug, Clone, Default)]
pub struct Done {
    /// The text of a read; the words of anything else.
    pub text: String,
    /// The hint of a read or listing, and what else is not plain.
    pub hint: String,
    /// The names of a listing, a tree (two blanks for each level) or a search of names: `/` after a
    /// directory, `@` after a link where links are told.
    pub names: Vec<String>,
    /// The lines that a search of texts found.
    pub blocks: Vec<Block>,
    /// The facts about it, by the names of the tool server.
    pub facts: Value,
}

/// Consecutive lines of a file that a search shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Block {
    /// The file's path as told.
    pub path: String,
    /// The number of the first line.
    pub first_line: u64,
    /// The lines, and whether each is a hit.
    pub lines: Vec<(String, bool)>,
}

/// A failure.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// Its stable code.
    pub code: String,
    /// Its whole object.
    pub fields: Value,
}

impl Settings {
    /// Returns settings with one root `ws` and all rights.
    pub fn on(root: impl Into<PathBuf>) -> Self {
        Self {
            roots: vec![Root {
                name: "ws".to_owned(),
                path: root.into(),
                rights: ["read", "edit", "delete"].map(str::to_owned).to_vec(),
            }],
            ..Self::default()
        }
    }
}

impl Op {
    /// Returns the path as sent; of a copy or move the source's.
    pub fn path(&self) -> &str {
        self.paths()[0]
    }

    /// Returns all paths as sent.
    pub fn paths(&self) -> Vec<&str> {
        match self {
            Self::Read(Read { path, .. })
            | Self::Write(Write { path, .. })
            | Self::Edit(Edit { path, .. })
            | Self::List(List { path, .. })
            | Self::Tree(Walk { path, .. })
            | Self::Search(Search { path, .. })
            | Self::CreateDir(NewDir { path, .. })
            | Self::Stat(path)
            | Self::Remove(path)
            | Self::Undo(path) => vec![path],
            Self::Copy(Transfer { from, to, .. }) | Self::Move(Transfer { from, to, .. }) => {
                vec![from, to]
            }
        }
    }
}

impl Read {
    /// Returns a read of the whole file.
    pub fn whole(path: &str) -> Self {
        Self::lines(path, Range::All)
    }

    /// Returns a read of some lines.
    pub fn lines(path: &str, range: Range) -> Self {
        Self {
            path: path.to_owned(),
            range,
            encoding: None,
            max_bytes: None,
            max_line_chars: None,
        }
    }
}

impl Write {
    /// Returns a write that replaces what is there.
    pub fn over(path: &str, text: &str) -> Self {
        Self::in_mode(path, text, Mode::Overwrite)
    }

    /// Returns a write in `mode`.
    pub fn in_mode(path: &str, text: &str, mode: Mode) -> Self {
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            mode,
            encoding: None,
            if_version: None,
        }
    }
}

impl Edit {
    /// Returns an edit of one text that must occur once.
    pub fn once(path: &str, old: &str, new: &str) -> Self {
        Self::all(path, &[(old, new)])
    }

    /// Returns an edit of several texts that must occur once each.
    pub fn all(path: &str, pairs: &[(&str, &str)]) -> Self {
        let edits = pairs.iter().map(|(old, new)| Replacement {
            old: (*old).to_owned(),
            new: (*new).to_owned(),
            expected_count: 1,
        });
        Self::to(path, fs_edit::Target::Text(edits.collect()))
    }

    /// Returns an edit of `target`.
    pub fn to(path: &str, target: fs_edit::Target) -> Self {
        Self {
            path: path.to_owned(),
            target,
            eol: EolMode::Auto,
            encoding: None,
            if_version: None,
            backup: false,
            dry_run: false,
        }
    }
}

impl List {
    /// Returns a listing of a directory in the front end's own order.
    pub fn of(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            limit: None,
            after: None,
            order: Order::Own,
        }
    }
}

impl Walk {
    /// Returns a walk of all that is below a directory, 50 levels and 5,000 entries at most.
    pub fn of(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            max_depth: 50,
            max_entries: 5000,
            include_hidden: false,
        }
    }
}

impl Search {
    /// Returns a search of texts for a literal.
    pub fn text(path: &str, query: &str) -> Self {
        Self {
            path: path.to_owned(),
            query: query.to_owned(),
            within: Within::Text,
            regex: false,
            file_glob: None,
            max_results: None,
            context_lines: 0,
            include_hidden: false,
            encoding: None,
        }
    }

    /// Returns a search of names.
    pub fn names(path: &str, query: &str) -> Self {
        Self {
            within: Within::Names,
            ..Self::text(path, query)
        }
    }
}

impl Transfer {
    /// Returns a transfer that replaces nothing.
    pub fn new(from: &str, to: &str) -> Self {
        Self {
            from: from.to_owned(),
            to: to.to_owned(),
            overwrite: false,
        }
    }

    /// Returns a transfer that replaces what is there.
    pub fn over(from: &str, to: &str) -> Self {
        Self {
            overwrite: true,
            ..Self::new(from, to)
        }
    }
}

impl NewDir {
    /// Returns a directory whose parent is there and which is not.
    pub fn new(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            parents: false,
            exist_ok: false,
        }
    }
}

impl Done {
    /// Returns the hits of a search as `PATH:LINE:text`.
    pub fn hits(&self) -> Vec<String> {
        let hits = self.blocks.iter().flat_map(Block::hits);
        hits.collect()
    }
}

impl Block {
    fn hits(&self) -> impl Iterator<Item = String> {
        let numbered = (self.first_line..).zip(&self.lines);
        let hits = numbered.filter(|(_, (_, is_hit))| *is_hit);
        hits.map(|(number, (text, _))| format!("{}:{number}:{text}", self.path))
    }
}

impl Answer {
    /// Returns `ok` or the code.
    pub fn code(&self) -> &str {
        self.result
            .as_ref()
            .map_or_else(|no| no.code.as_str(), |_| "ok")
    }

    /// Returns the success.
    #[track_caller]
    pub fn done(&self) -> &Done {
        self.result
            .as_ref()
            .unwrap_or_else(|no| panic!("refused: {no:?}"))
    }

    /// Returns the failure.
    #[track_caller]
    pub fn refusal(&self) -> &Refusal {
        self.result.as_ref().expect_err("a refusal was due")
    }

    /// Returns the text, or the code in angle brackets.
    pub fn shown(&self) -> String {
        match &self.result {
            Ok(done) => done.text.clone(),
            Err(no) => format!("<{}>", no.code),
        }
    }
}
