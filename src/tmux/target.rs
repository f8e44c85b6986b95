//! Which terminal a target means: `NAME`, `=NAME`, `NAME:0.0`, `%3`.

use serde_json::Value;

use super::{Failed, Tmux};
use crate::command::List;

/// A session, as tmux would see a terminal.
#[derive(Debug, Clone)]
pub struct Session {
    pub id: String,
    pub name: String,
    pub labels: Value,
}

/// What a command looks for; tmux's errors name it.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    Session,
    Pane,
}

impl Session {
    fn of(row: &Value) -> Session {
        let text = |field: &str| row[field].as_str().map(str::to_owned);
        let id = text("id").unwrap_or_default();
        let name = text("name").unwrap_or_else(|| id.clone());
        Session { name, labels: row["labels"].clone(), id }
    }

    /// The number in ids such as `$3`, `@3` and `%3`.
    pub fn number(&self) -> &str {
        self.id.trim_start_matches('t')
    }
}

impl Tmux {
    /// What lives, in the order of its making. A session is over when its program is.
    pub fn sessions(&mut self) -> Result<Vec<Session>, Failed> {
        let answer = self.client()?.ask(&List::default())?;
        let rows = answer.value["terminals"].as_array().into_iter().flatten();
        Ok(rows.filter(|row| row["alive"] == true).map(Session::of).collect())
    }

    pub fn find(&mut self, target: Option<&str>, kind: Kind) -> Result<Session, Failed> {
        let sessions = self.sessions()?;
        let Some(target) = target.filter(|target| !target.is_empty()) else {
            let own = std::env::var("T4A_TERMINAL").unwrap_or_default();
            let own = sessions.iter().find(|session| session.id == own);
            let found = own.or(sessions.last()).cloned();
            return found.ok_or_else(|| Failed("no current target".to_owned()));
        };
        let (name, place) = target.split_once(':').unwrap_or((target, ""));
        let Some(session) = named(&sessions, name) else {
            let kind = match kind {
                Kind::Session => "session",
                Kind::Pane => "pane",
            };
            let name = name.strip_prefix('=').unwrap_or(name);
            return Err(Failed(format!("can't find {kind}: {name}")));
        };
        check_place(place)?;
        Ok(session.clone())
    }
}

fn named<'a>(sessions: &'a [Session], name: &str) -> Option<&'a Session> {
    if let Some(number) = name.strip_prefix(['$', '@', '%']) {
        return sessions.iter().find(|session| session.number() == number);
    }
    let exactly = name.strip_prefix('=');
    let name = exactly.unwrap_or(name);
    let is = |session: &&Session| session.name == name || session.id == name;
    let begins = || {
        let mut found = sessions.iter().filter(|session| session.name.starts_with(name));
        found.next().filter(|_| exactly.is_none() && found.next().is_none())
    };
    sessions.iter().find(is).or_else(begins)
}

/// A session has one window with one pane, and both are number 0.
fn check_place(place: &str) -> Result<(), Failed> {
    let (window, pane) = place.split_once('.').unwrap_or((place, ""));
    let is_first = |part: &str| matches!(part, "" | "0" | "^" | "$" | "+" | "-");
    match (is_first(window), is_first(pane)) {
        (false, _) => Err(Failed(format!("can't find window: {window}"))),
        (_, false) => Err(Failed(format!("can't find pane: {pane}"))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_ids_and_beginnings() {
        let session = |id: &str, name: &str| Session {
            id: id.to_owned(),
            name: name.to_owned(),
            labels: Value::Null,
        };
        let all = [session("t1", "agent"), session("t2", "tests"), session("t3", "agents")];
        let found = |name: &str| named(&all, name).map(|session| session.id.as_str());
        assert_eq!(found("agent"), Some("t1"));
        assert_eq!(found("=agents"), Some("t3"));
        assert_eq!(found("te"), Some("t2"));
        assert_eq!(found("t2"), Some("t2"));
        assert_eq!(found("%3"), Some("t3"));
        assert_eq!(found("=te"), None);
        assert_eq!(found("age"), None, "two begin so");
    }

    #[test]
    fn there_is_one_window_with_one_pane() {
        assert!(check_place("").is_ok() && check_place("0.0").is_ok());
        assert_eq!(check_place("7").unwrap_err().0, "can't find window: 7");
        assert_eq!(check_place("0.2").unwrap_err().0, "can't find pane: 2");
    }
}
