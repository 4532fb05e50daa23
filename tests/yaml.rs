//! YAML documents: lookups, typed paths, layouts of single changes, and refusals.
#![allow(clippy::unwrap_used, clippy::panic)]

use hermes_tui::document::yaml::{YamlDocument, parse_flow_value, plain_typing, scalar_text};
use hermes_tui::document::{Change, EditError, KeyPath, Step, Value, apply};
use std::fmt::Write as _;

fn doc(text: &str) -> YamlDocument {
    YamlDocument::parse(text.as_bytes()).unwrap()
}

fn path(document: &YamlDocument, text: &str) -> KeyPath {
    if text.is_empty() {
        return KeyPath::default();
    }
    document.resolve(&KeyPath::split(text))
}

fn edit(text: &str, key: &str, change: &Change) -> Result<String, EditError> {
    let document = doc(text);
    let edited = document.edit(&path(&document, key), change)?;
    assert_eq!(
        apply(text.as_bytes(), &edited.splices).unwrap(),
        edited.bytes
    );
    Ok(String::from_utf8(edited.bytes).unwrap())
}

fn s(text: &str) -> Value {
    Value::Str(text.into())
}

fn list(items: &[&str]) -> Value {
    Value::List(items.iter().map(|i| s(i)).collect())
}

#[track_caller]
fn check(before: &str, key: &str, change: &Change, after: &str) {
    assert_eq!(edit(before, key, change).unwrap(), after);
}

#[test]
fn typed_segments_follow_what_the_file_holds() {
    let document = doc(
        "models:\n  gpt-4.1: {name: x}\n  a: {b: 1}\n  a.b: 2\nlist: [p, {k: v}]\nids:\n  12: int\n  '7': text\non: {1: one}\n",
    );
    let typed = |text: &str| path(&document, text);
    let k = |name: &str| Step::Key(name.into());
    assert_eq!(
        typed(r"models.gpt-4.1.name").0,
        [k("models"), k("gpt-4.1"), k("name")]
    );
    assert_eq!(typed(r"models.gpt-4\.1.name"), typed("models.gpt-4.1.name"));
    assert_eq!(typed("models.a.b").0, [k("models"), k("a.b")]);
    assert_eq!(typed("list.1.k").0, [k("list"), Step::Index(1), k("k")]);
    assert_eq!(typed("ids.12").0, [k("ids"), Step::Index(12)]);
    assert_eq!(typed("ids.7").0, [k("ids"), k("7")]);
    assert_eq!(typed("ids.99").0, [k("ids"), k("99")]);
    assert_eq!(typed("on.1").0, [Step::Bool(true), Step::Index(1)]);
    assert_eq!(typed("new.0.x").0, [k("new"), k("0"), k("x")]);
    assert_eq!(document.get(&typed("on.1")), Some(s("one")));
}

#[test]
fn lookups_give_line_text_and_comment() {
    let document = doc(
        "# top\nmodel:   # which\n  default: 'a b'  # note\n  port: 0x1F\nlist:\n- x # first\n-  y\ntext: |  # header\n  one\n  two\nempty:  # none\nbare: a#b\n",
    );
    let at = |text: &str| path(&document, text);
    assert_eq!(document.line(&at("model")), Some(2));
    assert_eq!(document.line(&at("model.port")), Some(4));
    assert_eq!(document.line(&at("list.1")), Some(7));
    assert_eq!(document.line(&at("nope")), None);
    assert_eq!(document.raw(&at("model.default")), Some("'a b'"));
    assert_eq!(document.raw(&at("model.port")), Some("0x1F"));
    assert_eq!(document.raw(&at("model")), None);
    let behind = |text: &str| document.comment_behind(&at(text));
    assert_eq!(behind("model").as_deref(), Some("# which"));
    assert_eq!(behind("model.default").as_deref(), Some("# note"));
    assert_eq!(behind("list.0").as_deref(), Some("# first"));
    assert_eq!(behind("text").as_deref(), Some("# header"));
    assert_eq!(behind("empty").as_deref(), Some("# none"));
    assert_eq!(behind("bare"), None);
    assert_eq!(behind("list.1"), None);
}

#[test]
fn merge_keys_aliases_and_duplicates_are_read_as_pyyaml_reads_them() {
    let document =
        doc("base: &b {t: 1, u: 2}\nuse:\n  <<: *b\n  u: 3\ncopy: *b\nx: 1\nx: 2\nempty: {}\n");
    let leaves: Vec<_> = document
        .leaves()
        .into_iter()
        .map(|leaf| format!("{}={}@{}", leaf.path, scalar_text(&leaf.value), leaf.line))
        .collect();
    assert_eq!(
        leaves,
        [
            "base.t=1@1",
            "base.u=2@1",
            "use.t=1@1",
            "use.u=3@1",
            "copy.t=1@1",
            "copy.u=2@1",
            "x=2@6",
            "empty={}@8"
        ]
    );
    assert_eq!(document.duplicates(), [(KeyPath::of(&["x"]), vec![6, 7])]);
    assert_eq!(
        document.get(&KeyPath::of(&["use", "t"])),
        Some(Value::Int(1))
    );
}

#[test]
fn sharing_is_told_or_refused() {
    let text = "base: &b\n  t: 1\ncopy: *b\n";
    let document = doc(text);
    let edited = document
        .edit(&KeyPath::of(&["base", "t"]), &Change::Set(Value::Int(2)))
        .unwrap();
    assert_eq!(edited.notes.len(), 1);
    assert!(
        edited.notes[0].contains("1 other place"),
        "{:?}",
        edited.notes
    );
    let refused = |key: &str, change: Change| edit(text, key, &change).unwrap_err();
    assert!(matches!(
        refused("copy.t", Change::Set(Value::Int(2))),
        EditError::Unsafe { line: 3, .. }
    ));
    assert!(matches!(
        refused("base", Change::Remove),
        EditError::Unsafe { line: 3, .. }
    ));
    check(
        text,
        "copy",
        &Change::Set(s("own")),
        "base: &b\n  t: 1\ncopy: own\n",
    );
    check(text, "base", &Change::Set(s("v")), "base: &b v\ncopy: *b\n");
}

#[test]
fn a_merged_section_is_not_hidden_by_one_new_value() {
    let text = "b: &b {s: {x: 1, y: 2}}\nuse:\n  <<: *b\n";
    let error = edit(text, "use.s.x", &Change::Set(Value::Int(5))).unwrap_err();
    assert!(
        matches!(error, EditError::Unsafe { line: 3, .. }),
        "{error}"
    );
    let error = edit(text, "use.s", &Change::Remove).unwrap_err();
    assert!(
        matches!(error, EditError::Unsafe { line: 3, .. }),
        "{error}"
    );
}

#[test]
fn duplicates_are_named_when_one_is_changed() {
    let document = doc("a: 1\na: 2\n");
    let edited = document
        .edit(&KeyPath::of(&["a"]), &Change::Set(Value::Int(3)))
        .unwrap();
    assert_eq!(edited.bytes, b"a: 1\na: 3\n");
    assert!(edited.notes[0].contains("2 times"), "{:?}", edited.notes);
}

#[test]
fn elements_are_inserted_with_their_neighbours_comments_left_alone() {
    let before = "l:\n  # one\n  - a  # x\n  # two\n  - b\nz: 1\n";
    let put = |n| Change::Insert(n, s("new"));
    check(
        before,
        "l",
        &put(0),
        "l:\n  - new\n  # one\n  - a  # x\n  # two\n  - b\nz: 1\n",
    );
    check(
        before,
        "l",
        &put(1),
        "l:\n  # one\n  - a  # x\n  - new\n  # two\n  - b\nz: 1\n",
    );
    check(
        before,
        "l",
        &put(2),
        "l:\n  # one\n  - a  # x\n  # two\n  - b\n  - new\nz: 1\n",
    );
    assert!(edit(before, "l", &put(3)).is_err());
    check("l: [a, b]\n", "l", &put(1), "l: [a, new, b]\n");
    check("- - a\n  - b\n", "0", &put(0), "- - new\n  - a\n  - b\n");
    check("a: 1\n", "l", &put(0), "a: 1\nl:\n  - new\n");
}

#[test]
fn elements_move_with_their_comments() {
    let before = "l:\n# about a\n- a  # x\n- k: v\n  j: w\n  # deep\n# about c\n- c\nz: 1\n";
    let go = |from, to| Change::Move { from, to };
    check(
        before,
        "l",
        &go(0, 2),
        "l:\n- k: v\n  j: w\n  # deep\n# about c\n- c\n# about a\n- a  # x\nz: 1\n",
    );
    check(
        before,
        "l",
        &go(2, 0),
        "l:\n# about c\n- c\n# about a\n- a  # x\n- k: v\n  j: w\n  # deep\nz: 1\n",
    );
    check(
        "l: [a, 'b c', {d: 1}]\n",
        "l",
        &go(2, 0),
        "l: [{d: 1}, a, 'b c']\n",
    );
    check(
        "l: [\n  a,  # of a\n  # on b\n  b\n]\n",
        "l",
        &go(0, 1),
        "l: [\n  # on b\n  b,\n  a  # of a\n]\n",
    );
    check("- a\n- b", "", &go(1, 0), "- b\n- a");
    check("- - a\n  - b\n", "0", &go(0, 1), "- - b\n  - a\n");
    check("- a\n- b\n", "", &go(1, 1), "- a\n- b\n");
    assert!(edit("- a\n", "", &go(0, 1)).is_err());
    // An anchor cannot move behind the alias that uses it.
    assert!(edit("- &x a\n- *x\n", "", &go(0, 1)).is_err());
}

#[test]
fn parts_of_flow_collections_go_with_their_lines() {
    let text = "l: [\n  a,  # of a\n  b,\n  c\n]\nm: {x: 1, y: 2}\n";
    let gone = Change::Remove;
    check(text, "l.0", &gone, "l: [\n  b,\n  c\n]\nm: {x: 1, y: 2}\n");
    check(
        text,
        "l.2",
        &gone,
        "l: [\n  a,  # of a\n  b\n]\nm: {x: 1, y: 2}\n",
    );
    check("m: {x: 1, y: 2}\n", "m.x", &gone, "m: {y: 2}\n");
    check("m: {x: 1, y: 2}\n", "m.y", &gone, "m: {x: 1}\n");
    check("m: {x: 1}\n", "m.x", &gone, "m: {}\n");
    check("m: [1, 2, ]\n", "m.1", &gone, "m: [1, ]\n");
    check(
        "a:  # on a\n  b: 1\n",
        "a",
        &Change::Set(Value::Int(5)),
        "a: 5  # on a\n",
    );
}

#[test]
fn text_that_looks_like_a_comment_stays_text() {
    let gone = Change::Remove;
    check("a: 'x\n# y'\nb: 1\n", "b", &gone, "a: 'x\n# y'\n");
    check("a: |\n  x\n  # y\nb: 1\n", "a", &gone, "b: 1\n");
    let error = edit("a: |\n  x", "b", &Change::Set(Value::Int(1))).unwrap_err();
    assert!(error.to_string().contains("line break"), "{error}");
    check(
        "a: |-\n  x",
        "b",
        &Change::Set(Value::Int(1)),
        "a: |-\n  x\nb: 1",
    );
}

#[test]
fn missing_parents_and_lists_are_made_in_the_files_style() {
    let set = Change::Set(s("v"));
    check("", "a.b", &set, "a:\n  b: v\n");
    check("# c\n", "a", &set, "# c\na: v\n");
    check("---\n# c\n...\n", "a", &set, "---\n# c\na: v\n...\n");
    check(
        "m:\n    k: 1\n",
        "p.o",
        &set,
        "m:\n    k: 1\np:\n    o: v\n",
    );
    check("m: {}\n", "m.k", &set, "m:\n  k: v\n");
    check("m: {k: 1}\n", "m.j.i", &set, "m: {k: 1, j: {i: v}}\n");
    check("m: ~ # c\n", "m.k", &set, "m: # c\n  k: v\n");
    check(
        "l:\n- a\n",
        "m",
        &Change::Append(s("x")),
        "l:\n- a\nm:\n- x\n",
    );
    check("l: []\r\n", "l", &Change::Append(s("x")), "l:\r\n  - x\r\n");
    check("m: !!null ''\n", "m.k", &set, "m:\n  k: v\n");
}

#[test]
fn quoting_style_and_boolean_words_are_kept() {
    let set = |v| Change::Set(v);
    check("a: 'x'\n", "a", &set(s("it's")), "a: 'it''s'\n");
    check(
        "a: \"x\"\n",
        "a",
        &set(s("y \"z\"")),
        "a: \"y \\\"z\\\"\"\n",
    );
    check("a: x\n", "a", &set(s("off")), "a: \"off\"\n");
    check("a: x\n", "a", &set(s("1e3")), "a: \"1e3\"\n");
    check("a: x\n", "a", &set(s("y")), "a: \"y\"\n");
    check("a: Yes\n", "a", &set(Value::Bool(false)), "a: No\n");
    check("a: OFF\n", "a", &set(Value::Bool(true)), "a: ON\n");
    check("a: 1\n", "a", &set(Value::Bool(true)), "a: true\n");
    check(
        "{\"a\": 1}\n",
        "b",
        &set(s("x")),
        "{\"a\": 1, \"b\": \"x\"}\n",
    );
    check("a: 1.0\n", "a", &set(Value::Float(1e16)), "a: 1.0e+16\n");
}

#[test]
fn texts_of_several_lines_are_literals_where_the_file_allows() {
    let two = Change::Set(s("one\ntwo\n"));
    check(
        "a: x  # c\nb: 1\n",
        "a",
        &two,
        "a: |  # c\n  one\n  two\nb: 1\n",
    );
    check("a: [x]\n", "a.0", &two, "a: [\"one\\ntwo\\n\"]\n");
    // The comment below would become part of the text.
    check(
        "a: x\n    # c\nb: 1\n",
        "a",
        &two,
        "a: \"one\\ntwo\\n\"\n    # c\nb: 1\n",
    );
    check(
        "a: x",
        "a",
        &Change::Set(s("one\ntwo")),
        "a: |-\n  one\n  two",
    );
}

#[test]
fn errors_name_the_key_and_never_a_value() {
    let text = "model: secret-value\nlist: [1]\n";
    let error = edit(text, "model.default", &Change::Set(s("x"))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "model.default cannot be set: model holds a string, not a section"
    );
    let error = edit(text, "nope", &Change::Remove).unwrap_err();
    assert_eq!(error.to_string(), "nope is not set in this file");
    let bad = [
        (Change::Set(Value::Timestamp("2026-02-30".into())), "list"),
        (Change::Set(Value::BigInt("12x".into())), "list"),
        (Change::Rename("list".into()), "model"),
        (Change::Append(s("x")), "model"),
        (Change::Set(s("x")), "list.7"),
    ];
    for (change, key) in bad {
        let error = edit(text, key, &change).unwrap_err().to_string();
        assert!(error.contains(key) || error.contains("list"), "{error}");
        assert!(!error.contains("secret-value"), "{error}");
    }
}

#[test]
fn files_that_hermes_cannot_read_are_refused_with_their_place() {
    let place = |bytes: &[u8]| {
        let error = YamlDocument::parse(bytes).unwrap_err();
        (error.line, error.column, error.reason)
    };
    let at = |bytes: &[u8]| {
        let (line, column, _) = place(bytes);
        (line, column)
    };
    assert_eq!(at(b"a: 1\nb: [1, 2\n"), (3, 1));
    assert_eq!(at(b"a: 1\nb: =\n"), (2, 4));
    assert_eq!(at("ä: 1\nö: *x\n".as_bytes()), (2, 4));
    assert_eq!(at(b"a: 1\nb: caf\xe9\n"), (2, 7));
    assert_eq!(at(b"a: x\0y\n"), (1, 5));
    assert_eq!(at(b"a: 2026-02-30\n"), (1, 4));
    assert_eq!(at(b"a: !env HOME\n"), (1, 4));
    assert_eq!(at(b"a: 1\n---\nb: 2\n"), (2, 1));
    assert!(place(b"\xff\xfea\0").2.contains("UTF-16"));
    assert!(place(b"a: &x [*x]\n").2.contains("inside"));
    let secret = YamlDocument::parse(b"key: sk-secret\nbad: [\n").unwrap_err();
    assert!(!secret.to_string().contains("sk-secret"));
}

#[test]
fn depth_size_and_aliases_are_bounded() {
    let deep = |n: usize| format!("a: {}{}\n", "[".repeat(n), "]".repeat(n));
    let document = doc(&deep(990));
    assert_eq!(document.root(), document.root().clone());
    assert_eq!(document.leaves().len(), 1);
    check("", "", &Change::Set(Value::Null), "");
    for n in [1_200, 100_000] {
        let error = YamlDocument::parse(deep(n).as_bytes()).unwrap_err();
        assert!(error.reason.contains("1000 levels"), "{error}");
    }
    let lines: Vec<_> = (0..900).map(|n| " ".repeat(n) + "k:\n").collect();
    let blocks = lines.concat();
    let document = doc(&blocks);
    let leaf = document.leaves().pop().unwrap().path;
    let edited = document.edit(&leaf, &Change::Set(s("v"))).unwrap();
    assert!(edited.bytes.ends_with(b"k: v\n"));
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x]\n");
    for n in 1..12 {
        let inner = format!("*a{}, ", n - 1).repeat(8);
        let _ = writeln!(bomb, "a{n}: &a{n} [{inner}]");
    }
    let error = YamlDocument::parse(bomb.as_bytes()).unwrap_err();
    assert!(error.reason.contains("aliases"), "{error}");
    let blanks = format!("a: x{} y{}\n", " ".repeat(200_000), " z".repeat(200_000));
    assert!(YamlDocument::parse(blanks.as_bytes()).is_err());
}

#[test]
fn typed_values_are_flow_values() {
    let read = |text: &str| parse_flow_value(text).unwrap();
    assert_eq!(read(""), s(""));
    assert_eq!(read("true"), Value::Bool(true));
    assert_eq!(read("off"), Value::Bool(false));
    assert_eq!(read("12:30"), Value::Int(750));
    assert_eq!(read("0123"), Value::Int(83));
    assert_eq!(read("1e3"), s("1e3"));
    assert_eq!(read("~"), Value::Null);
    assert_eq!(read("\"12\""), s("12"));
    assert_eq!(read("'it''s'"), s("it's"));
    assert_eq!(read("\"a\" and b"), s("\"a\" and b"));
    assert_eq!(read("- x"), s("- x"));
    assert_eq!(read("a: b # c"), s("a: b # c"));
    assert_eq!(read("@x"), s("@x"));
    assert_eq!(read("="), s("="));
    assert_eq!(read("2026-02-30"), s("2026-02-30"));
    assert_eq!(read("[a, b]"), list(&["a", "b"]));
    assert_eq!(
        read("{a: 1, b: [on]}"),
        Value::Map(vec![
            (s("a"), Value::Int(1)),
            (s("b"), Value::List(vec![Value::Bool(true)]))
        ])
    );
    assert!(parse_flow_value("[a").is_err());
    assert!(parse_flow_value("[x] todo").is_err());
    assert!(parse_flow_value("{a: 1} # c").is_err());
    let huge = "9".repeat(60);
    assert_eq!(plain_typing(&huge), Value::BigInt(huge.clone()));
    assert_eq!(scalar_text(&plain_typing(&huge)), huge);
}

#[test]
fn several_changes_are_one_list_of_splices() {
    let text = "a: 1\nb: 2\nc:\n  d: 3\n";
    let document = doc(text);
    let set = |key: &str, n: i128| (path(&document, key), Change::Set(Value::Int(n)));
    let edited = document
        .edit_all(&[set("c.d", 30), set("a", 10), set("c.e", 4), set("b", 2)])
        .unwrap();
    assert_eq!(edited.bytes, b"a: 10\nb: 2\nc:\n  d: 30\n  e: 4\n");
    assert_eq!(
        apply(text.as_bytes(), &edited.splices).unwrap(),
        edited.bytes
    );
    let none = document.edit_all(&[set("a", 5), set("a", 1)]).unwrap();
    assert!(none.splices.is_empty());
    assert_eq!(none.bytes, text.as_bytes());
    // Nothing is changed when one of them cannot be made.
    let impossible = (KeyPath::of(&["a", "x"]), Change::Set(Value::Null));
    assert!(document.edit_all(&[set("b", 9), impossible]).is_err());
}

#[test]
fn debug_output_shows_no_text() {
    let shown = format!("{:?}", doc("key: sk-secret\n"));
    assert!(!shown.contains("sk-secret"), "{shown}");
}
