//! A page of its own, without scripts and without anything to fetch.

use std::fmt::Write;

use super::{escaped, hex, is_harmless, runs, trimmed};
use crate::term::Underline;
use crate::view::look::Look;
use crate::view::sheet::{Ink, Sheet};

pub fn html(sheet: &Sheet) -> String {
    let (fg, bg) = (hex(sheet.foreground), hex(sheet.background));
    let mut out = format!(
        "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>terminal</title>\n<pre style=\"\
         background:{bg};color:{fg};font-family:monospace;line-height:1.2;padding:1ch;\
         display:inline-block\">\n"
    );
    for row in &sheet.rows {
        for run in trimmed(runs(row, 0), sheet) {
            put_run(&run.text, &sheet.inks[run.ink as usize], sheet, &mut out);
        }
        out.push('\n');
    }
    out + "</pre>\n"
}

fn put_run(text: &str, ink: &Ink, sheet: &Sheet, out: &mut String) {
    let style = css(&ink.look, sheet);
    let text = if ink.look.hidden { " ".repeat(text.chars().count()) } else { escaped(text) };
    let link = ink.link.as_ref().filter(|uri| is_harmless(uri));
    if let Some(uri) = link {
        let _ = write!(out, "<a href=\"{}\" rel=\"noreferrer\">", escaped(uri));
    }
    match style.is_empty() {
        true => out.push_str(&text),
        false => {
            let _ = write!(out, "<span style=\"{style}\">{text}</span>");
        }
    }
    if link.is_some() {
        out.push_str("</a>");
    }
}

/// Only what differs from the page.
fn css(look: &Look, sheet: &Sheet) -> String {
    let mut out = String::new();
    if look.fg != sheet.foreground {
        let _ = write!(out, "color:{};", hex(look.fg));
    }
    if look.bg != sheet.background {
        let _ = write!(out, "background:{};", hex(look.bg));
    }
    if look.bold {
        out += "font-weight:bold;";
    }
    if look.italic {
        out += "font-style:italic;";
    }
    out + &decoration(look)
}

fn decoration(look: &Look) -> String {
    let mut lines = Vec::new();
    let kind = match look.underline {
        Underline::None => None,
        Underline::Single => Some("solid"),
        Underline::Double => Some("double"),
        Underline::Curly => Some("wavy"),
        Underline::Dotted => Some("dotted"),
        Underline::Dashed => Some("dashed"),
    };
    lines.extend(kind.map(|_| "underline"));
    lines.extend(look.strike.then_some("line-through"));
    lines.extend(look.overline.then_some("overline"));
    if lines.is_empty() {
        return String::new();
    }
    format!("text-decoration:{} {} {};", lines.join(" "), kind.unwrap_or("solid"), hex(look.line))
}
