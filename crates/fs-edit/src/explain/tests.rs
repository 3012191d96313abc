use super::*;

fn patient() -> Budget {
    Budget {
        until: Instant::now() + Duration::from_secs(600),
        max_bytes: 16 * 1024 * 1024,
    }
}

fn explained(text: &[u8], edits: &[Edit], eol: EolMode, budget: &Budget) -> Option<Finding> {
    let miss = Miss {
        text,
        extent: Extent::All,
        edits,
        index: 0,
        eol,
    };
    find(&miss, budget)
}

#[track_caller]
fn check(text: &str, old: &str, lines: &[u64], words: &str) {
    check_edits(text, &[Edit::new(old, "###")], EolMode::Auto, lines, words);
}

#[track_caller]
fn check_edits(text: &str, edits: &[Edit], eol: EolMode, lines: &[u64], words: &str) {
    let finding = explained(text.as_bytes(), edits, eol, &patient()).unwrap();
    assert_eq!(
        (finding.words.as_str(), finding.lines.as_slice()),
        (words, lines)
    );
    assert!(finding.words.lines().count() <= 10);
}

#[test]
fn an_empty_file_is_said_to_be_empty() {
    check("", "a", &[], "the file is empty");
}

#[test]
fn other_breaks_explain_a_miss_in_exact_mode() {
    let words = "lines 1-2 would match but for the line breaks, which eol=exact compares";
    check_edits(
        "a\r\nb\r\n",
        &[Edit::new("a\nb", "c")],
        EolMode::Exact,
        &[1, 2],
        words,
    );
}

#[test]
fn an_edit_that_was_made_before_is_recognised() {
    let words = "\"new\" stands in line 2 already; the edit may have been made before";
    let edits = [Edit::new("port = 1", "port = 2")];
    check_edits("x\nport = 2\n", &edits, EolMode::Auto, &[2, 2], words);
}

#[test]
fn text_of_another_edit_is_recognised() {
    let words =
        "it is in the \"new\" of edits[1], but every edit is matched against the original text";
    let edits = [Edit::new("bar", "baz"), Edit::new("foo", "bar")];
    check_edits("foo\n", &edits, EolMode::Auto, &[], words);
}

#[test]
fn tabs_against_blanks() {
    let words = "line 1 differs only in blanks: the line begins with 1 tab, \"old\" with 4 blanks\
                 \nfile: [U+0009]x := 1\nold:      x := 1";
    check("\tx := 1\n", "    x := 1", &[1, 1], words);
    let words = "lines 2-3 differ only in blanks: the line begins with 2 tabs and 1 blank, \
                 \"old\" with 1 tab\nfile: [U+0009][U+0009] b()\nold:  [U+0009]b()";
    check("x\n\ta()\n\t\t b()\n", "\ta()\n\tb()\n", &[2, 3], words);
}

#[test]
fn blanks_at_the_ends_of_lines() {
    let words = "lines 1-2 differ only in blanks at the ends of lines\nfile: a = 1  \nold:  a = 1";
    check("a = 1  \nb\n", "a = 1\nb", &[1, 2], words);
}

#[test]
fn blanks_inside_a_line() {
    let words = "line 2 differs only in blanks\nfile: def go():\nold:  def  go():";
    check("\ndef go():\n    run()\n", "def  go():", &[2, 2], words);
}

#[test]
fn quotes_and_invisible_characters() {
    let words = "line 1 differs only in look-alike or invisible characters: the file has U+201C\
                 \nfile: do not ask [U+201C]which[U+201D] again\nold:  ask \"which\" again";
    check(
        "do not ask “which” again\n",
        "ask \"which\" again",
        &[1, 1],
        words,
    );
    let words = "line 1 differs only in look-alike or invisible characters: the file has U+200B\
                 \nfile: foo[U+200B]bar\nold:  foobar";
    check("foo\u{200b}bar\n", "foobar", &[1, 1], words);
    let words = "line 1 differs only in look-alike or invisible characters: \"old\" has U+00A0\
                 \nfile: a = 1\nold:  a[U+00A0]= 1";
    check("a = 1\n", "a\u{a0}= 1", &[1, 1], words);
    let words = "line 1 differs only in look-alike or invisible characters: the file has U+FF0C\
                 \nfile: 甲[U+FF0C]乙\nold:  甲,乙";
    check("甲，乙\n", "甲,乙", &[1, 1], words);
}

#[test]
fn composed_against_decomposed() {
    let words = "line 1 differs only in how accented characters are composed (equal under NFC)\
                 \nfile: cafe[U+0301]\nold:  café";
    check("cafe\u{301}\n", "café", &[1, 1], words);
}

#[test]
fn escapes_and_entities() {
    let words = "\"old\" matches line 1, but for its escapes: text is compared as it is given";
    check("say \"hi\"\n", "say \\\"hi\\\"", &[1, 1], words);
    check("if a &lt; b\n", "if a < b", &[1, 1], words);
    check("if a < b\n", "if a &lt; b", &[1, 1], words);
    check("x é y\n", "x \\u00e9 y", &[1, 1], words);
    let words = "\"old\" matches lines 1-2, but for its escapes: text is compared as it is given";
    check("one\ntwo\n", "one\\ntwo", &[1, 2], words);
}

#[test]
fn line_numbers_that_were_pasted_in() {
    let words =
        "\"old\" matches line 1 once the line numbers at the heads of its lines are taken off";
    check("import os\nimport sys\n", "  1 | import os", &[1, 1], words);
    check("import os\nimport sys\n", "1: import os", &[1, 1], words);
    let words =
        "\"old\" matches lines 1-2 once the line numbers at the heads of its lines are taken off";
    check(
        "a()\n    b()\n",
        "     1\ta()\n     2\t    b()",
        &[1, 2],
        words,
    );
    check("a()\n    b()\n", "1→a()\n2→    b()", &[1, 2], words);
}

#[test]
fn other_case() {
    let words = "line 1 differs only in upper and lower case\nfile: SELECT Name\nold:  select name";
    check("SELECT Name\n", "select name", &[1, 1], words);
}

#[test]
fn several_at_once() {
    let words = "line 1 differs only in blanks, case and look-alike characters\
                 \nfile: [U+0009]Say [U+2018]hi[U+2019]\nold:  say  'hi'";
    check("\tSay ‘hi’\n", "say  'hi'", &[1, 1], words);
}

#[test]
fn the_least_difference_is_told_where_several_places_are_alike() {
    let words = "line 3 differs only in blanks: the line begins with no blank, \"old\" with 1 blank\
                 \nfile: run()\nold:   run()";
    check("RUN()\nx\nrun()\n", " run()", &[3, 3], words);
}

#[test]
fn a_drifted_line_is_shown() {
    let text = "func a() {\n\tx := 1\n\ty := 2\n\tz := 3\n}\n";
    let words = "the nearest text is in lines 1-5, where 4 of 5 lines are equal; line 3 is the \
                 first that differs\nfile: [U+0009]y := 2\nold:  [U+0009]y := 99";
    check(
        text,
        "func a() {\n\tx := 1\n\ty := 99\n\tz := 3\n}",
        &[1, 5],
        words,
    );
}

#[test]
fn a_single_line_is_found_by_its_words() {
    let words = "the nearest text is in line 2\nfile: let timeout_seconds = 30;\
                 \nold:  let timeout_seconds = 45;";
    check(
        "use a;\nlet timeout_seconds = 30;\n",
        "let timeout_seconds = 45;",
        &[2, 2],
        words,
    );
}

#[test]
fn what_is_nowhere_near_is_not_explained() {
    let edits = [Edit::new("completely different", "x")];
    let finding = explained(b"one\ntwo\n", &edits, EolMode::Auto, &patient());
    assert_eq!(finding, None);
}

#[test]
fn a_spent_budget_gives_no_explanation_and_the_same_code() {
    let edits = [Edit::new("RUN()", "x")];
    let spent = Budget {
        until: Instant::now(),
        max_bytes: usize::MAX,
    };
    assert_eq!(explained(b"run()\n", &edits, EolMode::Auto, &spent), None);
    let small = Budget {
        max_bytes: 5,
        ..patient()
    };
    assert_eq!(explained(b"run()\n", &edits, EolMode::Auto, &small), None);
    let miss = Miss {
        text: b"run()\n",
        extent: Extent::All,
        edits: &edits,
        index: 0,
        eol: EolMode::Auto,
    };
    assert_eq!(explain(&miss, &spent).kind().code(), "no_match");
}

#[test]
fn bytes_that_are_no_text_are_explained_as_far_as_they_are() {
    let finding = explained(
        b"caf\xE9\nRun()\n",
        &[Edit::new("run()", "x")],
        EolMode::Auto,
        &patient(),
    );
    assert_eq!(finding.unwrap().lines, vec![2, 2]);
}

#[test]
fn long_lines_are_cut() {
    let text = format!("{}X\n", "a".repeat(500));
    let old = format!("{}x", "a".repeat(500));
    let finding = explained(
        text.as_bytes(),
        &[Edit::new(old, "y")],
        EolMode::Auto,
        &patient(),
    );
    assert!(finding.unwrap().words.len() < 500);
}

/// Asserts which probe explains a miss, and which lines are given to be copied.
#[track_caller]
fn check_probe(text: &str, old: &str, probe: &str, exact: Option<&str>) {
    let edits = [Edit::new(old, "###")];
    let finding = explained(text.as_bytes(), &edits, EolMode::Auto, &patient()).unwrap();
    let found = finding.exact.as_ref().map(|exact| exact.text.as_str());
    assert_eq!((finding.probe, found), (probe, exact), "{}", finding.words);
    assert!(finding.explanation().lines().count() <= 10);
    if let Some(exact) = found {
        // What is given to be copied is there, and begins in the line that is named.
        let first = finding.exact.as_ref().unwrap().first;
        let start = line_start(text.as_bytes(), first - 1);
        let collapsed = text.get(start..).unwrap().replace("\r\n", "\n");
        assert!(collapsed.starts_with(exact), "{exact:?}");
    }
}

#[test]
fn each_probe_has_a_name_and_gives_the_text_as_it_stands() {
    let blanks = "\tif x {\n\t\treturn 1\n\t}\n";
    check_probe(
        blanks,
        "    if x {\n        return 1\n    }",
        "blanks",
        Some("\tif x {\n\t\treturn 1\n\t}"),
    );
    check_probe(
        "a = 1   \r\nb\r\n",
        "a = 1\nb",
        "blanks",
        Some("a = 1   \nb"),
    );
    check_probe(
        "it’s – here\n",
        "it's - here",
        "look_alikes",
        Some("it’s – here"),
    );
    check_probe(
        "a\u{a0}b\u{200b}c\n",
        "a bc",
        "look_alikes",
        Some("a\u{a0}b\u{200b}c"),
    );
    check_probe("cafe\u{301}\n", "café", "composition", Some("cafe\u{301}"));
    check_probe("café\n", "cafe\u{301}", "composition", Some("café"));
    check_probe(
        "\tprint(\"a\")\n",
        "\\tprint(\\\"a\\\")",
        "escapes",
        Some("\tprint(\"a\")"),
    );
    check_probe(
        "if (a && b) {\n",
        "if (a &amp;&amp; b) {",
        "escapes",
        Some("if (a && b) {"),
    );
    for numbered in [
        "12: let x;",
        "  12\tlet x;",
        "12|let x;",
        "12→let x;",
        "    12\u{2192}let x;",
    ] {
        check_probe(
            "fn f() {\nlet x;\n",
            numbered,
            "line_numbers",
            Some("let x;"),
        );
    }
    check_probe("SELECT a\n", "select a", "case", Some("SELECT a"));
    check_probe("\tSay ‘hi’\n", "say  'hi'", "several", Some("\tSay ‘hi’"));
    check_probe(
        "total = 41\nnext()\n",
        "total = 42",
        "nearest",
        Some("total = 41"),
    );
}

#[test]
fn probes_that_point_elsewhere_give_nothing_to_copy() {
    let probe = |text: &str, edits: &[Edit], eol: EolMode| {
        let finding = explained(text.as_bytes(), edits, eol, &patient()).unwrap();
        assert_eq!(finding.exact, None);
        finding.probe
    };
    let edit = |old: &str, new: &str| Edit::new(old, new);
    let auto = EolMode::Auto;
    assert_eq!(probe("", &[edit("a", "b")], auto), "empty_file");
    let breaks = [edit("a\nb", "c")];
    assert_eq!(probe("a\r\nb\r\n", &breaks, EolMode::Exact), "line_breaks");
    assert_eq!(
        probe("one\rtwo\r", &[edit("one\ntwo", "c")], auto),
        "line_breaks"
    );
    assert_eq!(
        probe("port = 2\n", &[edit("port = 1", "port = 2")], auto),
        "already_applied"
    );
    let two = [edit("bar", "baz"), edit("foo", "bar")];
    assert_eq!(probe("foo\n", &two, auto), "in_another_edit");
}

#[test]
fn the_nearer_explanation_comes_first() {
    // Blanks before case, wherever they stand.
    check_probe("X = 1\nx =  1\n", "x = 1", "blanks", Some("x =  1"));
    // What stands there already before what is alike.
    let edits = [Edit::new("total = 1", "Total = 1")];
    let finding = explained(b"Total = 1\n", &edits, EolMode::Auto, &patient()).unwrap();
    assert_eq!(finding.probe, "already_applied");
}

#[test]
fn of_many_lines_those_around_the_difference_are_given() {
    let text: String = (0..30)
        .map(|n| format!("line number {n}\n"))
        .collect::<Vec<_>>()
        .concat();
    let old = text.replace("line number 20", "line number twenty");
    let old = old.trim_end();
    let exact = "line number 17\nline number 18\nline number 19\nline number 20\n\
                 line number 21\nline number 22";
    check_probe(&text, old, "nearest", Some(exact));
    let edits = [Edit::new(old, "x")];
    let finding = explained(text.as_bytes(), &edits, EolMode::Auto, &patient()).unwrap();
    assert_eq!(
        finding.explanation(),
        format!(
            "the nearest text is in lines 1-30, where 29 of 30 lines are equal; line 21 is the first \
             that differs\nfile: line number 20\nold:  line number twenty\nlines 18-23 exactly:\n{exact}"
        )
    );
}

#[test]
fn a_plain_line_is_given_once() {
    let edits = [Edit::new("total = 42", "x")];
    let finding = explained(b"total = 41\n", &edits, EolMode::Auto, &patient()).unwrap();
    assert_eq!(finding.explanation(), finding.words);
    let edits = [Edit::new("    xyz", "y")];
    let finding = explained(b"\txyz\n", &edits, EolMode::Auto, &patient()).unwrap();
    let ends = "\nfile: [U+0009]xyz\nold:      xyz\nline 1 exactly:\n\txyz";
    assert!(
        finding.explanation().ends_with(ends),
        "{}",
        finding.explanation()
    );
}

/// Sixteen MiB that are slow to look through, and a text that is almost there.
fn hostile() -> Vec<(&'static str, Vec<u8>, String)> {
    const SIZE: usize = 16 * 1024 * 1024 - 64;
    let cycled = |unit: &str| unit.bytes().cycle().take(SIZE).collect::<Vec<u8>>();
    let similar: Vec<u8> = (0..SIZE / 40)
        .flat_map(|n| format!("    let value_{:013} = 1;\n", n % 1000).into_bytes())
        .collect();
    let old_lines = "let value_0000000000000 = 2;\n".repeat(2_000);
    vec![
        ("one letter", cycled("a"), "a".repeat(4095) + "b"),
        ("one line", cycled("ab cd "), "ab  cd ab cd x".repeat(100)),
        ("short lines", cycled("a\n"), "a\n".repeat(5_000) + "b"),
        ("empty lines", cycled("\n"), "\n\n\nx\n\n".to_owned()),
        (
            "periodic lines",
            cycled("abab\nab\n"),
            "abab\nab\n".repeat(1_000) + "ba",
        ),
        ("similar lines", similar, old_lines),
        ("look-alikes", cycled("“é” "), "\"é\" ".repeat(300) + "!"),
        ("combining", cycled("e\u{301}\u{323}"), "é".repeat(1_000)),
        ("numbers", cycled("1: a\n"), "1: 1: a\n".repeat(500)),
    ]
}

#[test]
fn hostile_texts_take_no_more_than_their_budget() {
    for (name, text, old) in hostile() {
        // In steps that are slow here, a debug build, but of which each is short.
        let began = Instant::now();
        let edits = [Edit::new(old.clone(), old + "\u{1}")];
        let miss = Miss {
            text: &text,
            extent: Extent::All,
            edits: &edits,
            index: 0,
            eol: EolMode::Auto,
        };
        let problem = explain(&miss, &Budget::standard());
        let took = began.elapsed();
        assert_eq!(problem.kind().code(), "no_match");
        assert!(took < Duration::from_secs(5), "{name}: {took:?}");
    }
}

/// Returns the `no_match` for a text in memory, or in blocks.
fn missed(content: &fs_core::Content<'_>, edit: &Edit) -> String {
    let request = crate::Request::edits(vec![edit.clone()]);
    let error = crate::plan::plan_within(content, &request, &patient()).unwrap_err();
    format!("{:?} {:?}", error.to_string(), error.fields())
}

#[test]
fn a_large_text_is_explained_as_a_small_one_without_being_in_memory() {
    let lines =
        (1..=60_000).map(|line| format!("let number_{line} = call(\"{line}\", {line});\r\n"));
    let mut text = lines.collect::<Vec<_>>().concat();
    text.push_str("\tlast = indented_by_a_tab(1)\r\n");
    let memory = fs_core::Content::of_bytes(text.as_bytes());
    let blocks = fs_core::Content::in_blocks(text.as_bytes(), 1 << 20);
    for (old, new, near) in [
        ("LET number_31234 = CALL", "x", "line 31234"),
        ("    last = indented_by_a_tab(1)", "x", "line 60001"),
        (
            "was = call(1);",
            "let number_40000 = call(\"40000\"",
            "already",
        ),
        ("number_7 = call(7);\nnumber_8", "x", "lines 7-8"),
        ("nothing like it", "x", "not"),
    ] {
        let edit = Edit::new(old, new);
        let expected = missed(&memory, &edit);
        assert!(expected.contains(near), "{expected}");
        assert_eq!(missed(&blocks, &edit), expected);
    }
}
