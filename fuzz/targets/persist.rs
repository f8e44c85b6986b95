//! Files of terminals that were kept: any bytes are taken or refused, and what is taken can be shown and
//! is the same when it is written again.

use t4a::mux::{Kept, Layouts};
use t4a::term::{Limits, LineNo, Size, Terminal, checksum};
use t4a::view::text;

const HEAD: &[u8] = br#"{"id":3,"born_ms":1,"saved_ms":2,"run":3,"boot":"","name":null,"labels":{},"argv":["sh"],"cwd":"/","command":null,"cols":9,"rows":3,"scrollback_lines":9,"idle_timeout_ms":null,"take_over":"allowed","shell_integration":true,"persist":null,"lines":[4,5]}
"#;

pub const PIECES: &[&[u8]] = &[
    b"t4a-terminal 1 ",
    b"t4a-layouts 1 ",
    HEAD,
    b"{\"run\":1,\"workspaces\":{\"main\":{}},\"before\":{},\"ended\":[1]}\n",
    b"\x1b[0;31m",
    b"\x1b]8;;http://a\x1b\\",
    b"\x1b#6",
    b"\x1b[2J",
    b"\x1b[?1049h",
    b"\n",
    "日本語 e\u{301}".as_bytes(),
    b"a line of text\n",
];

const SIZE: Size = Size { cols: 9, rows: 3 };

pub fn run(data: &[u8]) {
    check(data);
    // The same with a checksum that is right, and with a head.
    let content = [HEAD, data].concat();
    for (kind, content) in [("terminal", data), ("layouts", data), ("terminal", &content)] {
        let mut file = format!("t4a-{kind} 1 {:016x}\n", checksum(content)).into_bytes();
        file.extend_from_slice(content);
        check(&file);
    }
}

fn check(file: &[u8]) {
    if let Ok(layouts) = Layouts::decode(file) {
        let layouts = layouts.renewed(7, Default::default(), true);
        assert!(Layouts::decode(&layouts.encode()).is_ok());
    }
    let Ok((kept, lines)) = Kept::decode(file) else { return };
    assert_eq!(Kept::decode(&kept.encode(lines)), Ok((kept.clone(), lines)));
    let size = Size { cols: kept.cols, rows: kept.rows.min(SIZE.rows) };
    let mut terminal = Terminal::new(size, Limits { lines: 50, bytes: 1 << 20 });
    terminal.begin_with(LineNo(kept.lines[0]), lines);
    text::lines(&terminal, LineNo(0), 100);
    let mut again = String::new();
    terminal.transcript(1 << 20).write(1 << 20, &mut again);
    assert!(t4a::term::is_transcript(&again));
}
