//! capture-pane: rows of the screen and of what is above it.

use super::options::Options;
use super::target::{Kind, Session};
use super::{Failed, Tmux, print};
use crate::command::{Format, Screenshot, Text, TextRegion};

/// Options that a screen without a copy mode has no use for.
const NOT_HERE: [char; 3] = ['a', 'C', 'P'];
/// Rows of one picture in text with colours.
const MAX_COLORED: i64 = 10_000;

pub fn capture(tmux: &mut Tmux, options: &Options) -> Result<(), Failed> {
    if let Some(letter) = NOT_HERE.iter().find(|letter| options.has(**letter)) {
        return Err(Failed(format!("command capture-pane: t4a has no -{letter}")));
    }
    let target = tmux.target(options);
    let session = tmux.find(target.as_deref(), Kind::Pane)?;
    let rows = screen_rows(tmux, &session)?;
    let (start, end) = span(options, rows)?;
    let text = match options.has('e') {
        true => colored(tmux, &session, start, end)?,
        false => plain(tmux, &session, start, end, options)?,
    };
    match options.has('p') {
        true => print(&text),
        false => Ok(tmux.place()?.set_buffer(options.value('b'), &text)?),
    }
}

fn screen_rows(tmux: &mut Tmux, session: &Session) -> Result<i64, Failed> {
    let answer = tmux.client()?.ask(&Text::of(&session.id))?.value;
    Ok(answer["total_lines"].as_i64().unwrap_or(0))
}

/// The rows that are wanted, as `text` counts them: from the bottom. tmux counts from the top of
/// the screen, and what is above it has negative numbers; `-` is the first or the last of all.
fn span(options: &Options, rows: i64) -> Result<(i64, Option<i64>), Failed> {
    let from = match options.value('S') {
        Some("-") => None,
        _ => Some(options.number('S')?.unwrap_or(0).min(rows - 1)),
    };
    let to = match options.value('E') {
        Some("-") | None => rows - 1,
        Some(_) => options.number('E')?.unwrap_or(0).min(rows - 1),
    };
    // The other way round is the same part of the screen.
    let (from, to) = match from {
        Some(from) if from > to => (Some(to), from),
        other => (other, to),
    };
    Ok((rows - 1 - to, from.map(|from| rows - from)))
}

fn plain(
    tmux: &mut Tmux,
    session: &Session,
    start: i64,
    end: Option<i64>,
    options: &Options,
) -> Result<Vec<u8>, Failed> {
    let text = Text {
        region: TextRegion::All,
        start: Some(start),
        end,
        join: options.has('J'),
        trim: !options.has('N'),
        ..Text::of(&session.id)
    };
    let answer = tmux.client()?.ask(&text)?.value;
    let lines = answer["lines"].as_array().into_iter().flatten();
    let lines = lines.map(|line| line.as_str().unwrap_or_default().to_owned() + "\n");
    Ok(lines.collect::<String>().into_bytes())
}

fn colored(
    tmux: &mut Tmux,
    session: &Session,
    start: i64,
    end: Option<i64>,
) -> Result<Vec<u8>, Failed> {
    let most = start + MAX_COLORED;
    let shot = Screenshot {
        format: Some(Format::Ansi),
        cursor: false,
        rows: Some([start, end.map_or(most, |end| end.min(most))]),
        ..Screenshot::of(&session.id)
    };
    Ok(tmux.client()?.picture(&shot)?.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: (i64, Option<i64>)) {
        let args: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        let options = Options::parse("capture-pane", "S:E:", &args).unwrap();
        assert_eq!(span(&options, 24).unwrap(), expected, "{line}");
    }

    #[test]
    fn rows_are_counted_from_the_bottom() {
        check("", (0, Some(24)));
        check("-S -", (0, None));
        check("-S -10", (0, Some(34)));
        check("-S 23", (0, Some(1)));
        check("-S 0 -E 0", (23, Some(24)));
        check("-S - -E -1", (24, None));
        check("-S 5 -E 2", (18, Some(22)));
        check("-S 100 -E 200", (0, Some(1)));
    }
}
