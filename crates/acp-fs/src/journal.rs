//! The journal: one line of JSON for each request for files, in the directory for state.
//!
//! The history knows what a change took away; the journal knows which session asked for what, and
//! what it was told. It is bounded: a file of 16 MiB and the one before it.

use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::sync::{Mutex, PoisonError};

use cap_std::fs::{Dir, File, MetadataExt as _, OpenOptions, OpenOptionsExt as _};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

const NAME: &str = "acp-journal.jsonl";
const OLDER: &str = "acp-journal.1.jsonl";
/// The size in bytes over which a new file is begun.
const MAX_BYTES: u64 = if cfg!(test) { 4096 } else { 16 * 1024 * 1024 };

/// A request for files, and what came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Record {
    /// When it was answered, in UTC.
    pub(crate) time: String,
    /// Which run of the proxy: ids of sessions come again.
    pub(crate) run: String,
    pub(crate) session: String,
    pub(crate) method: String,
    /// The path as it was sent.
    pub(crate) path: String,
    /// The real path of the root that the file lies in, and its path below that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) root: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    /// Of what lies in no root: the roots that the run works in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) roots: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<u32>,
    /// The versions of the file on the disk: hash and size up to 4 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<String>,
    /// The number of the change in the history of the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) entry: Option<u64>,
    /// The number of the one after it that gave back what an editor had lost on the disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mending: Option<u64>,
    /// `disk` or `buffer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) merged: bool,
    /// `ok`, or the code of the error.
    pub(crate) outcome: String,
}

/// The journal, to be written to.
#[derive(Debug)]
pub(crate) struct Journal {
    dir: Dir,
    file: Mutex<File>,
}

impl Journal {
    /// Opens the journal in the directory for state, and begins it where there is none.
    ///
    /// # Errors
    /// What the operating system says.
    pub(crate) fn open(dir: Dir) -> io::Result<Self> {
        let file = Mutex::new(begin(&dir)?);
        Ok(Self { dir, file })
    }

    /// Writes a line down.
    ///
    /// # Errors
    /// What the operating system says.
    pub(crate) fn write(&self, record: &Record) -> io::Result<()> {
        let line = serde_json::to_string(record)? + "\n";
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.metadata()?.len() > MAX_BYTES {
            *file = self.turn_over(&file)?;
        }
        // One call, so that lines of several processes stay whole.
        file.write_all(line.as_bytes())
    }

    /// Begins a new file, unless another process has done so.
    fn turn_over(&self, full: &File) -> io::Result<File> {
        flock(full, FlockOperation::LockExclusive)?;
        let id = |meta: cap_std::fs::Metadata| (meta.dev(), meta.ino());
        let named = self.dir.metadata(NAME).map(id).ok();
        if named == Some(id(full.metadata()?)) {
            self.dir.rename(NAME, &self.dir, OLDER)?;
        }
        let begun = begin(&self.dir);
        flock(full, FlockOperation::Unlock)?;
        begun
    }
}

/// Returns all records, oldest first. A line that is none is passed over.
///
/// # Errors
/// What the operating system says.
pub(crate) fn records(dir: &Dir) -> io::Result<Vec<Record>> {
    let mut records = Vec::new();
    for name in [OLDER, NAME] {
        let file = match dir.open(name) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for line in BufReader::new(file).split(b'\n') {
            records.extend(serde_json::from_slice::<Record>(&line?));
        }
    }
    Ok(records)
}

fn begin(dir: &Dir) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).read(true).append(true).mode(0o600);
    let mut file = dir.open_with(NAME, &options)?;
    // A line that was cut off, by a full disk or a kill, is not to take the next one with it.
    let mut last = [b'\n'];
    if file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last != [b'\n'] {
        file.write_all(b"\n")?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dir() -> (tempfile::TempDir, Dir) {
        let folder = tempfile::tempdir().unwrap();
        let authority = cap_std::ambient_authority();
        let dir = Dir::open_ambient_dir(folder.path(), authority).unwrap();
        (folder, dir)
    }

    fn record(path: &str) -> Record {
        Record {
            path: path.to_owned(),
            outcome: "ok".to_owned(),
            ..Record::default()
        }
    }

    #[test]
    fn records_come_back_in_their_order_and_for_this_user_alone() {
        let (folder, dir) = dir();
        assert_eq!(records(&dir).unwrap(), []);
        let journal = Journal::open(dir.try_clone().unwrap()).unwrap();
        let all = ["/a", "/b\n", "/c"].map(record);
        for one in &all {
            journal.write(one).unwrap();
        }
        std::fs::write(folder.path().join(OLDER), "no record\n").unwrap();
        assert_eq!(records(&dir).unwrap(), all);
        let mode = dir.metadata(NAME).unwrap().mode() & 0o777;
        assert_eq!(mode, 0o600);
    }

    #[test]
    fn a_line_that_was_cut_off_takes_no_other_with_it() {
        let (folder, dir) = dir();
        std::fs::write(folder.path().join(NAME), "{\"path\":\"/cut").unwrap();
        let journal = Journal::open(dir.try_clone().unwrap()).unwrap();
        journal.write(&record("/a")).unwrap();
        assert_eq!(records(&dir).unwrap(), [record("/a")]);
    }

    #[test]
    fn it_keeps_two_files_whoever_writes() {
        let (_folder, dir) = dir();
        let journals = [(); 2].map(|()| Journal::open(dir.try_clone().unwrap()).unwrap());
        for number in 0..400 {
            let journal = &journals[number % 2];
            journal.write(&record(&format!("/{number}"))).unwrap();
        }
        let kept = records(&dir).unwrap();
        let last = kept.last().unwrap();
        assert_eq!(last.path, "/399");
        let bytes: u64 = [NAME, OLDER]
            .map(|name| dir.metadata(name).unwrap().len())
            .iter()
            .sum();
        assert!((MAX_BYTES..3 * MAX_BYTES).contains(&bytes), "{bytes}");
        let numbers = kept
            .iter()
            .map(|record| record.path.trim_start_matches('/').parse::<u64>());
        let numbers: Vec<u64> = numbers.map(Result::unwrap).collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
    }
}
