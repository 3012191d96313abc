//! Many writers on one file: through one server, through two, and strangers that know of none.
//!
//! Every change lands once or is answered `conflict`; what a stranger wrote is never merged with what
//! was there before it, nor undone by a change that did not see it.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::{Mcp, Openat2, Pending, Race, World};

/// Calls in flight at each server at the same time.
const IN_FLIGHT: usize = 12;
/// How often they are sent.
const ROUNDS: usize = 8;
/// How long strangers disturb.
const RACED: Duration = Duration::from_millis(2500);
/// Lines of a stranger, at most.
const TURNS: usize = 1500;

#[test]
fn edits_and_appends_through_one_server_land_once_or_conflict() {
    World::in_memory(Openat2::Open, |world| land_once(world, 1));
}

#[test]
fn edits_and_appends_through_two_servers_land_once_or_conflict() {
    World::in_memory(Openat2::Open, |world| land_once(world, 2));
}

#[test]
fn no_overwrite_with_a_version_is_lost_through_one_server() {
    World::in_memory(Openat2::Open, |world| count_up(world, 1));
}

#[test]
fn no_overwrite_with_a_version_is_lost_through_two_servers() {
    World::in_memory(Openat2::Open, |world| count_up(world, 2));
}

#[test]
fn a_stranger_that_replaces_the_file_is_neither_merged_nor_undone() {
    World::in_memory(Openat2::Open, strangers_replace);
}

#[test]
fn a_stranger_that_appends_in_place_keeps_its_lines() {
    World::in_memory(Openat2::Open, stranger_appends);
}

fn servers(world: &World, count: usize) -> Vec<Mcp> {
    let root = format!("--root={}", world.root().display());
    let start = || Mcp::with(&["--tools=all".to_owned(), root.clone()]);
    (0..count).map(|_| start()).collect()
}

fn edit(old: &str, new: &str) -> Value {
    json!({"path": "f", "edits": [{"old": old, "new": new}]})
}

/// A change that was sent, and the line that it makes.
struct Sent<'a> {
    server: &'a Mcp,
    pending: Pending,
    /// The line that it replaces; none for an append.
    old: Option<String>,
    new: String,
}

impl<'a> Sent<'a> {
    fn edit(server: &'a Mcp, name: &str) -> Self {
        let (old, new) = (format!("<{name}>"), format!("[{name}]"));
        Self {
            pending: server.post_tool("files_edit", &edit(&old, &new)),
            old: Some(old),
            server,
            new,
        }
    }

    fn append(server: &'a Mcp, name: &str) -> Self {
        let new = format!("+{name}");
        let arguments = json!({"path": "f", "mode": "append", "content": format!("{new}\n")});
        Self {
            pending: server.post_tool("files_write", &arguments),
            old: None,
            server,
            new,
        }
    }
}

fn land_once(world: &World, count: usize) {
    let servers = servers(world, count);
    let mut conflicts = 0;
    for round in 0..ROUNDS {
        let names: Vec<String> = (0..IN_FLIGHT * count)
            .map(|k| format!("{round}-{k}"))
            .collect();
        let tokens: String = names.iter().flat_map(|name| ["<", name, ">\n"]).collect();
        fs::write(world.path("root/f"), tokens).unwrap();
        let mut sent = Vec::new();
        for (k, name) in names.iter().enumerate() {
            let server = &servers[k % count];
            sent.push(Sent::edit(server, name));
            sent.push(Sent::append(server, name));
        }
        conflicts += check_landed(world, &sent, names.len());
    }
    assert_eq!(world.tree().0.len(), 3, "no temporary file is left");
    // Writers of one server wait for each other; those of two may miss the file that they looked at.
    let most = if count == 1 { 0 } else { ROUNDS * IN_FLIGHT };
    assert!(conflicts <= most, "{conflicts} conflicts");
}

/// Checks that the file holds what the answers say, and returns how many were `conflict`.
fn check_landed(world: &World, sent: &[Sent<'_>], tokens: usize) -> usize {
    let mut made = Vec::new();
    for each in sent {
        match each.server.answer_to(&each.pending).code() {
            "ok" => made.push(each),
            code => assert_eq!(code, "conflict", "{}", each.new),
        }
    }
    let text = String::from_utf8(world.get("root/f")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let (head, tail) = lines.split_at(tokens);
    let mut edits = sent.iter().filter(|each| each.old.is_some());
    for line in head {
        let edit = edits.next().expect("an edit of each line");
        let is_made = made.iter().any(|each| each.new == edit.new);
        let wanted = edit.old.as_ref().filter(|_| !is_made).unwrap_or(&edit.new);
        assert_eq!(line, wanted);
    }
    let mut appended: Vec<&str> = tail.to_vec();
    let appends = made.iter().filter(|each| each.old.is_none());
    let mut wanted: Vec<&str> = appends.map(|each| each.new.as_str()).collect();
    appended.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(appended, wanted);
    sent.len() - made.len()
}

/// Four writers at each server count up in one file: each step names the version that it read.
fn count_up(world: &World, count: usize) {
    const STEPS: usize = 12;
    const WRITERS: usize = 4;
    world.put("root/f", "0\n");
    let servers = servers(world, count);
    std::thread::scope(|scope| {
        for server in &servers {
            for _ in 0..WRITERS {
                scope.spawn(|| (0..STEPS).for_each(|_| step(server)));
            }
        }
    });
    let total = STEPS * WRITERS * count;
    assert_eq!(world.get("root/f"), format!("{total}\n").into_bytes());
}

/// Adds one to the number in the file, however often that takes.
fn step(server: &Mcp) {
    loop {
        let read = server.tool("files_read", &json!({"path": "f", "version": true}));
        let read = read.done();
        let number: usize = read.text.trim_end().parse().expect("a whole number");
        let content = format!("{}\n", number + 1);
        let version = &read.facts["version"];
        let write = json!({"path": "f", "content": content, "if_version": version});
        match server.tool("files_write", &write).code() {
            "ok" => return,
            code => assert_eq!(code, "conflict"),
        }
    }
}

/// What may stand at the name: the stranger's content of a number, as it was written, as an edit has
/// changed it, or the note of an overwrite that says which number it knowingly replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Content {
    number: usize,
    by: String,
}

const NOBODY: &str = "nobody";
const NOTE: &str = "note";

impl Content {
    fn text(&self) -> String {
        let letter = char::from(b'a' + u8::try_from(self.number % 26).unwrap());
        let body = letter.to_string().repeat(3000);
        format!("{}\nby {}\n{body}\n", self.number, self.by)
    }

    /// Reads a text, which must be one of these contents and nothing else.
    #[track_caller]
    fn of(text: &str) -> Self {
        let mut lines = text.lines();
        let number = lines.next().and_then(|line| line.parse().ok());
        let by = lines.next().and_then(|line| line.strip_prefix("by "));
        let (Some(number), Some(by)) = (number, by) else {
            panic!("torn: {text:?}")
        };
        let content = Self {
            number,
            by: by.to_owned(),
        };
        assert_eq!(text, content.text(), "mixed");
        content
    }

    /// Takes the name by a rename, as other programs save, at the moment that `delay` waits for.
    fn take_name(&self, path: &Path, delay: impl FnOnce()) {
        let temp = path.with_extension("stranger");
        fs::write(&temp, self.text()).unwrap();
        delay();
        fs::rename(temp, path).unwrap();
    }
}

/// Moments without a pattern within what a call takes.
struct Moments {
    random: u32,
    call: Duration,
}

impl Moments {
    fn new(seed: u32) -> Self {
        let call = Duration::from_micros(500);
        Self { random: seed, call }
    }

    /// Waits until such a moment; a sleep would be too coarse.
    fn wait(&mut self, start: Instant) {
        self.random = self
            .random
            .wrapping_mul(1_664_525)
            .wrapping_add(1_013_904_223);
        let share = f64::from(self.random >> 8) / f64::from(1 << 24);
        let moment = self.call.mul_f64(share);
        while start.elapsed() < moment {
            std::hint::spin_loop();
        }
    }

    /// Learns how long a call takes.
    fn answered(&mut self, start: Instant) {
        self.call = (self.call * 7 + start.elapsed()) / 8;
    }
}

fn strangers_replace(world: &World) {
    let path = world.path("root/f");
    let mut content = Content {
        number: 0,
        by: NOBODY.to_owned(),
    };
    content.take_name(&path, || ());
    let written = Arc::new(AtomicUsize::new(0));
    let torn = Arc::new(Mutex::new(Vec::new()));
    let reader = watch(path.clone(), Arc::clone(&written), Arc::clone(&torn));
    let servers = servers(world, 2);
    let mut moments = Moments::new(7);
    let (mut made, mut refused) = (0, 0);
    let begun = Instant::now();
    while begun.elapsed() < RACED {
        let start = Instant::now();
        let turn = content.number;
        let note = knowing(&servers[0], turn);
        let edits = [0, 1].map(|k| {
            let change = edit("by nobody", &format!("by edit {turn}-{k}"));
            (&servers[k], servers[k].post_tool("files_edit", &change))
        });
        content.number += 1;
        written.store(content.number, Ordering::SeqCst);
        content.take_name(&path, || moments.wait(start));
        for (server, pending) in edits.into_iter().chain(note) {
            match server.answer_to(&pending).code() {
                "ok" => made += 1,
                code => {
                    assert!(["conflict", "no_match"].contains(&code), "{code}");
                    refused += 1;
                }
            }
        }
        moments.answered(start);
        let found = Content::of(&fs::read_to_string(&path).unwrap());
        assert_eq!(found.number, content.number, "{found:?} came back");
    }
    assert!(reader.stop() > 0);
    assert_eq!(*torn.lock().unwrap(), Vec::<String>::new());
    assert!(made > 0 && refused > 0, "{made} made, {refused} refused");
}

/// Sends, every third time, an overwrite that replaces what it has read and says so.
fn knowing(server: &Mcp, turn: usize) -> Option<(&Mcp, Pending)> {
    if !turn.is_multiple_of(3) {
        return None;
    }
    let read = server.tool(
        "files_read",
        &json!({"path": "f", "limit": 50, "version": true}),
    );
    let read = read.done();
    let number = read.text.lines().next()?.parse().ok()?;
    let by = NOTE.to_owned();
    let content = Content { number, by }.text();
    let version = &read.facts["version"];
    let arguments = json!({"path": "f", "content": content, "if_version": version});
    Some((server, server.post_tool("files_write", &arguments)))
}

/// Reads the file over and over: each content is whole, and none is newer than what was written.
fn watch(path: PathBuf, written: Arc<AtomicUsize>, torn: Arc<Mutex<Vec<String>>>) -> Race {
    Race::of(move || {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let seen = std::panic::catch_unwind(|| Content::of(&text));
        if seen.is_ok_and(|seen| seen.number <= written.load(Ordering::SeqCst)) {
            // Whoever writes needs a processor, too.
            std::thread::sleep(Duration::from_micros(200));
            return;
        }
        torn.lock().unwrap().push(text);
    })
}

/// A stranger adds lines to the open file while edits replace it: a line that went into the file that
/// has the name is there in the end, and the edits that were answered are made.
fn stranger_appends(world: &World) {
    let path = world.path("root/f");
    fs::write(&path, "mark 0\n").unwrap();
    let server = &servers(world, 1)[0];
    let mut moments = Moments::new(11);
    let (mut marks, mut sure, mut turn) = (0, Vec::new(), 0);
    let begun = Instant::now();
    while begun.elapsed() < RACED && turn < TURNS {
        turn += 1;
        let start = Instant::now();
        let change = edit(&format!("mark {marks}\n"), &format!("mark {}\n", marks + 1));
        let pending = server.post_tool("files_edit", &change);
        let line = format!("stranger {turn}");
        if append(&path, &line, || moments.wait(start)) {
            sure.push(line);
        }
        match server.answer_to(&pending).code() {
            "ok" => marks += 1,
            code => assert_eq!(code, "conflict"),
        }
        moments.answered(start);
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], format!("mark {marks}"));
        // A line that is there stays there; all of them are looked at in the end.
        let last = sure.last().map(String::as_str);
        assert!(last.is_none_or(|last| lines.contains(&last)), "{last:?}");
    }
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let missing = sure.iter().find(|line| !lines.contains(&line.as_str()));
    assert_eq!(missing, None);
    assert!(
        marks > 0 && sure.len() > turn / 2,
        "{marks}, {}",
        sure.len()
    );
}

/// Returns whether the file still had the name once the line was in it.
fn append(path: &Path, line: &str, delay: impl FnOnce()) -> bool {
    delay();
    let mut file = File::options().append(true).open(path).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
    let has_name = fs::metadata(path).unwrap().ino();
    file.metadata().unwrap().ino() == has_name
}
