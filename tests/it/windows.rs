//! Windows against a decoded text split at its line feeds.

use proptest::collection::vec;
use proptest::prelude::Strategy;
use proptest::sample::select;
use tests::model::lines;
use tests::property::{check, equal};
use tests::{Answer, FrontEnd, Op, Range, Read, World};

tests::suite!(
    a_window_is_its_lines,
    a_tail_is_the_last_lines,
    windows_joined_are_the_file,
    a_column_goes_on_in_its_line,
    windows_of_large_files_are_their_lines,
);
tests::suite!(
    [acp]
    a_window_is_its_lines,
    windows_joined_are_the_file,
    windows_of_large_files_are_their_lines,
);

const PIECES: [&str; 14] = [
    "a",
    "b",
    "\n",
    "\n",
    "\r\n",
    "\r",
    "é",
    "中",
    "😀",
    "\u{2028}",
    "\u{85}",
    "\u{b}\u{c}",
    "  \t",
    "longer words ",
];

/// Texts of all that could be taken for a line break, and of what is one.
fn texts(pieces: usize) -> impl Strategy<Value = String> {
    vec(select(&PIECES[..]), 0..pieces).prop_map(|pieces| pieces.concat())
}

fn cases<F: FrontEnd>(engines: u32) -> u32 {
    if F::NAME == "engines" {
        engines
    } else {
        engines / 5
    }
}

fn read<F: FrontEnd>(front: &F, range: Range) -> Answer {
    front.call(&Op::Read(Read::lines("f", range)))
}

/// What a window of these lines is shown as.
fn shown<F: FrontEnd>(text: &str) -> String {
    if F::BREAKS {
        text.to_owned()
    } else {
        lines::bare(text)
    }
}

fn from(line: u64, limit: Option<u64>) -> Range {
    Range::From {
        line,
        column: 1,
        limit,
    }
}

/// Checks a window against the model; past the end the engines say nothing and a server refuses, an
/// agent's one only what begins after the line that comes next.
fn check_window<F: FrontEnd>(front: &F, text: &str, line: u64, limit: u64) -> Result<(), String> {
    let answer = read(front, from(line, Some(limit)));
    let total = lines::lines(text).len() as u64;
    if F::NAME == "acp" {
        let is_refused = answer.code() == "out_of_range";
        equal("refused", &is_refused, &(line > total + 1))?;
    }
    if answer.code() == "out_of_range" && F::NAME != "engines" {
        return equal("past the end", &(line > total.max(1)), &true);
    }
    let wanted = lines::window(text, line, Some(limit));
    let done = answer.result.as_ref().map_err(|no| format!("{no:?}"))?;
    equal("the window", &done.text, &shown::<F>(&wanted))?;
    let count = lines::lines(&wanted).len() as u64;
    equal(
        "returned_lines",
        &done.facts["returned_lines"],
        &count.into(),
    )?;
    let first = (count > 0).then_some(line);
    equal("first_line", &done.facts["first_line"], &first.into())?;
    if !done.facts["total_lines"].is_null() {
        equal("total_lines", &done.facts["total_lines"], &total.into())?;
    }
    equal("eof", &done.facts["eof"], &(line + count > total).into())
}

fn a_window_is_its_lines<F: FrontEnd>() {
    let world = World::new();
    let front = F::start(&world.settings());
    let values = (texts(40), 1..25_u64, 1..25_u64);
    check(cases::<F>(1000), &values, |(text, line, limit)| {
        world.put("root/f", &text);
        check_window(&front, &text, line, limit)?;
        let whole = front.read("f");
        equal("the file", &whole.shown(), &text)?;
        let facts = &whole.done().facts;
        equal(
            "total_lines",
            &facts["total_lines"],
            &lines::lines(&text).len().into(),
        )?;
        equal("eol", &facts["eol"], &lines::style(&text).into())
    });
}

fn a_tail_is_the_last_lines<F: FrontEnd>() {
    let world = World::new();
    let front = F::start(&world.settings());
    check(
        cases::<F>(1000),
        &(texts(40), 1..25_u64),
        |(text, count)| {
            world.put("root/f", &text);
            let answer = read(&front, Range::Tail(count));
            let wanted = lines::tail(&text, count);
            equal("the tail", &answer.shown(), &shown::<F>(&wanted))?;
            let total = lines::lines(&text).len() as u64;
            let shown = lines::lines(&wanted).len() as u64;
            let first = (shown > 0).then(|| total - shown + 1);
            equal(
                "first_line",
                &answer.done().facts["first_line"],
                &first.into(),
            )
        },
    );
}

fn windows_joined_are_the_file<F: FrontEnd>() {
    let world = World::new();
    let front = F::start(&world.settings());
    check(cases::<F>(300), &(texts(60), 1..9_u64), |(text, limit)| {
        world.put("root/f", &text);
        let mut joined = Vec::new();
        let mut place = Some((1, 1));
        while let Some((line, column)) = place {
            let range = Range::From {
                line,
                column,
                limit: Some(limit),
            };
            let answer = read(&front, range);
            let done = answer.result.as_ref().map_err(|no| format!("{no:?}"))?;
            joined.push(done.text.clone());
            let next = &done.facts["next"];
            let next = next["line"].as_u64().zip(next["column"].as_u64());
            if next.is_some_and(|next| next <= (line, column)) {
                return Err(format!("{next:?} does not go on from {:?}", (line, column)));
            }
            place = next;
        }
        let between = if F::BREAKS { "" } else { "\n" };
        equal(
            "the joined windows",
            &joined.join(between),
            &shown::<F>(&text),
        )
    });
}

fn a_column_goes_on_in_its_line<F: FrontEnd>() {
    let world = World::new();
    let front = F::start(&world.settings());
    check(
        cases::<F>(400),
        &(texts(40), 0..20_usize, 0..30_usize),
        |(text, line, column)| {
            world.put("root/f", &text);
            let all = lines::lines(&text);
            let Some(chosen) = all.get(line % all.len().max(1)) else {
                return Ok(());
            };
            let line = (line % all.len()) as u64 + 1;
            let length = chosen
                .trim_end_matches('\n')
                .trim_end_matches('\r')
                .chars()
                .count();
            let column = (column % length.max(1)) as u64 + 1;
            let answer = read(
                &front,
                Range::From {
                    line,
                    column,
                    limit: None,
                },
            );
            equal(
                "the rest",
                &answer.shown(),
                &shown::<F>(&lines::from_column(&text, line, column)),
            )
        },
    );
}

/// Over a block of 128 KiB, over the 4 MiB from which an index is kept: cold, and warm.
fn windows_of_large_files_are_their_lines<F: FrontEnd>() {
    let world = World::new();
    let front = F::start(&world.settings());
    let sizes = select(vec![100 << 10, 300 << 10, 5 << 20]);
    let windows = vec((0..1000_u64, 1..60_u64), 6);
    check(
        cases::<F>(30),
        &(texts(60), sizes, windows),
        |(piece, size, windows)| {
            let piece = format!("{piece}é\n");
            let text = piece.repeat(size / piece.len() + 1);
            world.put("root/f", &text);
            let total = lines::lines(&text).len() as u64;
            for (permille, limit) in windows {
                check_window(&front, &text, 1 + (total - 1) * permille / 1000, limit)?;
                let tail = Range::Tail(limit);
                if F::lacks(&Op::Read(Read::lines("f", tail))).is_none() {
                    equal(
                        "the tail",
                        &read(&front, tail).shown(),
                        &shown::<F>(&lines::tail(&text, limit)),
                    )?;
                }
            }
            Ok(())
        },
    );
}
