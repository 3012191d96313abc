use super::field::line_start;
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
        form: Form::Raw,
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
    check("<p>a &amp; b</p>\n", "<p>a & b</p>", &[1, 1], words);
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
    let words = "line 1 differs only in blanks, look-alike or invisible characters (the file has \
                 U+2018) and case\
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
        form: Form::Raw,
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
    assert_eq!(
        (finding.probe, found),
        (Some(probe), exact),
        "{}",
        finding.words
    );
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
        finding.probe.unwrap()
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
    assert_eq!(finding.probe, Some("already_applied"));
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
            form: Form::Raw,
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

#[test]
fn an_edit_that_deletes_is_not_taken_to_be_made_before() {
    let (text, old) = ("foo( a );\nbar(b);\n", "foo(a);\nbar(b);\n");
    let words = "lines 1-2 differ only in blanks\nfile: foo( a );\nold:  foo(a);";
    for new in ["bar(b);\n", "bar(b);", "foo(a);\n"] {
        check_edits(text, &[Edit::new(old, new)], EolMode::Auto, &[1, 2], words);
    }
    // Nor if what is left has another form.
    let edits = [Edit::new("foo(a);\nbar( b );\n", "bar(b);\n")];
    let words = "lines 1-2 differ only in blanks\nfile: foo( a );\nold:  foo(a);";
    check_edits(text, &edits, EolMode::Auto, &[1, 2], words);
    let edits = [Edit::new("missing();\nbar(b);\n", "bar(b);\n")];
    let finding = explained(text.as_bytes(), &edits, EolMode::Auto, &patient()).unwrap();
    assert_eq!(finding.probe, Some("nearest"));
}

#[test]
fn what_is_alike_elsewhere_comes_before_what_stands_there_already() {
    let text = "timeout = 30\nfoo( a );\n";
    let edits = [Edit::new("foo(a);", "timeout = 30")];
    let words = "line 2 differs only in blanks\nfile: foo( a );\nold:  foo(a);";
    check_edits(text, &edits, EolMode::Auto, &[2, 2], words);
    // In the same place it was made.
    let edits = [Edit::new("foo(a);", "foo( a );")];
    let words = "\"new\" stands in line 2 already; the edit may have been made before";
    check_edits(text, &edits, EolMode::Auto, &[2, 2], words);
    // Most lines of a long text, too.
    let text = "helper();\na = 1\nb = 2\nc = 3\nd = 4\n";
    let edits = [Edit::new("a = 1\nb = 2\nc = 3\nd = 5", "helper();")];
    let words = "the nearest text is in lines 2-5, where 3 of 4 lines are equal; line 5 is the first \
                 that differs\nfile: d = 4\nold:  d = 5";
    check_edits(text, &edits, EolMode::Auto, &[2, 5], words);
}

#[test]
fn a_line_is_found_by_its_rarest_word_and_not_by_a_common_line() {
    let long = "the same long line that stands under every one of them";
    let text: String = (0..20_000)
        .map(|n| {
            let blanks = if n == 7_777 { "  " } else { " " };
            format!("id{blanks}{n:07} alpha\n{long}\n")
        })
        .collect::<Vec<_>>()
        .concat();
    let old = format!("id 0007777 alpha\n{long}");
    let words = "lines 15555-15556 differ only in blanks\nfile: id  0007777 alpha\n\
                 old:  id 0007777 alpha";
    check(&text, &old, &[15_555, 15_556], words);
    let old = format!("id 0007778 beta\n{long}");
    let words = "the nearest text is in lines 15557-15558, where 1 of 2 lines are equal; line 15557 \
                 is the first that differs\nfile: id 0007778 alpha\nold:  id 0007778 beta";
    check(&text, &old, &[15_557, 15_558], words);
}

#[test]
fn text_that_is_everywhere_is_not_said_to_be_nearest() {
    let words = "similar text is in many places, such as line 1\nfile: let value = compute();\
                 \nold:  let value = compute(1);";
    let text = "let value = compute();\n".repeat(200);
    check(&text, "let value = compute(1);", &[1, 1], words);
    // Which one is meant is not known.
    check_probe(&text, "let value = compute(1);", "nearest", None);
}

#[test]
fn a_large_file_is_searched_for_what_is_rare() {
    let long = "the same long line that stands under every one of them";
    let lines = (0..60_000).map(|n| {
        let blanks = if n == 47_777 { "  " } else { " " };
        format!("id{blanks}{n:07} alpha\n{long}\n")
    });
    let text = lines.collect::<Vec<_>>().concat();
    let blocks = fs_core::Content::in_blocks(text.as_bytes(), 1 << 20);
    let memory = fs_core::Content::of_bytes(text.as_bytes());
    let told = |old: &str, new: &str, words: &str| {
        let edit = Edit::new(old, new);
        let missed = [missed(&memory, &edit), missed(&blocks, &edit)];
        assert!(missed[0].contains(words), "{}", missed[0]);
        assert_eq!(missed[1], missed[0]);
    };
    let old = format!("id 0047777 alpha\n{long}");
    told(&old, "x", "lines 95555-95556 differ only in blanks");
    told(&old, long, "lines 95555-95556 differ only in blanks");
    told(
        &old,
        "id 0000005 alpha",
        "lines 95555-95556 differ only in blanks",
    );
    told("id 0047778 beta", "x", "the nearest text is in line 95557");
    told(
        "id 0047778 beta",
        "id 0000005 alpha",
        "\\\"new\\\" stands in line 11 already",
    );
}

/// Returns what is said of a large file of which no more than the first block was looked at.
fn hurried(text: &str, old: &str, new: &str) -> String {
    let content = fs_core::Content::in_blocks(text.as_bytes(), 64 * 1024);
    let body = crate::body::Body::new(&content, 0, Some(fs_core::Encoding::UTF_8)).unwrap();
    let miss = LargeMiss {
        body: &body,
        reading: crate::chunks::Reading {
            decoded_as: None,
            form: crate::haystack::Form::Raw,
        },
        edits: &[Edit::new(old, new)],
        index: 0,
        eol: EolMode::Auto,
    };
    let spent = Budget {
        until: Instant::now(),
        ..patient()
    };
    fs_core::Error::from(explain_large(&miss, &spent).unwrap()).to_string()
}

#[test]
fn of_a_large_file_it_is_said_how_much_was_looked_at() {
    let lines = (1..=400_000).map(|n| format!("id {n:07} alpha\n"));
    let text = lines.collect::<Vec<_>>().concat();
    assert_eq!(
        hurried(&text, "id  0077777 alpha", "x"),
        "could not find \"old\"; the file is too large to look at all of it for what is near, and \
         nothing was found in lines 1-3855; search it for a rare piece of \"old\", such as \
         \"0077777\""
    );
    assert_eq!(
        hurried(&text, "id  0077777 alpha", "id 0000003 alpha"),
        "could not find \"old\"; of this large file only lines 1-3855 were looked at; search it for a \
         rare piece of \"old\", such as \"0077777\"; \"new\" stands in line 3 already; the edit may have \
         been made before"
    );
}

#[test]
fn a_match_in_a_long_line_is_shown_where_it_differs() {
    let long = format!("{}needle  here {}\n", "x".repeat(5_000), "y ".repeat(5_000));
    let edits = [Edit::new("needle here", "z")];
    let finding = explained(long.as_bytes(), &edits, EolMode::Auto, &patient()).unwrap();
    assert_eq!(
        finding.explanation(),
        format!(
            "line 1 differs only in blanks\nfile: …{}needle  here {}…\nold:  needle here\n\
             from line 1, exactly:\nneedle  here",
            "x".repeat(33),
            "y ".repeat(37)
        )
    );
    // Far into a long text both lines are shown around the difference.
    let old = "abcdefghi ".repeat(50) + "one" + &" abcdefghi".repeat(500);
    let file = "x".repeat(3_000) + &old.replace("one", "One");
    let edits = [Edit::new(old, "z")];
    let finding = explained(file.as_bytes(), &edits, EolMode::Auto, &patient()).unwrap();
    let around = |word: &str| {
        format!(
            "…{}{word}{} abcdef…",
            "abcdefghi ".repeat(4),
            " abcdefghi".repeat(7)
        )
    };
    assert_eq!(
        finding.words,
        format!(
            "line 1 differs only in upper and lower case\nfile: {}\nold:  {}",
            around("One"),
            around("one")
        )
    );
    let exact = finding.exact.unwrap();
    assert_eq!(exact.text.len(), 600);
    assert!(exact.text.contains("ghi One abc") && file.contains(&exact.text));
}

#[test]
fn what_is_near_in_a_long_line_is_shown_where_it_differs() {
    let long = format!(
        "{{{}\"timeout\":30,{}}}",
        "\"k\":1,".repeat(900),
        "\"j\":2,".repeat(900)
    );
    let edits = [Edit::new("\"timeout\":45,", "z")];
    let finding = explained(long.as_bytes(), &edits, EolMode::Auto, &patient()).unwrap();
    assert_eq!(
        finding.words,
        format!(
            "the nearest text is in line 1\nfile: …{}\"timeout\":30,{}…\nold:  \"timeout\":45,",
            "\"k\":1,".repeat(5),
            "\"j\":2,".repeat(12) + "\"j\":2"
        )
    );
    let exact = finding.exact.unwrap().text;
    assert!(exact.len() <= 600 && exact.contains("\"timeout\":30,") && long.contains(&exact));
}

#[test]
fn only_what_does_differ_is_named() {
    let words = "line 1 differs only in blanks and case\nfile: foo ( A )\nold:  foo(a)";
    check("foo ( A )\n", "foo(a)", &[1, 1], words);
    let words = "line 1 differs only in blanks and the composition of accented characters\
                 \nfile: cafe[U+0301]  au lait\nold:  café au lait";
    check("cafe\u{301}  au lait\n", "café au lait", &[1, 1], words);
    let words = "line 1 differs only in look-alike or invisible characters (the file has U+2019) \
                 and case\nfile: It[U+2019]s\nold:  it's";
    check("It\u{2019}s\n", "it's", &[1, 1], words);
    // Indents are not passed over.
    let words = "lines 1-2 differ only in blanks and case\nfile:   Foo\nold:  foo";
    check("  Foo\n  bar\n", "foo\nbar", &[1, 2], words);
    let words = "lines 1-2 differ only in a CR (U+000D) that is no part of a line break\
                 \nfile: foo[U+000D]\nold:  foo";
    check("foo\r\r\nbar\r\n", "foo\nbar", &[1, 2], words);
}

#[test]
fn equal_lines_are_equal_and_not_only_but_for_blanks() {
    let words = "the nearest text is in lines 1-2, where 2 of 3 lines differ only in blanks; the file \
                 ends before \"old\" does; line 1 is the first that differs in blanks\n\
                 file: foo  \nold:  foo";
    check("foo  \nbar  \n", "foo\nbar\nbaz\n", &[1, 2], words);
    // The first line of a text may be the end of a line.
    let words = "the nearest text is in lines 1-2, where 1 of 3 lines are equal and 1 more but for \
                 blanks; the file ends before \"old\" does; line 2 is the first that differs in \
                 blanks\nfile:   bar\nold:  bar";
    check("  foo\n  bar\n", "foo\nbar\nbaz\n", &[1, 2], words);
    let words = "the nearest text is in lines 1-3, where 1 of 3 lines are equal and 1 more but for \
                 blanks; line 3 is the first that differs in more\nfile: quux\nold:  baz";
    check("foo\n  bar\nquux\n", "foo\nbar\nbaz", &[1, 3], words);
    let words = "the nearest text is in lines 1-2, where 2 of 3 lines are equal; the file ends before \
                 \"old\" does";
    check("foo\nbar\n", "foo\nbar\nbaz\n", &[1, 2], words);
}

#[test]
fn letters_of_another_script_are_named() {
    let words = "line 1 differs only in look-alike or invisible characters: the file has U+0430, \"old\" U+0061\
                 \nfile: p[U+0430]ssword\nold:  password";
    check("p\u{430}ssword\n", "password", &[1, 1], words);
    check_probe(
        "p\u{430}ssword\n",
        "password",
        "look_alikes",
        Some("p\u{430}ssword"),
    );
    let words = "line 1 differs only in look-alike or invisible characters: the file has U+004F, \"old\" U+039F\
                 \nfile: FOO = 1\nold:  F[U+039F]O = 1";
    check("FOO = 1\n", "F\u{39f}O = 1", &[1, 1], words);
    // A text in that script is shown as it is.
    let words = "line 1 differs only in upper and lower case\nfile: Вася поёт\nold:  вася поёт";
    check("Вася поёт\n", "вася поёт", &[1, 1], words);
    let words = "line 1 differs only in blanks\nfile: Вася  поёт\nold:  Вася поёт";
    check("Вася  поёт\n", "Вася поёт", &[1, 1], words);
    let words = "line 1 differs only in look-alike or invisible characters: the file has U+0430, \"old\" U+0061\
                 \nfile: В[U+0430]ся, а\nold:  Вaся, а";
    check("Вася, а\n", "Вaся, а", &[1, 1], words);
}

#[test]
fn breaks_around_a_text_are_said_to_differ() {
    let words =
        "the nearest text is in line 2, and differs only in the line breaks before or after it";
    check("a\nlast", "last\n", &[2, 2], words);
    check("a\nlast\nb\n", "\n\nlast\n\n", &[2, 2], words);
}

#[test]
fn the_micro_sign_is_told_from_the_greek_letter() {
    let words = "line 1 differs only in look-alike or invisible characters: the file has U+00B5\
                 \nfile: 5 [U+00B5]sec\nold:  5 μsec";
    check("5 \u{b5}sec\n", "5 \u{3bc}sec", &[1, 1], words);
}

#[test]
fn blanks_before_the_last_break_are_seen() {
    let words = "line 1 differs only in blanks at the ends of lines\nfile: foo   \nold:  foo";
    check("foo   \nbar\n", "foo\n", &[1, 1], words);
    let words = "line 2 differs only in look-alike or invisible characters: the file has U+200B\
                 \nfile: use std;[U+200B]\nold:  use std;";
    check("x\nuse std;\u{200b}\n", "use std;\n", &[2, 2], words);
    let words = "lines 1-2 differ only in blanks at the ends of lines\nfile: bar \nold:  bar";
    check("foo\nbar \n", "foo\nbar\n", &[1, 2], words);
}

#[test]
fn of_a_text_that_takes_too_long_it_is_said_so() {
    let text = "some line\n".repeat(200_000);
    let words = "the file is too large to look at all of it for what is near; search it for a rare \
                 piece of \"old\"";
    let spent = Budget {
        until: Instant::now(),
        ..patient()
    };
    let small = Budget {
        max_bytes: SMALL,
        ..patient()
    };
    for budget in [spent, small] {
        let edits = [Edit::new("some  line", "x")];
        let finding = explained(text.as_bytes(), &edits, EolMode::Auto, &budget).unwrap();
        assert_eq!((finding.words.as_str(), finding.probe), (words, None));
    }
}

#[test]
fn a_cr_before_a_break_is_told_in_a_file_of_mixed_breaks() {
    for text in [
        "a\r\nfoo ZZ\r\r\nXbar\nb\n",
        "a\r\nfoo ZZ\r\r\nXbar\r\nb\r\n",
    ] {
        let request = crate::Request::edits(vec![Edit::new("ZZ\nX", "Q")]);
        let error = crate::plan(text.as_bytes(), &request).unwrap_err();
        let details = error.problem().details().unwrap();
        assert!(
            details.contains("a CR (U+000D) that is no part"),
            "{details}"
        );
        let fs_core::Problem::NoMatch { exact, .. } = error.problem() else {
            panic!("{error}");
        };
        let copied = Edit::new(exact.clone().unwrap(), "Q");
        let request = crate::Request::edits(vec![copied]);
        let plan = crate::plan(text.as_bytes(), &request).unwrap();
        assert!(plan.patch().apply(text.as_bytes()).starts_with(b"a\r\nQ"));
    }
}
