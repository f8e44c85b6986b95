//! A configuration file: what is wrong is named with its line, and what is taken is within bounds.

use t4a::seat::config::parse;

pub const PIECES: &[&[u8]] = &[
    b"prefix = \"C-b\"\n",
    b"mouse = ",
    b"status = false\n",
    b"cols = 120\n",
    b"rows = 0\n",
    b"scrollback_lines = 99999999999999999999\n",
    b"idle_timeout_ms = 0x10\n",
    b"[keys]\n",
    b"[colors]\n",
    b"q = \"detach\"\n",
    b"\"Ctrl+Up\" = \"none\"\n",
    b"border = \"#0102ff\"\n",
    b"found = \"300\"\n",
    b"= = \n",
    b"[[a.b]]\n",
    b"{x = [1, ",
    b"'''",
    b"\"\"\"",
    "\u{202e}é = 1\n".as_bytes(),
    b"\n",
];

pub fn run(data: &[u8]) {
    let source = String::from_utf8_lossy(data);
    let (config, problems) = parse(&source);
    let lines = 1 + source.matches('\n').count();
    for problem in &problems {
        assert!((1..=lines).contains(&problem.line), "{problem} in {lines} lines");
        assert!(!problem.what.is_empty(), "line {} of nothing", problem.line);
    }
    assert!(config.cols.is_none_or(|cols| (1..=1024).contains(&cols)));
    assert!(config.rows.is_none_or(|rows| rows >= 1));
    assert_eq!(parse(&source).1, problems);
}
