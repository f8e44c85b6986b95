//! Streams recorded from shells, and what they mean.

use super::*;

fn feed(marks: &mut Marks, oscs: &[&str]) -> Vec<Mark> {
    let mut out = Vec::new();
    for osc in oscs {
        let params: Vec<&[u8]> = osc.as_bytes().split(|&b| b == b';').collect();
        marks.osc(&params, &mut out);
    }
    out
}

/// `A`, `B!` (first) or `B`, `C(command)` or `C`, `D(code)`, `D(code,key)` or `D`.
fn spell(mark: &Mark) -> String {
    let code = |code: &Option<i32>| code.map_or("?".to_owned(), |code| code.to_string());
    match mark {
        Mark::PromptStart => "A".to_owned(),
        Mark::InputStart { first } => if *first { "B!" } else { "B" }.to_owned(),
        Mark::CommandStart { command: None } => "C".to_owned(),
        Mark::CommandStart { command: Some(command) } => format!("C({command})"),
        Mark::OutputEnd => "E".to_owned(),
        Mark::CommandDone { code: c, key: None } => format!("D({})", code(c)),
        Mark::CommandDone { code: c, key: Some(key) } => format!("D({},{key})", code(c)),
    }
}

fn check(oscs: &[&str], expected: &str) -> Marks {
    let mut marks = Marks::default();
    let seen: Vec<String> = feed(&mut marks, oscs).iter().map(spell).collect();
    assert_eq!(seen.join(" "), expected);
    marks
}

#[test]
fn our_own_shells() {
    let marks = check(
        &[
            "7777;prompt;key=K;aid=7",
            "133;A;aid=7",
            "133;B",
            "133;C;aid=7;cmdline_url=echo%20a%3Bb%0Ac",
            "7777;done;5;key=K;aid=7",
            "133;D;5;aid=7",
            "7777;prompt;key=K;aid=7",
            "133;A;aid=7",
        ],
        "A B! C(echo a;b\nc) D(5,K) A",
    );
    assert_eq!(marks.state(), ShellState::Prompt);
}

#[test]
fn a_syntax_error_never_ran_but_is_done() {
    let begin = ["7777;prompt;key=K;aid=7", "133;A;aid=7", "133;B"];
    let error = ["7777;done;2;key=K;aid=7", "133;D;2;aid=7"];
    check(&[&begin[..], &error, &begin].concat(), "A B! D(2,K) A B!");
}

#[test]
fn an_empty_enter_is_a_new_prompt_where_the_shell_says_so() {
    let begin = ["7777;prompt;aid=7", "133;A;aid=7", "133;B"];
    check(&[begin, begin].concat(), "A B! A B!");
    check(&["133;A", "133;B", "133;A", "133;B"], "A B! B A B");
}

#[test]
fn the_seeds_bare_done() {
    let marks = check(&["7777;done;0", "7777;done;130", "7777;done"], "D(0) D(130) D(?)");
    assert_eq!(marks.state(), ShellState::Unknown);
    check(&["133;A", "133;B", "133;C", "133;D;3", "7777;done;3"], "A B! B C D(3)");
}

#[test]
fn ghostty() {
    let prompt = ["133;A;redraw=last;cl=line;aid=9", "133;P;k=i", "133;B"];
    let ran = ["133;C;", "133;D;0;aid=9"];
    let all = [&prompt[..], &ran, &prompt, &["133;D;0"], &prompt].concat();
    check(&all, "A B! A B B C D(0) A A B! A A B");
}

#[test]
fn kitty_sends_no_input_mark_and_repeats_its_done() {
    check(
        &[
            "133;D;0",
            "133;A;redraw=0",
            "133;C;cmdline=sh\\ -c\\ \\\"exit\\ 5\\\"",
            "133;D;5",
            "133;A",
            "133;D;5",
            "133;A",
            "133;C;cmdline=echo\\ \\\"a\\;b\\\"",
        ],
        "A B! C(sh -c \"exit 5\") D(5) A B! A B C(echo \"a;b\")",
    );
}

#[test]
fn wezterm() {
    let marks = check(
        &[
            "133;A;cl=m;aid=3",
            "133;B",
            "133;C;",
            "1337;SetUserVar=WEZTERM_PROG=c2ggLWMg\nImV4aXQgNSI=",
        ],
        "A B! B C",
    );
    assert_eq!(marks.running(), Some("sh -c \"exit 5\""));
    check(&["1337;SetUserVar=WEZTERM_PROG=bHM=", "133;C;"], "C(ls)");
    check(&["133;C", "133;D;5;aid=3", "133;D;5"], "C D(5)");
}

#[test]
fn vs_code() {
    check(
        &[
            "633;P;Cwd=/tmp",
            "633;A",
            "633;B",
            "633;E;echo a\\x3b b\\\\c\\x0ad;nonce",
            "633;C",
            "633;D;1",
            "633;A",
            "633;B",
            "633;D",
        ],
        "A B! B C(echo a; b\\c\nd) D(1) A B!",
    );
}

#[test]
fn nushell_speaks_two_dialects_at_once() {
    let marks = check(
        &["633;A", "133;A", "133;B", "633;B", "133;C", "633;E;ls", "633;C"],
        "A B! A B B B C",
    );
    assert_eq!(marks.running(), Some("ls"));
    check(&["133;C", "633;C", "133;D;1", "633;D;1", "133;A"], "C D(1) A B!");
}

#[test]
fn fish_4_beside_our_own_marks() {
    check(
        &[
            "7777;prompt;key=K;aid=8",
            "133;A;special_key=1",
            "133;B",
            "133;C;cmdline_url=false",
            "133;D;1",
            "7777;done;1;key=K;aid=8",
            "7777;prompt;key=K;aid=8",
            "133;A;special_key=1",
        ],
        "A B! C(false) D(1,K) A",
    );
}

#[test]
fn two_integrations_in_one_shell_give_one_event() {
    check(
        &[
            "7777;prompt;key=K;aid=8",
            "133;A",
            "133;A;aid=8",
            "133;B",
            "133;B",
            "133;C",
            "133;C;aid=8;cmdline_url=ls",
            "133;D;0",
            "7777;done;0;key=K;aid=8",
            "133;D;0;aid=8",
        ],
        "A A B! B C D(0,K)",
    );
}

#[test]
fn a_held_done_counts_when_the_shell_turns_silent() {
    let begin = ["7777;prompt;key=K;aid=8", "133;A;aid=8", "133;B", "133;C;aid=8"];
    check(&[&begin[..], &["133;D;4;aid=8", "133;A;aid=8"]].concat(), "A B! C D(4) A");
    check(&[&begin[..], &["133;D;4", "133;A"]].concat(), "A B! C D(4) A");
}

#[test]
fn a_pasted_block_ends_each_command() {
    check(
        &["133;A;aid=1", "133;B", "133;C;aid=1", "133;C;aid=1", "133;D;1;aid=1"],
        "A B! B C D(?) C D(1)",
    );
    check(&["133;C;cmdline_url=a", "133;C;cmdline_url=b"], "C(a) D(?) C(b)");
}

const NESTED: [&str; 6] = [
    "7777;prompt;key=K;aid=1",
    "133;A;aid=1",
    "133;B",
    "133;C;aid=1;cmdline_url=bash",
    "133;A;aid=2",
    "133;B;aid=2",
];

#[test]
fn a_nested_shell_left_by_exit_or_end_of_file() {
    let outer = ["7777;done;3;key=K;aid=1", "133;D;3;aid=1", "133;A;aid=1"];
    let ran = ["133;C;aid=2;cmdline_url=x", "133;D;9;aid=2"];
    let exit = ["133;C;aid=2;cmdline_url=exit"];
    let marks =
        check(&[&NESTED[..], &ran, &exit].concat(), "A B! C(bash) A B! B C(x) D(9) C(exit)");
    assert_eq!(marks.running(), Some("exit"));
    check(&[&NESTED[..], &exit, &outer].concat(), "A B! C(bash) A B! B C(exit) D(3,K) A");
    check(&[&NESTED[..], &outer].concat(), "A B! C(bash) A B! B D(3,K) A");
}

#[test]
fn a_named_shell_in_a_nameless_one() {
    let marks = check(
        &["133;A", "133;B", "133;C;cmdline_url=bash", "133;A;aid=2", "133;B", "133;D;0"],
        "A B! B C(bash) A B! B D(0)",
    );
    assert_eq!((marks.state(), marks.levels.len()), (ShellState::Prompt, 1));
}

#[test]
fn nameless_shells_within_one_another() {
    let marks = check(
        &["133;A", "133;B", "133;C", "133;A", "133;B", "133;C", "133;D;2", "133;A", "133;B"],
        "A B! B C A B! B C D(2) A B!",
    );
    assert_eq!(marks.state(), ShellState::Input);
}

#[test]
fn a_forged_done_is_passed_on_but_changes_nothing() {
    let forged = ["7777;done;0", "7777;done;0;key=evil;aid=1", "133;D;0", "7777;done;0;aid=6"];
    let marks = check(&[&NESTED[..4], &forged].concat(), "A B! C(bash) D(0) D(0,evil) D(0)");
    assert_eq!((marks.state(), marks.running()), (ShellState::Running, Some("bash")));
    check(&[&NESTED[..4], &forged, &["7777;prompt"]].concat(), "A B! C(bash) D(0) D(0,evil) D(0)");
}

#[test]
fn a_done_after_a_lost_start_still_counts() {
    check(&["7777;done;1;key=K;aid=5", "133;D;1;aid=5"], "D(1,K)");
}

#[test]
fn a_continuation_prompt_moves_no_start() {
    check(&["133;A", "133;B", "133;A;k=s", "133;B", "133;P;k=r", "133;C"], "A B! B C");
}

#[test]
fn the_screen_says_what_the_mark_did_not() {
    let mut marks = check(&["133;C"], "C");
    marks.set_running("ls \u{1b}[31m\u{9b}-l".to_owned());
    assert_eq!(marks.running(), Some("ls [31m-l"));
    let mut marks = check(&["133;C;cmdline_url=ls"], "C(ls)");
    marks.set_running("$ ls".to_owned());
    assert_eq!(marks.running(), Some("ls"));
}

#[test]
fn the_best_text_wins() {
    check(&["633;E;b", "133;C;cmdline=a"], "C(b)");
    check(&["633;E;b", "133;C;cmdline_url=a"], "C(a)");
    check(&["633;E;b", "1337;SetUserVar=WEZTERM_PROG=YQ==", "133;C"], "C(b)");
    check(&["633;E;stale", "133;A", "133;C"], "A B! C");
    check(&["133;C;cmdline_url=a%1b%0%zz%"], "C(a%0%zz%)");
}

#[test]
fn everything_is_bounded() {
    let mut marks = Marks::default();
    for aid in 0..100 {
        feed(&mut marks, &[&format!("133;A;aid={aid}"), &format!("133;C;aid={aid}")]);
    }
    assert_eq!(marks.levels.len(), MAX_SHELLS);
    let newest = |l: &Level| l.aid.as_deref() == Some("99");
    assert!(marks.levels.iter().any(newest), "the oldest make room");
    for (length, kept) in [(MAX_SHELL_ID, MAX_SHELL_ID), (MAX_SHELL_ID + 1, MAX_SHELL_ID)] {
        let mut marks = Marks::default();
        feed(&mut marks, &[&format!("133;A;aid={}", "x".repeat(length))]);
        assert_eq!(marks.levels[0].aid.as_ref().map(String::len), Some(kept));
    }
    for (depth, kept) in [(MAX_SHELLS, MAX_SHELLS), (MAX_SHELLS + 1, MAX_SHELLS)] {
        let mut marks = Marks::default();
        for aid in 0..depth {
            feed(&mut marks, &[&format!("133;A;aid={aid}"), &format!("133;C;aid={aid}")]);
        }
        assert_eq!(marks.levels.len(), kept);
    }
    let long = "é".repeat(MAX_COMMAND);
    feed(&mut marks, &[&format!("133;C;aid={long};cmdline_url={long}")]);
    assert_eq!(marks.running().map(str::len), Some(MAX_COMMAND));
    assert!(
        marks.levels.iter().all(|l| l.aid.as_ref().is_none_or(|aid| aid.len() <= MAX_SHELL_ID))
    );
    marks.set_running(long);
    assert!(marks.running().is_some_and(|text| text.len() <= MAX_COMMAND));
}

proptest::proptest! {
    #[test]
    fn garbage_never_panics(oscs in proptest::collection::vec(
        (0..4usize, proptest::collection::vec((0..12usize, proptest::collection::vec(proptest::num::u8::ANY, 0..6)), 0..4)), 0..60)
    ) {
        const WORDS: [&[u8]; 12] = [b"A", b"B", b"C", b"D", b"E", b"P", b"done", b"prompt", b"aid=", b"key=", b"cmdline=$'\\x", b"SetUserVar=WEZTERM_PROG="];
        let mut marks = Marks::default();
        let mut out = Vec::new();
        for (number, params) in &oscs {
            let number: &[u8] = [&b"133"[..], b"633", b"7777", b"1337"][*number];
            let params: Vec<Vec<u8>> = params.iter().map(|(word, tail)| [WORDS[*word], tail].concat()).collect();
            let mut all = vec![number];
            all.extend(params.iter().map(Vec::as_slice));
            marks.osc(&all, &mut out);
            proptest::prop_assert!(marks.levels.len() <= MAX_SHELLS);
        }
    }
}
