//! The few formats that scripts ask for: `#{session_name}`, `#{pane_pid}`, `#S` and their like.

use serde_json::Value;

use super::options::Options;
use super::target::{Kind, Session};
use super::{Failed, Tmux, say};
use crate::command::Info;

const MESSAGE: &str = "[#{session_name}] 0:#{pane_current_command}, current pane 0";
const SESSION: &str = "#{session_name}: 1 windows";
const PANE: &str = "0: [#{pane_width}x#{pane_height}] %#{t4a_number} (active)";

pub fn info(tmux: &mut Tmux, session: &Session) -> Result<Value, Failed> {
    Ok(tmux.client()?.ask(&Info { id: session.id.clone() })?.value)
}

pub fn display(tmux: &mut Tmux, options: &Options) -> Result<(), Failed> {
    let target = tmux.target(options);
    let session = tmux.find(target.as_deref(), Kind::Pane)?;
    let wanted = options.rest.first().map_or(MESSAGE, String::as_str);
    let text = expand(tmux, &session, wanted)?;
    if options.has('p') {
        say(&text)?;
    }
    Ok(())
}

pub fn list_sessions(tmux: &mut Tmux, options: &Options) -> Result<(), Failed> {
    let mut sessions = tmux.sessions()?;
    sessions.sort_by(|a, b| a.name.cmp(&b.name));
    for session in sessions {
        say(&expand(tmux, &session, options.value('F').unwrap_or(SESSION))?)?;
    }
    Ok(())
}

pub fn list_panes(tmux: &mut Tmux, options: &Options) -> Result<(), Failed> {
    let sessions = match options.has('a') {
        true => tmux.sessions()?,
        false => {
            let target = tmux.target(options);
            vec![tmux.find(target.as_deref(), Kind::Session)?]
        }
    };
    for session in sessions {
        say(&expand(tmux, &session, options.value('F').unwrap_or(PANE))?)?;
    }
    Ok(())
}

/// A format with its names replaced; names that are not known are nothing, as in tmux.
pub fn expand(tmux: &mut Tmux, session: &Session, wanted: &str) -> Result<String, Failed> {
    let info = info(tmux, session)?;
    Ok(replace(wanted, |name| variable(name, session, &info)))
}

fn replace(wanted: &str, value: impl Fn(&str) -> String) -> String {
    let (mut out, mut rest) = (String::new(), wanted);
    while let Some(at) = rest.find('#') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some((name, after)) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
            out.push_str(&value(name));
            rest = after;
        } else if let Some(short) = rest.chars().next() {
            match long_name(short) {
                Some(name) => out.push_str(&value(name)),
                None if short == '#' => out.push('#'),
                None => out.extend(['#', short]),
            }
            rest = &rest[short.len_utf8()..];
        } else {
            out.push('#');
        }
    }
    out + rest
}

fn long_name(short: char) -> Option<&'static str> {
    Some(match short {
        'S' => "session_name",
        'D' => "pane_id",
        'I' => "window_index",
        'P' => "pane_index",
        'W' => "window_name",
        'T' => "pane_title",
        _ => return None,
    })
}

fn variable(name: &str, session: &Session, info: &Value) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    match name {
        "session_name" => session.name.clone(),
        "session_id" => format!("${}", session.number()),
        "window_id" => format!("@{}", session.number()),
        "pane_id" => format!("%{}", session.number()),
        "t4a_number" => session.number().to_owned(),
        "t4a_id" => session.id.clone(),
        "session_windows" | "window_panes" | "pane_active" | "window_active" => "1".to_owned(),
        "window_index" | "pane_index" | "pane_dead" | "session_attached" => "0".to_owned(),
        "pane_pid" => text(&info["pid"]),
        "pane_width" | "window_width" => text(&info["cols"]),
        "pane_height" | "window_height" => text(&info["rows"]),
        "pane_title" => text(&info["title"]),
        "pane_current_path" => text(&info["cwd"]),
        "pane_current_command" | "window_name" => text(&info["foreground"]["name"]),
        "cursor_x" => text(&info["cursor"]["col"]),
        "cursor_y" => text(&info["cursor"]["row"]),
        "alternate_on" => i32::from(info["alt_screen"] == true).to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_replaced_and_the_rest_stays() {
        let shout = |name: &str| name.to_uppercase();
        assert_eq!(replace("a #{b} #S ## #? c#", shout), "a B SESSION_NAME # #? c#");
        assert_eq!(replace("#{open", shout), "#{open");
    }
}
