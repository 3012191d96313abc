//! Old or new bytes and never a mix, exact backups, edits side by side, whole listings.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::collection::vec;
use proptest::sample::select;
use serde_json::json;
use tests::property::{check, equal};
use tests::setup::chmod;
use tests::{Edit, FrontEnd, List, Mcp, Op, Race, World};

tests::suite!(
    a_reader_sees_old_or_new_bytes,
    a_backup_has_the_exact_bytes_and_mode,
    edits_at_the_same_time_all_land,
    a_page_after_a_page_is_the_whole_listing,
);
tests::suite!([acp] a_reader_sees_old_or_new_bytes);

fn a_reader_sees_old_or_new_bytes<F: FrontEnd>() {
    let world = World::new();
    let front = F::start(&world.settings());
    let texts = ["A", "B"].map(|letter| letter.repeat(300_000));
    world.put("root/f", &texts[0]);
    let path = world.path("root/f");
    let bad = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&bad);
    let reader = Race::of(move || {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let first = text.chars().next().unwrap_or_default();
        let whole = text.len() == 300_000 && text.trim_start_matches(first).is_empty();
        if !whole {
            seen.lock().unwrap().push(text.len());
        }
    });
    let mut turn = 0;
    while turn < 60 || reader.turns() < 200 {
        turn += 1;
        assert_eq!(front.write("f", &texts[turn % 2]).code(), "ok");
    }
    reader.stop();
    assert_eq!(*bad.lock().unwrap(), Vec::<usize>::new());
    assert_eq!(world.tree().0.len(), 3, "no temporary file is left");
}

fn a_backup_has_the_exact_bytes_and_mode<F: FrontEnd>() {
    let world = World::new();
    let front = F::start(&world.settings());
    let modes = select(vec!["0600", "0644", "0755", "0640"]);
    let cases = if F::NAME == "engines" { 200 } else { 60 };
    check(
        cases,
        &(vec(0x80..=0xff_u8, 0..40), modes),
        |(junk, mode)| {
            let bytes = [b"KEY\n", junk.as_slice(), b"\r\n"].concat();
            world.put("root/f", &bytes);
            chmod(&world.path("root/f"), mode);
            let edit = Edit {
                backup: true,
                ..Edit::once("f", "KEY", "NEW")
            };
            equal("the code", &front.call(&Op::Edit(edit)).code(), &"ok")?;
            equal("the backup", &world.get("root/f.bak"), &bytes)?;
            let bits =
                |name: &str| world.path(name).metadata().unwrap().permissions().mode() & 0o7777;
            equal("the modes", &(bits("root/f"), bits("root/f.bak")), &{
                let wanted = u32::from_str_radix(mode, 8).unwrap();
                (wanted, wanted)
            })?;
            equal(
                "the file",
                &world.get("root/f"),
                &[b"NEW\n", junk.as_slice(), b"\r\n"].concat(),
            )
        },
    );
}

fn edits_at_the_same_time_all_land<F: FrontEnd>() {
    let world = World::new();
    let front = F::start(&world.settings());
    let words: Vec<String> = (0..24).map(|number| format!("word-{number:02}")).collect();
    world.put("root/f", words.join("\n"));
    std::thread::scope(|scope| {
        for chunk in words.chunks(6) {
            let front = &front;
            scope.spawn(move || {
                for word in chunk {
                    assert_eq!(front.edit("f", word, &word.to_uppercase()).code(), "ok");
                }
            });
        }
    });
    assert_eq!(
        world.get("root/f"),
        words.join("\n").to_uppercase().into_bytes()
    );
}

fn a_page_after_a_page_is_the_whole_listing<F: FrontEnd>() {
    let world = World::new();
    let front = F::start(&world.settings());
    let names = vec("[aAbB.é\u{301}% -]{1,5}", 0..40);
    let cases = if F::NAME == "engines" { 150 } else { 30 };
    check(cases, &(names, 1..7_u64), |(names, limit)| {
        std::fs::remove_dir_all(world.path("root/d")).ok();
        std::fs::create_dir(world.path("root/d")).unwrap();
        for (number, name) in names
            .iter()
            .enumerate()
            .filter(|(_, name)| !["..", "."].contains(&name.as_str()))
        {
            let path = world.path("root/d").join(name);
            if number % 3 == 0 {
                std::fs::create_dir_all(path).unwrap_or_default();
            } else {
                std::fs::write(path, "x").unwrap_or_default();
            }
        }
        let whole = front.list("d").done().names.clone();
        let on_disk = world.path("root/d").read_dir().unwrap().count();
        equal("the number of names", &whole.len(), &on_disk)?;
        let mut paged = Vec::new();
        let mut after = None;
        loop {
            let list = List {
                limit: Some(limit),
                after: after.clone(),
                ..List::of("d")
            };
            let answer = front.call(&Op::List(list));
            let done = answer.result.as_ref().map_err(|no| format!("{no:?}"))?;
            equal("total", &done.facts["total"], &on_disk.into())?;
            paged.extend(done.names.clone());
            after = done.facts["next"].as_str().map(str::to_owned);
            if after.is_none() {
                break;
            }
        }
        equal("the pages", &paged, &whole)
    });
}

#[test]
fn a_killed_write_leaves_old_or_new_bytes() {
    let world = World::new();
    let texts = ["A", "B"].map(|letter| letter.repeat(1 << 20));
    world.put("root/f", &texts[0]);
    for turn in 0..24_u64 {
        let mcp = Mcp::start(&world.settings());
        for text in texts.iter().cycle().take(4) {
            let call = json!({"name": "files_write", "arguments": {"path": "f", "content": text}});
            mcp.wire.post("tools/call", &call);
        }
        std::thread::sleep(Duration::from_micros(turn * 700));
        mcp.wire.kill();
        let bytes = world.get("root/f");
        assert!(
            texts.iter().any(|text| text.as_bytes() == bytes),
            "{} bytes of a mix",
            bytes.len()
        );
    }
}
