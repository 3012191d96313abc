//! The shared cases that reading, listing, making, removing, copying and moving can express.
//!
//! What needs the write side, front ends, measured memory or a race is run by the suite of all
//! front ends.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use fs_core::{ListOptions, ReadOptions};
use fs_sandbox::{Rights, TransferOptions, Workspace};
use rustix::fs::{CWD, FileType, Mode};
use rustix::io::Errno;
use serde_json::Value;

use crate::support::{as_nobody, is_root, with_own_mounts, without_openat2};

const CANARY: &str = "CANARY-7f3a";
const OPERATIONS: [&str; 6] = ["read", "list", "mkdir", "delete", "copy", "move"];
const SETUPS: [&str; 9] = [
    "mkdir", "file", "symlink", "hardlink", "fifo", "socket", "chardev", "chmod", "bind",
];

/// Answers of a case: the text of a success, or code and all that is said.
type Answer = Result<String, (String, String)>;

#[test]
fn every_case_has_its_answer() {
    let ran = run_all(|work| work());
    assert!(ran >= 50, "only {ran} cases ran");
}

#[test]
fn every_case_has_its_answer_without_openat2() {
    let ran = run_all(|work| without_openat2(Errno::NOSYS, work));
    assert!(ran >= 50, "only {ran} cases ran");
}

fn run_all(under: impl Fn(&mut (dyn FnMut() + Send))) -> usize {
    let corpus =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/sandbox-cases.jsonl");
    let lines = fs::read_to_string(corpus).unwrap();
    let cases = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut ran = 0;
    for case in cases.filter(is_ours) {
        under(&mut || run(&case));
        ran += 1;
    }
    ran
}

fn is_ours(case: &Value) -> bool {
    let linux = case["platform"]
        .as_array()
        .unwrap()
        .contains(&"linux".into());
    let setups = case["setup"].as_array().unwrap().iter();
    let operation = case["request"]["op"].as_str().unwrap();
    let runs = linux
        && OPERATIONS.contains(&operation)
        && setups
            .map(|step| step["op"].as_str().unwrap())
            .all(|op| SETUPS.contains(&op));
    let missing = case["requires"]
        .as_array()
        .is_some_and(|list| !list.is_empty())
        && !is_root();
    if runs && missing {
        eprintln!("skipped, as it takes root: {}", case["id"]);
    }
    runs && !missing
}

fn run(case: &Value) {
    let requires = |what: &str| {
        let list = case["requires"].as_array();
        list.is_some_and(|list| list.contains(&what.into()))
    };
    if requires("mount") {
        return with_own_mounts(|| run_in_world(case, |work| work()));
    }
    if requires("non_root") {
        return run_in_world(case, |work| as_nobody(work));
    }
    run_in_world(case, |work| work());
}

fn run_in_world(case: &Value, under: impl Fn(&mut (dyn FnMut() + Send))) {
    let base = tempfile::tempdir().unwrap();
    fs::set_permissions(base.path(), fs::Permissions::from_mode(0o755)).unwrap();
    for step in case["setup"].as_array().unwrap() {
        set_up(base.path(), step);
    }
    let outside = names_and_texts(&base.path().join("out"));
    let workspace = workspace(base.path(), case);
    under(&mut || {
        let request = &case["request"];
        let answer = ask(&workspace, base.path(), request, case);
        check_answer(case, &case["expect"], &answer);
        if let Some(other) = case["expect"].get("same_as") {
            let other_answer = ask(&workspace, base.path(), other, case);
            let same = |answer: &Answer, request: &Value| {
                let (_, text) = answer.clone().unwrap_err();
                text.replace(request["path"].as_str().unwrap(), "PATH")
            };
            assert_eq!(
                same(&answer, request),
                same(&other_answer, other),
                "{}",
                case["id"]
            );
        }
        for invariant in case["invariants"].as_array().unwrap() {
            check_invariant(base.path(), case, invariant.as_str().unwrap(), &answer);
        }
    });
    if !case["setup"].to_string().contains("bind") {
        assert_eq!(
            names_and_texts(&base.path().join("out")),
            outside,
            "{}",
            case["id"]
        );
    }
}

fn set_up(base: &Path, step: &Value) {
    let path = base.join(step["path"].as_str().unwrap());
    let target = || step["target"].as_str().unwrap();
    let special = |kind, device| {
        rustix::fs::mknodat(CWD, &path, kind, Mode::from_raw_mode(0o666), device).unwrap();
    };
    match step["op"].as_str().unwrap() {
        "mkdir" => fs::create_dir_all(&path).unwrap(),
        "file" => set_up_file(&path, step),
        "symlink" => symlink(expanded(base, target()), &path).unwrap(),
        "hardlink" => fs::hard_link(base.join(target()), &path).unwrap(),
        "fifo" => special(FileType::Fifo, 0),
        "socket" => drop(UnixListener::bind(&path).unwrap()),
        "chardev" => special(FileType::CharacterDevice, rustix::fs::makedev(1, 5)),
        "chmod" => {
            let mode = u32::from_str_radix(step["mode"].as_str().unwrap(), 8).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        "bind" => rustix::mount::mount_bind(base.join(target()), &path).unwrap(),
        other => panic!("no set-up {other}"),
    }
}

fn set_up_file(path: &Path, step: &Value) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, step["text"].as_str().unwrap_or_default()).unwrap();
    if let Some(size) = step["size"].as_u64() {
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_len(size).unwrap();
    }
}

fn expanded(base: &Path, text: &str) -> String {
    let at = |name: &str| base.join(name).to_str().unwrap().to_owned();
    text.replace("${ROOT}", &at("root"))
        .replace("${OUT}", &at("out"))
        .replace("${BASE}", base.to_str().unwrap())
}

fn workspace(base: &Path, case: &Value) -> Workspace {
    let policy = &case["policy"];
    let mut builder = Workspace::builder()
        .outside(rights(&policy["outside"]))
        .one_filesystem(policy["one_filesystem"].as_bool().unwrap_or_default());
    for root in case["roots"].as_array().unwrap() {
        let (name, at) = (root["name"].as_str().unwrap(), root["at"].as_str().unwrap());
        builder = builder.root(name, &base.join(at), rights(&root["rights"]));
    }
    for glob in policy["deny"].as_array().into_iter().flatten() {
        builder = builder.deny(glob.as_str().unwrap());
    }
    builder.build().unwrap()
}

fn rights(words: &Value) -> Rights {
    let words = words.as_array().into_iter().flatten();
    words.fold(Rights::NONE, |rights, word| {
        rights
            | match word.as_str().unwrap() {
                "read" => Rights::READ,
                "edit" => Rights::EDIT,
                "delete" => Rights::DELETE,
                other => panic!("no right {other}"),
            }
    })
}

fn ask(workspace: &Workspace, base: &Path, request: &Value, case: &Value) -> Answer {
    let path = expanded(base, request["path"].as_str().unwrap());
    let answer = match request["op"].as_str().unwrap() {
        "read" => {
            let options = ReadOptions {
                max_file_bytes: case["policy"]["max_read_bytes"].as_u64(),
                ..ReadOptions::default()
            };
            workspace.read(&path, &options).map(|window| window.text)
        }
        "list" => {
            let listing = workspace.list(&path, &ListOptions::default());
            listing.map(|listing| format!("{:?}", listing.entries))
        }
        "mkdir" => workspace.create_dir_all(&path).map(|()| String::new()),
        "delete" => workspace.remove_file(&path).map(|()| String::new()),
        "copy" => {
            let (to, options) = transfer(base, request);
            let copied = workspace.copy(&path, &to, &options);
            copied.map(|_| String::new())
        }
        "move" => {
            let (to, options) = transfer(base, request);
            let moved = workspace.rename(&path, &to, &options);
            moved.map(|_| String::new())
        }
        other => panic!("no operation {other}"),
    };
    answer.map_err(|error| {
        let all = format!("{error} {:?} {:?}", error.hint(), error.fields());
        (error.code().to_owned(), all)
    })
}

fn transfer(base: &Path, request: &Value) -> (String, TransferOptions) {
    let options = TransferOptions {
        overwrite: request["overwrite"].as_bool().unwrap_or_default(),
        ..TransferOptions::default()
    };
    (expanded(base, request["to"].as_str().unwrap()), options)
}

fn check_answer(case: &Value, expect: &Value, answer: &Answer) {
    let id = &case["id"];
    let code = answer.as_ref().map_err(|(code, _)| code.as_str());
    if let Some(any) = expect["error_any"].as_array() {
        assert!(
            any.iter().any(|error| code == Err(error.as_str().unwrap())),
            "{id}: {code:?}"
        );
    } else if let Some(error) = expect["error"].as_str() {
        assert_eq!(code, Err(error), "{id}");
    } else if let Some(content) = expect["content"].as_str() {
        assert_eq!(code.map(String::as_str), Ok(content), "{id}");
    } else {
        assert_eq!(expect["ok"], Value::Bool(true), "{id}: no expectation");
        assert!(code.is_ok(), "{id}: {code:?}");
    }
}

fn check_invariant(base: &Path, case: &Value, invariant: &str, answer: &Answer) {
    let id = &case["id"];
    let (Ok(said) | Err((_, said))) = answer;
    let mut words = invariant.splitn(3, ' ');
    let (rule, first) = (words.next().unwrap(), words.next().unwrap_or_default());
    match rule {
        "not_disclosed" => assert!(!said.contains(CANARY), "{id}"),
        "name_not_disclosed" => assert!(!said.contains(first), "{id}"),
        "no_path_leak" => {
            assert!(
                !said.contains(base.to_str().unwrap()) && !said.contains("out/"),
                "{id}: {said}"
            );
        }
        "absent" => assert!(fs::symlink_metadata(base.join(first)).is_err(), "{id}"),
        "file_is" => {
            let text = fs::read_to_string(base.join(first)).unwrap();
            assert_eq!(text, words.next().unwrap(), "{id}");
        }
        // Compared for every case; measured or rendered by the suite of all front ends.
        "outside_unchanged" | "returns_within_ms" | "memory_below_mb" | "one_line_per_entry" => {}
        other => panic!("{id}: no invariant {other}"),
    }
}

fn names_and_texts(dir: &Path) -> Vec<(PathBuf, Option<String>)> {
    let entries = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = entries
        .map(|path| (path.clone(), fs::read_to_string(path).ok()))
        .collect();
    all.sort();
    all
}
