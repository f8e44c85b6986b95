//! What is painted, read back by our own terminal, is what was to be shown.

use proptest::prelude::*;
use std::sync::Arc;

use crate::seat::canvas::{Canvas, Caret, Cell};
use crate::seat::paint::{Depth, Painter};
use crate::term::{Attrs, Color, CursorShape, Limits, Size, Style, Terminal, Underline};

pub fn outer(cols: u16, rows: u16) -> Terminal {
    Terminal::new(Size { cols, rows }, Limits { lines: 0, bytes: 0 })
}

pub fn check(term: &Terminal, canvas: &Canvas) {
    for y in 0..canvas.rows() {
        for x in 0..canvas.cols() {
            let cell = canvas.get(x, y).unwrap();
            let (mut shown, mut wanted) = (String::new(), String::new());
            if cell.width > 0 {
                term.text_at(y, x, &mut shown);
                wanted.push(cell.first);
                wanted.extend(cell.more.as_deref());
                assert_eq!(term.style_at(y, x), cell.style, "style at {x},{y} of {wanted:?}");
                let link = term.link_at(y, x).map(|link| link.uri.to_string());
                assert_eq!(link.as_deref(), cell.link.as_deref(), "link at {x},{y}");
            }
            assert_eq!(shown, wanted, "at {x},{y}");
        }
    }
    let caret = canvas.caret;
    let cursor = term.cursor();
    assert_eq!(cursor.visible, caret.is_some());
    if let Some(Caret { x, y, shape, blink }) = caret {
        assert_eq!((cursor.col, cursor.row, cursor.shape, cursor.blink), (x, y, shape, blink));
    }
}

fn color() -> impl Strategy<Value = Color> {
    prop_oneof![
        4 => Just(Color::Default),
        2 => any::<u8>().prop_map(Color::Indexed),
        1 => any::<(u8, u8, u8)>().prop_map(|(r, g, b)| Color::Rgb(r, g, b)),
    ]
}

fn style() -> impl Strategy<Value = Style> {
    use Underline::{Curly, Dashed, Dotted, Double, None, Single};
    let line = prop::sample::select(vec![None, Single, Double, Curly, Dotted, Dashed]);
    let styled = (color(), color(), color(), 0..0x200_u16, line).prop_map(
        |(fg, bg, underline_color, bits, underline)| {
            let mut attrs = Attrs::from_bits(bits);
            // One replaces the other.
            attrs.set(Attrs::RAPID, false);
            Style { fg, bg, underline_color, underline, attrs }
        },
    );
    prop_oneof![2 => Just(Style::default()), 1 => styled]
}

fn cell() -> impl Strategy<Value = Cell> {
    let plain = prop::sample::select(vec![' ', 'a', 'b', '─', 'é']).prop_map(|c| (c, None, 1));
    let wide = prop::sample::select(vec!['日', '語', '😀']).prop_map(|c| (c, None, 2));
    let joined = Just(('e', Some("\u{301}"), 1));
    let link = prop::sample::select(vec![None, None, None, Some("http://x/")]);
    (prop_oneof![6 => plain, 2 => wide, 1 => joined], style(), link).prop_map(
        |((first, more, width), style, link)| Cell {
            first,
            more: more.map(Arc::from),
            width,
            style,
            link: link.map(Arc::from),
        },
    )
}

type Puts = Vec<(u16, u16, Cell)>;

fn puts() -> impl Strategy<Value = Puts> {
    prop::collection::vec((0..12_u16, 0..5_u16, cell()), 0..40)
}

fn caret() -> impl Strategy<Value = Option<Caret>> {
    use CursorShape::{Bar, Block, Underline};
    let shape = prop::sample::select(vec![Block, Bar, Underline]);
    let caret = (0..12_u16, 0..5_u16, shape, any::<bool>());
    prop::option::of(caret.prop_map(|(x, y, shape, blink)| Caret { x, y, shape, blink }))
}

proptest! {
    #[test]
    fn a_painted_difference_makes_the_new_screen_of_the_old(
        frames in prop::collection::vec((puts(), caret()), 1..5),
        keep in any::<bool>(),
    ) {
        let mut term = outer(12, 5);
        let mut painter = Painter::new(Depth::True);
        let mut canvas = Canvas::new(12, 5);
        for (puts, caret) in frames {
            if !keep {
                canvas = Canvas::new(12, 5);
            }
            for (x, y, cell) in puts {
                canvas.put(x, y, cell);
            }
            canvas.caret = caret;
            let mut bytes = Vec::new();
            painter.paint(&canvas, None, &mut bytes);
            term.feed(&bytes, &mut Vec::new());
            check(&term, &canvas);
            let mut again = Vec::new();
            painter.paint(&canvas, None, &mut again);
            prop_assert!(again.is_empty(), "nothing changed, nothing is painted");
        }
    }
}

#[test]
fn little_changes_cost_little() {
    let mut painter = Painter::new(Depth::True);
    let mut canvas = Canvas::new(80, 24);
    let caret = |x| Some(Caret { x, y: 5, shape: CursorShape::Block, blink: false });
    canvas.caret = caret(10);
    painter.paint(&canvas, None, &mut Vec::new());
    canvas.put(10, 5, Cell::of('x', Style::default()));
    canvas.caret = caret(11);
    let mut bytes = Vec::new();
    painter.paint(&canvas, None, &mut bytes);
    assert_eq!(bytes, b"x", "a typed key is one byte");
}

#[test]
fn without_true_colour_the_nearest_is_shown() {
    let mut painter = Painter::new(Depth::Indexed);
    let mut canvas = Canvas::new(3, 1);
    let fg = |r, g, b| Style { fg: Color::Rgb(r, g, b), ..Style::default() };
    canvas.put(0, 0, Cell::of('a', fg(255, 0, 0)));
    canvas.put(1, 0, Cell::of('b', fg(128, 128, 128)));
    let mut bytes = Vec::new();
    painter.paint(&canvas, None, &mut bytes);
    let mut term = outer(3, 1);
    term.feed(&bytes, &mut Vec::new());
    assert_eq!(term.style_at(0, 0).fg, Color::Indexed(196));
    assert_eq!(term.style_at(0, 1).fg, Color::Indexed(244));
}

#[test]
fn another_size_is_painted_whole() {
    let mut painter = Painter::new(Depth::True);
    painter.paint(&Canvas::new(10, 2), None, &mut Vec::new());
    let mut canvas = Canvas::new(6, 3);
    canvas.text(0, 2, "hello", Style::default(), 6);
    let mut bytes = Vec::new();
    painter.paint(&canvas, None, &mut bytes);
    let mut term = outer(6, 3);
    term.feed(b"garbage garbage", &mut Vec::new());
    term.feed(&bytes, &mut Vec::new());
    check(&term, &canvas);
}
