//! What a terminal must do, one line for each function: bytes on 20 columns and 5 rows, and
//! what is to be seen or answered then.

use crate::term::check::{check, fed, picture, replies};
use crate::term::{Attrs, Color, Style, Terminal, Underline};

const SIZE: (u16, u16) = (20, 5);

#[derive(Debug)]
enum Expect {
    /// The whole screen, rows joined by `|`.
    Text(&'static str),
    Cursor(u16, u16),
    /// All that is written back.
    Reply(&'static str),
    /// What is written back has the version in it.
    Starts(&'static str),
    /// Row, column and what the cell there shows.
    Shows(u16, u16, &'static str),
    /// Row, column and the look there: foreground, background and letters for attributes.
    Look(u16, u16, &'static str),
}
use Expect::{Cursor, Look, Reply, Shows, Starts, Text};

type Vector = (&'static str, &'static str, &'static [Expect]);

fn color(color: Color) -> String {
    match color {
        Color::Default => "-".to_owned(),
        Color::Indexed(n) => n.to_string(),
        Color::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
    }
}

fn look(style: Style) -> String {
    let has = |attr, letter| if style.attrs.has(attr) { letter } else { "" };
    let underline = if style.underline == Underline::None { "" } else { "u" };
    let letters = [
        has(Attrs::BOLD, "b"),
        has(Attrs::DIM, "d"),
        has(Attrs::HIDDEN, "h"),
        has(Attrs::ITALIC, "i"),
        has(Attrs::STRIKE, "s"),
        underline,
        has(Attrs::INVERSE, "r"),
        has(Attrs::BLINK, "k"),
    ];
    format!("{}/{}/{}", color(style.fg), color(style.bg), letters.concat())
}

fn shown(term: &Terminal, row: u16, col: u16) -> String {
    let mut text = String::new();
    term.text_at(row, col, &mut text);
    text
}

fn meets(bytes: &str, expected: &Expect) -> bool {
    let term = fed(SIZE, bytes);
    let escaped = |text: &str| text.as_bytes().escape_ascii().to_string();
    match *expected {
        Text(text) => {
            check(SIZE, bytes, text);
            picture(&term) == text
        }
        Cursor(row, col) => (term.cursor().row, term.cursor().col) == (row, col),
        Reply(text) => replies(SIZE, bytes) == escaped(text),
        Starts(text) => replies(SIZE, bytes).starts_with(&escaped(text)),
        Shows(row, col, text) => shown(&term, row, col) == text,
        Look(row, col, text) => look(term.style_at(row, col)) == text,
    }
}

#[test]
fn every_vector_is_met() {
    for (name, bytes, all) in VECTORS {
        for expected in *all {
            assert!(meets(bytes, expected), "{name}: {bytes:?} {expected:?}");
        }
    }
}

#[test]
fn vectors_that_are_no_text_or_too_long_for_a_table() {
    check(SIZE, b"a\xff\xc3(b", "a\u{fffd}\u{fffd}(b");
    check(SIZE, format!("\x1b]52;c;{}\x07Z", "QUJD".repeat(20_000)), "Z");
}

const VECTORS: &[Vector] = &[
    ("CUP+ED2+EL", "xxx\x1b[2J\x1b[2;3HA\x1b[1;1Habc\x1b[2G\x1b[K", &[Text("a|  A"), Cursor(0, 1)]),
    ("HVP CSI f", "\x1b[2;3fX", &[Text("|  X")]),
    (
        "CUU/CUD/CUF/CUB/CHA/VPA/HPA/CNL/CPL",
        "\x1b[3B\x1b[4CA\x1b[2DB\x1b[AC\x1b[2d\x1b[7GD\x1b[9`E\x1b[EF\x1b[FG",
        &[Text("|G     D E|F   C|   BA")],
    ),
    ("ECH", "abcdef\x1b[3D\x1b[2XZ", &[Text("abcZ f")]),
    ("ICH/DCH", "abcdef\r\x1b[2@XY\x1b[3G\x1b[2P", &[Text("XYcdef")]),
    ("IL/DL", "a\r\nb\r\nc\x1b[2H\x1b[L\x1b[1H\x1b[M", &[Text("|b|c")]),
    ("DECSTBM + LF scroll", "1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[3H\nX", &[Text("1|3|X|4")]),
    ("RI at the top scrolls down", "a\r\nb\x1b[H\x1bMX", &[Text("X|a|b")]),
    ("IND ESC D", "a\x1bDb", &[Text("a| b")]),
    ("NEL ESC E", "a\x1bEb", &[Text("a|b")]),
    ("SU/SD", "a\r\nb\r\nc\x1b[S\x1b[2T", &[Text("||b|c")]),
    (
        "pending wrap: 20th char stays",
        "xxxxxxxxxxxxxxxxxxxx",
        &[Cursor(0, 19), Text("xxxxxxxxxxxxxxxxxxxx")],
    ),
    (
        "pending wrap: CR LF after full line, no blank line",
        "xxxxxxxxxxxxxxxxxxxx\r\ny",
        &[Text("xxxxxxxxxxxxxxxxxxxx|y")],
    ),
    (
        "pending wrap: EL ends it and erases the last column",
        "xxxxxxxxxxxxxxxxxxxx\x1b[Ky",
        &[Text("xxxxxxxxxxxxxxxxxxxy")],
    ),
    (
        "pending wrap: CUB goes to column 19",
        "xxxxxxxxxxxxxxxxxxxx\x1b[Dy",
        &[Text("xxxxxxxxxxxxxxxxxxyx")],
    ),
    (
        "pending wrap: BS goes to column 19",
        "xxxxxxxxxxxxxxxxxxxx\x08y",
        &[Text("xxxxxxxxxxxxxxxxxxyx")],
    ),
    ("pending wrap: TAB stays", "xxxxxxxxxxxxxxxxxxxx\ty", &[Text("xxxxxxxxxxxxxxxxxxxx|y")]),
    (
        "DECAWM off overwrites last column",
        "\x1b[?7lxxxxxxxxxxxxxxxxxxxxyz",
        &[Text("xxxxxxxxxxxxxxxxxxxz")],
    ),
    (
        "alt screen 1049: clear, restore text and cursor",
        "main\x1b[?1049h\x1b[HALT\x1b[?1049l!",
        &[Text("main!")],
    ),
    ("1049 enters with a blank screen", "main\x1b[?1049h", &[Text("")]),
    ("DECSC/DECRC position", "ab\x1b7\x1b[5;5HX\x1b8c", &[Text("abc||||    X")]),
    ("SCOSC/SCORC CSI s/u", "ab\x1b[s\x1b[5;5HX\x1b[uc", &[Text("abc||||    X")]),
    (
        "SGR basic attributes",
        "\x1b[1;3;4;7mA\x1b[22;23;24;27mB",
        &[Look(0, 0, "-/-/biur"), Look(0, 1, "-/-/")],
    ),
    ("SGR 256 and truecolor, ; form", "\x1b[38;5;196;48;2;1;2;3mA", &[Look(0, 0, "196/#010203/")]),
    (
        "SGR colon forms 38:2::r:g:b",
        "\x1b[38:2::1:2:3mA\x1b[m\x1b[48:5:7mB",
        &[Look(0, 0, "#010203/-/"), Look(0, 1, "-/7/")],
    ),
    (
        "SGR 4:3 and 58:2 leave no blink/dim",
        "\x1b[4:3;58:2::5:2:7mA\x1b[0m\x1b[58;5;1mB",
        &[Look(0, 0, "-/-/u"), Look(0, 1, "-/-/")],
    ),
    ("SGR 90-107", "\x1b[91;102mA", &[Look(0, 0, "9/10/")]),
    ("SGR 9 / 29 strike, 8 conceal, 2 dim", "\x1b[2;8;9mA", &[Look(0, 0, "-/-/dhs")]),
    ("BCE: ED/EL fill with background", "\x1b[41m\x1b[2J\x1b[mA", &[Look(1, 3, "-/1/")]),
    (
        "CSI > 4 ; 2 m is not SGR",
        "\x1b[>4;2mA\x1b[?4mB",
        &[Look(0, 0, "-/-/"), Look(0, 1, "-/-/"), Text("AB")],
    ),
    (
        "CSI > 1 u / < u / = u print nothing",
        "\x1b[>1u\x1b[<u\x1b[=1;1uA",
        &[Text("A"), Cursor(0, 1)],
    ),
    ("ESC ( B swallowed", "A\x1b(BB", &[Text("AB")]),
    ("DEC line drawing G0", "\x1b(0lqk\x1b(Bx", &[Text("┌─┐x")]),
    ("SO/SI with G1 line drawing", "\x1b)0\x0eqx\x0fq", &[Text("─│q")]),
    ("wide char takes two cells", "日本x", &[Cursor(0, 5), Shows(0, 2, "本"), Text("日本x")]),
    (
        "wide char at last column wraps",
        "xxxxxxxxxxxxxxxxxxx日",
        &[Text("xxxxxxxxxxxxxxxxxxx|日"), Cursor(1, 2)],
    ),
    ("combining mark joins", "e\u{301}x", &[Cursor(0, 2), Text("e\u{301}x")]),
    ("overwriting half of a wide char blanks it", "日本\x1b[2GX", &[Text(" X本")]),
    ("CPR CSI 6n", "\x1b[3;4H\x1b[6n", &[Reply("\x1b[3;4R")]),
    ("DSR CSI 5n", "\x1b[5n", &[Reply("\x1b[0n")]),
    ("DA1", "\x1b[c", &[Reply("\x1b[?64;1;6;22;28;52c")]),
    ("DA2", "\x1b[>c", &[Starts("\x1b[>41;")]),
    ("DECRQM ?2026 known", "\x1b[?2026$p", &[Reply("\x1b[?2026;2$y")]),
    ("DECRQM unknown -> 0", "\x1b[?9999$p", &[Reply("\x1b[?9999;0$y")]),
    ("sync output 2026 leaves no garbage", "\x1b[?2026hA\x1b[?2026lB", &[Text("AB")]),
    (
        "bracketed paste, mouse, focus modes swallowed",
        "\x1b[?2004;1000;1002;1003;1004;1005;1006;1015;1016hA",
        &[Text("A")],
    ),
    (
        "OSC 0/2/7/8/9/52/133/777/1337 swallowed",
        "\x1b]0;t\x07\x1b]7;file://h/p\x07\x1b]8;;http://x\x1b\\L\x1b]8;;\x1b\\\x1b]9;4;1;50\x07\x1b]52;c;aGk=\x07\x1b]133;A\x07\x1b]777;notify;a;b\x07\x1b]1337;x=y\x07\x1b]99;i=1;hi\x1b\\Z",
        &[Text("LZ")],
    ),
    ("DCS (sixel) swallowed", "A\x1bPq#0;2;0;0;0#0!10~-\x1b\\B", &[Text("AB")]),
    ("APC (kitty graphics) swallowed", "A\x1b_Gf=24,s=1,v=1;AAAA\x1b\\B", &[Text("AB")]),
    ("DECSCUSR swallowed", "\x1b[5 qA\x1b[0 q", &[Text("A")]),
    (
        "tab stops every 8, no wrap at the end",
        "\tA\t\tB",
        &[Text("        A          B"), Cursor(0, 19)],
    ),
    ("REP", "a\x1b[3bX", &[Text("aaaaX")]),
    ("RIS ESC c", "abc\x1b[2;3r\x1b[1m\x1bcX", &[Text("X"), Look(0, 0, "-/-/")]),
    ("ED 3 keeps the screen", "abc\x1b[3JX", &[Text("abcX")]),
    ("ED 1 from the second row", "ab\r\ncd\x1b[2;1H\x1b[1J", &[Text("| d")]),
    ("zero parameters count as one", "abc\x1b[0D\x1b[0DX\x1b[0B\x1b[0AY", &[Text("aXY")]),
    ("kitty keyboard query CSI ? u", "\x1b[?u", &[Reply("\x1b[?0u")]),
    ("kitty keyboard push then query", "\x1b[>5u\x1b[?u", &[Reply("\x1b[?5u")]),
    ("kitty keyboard pop", "\x1b[>5u\x1b[<u\x1b[?u", &[Reply("\x1b[?0u")]),
    ("XTVERSION CSI > q", "\x1b[>q", &[Starts("\x1bP>|t4a ")]),
    ("OSC 11 ? background", "\x1b]11;?\x1b\\", &[Reply("\x1b]11;rgb:1212/1414/1818\x1b\\")]),
    ("OSC 10 ? foreground", "\x1b]10;?\x07", &[Reply("\x1b]10;rgb:d8d8/d8d8/d8d8\x07")]),
    (
        "OSC 4 set and query",
        "\x1b]4;5;rgb:12/34/56\x1b\\\x1b]4;5;?\x1b\\",
        &[Reply("\x1b]4;5;rgb:1212/3434/5656\x1b\\")],
    ),
    (
        "OSC 12 cursor colour set and query",
        "\x1b]12;#ff0000\x07\x1b]12;?\x07",
        &[Reply("\x1b]12;rgb:ffff/0000/0000\x07")],
    ),
    ("DECRQSS SGR", "\x1b[1;31m\x1bP$qm\x1b\\", &[Reply("\x1bP1$r0;1;31m\x1b\\")]),
    ("DECRQSS DECSTBM", "\x1b[2;3r\x1bP$qr\x1b\\", &[Reply("\x1bP1$r2;3r\x1b\\")]),
    ("DECRQSS DECSCUSR", "\x1b[4 q\x1bP$q q\x1b\\", &[Reply("\x1bP1$r4 q\x1b\\")]),
    (
        "XTGETTCAP answers something",
        "\x1bP+q544e\x1b\\",
        &[Reply("\x1bP1+r544E=787465726D2D323536636F6C6F72\x1b\\")],
    ),
    (
        "DECRQM ?25 / ?1049 / ?2004 states",
        "\x1b[?2004h\x1b[?25l\x1b[?2004$p\x1b[?25$p\x1b[?1049$p",
        &[Reply("\x1b[?2004;1$y\x1b[?25;2$y\x1b[?1049;2$y")],
    ),
    ("DECRQM ANSI IRM", "\x1b[4h\x1b[4$p", &[Reply("\x1b[4;1$y")]),
    ("CSI 18t text size", "\x1b[18t", &[Reply("\x1b[8;5;20t")]),
    ("CSI 14t pixel size", "\x1b[14t", &[Reply("\x1b[4;100;200t")]),
    ("CSI 16t cell size", "\x1b[16t", &[Reply("\x1b[6;20;10t")]),
    ("DA3", "\x1b[=c", &[Reply("\x1bP!|54344100\x1b\\")]),
    ("DECXCPR CSI ?6n", "\x1b[3;4H\x1b[?6n", &[Reply("\x1b[?3;4;1R")]),
    ("colour scheme report CSI ?996n", "\x1b[?996n", &[Reply("\x1b[?997;1n")]),
    ("in-band resize 2048 known", "\x1b[?2048$p", &[Reply("\x1b[?2048;2$y")]),
    ("grapheme clustering 2027 known", "\x1b[?2027$p", &[Reply("\x1b[?2027;1$y")]),
    (
        "kitty graphics query answered",
        "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b[c",
        &[Reply("\x1b[?64;1;6;22;28;52c")],
    ),
    ("VS16 makes it wide", "❤\u{fe0f}x", &[Cursor(0, 3)]),
    ("ZWJ family is one cell pair (2027)", "\x1b[?2027h👨\u{200d}👩\u{200d}👧x", &[Cursor(0, 3)]),
    ("flag is one cell pair (2027)", "\x1b[?2027h🇬🇧x", &[Cursor(0, 3)]),
    ("skin tone joins (2027)", "\x1b[?2027h👋🏽x", &[Cursor(0, 3)]),
    ("Hangul jamo compose to two cells", "\u{1112}\u{1161}\u{11ab}x", &[Cursor(0, 3)]),
    ("Unicode 16/17 wide emoji U+1FADF", "🫟x", &[Cursor(0, 3)]),
    ("IRM insert mode", "abc\r\x1b[4hXY\x1b[4lZ", &[Text("XYZbc")]),
    ("origin mode DECOM", "\x1b[2;4r\x1b[?6h\x1b[1;1HX\x1b[9;1HY\x1b[?6l", &[Text("|X||Y")]),
    ("origin mode CPR is relative", "\x1b[2;4r\x1b[?6h\x1b[2;2H\x1b[6n", &[Reply("\x1b[2;2R")]),
    (
        "DECSC saves SGR, charset and origin mode",
        "\x1b(0\x1b[1m\x1b7\x1b(B\x1b[mA\x1b8q",
        &[Shows(0, 0, "─"), Look(0, 0, "-/-/b")],
    ),
    ("HTS / TBC", "\x1b[3g\x1b[5G\x1bH\r\tX", &[Text("    X")]),
    ("CHT / CBT", "\x1b[2IX\x1b[2ZY", &[Text("        Y       X")]),
    ("DECSTR soft reset", "\x1b[2;3r\x1b[?6h\x1b[4h\x1b[!p\x1b[HA\x1b[5;1HB", &[Text("A||||B")]),
    (
        "DECALN",
        "\x1b#8",
        &[
            Text(
                "EEEEEEEEEEEEEEEEEEEE|EEEEEEEEEEEEEEEEEEEE|EEEEEEEEEEEEEEEEEEEE|EEEEEEEEEEEEEEEEEEEE|EEEEEEEEEEEEEEEEEEEE",
            ),
            Cursor(0, 0),
        ],
    ),
    (
        "alt screen 47 / 1047 / 1048",
        "m\x1b[?1048h\x1b[?1047hALT\x1b[?1047l\x1b[?1048lX",
        &[Text("mX")],
    ),
    ("cursor keeps place on 1047", "ab\x1b[?1047hX\x1b[?1047l", &[Cursor(0, 3), Text("ab")]),
    ("LNM mode 20", "\x1b[20ha\nb", &[Text("a|b")]),
    ("VT and FF move down", "a\x0bb\x0cc", &[Text("a| b|  c")]),
    ("HPR / VPR", "\x1b[3aA\x1b[2eB", &[Text("   A||    B")]),
    ("C0 inside CSI is executed", "ab\x1b[2\rCX", &[Text("abX")]),
    ("CAN aborts a sequence", "\x1b[12\x18X", &[Text("X")]),
    ("ESC restarts a sequence", "\x1b[12\x1b[2;2HX", &[Text("| X")]),
    ("CAN aborts OSC: title not set", "\x1b]2;evil\x18X", &[Text("X")]),
    ("DCS payload with U+2713 (byte 9C) is swallowed", "A\x1bPx✓hidden\x1b\\B", &[Text("AB")]),
    ("OSC payload with UTF-8", "A\x1b]2;✓ 日\x07B", &[Text("AB")]),
    ("PM and SOS swallowed", "A\x1b^secret\x1b\\\x1bXsos\x1b\\B", &[Text("AB")]),
    ("DEL is ignored", "a\x7fb", &[Text("ab")]),
    ("NUL is ignored", "a\x00b", &[Text("ab")]),
    ("unknown CSI swallowed", "\x1b[1;2;3zA\x1b[?1$~B\x1b[ !pC", &[Text("ABC")]),
    ("U+200B / U+FEFF take no cell", "a\u{200b}\u{feff}b", &[Cursor(0, 2)]),
    ("soft hyphen takes one cell or none, never breaks", "a\u{ad}b", &[Cursor(0, 2)]),
    (
        "OSC 8 with id and ; in the URI",
        "\x1b]8;id=a;http://x/;b\x1b\\L\x1b]8;;\x1b\\",
        &[Text("L")],
    ),
    (
        "many SGR parameters (40)",
        "\x1b[0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;1mA",
        &[Text("A")],
    ),
    ("XTMODKEYS / XTQMODKEYS", "\x1b[>4;2m\x1b[?4m", &[Reply("\x1b[>4;2m")]),
    (
        "XTSAVE / XTRESTORE ?7",
        "\x1b[?7l\x1b[?7s\x1b[?7h\x1b[?7rxxxxxxxxxxxxxxxxxxxxx",
        &[Text("xxxxxxxxxxxxxxxxxxxx")],
    ),
    ("title stack CSI 22;0t / 23;0t", "\x1b[22;0t\x1b[23;0tA", &[Text("A")]),
    (
        "DECSLRM wraps inside the margins",
        "\x1b[?69h\x1b[3;6s\x1b[1;3Habcdef",
        &[Text("  abcd|  ef")],
    ),
    (
        "DECSLRM IL keeps outside",
        "abcdef\r\nghijkl\x1b[?69h\x1b[2;3s\x1b[1;2H\x1b[L",
        &[Text("a  def|gbcjkl| hi")],
    ),
    ("DECSLRM SU only inside", "abcd\r\nefgh\x1b[?69h\x1b[2;3s\x1b[S", &[Text("afgd|e  h")]),
    ("CSI s without ?69 saves the cursor", "ab\x1b[s\x1b[H\x1b[uX", &[Text("abX")]),
    ("DECIC / DECDC", "abc\r\ndef\x1b[1;2H\x1b[1'}\x1b[1;1H\x1b[1'~", &[Text(" bc| ef")]),
    ("DECBI / DECFI", "abc\r\x1b6", &[Text(" abc")]),
    ("SL / SR", "abc\r\ndef\x1b[1 @", &[Text("bc|ef")]),
    ("DECSCA + DECSEL / DECSED", "a\x1b[1\"qb\x1b[0\"qc\x1b[?2J", &[Text(" b")]),
    ("DECFRA", "\x1b[88;1;1;2;3$x", &[Text("XXX|XXX")]),
    ("DECERA", "abc\r\ndef\x1b[1;2;2;2$z", &[Text("a c|d f")]),
    ("DECCRA", "abc\x1b[1;1;1;2;1;2;3;1$v", &[Text("abc|  ab")]),
    ("DECRQCRA", "a\x1b[1;1;1;1;1;1*y", &[Reply("\x1bP1!~FF9F\x1b\\")]),
    (
        "reverse wrap ?45",
        "\x1b[?45hxxxxxxxxxxxxxxxxxxxxy\x08\x08Z",
        &[Text("xxxxxxxxxxxxxxxxxxxZ|y")],
    ),
    ("SPA/EPA and DECSED ignoring", "a\x1bVb\x1bWc\x1b[2J", &[Text(" b")]),
    ("DECCOLM ?3 ignored unless ?40", "abc\x1b[?3hX", &[Text("abcX")]),
    ("DECSCNM ?5 reported", "\x1b[?5h\x1b[?5$p", &[Reply("\x1b[?5;1$y")]),
    ("G2/G3 and LS2/LS3, SS2/SS3", "\x1b*0\x1bNqq", &[Text("─q")]),
    ("UK charset", "\x1b(A#", &[Text("£")]),
    ("double width lines do not garble", "\x1b#6ab\x1b#5", &[Text("ab")]),
    ("DECREQTPARM / DECID", "\x1bZ", &[Reply("\x1b[?64;1;6;22;28;52c")]),
    (
        "OSC 104/110/111/112 resets",
        "\x1b]11;#123456\x07\x1b]111\x07\x1b]104\x07\x1b]110\x07\x1b]112\x07A",
        &[Text("A")],
    ),
    (
        "OSC 4 by colour name",
        "\x1b]4;1;red\x07\x1b]4;1;?\x07",
        &[Reply("\x1b]4;1;rgb:ffff/0000/0000\x07")],
    ),
    ("ENQ, BEL, SO alone harmless", "a\x05\x07b", &[Text("ab")]),
];
