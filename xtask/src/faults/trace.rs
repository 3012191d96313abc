//! The system calls of a run, from what strace wrote.

use std::collections::{BTreeMap, BTreeSet};

/// A system call that can be broken. strace counts the calls of a name in each thread by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) name: String,
    /// Which call of this name in its thread, from 1.
    pub(super) ordinal: u32,
    /// Its thread, by the order in which they appear, from 0.
    pub(super) thread: usize,
    pub(super) on: On,
}

/// What a call works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum On {
    /// The files of the roots.
    Tree,
    /// The state directory.
    Store,
    /// The answer, or a line for people.
    Answer,
    /// The process: memory, signals, random numbers.
    Process,
}

/// The threads of a log and how often each has made each call.
#[derive(Debug, Default)]
struct Threads<'a> {
    ids: Vec<&'a str>,
    counts: BTreeMap<(&'a str, &'a str), u32>,
}

/// Returns the calls of `log` from the first that names a root on, each once.
///
/// `is_ours` says whether a line names a root, `state` is the state directory. The log is one of
/// `strace -f -y`.
pub(super) fn calls(log: &str, is_ours: impl Fn(&str) -> bool, state: &str) -> Vec<Call> {
    let mut threads = Threads::default();
    let mut known = BTreeSet::new();
    let mut all = Vec::new();
    let mut begun = false;
    for line in log.lines() {
        let Some((thread, name, rest)) = entry(line) else {
            continue;
        };
        let (thread, ordinal) = threads.count(thread, name);
        begun = begun || (name != "execve" && is_ours(rest));
        if begun && known.insert((name, ordinal)) {
            all.push(Call {
                name: name.to_owned(),
                ordinal,
                thread,
                on: on(name, rest, &is_ours, state),
            });
        }
    }
    all
}

/// Returns the thread in which a call of a log was tampered with, if one was.
pub(super) fn injected(log: &str) -> Option<usize> {
    let mut threads = Threads::default();
    let mut hit = None;
    for line in log.lines() {
        let id = line.split(' ').next().unwrap_or_default();
        let thread = threads.of(id);
        if line.ends_with("(INJECTED)") {
            hit = Some(thread);
        }
    }
    hit
}

impl<'a> Threads<'a> {
    fn of(&mut self, id: &'a str) -> usize {
        let place = self.ids.iter().position(|each| *each == id);
        place.unwrap_or_else(|| {
            self.ids.push(id);
            self.ids.len() - 1
        })
    }

    fn count(&mut self, id: &'a str, name: &'a str) -> (usize, u32) {
        let count = self.counts.entry((id, name)).or_default();
        *count += 1;
        let count = *count;
        (self.of(id), count)
    }
}

/// Returns thread, name and the rest of a line that says a call was entered.
fn entry(line: &str) -> Option<(&str, &str, &str)> {
    let (thread, rest) = line.split_once(' ')?;
    let rest = rest.trim_start();
    let (name, arguments) = rest.split_once('(')?;
    let is_name = |name: &str| {
        let mut chars = name.chars();
        !name.is_empty() && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    (is_name(name) && thread.parse::<u32>().is_ok()).then_some((thread, name, arguments))
}

fn on(name: &str, arguments: &str, is_ours: impl Fn(&str) -> bool, state: &str) -> On {
    let writes = ["write", "writev"].contains(&name);
    let is_answer = arguments.starts_with("1<") || arguments.starts_with("2<");
    if writes && is_answer {
        On::Answer
    } else if arguments.contains(state) {
        On::Store
    } else if is_ours(arguments) {
        On::Tree
    } else {
        On::Process
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
7 execve(\"/t/server\", [\"/base/near\"], 0x7 /* 3 vars */) = 0
7 openat(AT_FDCWD, \"/lib/libc.so\", O_RDONLY) = 3</lib/libc.so>
7 openat(AT_FDCWD, \"/base/near\", O_RDONLY) = 3</base/near>
7 clone3({flags=CLONE_VM} <unfinished ...>
8 openat(3</base/near>, \"f\", O_RDONLY <unfinished ...>
7 <... clone3 resumed>) = 8
8 <... openat resumed>) = 4</base/near/f>
8 write(5</base/state/log>, \"a(b\", 3) = 3
7 --- SIGCHLD {si_signo=SIGCHLD} ---
7 write(1<pipe:[9]>, \"done\", 4) = 4
7 munmap(0x7f, 8192) = 0
";

    #[test]
    fn calls_count_by_name_and_thread_from_the_first_that_names_a_root() {
        let found = calls(LOG, |text| text.contains("/base/"), "/base/state");
        let found: Vec<_> = found
            .iter()
            .map(|call| (call.name.as_str(), call.ordinal, call.thread, call.on))
            .collect();
        let wanted = [
            ("openat", 2, 0, On::Tree),
            ("clone3", 1, 0, On::Process),
            ("openat", 1, 1, On::Tree),
            ("write", 1, 1, On::Store),
            ("munmap", 1, 0, On::Process),
        ];
        // The answer's write is the first of its thread, as the store's is: one fault hits both.
        assert_eq!(found, wanted);
    }

    #[test]
    fn an_injected_fault_is_seen_with_its_thread() {
        assert_eq!(injected("7 fsync(5) = 0\n"), None);
        let hit = "7 fsync(5) = 0\n8 fsync(6) = -1 EIO (Input/output error) (INJECTED)\n";
        assert_eq!(injected(hit), Some(1));
    }
}
