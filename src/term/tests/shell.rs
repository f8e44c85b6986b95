//! Marks of shells on the grid.

use crate::term::check::{fed, run};
use crate::term::{LineNo, Notice, ShellState, Size};

const PROMPT: &str = "\x1b]133;A\x07$ \x1b]133;B\x07";

fn commands(notices: &[Notice]) -> Vec<Option<&str>> {
    let mut found = Vec::new();
    for notice in notices {
        if let Notice::CommandStart { command } = notice {
            found.push(command.as_deref());
        }
    }
    found
}

/// First line of output and the one past its last.
fn outputs(notices: Vec<Notice>) -> Vec<(u64, u64)> {
    let output = |notice| match notice {
        Notice::CommandDone { output: Some(lines), .. } => Some((lines.start.0, lines.end.0)),
        _ => None,
    };
    notices.into_iter().filter_map(output).collect()
}

#[test]
fn a_cycle_tells_prompt_command_and_output() {
    let bytes = format!("{PROMPT}ls\r\n\x1b]133;C\x07a\r\nb\r\n\x1b]133;D;3\x07{PROMPT}");
    let (term, notices) = run((20, 6), bytes);
    let done = Notice::CommandDone {
        code: Some(3),
        key: None,
        command: Some("ls".into()),
        output: Some(LineNo(1)..LineNo(3)),
        cut: None,
    };
    let start = Notice::CommandStart { command: Some("ls".into()) };
    assert_eq!(notices, [Notice::Prompt, start, done, Notice::Prompt]);
    assert_eq!((term.shell(), term.running_command()), (ShellState::Input, None));
}

#[test]
fn the_command_is_read_from_the_grid_over_wraps_and_lines() {
    let typed = |text: &str| {
        let (term, notices) = run((10, 4), format!("{PROMPT}{text}\r\n\x1b]133;C\x07"));
        let running = term.running_command().map(str::to_owned);
        assert_eq!(commands(&notices), [running.as_deref()]);
        running.unwrap_or_default()
    };
    assert_eq!(typed("echo hello there you"), "echo hello there you");
    assert_eq!(typed("echo 日本語 日本語"), "echo 日本語 日本語");
    assert_eq!(typed("for x\r\n> do\r\n> done"), "for x\n> do\n> done");
    assert_eq!(typed(&"long ".repeat(20)), "long ".repeat(20).trim_end());
    assert_eq!(typed(""), "");
}

#[test]
fn the_input_is_found_after_a_resize() {
    let mut term = fed((10, 4), format!("{PROMPT}echo one two"));
    term.resize(Size { cols: 6, rows: 3 });
    let mut notices = Vec::new();
    term.feed(b" three\r\n\x1b]133;C\x07", &mut notices);
    assert_eq!(commands(&notices), [Some("echo one two three")]);
}

#[test]
fn output_without_a_newline_counts_its_line() {
    let output = |text: &str| {
        let bytes = format!("{PROMPT}x\r\n\x1b]133;C\x07{text}\x1b]133;D;0\x07");
        outputs(run((10, 3), bytes).1)
    };
    assert_eq!(output(""), [(1, 1)]);
    assert_eq!(output("a"), [(1, 2)]);
    assert_eq!(output("a\r\n"), [(1, 2)]);
    assert_eq!(output("a\r\nb"), [(1, 3)]);
    assert_eq!(output(&"y\r\n".repeat(50)), [(1, 51)]);
    assert_eq!(output(&"y".repeat(35)), [(1, 2)]);
}

#[test]
fn a_reset_forgets_where_output_began() {
    let bytes = format!("{PROMPT}x\r\n\x1b]133;C\x07a\r\n\x1bc\x1b]7777;done;0\x07");
    assert_eq!(outputs(run((10, 3), bytes).1), []);
}

#[test]
fn output_without_an_end_is_cut_where_the_prompt_begins() {
    let cut = |bytes: String| {
        let (_, notices) = run((10, 6), bytes);
        let done = notices.into_iter().find_map(|notice| match notice {
            Notice::CommandDone { output: Some(lines), cut, .. } => Some((lines, cut)),
            _ => None,
        });
        done.map(|(lines, cut)| (lines.start.0, lines.end.0, cut))
    };
    let start = format!("{PROMPT}x\r\n\x1b]133;C\x07");
    assert_eq!(cut(format!("{start}a\r\nbc\x1b]133;D\x07{PROMPT}")), Some((1, 3, Some(2))));
    assert_eq!(cut(format!("{start}a\r\n\x1b]133;D\x07{PROMPT}")), Some((1, 2, None)));
    assert_eq!(cut(format!("{start}0123456789ab\x1b]133;D\x07")), Some((1, 2, Some(12))));
    // zsh draws a mark of its own before its hooks can tell the end.
    let own = "\x1b]7777;prompt;key=K\x07\x1b]133;B\x07x\r\n\x1b]133;C\x07";
    let marked = |key: &str| {
        format!("{own}ab\x1b]7777;end;key={key}\x07%      \r \r\n\x1b]7777;done;0;key=K\x07")
    };
    assert_eq!(cut(marked("K")), Some((1, 2, Some(2))));
    assert_eq!(cut(marked("forged")), Some((1, 2, None)));
}
