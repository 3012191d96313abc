use std::fs;

use super::*;

fn line(words: &str) -> Result<Config, Failure> {
    let words = words.split_whitespace().map(OsString::from);
    Config::from_line(std::iter::once(OsString::from("tool-server")).chain(words))
}

#[track_caller]
fn check_roots(words: &str, expected: &[(&str, &str, Rights)]) {
    let config = line(words).unwrap();
    let roots: Vec<_> = config
        .roots
        .iter()
        .map(|root| (root.name.as_str(), root.path.to_str().unwrap(), root.rights))
        .collect();
    assert_eq!(roots, expected);
}

#[track_caller]
fn check_refused(words: &str, code: u8, says: &str) {
    match line(words).map(|config| config.workspace().map(|_| ())) {
        Err(Failure::Usage(message)) | Ok(Err(Failure::Usage(message))) => {
            assert_eq!(code, 2, "{message}");
            assert!(message.contains(says), "{message}");
        }
        Err(Failure::Line(error)) => {
            assert_eq!(error.exit_code(), i32::from(code));
            assert!(error.to_string().contains(says), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn roots_keep_the_order_of_the_line_and_get_names() {
    check_roots(
        "--read-only-root /a/x --root /b/x --root n=/c --root /d/x",
        &[
            ("workspace", "/a/x", Rights::READ),
            ("x", "/b/x", Rights::ALL),
            ("n", "/c", Rights::ALL),
            ("x-2", "/d/x", Rights::ALL),
        ],
    );
    check_roots(
        "--root /a --root /b:c --root workspace=/w",
        &[
            ("workspace-2", "/a", Rights::ALL),
            ("b-c", "/b:c", Rights::ALL),
            ("workspace", "/w", Rights::ALL),
        ],
    );
    check_roots("--root /a/n=1", &[("workspace", "/a/n=1", Rights::ALL)]);
}

#[test]
fn switches_take_rights_away() {
    let edit = Rights::READ | Rights::EDIT;
    check_roots("--root /a --no-delete", &[("workspace", "/a", edit)]);
    check_roots(
        "--read-only --root /a",
        &[("workspace", "/a", Rights::READ)],
    );
}

#[test]
fn flags_may_stand_behind_a_call() {
    let config = line("call files_read path=a limit=3 --root /x --json").unwrap();
    let Command::Call {
        tool,
        arguments,
        print,
    } = config.command
    else {
        panic!("a call")
    };
    assert_eq!((tool.as_str(), print), ("files_read", Print::Json));
    assert_eq!(arguments, ["path=a", "limit=3"]);
    assert_eq!(config.roots.len(), 1);
}

#[test]
fn what_cannot_be_followed_is_refused() {
    check_refused("", 2, "--root .");
    check_refused("--root /a --http :80", 2, "--http is not there yet");
    check_refused(
        "--root /a --client-roots",
        2,
        "--client-roots is not there yet",
    );
    check_refused("--root /a --tools fils", 2, "did you mean files?");
    check_refused(
        "--root /a --disable-tool files_raed",
        2,
        "did you mean files_read?",
    );
    check_refused("--root /a --backup never", 2, "single, keep, off");
    check_refused("--root /a --hard-links cut", 2, "break, refuse, in-place");
    check_refused("--root /a --stale no", 2, "refuse, allow");
    check_refused("--root /a --deny-preset all", 2, "secrets, agent-config");
    check_refused("--root /a --fallback-encoding klingon", 2, "klingon");
    check_refused("--root n=/a --root n=/b", 2, "two roots are named n");
    check_refused("--root /a cal x", 2, "did you mean call?");
    check_refused("--root /a call", 2, "TOOL");
    check_refused("--roots /a", 2, "--roots");
    check_refused("--config /none/such.toml --root /a", 2, "/none/such.toml");
}

#[test]
fn every_flag_of_the_reference_is_accepted() {
    let config = line(
        "--root . --read-only-root /r --read-only --no-delete --tools all --disable-tool files_ls \
         --deny *.k --deny-edit *.l --deny-preset secrets --deny-preset agent-config \
         --hard-links in-place --one-filesystem --max-read-bytes 5 --fallback-encoding gbk \
         --backup keep --stale allow --state /s --structured-content --confine",
    )
    .unwrap();
    assert_eq!(config.settings.set, ToolSet::All);
    assert_eq!(config.settings.backup, Backup::Keep);
    assert_eq!(config.hard_links, HardLinks::InPlace);
    assert!(config.deny.contains(&"*.k".to_owned()) && config.deny.len() > 5);
    assert!(config.deny_edit.contains(&"**/.git/config".to_owned()));
    assert!(config.structured_content && config.confine && config.one_filesystem);
}

#[track_caller]
fn check_file(text: &str, words: &str, expected: &[(&str, &str)]) -> Config {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("c.toml");
    fs::write(&file, text).unwrap();
    let config = line(&format!("--config {} {words}", file.display())).unwrap();
    let base = format!("{}/", dir.path().display());
    let roots: Vec<_> = config
        .roots
        .iter()
        .map(|root| {
            (
                root.name.clone(),
                root.path.display().to_string().replace(&base, ""),
            )
        })
        .collect();
    let expected: Vec<_> = expected
        .iter()
        .map(|(name, path)| ((*name).to_owned(), (*path).to_owned()))
        .collect();
    assert_eq!(roots, expected);
    config
}

#[test]
fn a_file_has_the_names_of_the_flags_and_the_line_comes_first() {
    let config = check_file(
        "root = [\"in=sub\", \"/abs\"]\nread-only-root = \"ro\"\ndeny = \"*.x\"\nbackup = \"off\"\n\
         tools = \"files\"\nno-delete = true",
        "--root /line --backup keep --deny *.y",
        &[
            ("workspace", "/line"),
            ("in", "sub"),
            ("abs", "/abs"),
            ("ro", "ro"),
        ],
    );
    assert_eq!(config.settings.backup, Backup::Keep);
    assert_eq!(config.settings.set, ToolSet::Files);
    assert_eq!(config.deny, ["*.y", "*.x"]);
    assert!(config.settings.no_delete);
}

#[test]
fn the_key_of_other_programs_names_a_root() {
    let table = "[plugin.files]\ndir = \"d\"\n[plugin.other]\nx = 1";
    check_file(table, "", &[("workspace", "d")]);
    check_file("\"plugin.files.dir\" = \"/q\"", "", &[("workspace", "/q")]);
}

#[test]
fn an_unknown_key_of_a_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("c.toml");
    fs::write(&file, "roots = \"x\"").unwrap();
    check_refused(&format!("--config {}", file.display()), 2, "roots");
}

#[test]
fn what_starts_programs_is_read_only_unless_told_otherwise() {
    let base = tempfile::tempdir().unwrap();
    let config = line(&format!("--root {}", base.path().display())).unwrap();
    let workspace = config.workspace().unwrap();
    for path in [
        ".git/config",
        "sub/.git/hooks/pre-commit",
        ".GIT/hooks/post-merge",
    ] {
        let written = workspace.write(path, "x", &fs_sandbox::WriteOptions::default());
        assert_eq!(written.unwrap_err().code(), "denied_by_policy", "{path}");
    }
    let written = workspace.write(
        ".git/description",
        "x",
        &fs_sandbox::WriteOptions::default(),
    );
    assert_eq!(written.unwrap().size, 1);
}
