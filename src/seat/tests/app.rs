//! The whole client, with a server that answers as it should: whatever is done, what is painted is
//! what was drawn.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::paint::{check, outer};
use crate::command;
use crate::seat::Wish;
use crate::seat::app::{App, Effect, Incoming, Start};
use crate::seat::canvas::Canvas;
use crate::seat::config::Config;
use crate::seat::paint::{Depth, Painter};
use crate::term::{Size, Terminal};
use crate::wire::Role;

/// What is asked of the server, if that is what an effect is.
fn request(effect: &Effect) -> Option<Value> {
    let line = match effect {
        Effect::Wish(Wish::Send(line)) => line.clone(),
        Effect::Wish(Wish::Type(typed)) => typed.line(),
        _ => return None,
    };
    Some(serde_json::from_slice(&line).unwrap())
}

/// A client, the outer terminal it paints on, and the terminals of its server.
struct Desk {
    app: App,
    painter: Painter,
    canvas: Canvas,
    outer: Terminal,
    now: Instant,
    terminals: u64,
    views: Vec<(u64, String)>,
}

impl Desk {
    fn new(cols: u16, rows: u16) -> Desk {
        let start = Start {
            terminal: Some("t1".into()),
            layout: None,
            role: Role::Edit,
            name: "ann".into(),
            workspace: "main".into(),
            independent: true,
            size: (None, None),
            mark: "ann-1".into(),
            create: command::Create::new(),
        };
        #[allow(clippy::disallowed_methods, reason = "a point in time to count from")]
        let now = Instant::now();
        let app = App::new(Config::default(), start, cols, rows, now);
        let (painter, outer) = (Painter::new(Depth::True), outer(cols, rows));
        let canvas = Canvas::new(cols, rows);
        let mut desk = Desk { app, painter, canvas, outer, now, terminals: 1, views: Vec::new() };
        desk.app.begin();
        desk.serve();
        desk
    }

    fn on(&mut self, incoming: Incoming) {
        self.now += Duration::from_millis(20);
        self.app.on(incoming, self.now);
        self.serve();
    }

    /// Answers all that is asked.
    fn serve(&mut self) {
        loop {
            let effects = self.app.take_effects();
            if effects.is_empty() {
                return;
            }
            for effect in effects {
                if let Some(request) = request(&effect) {
                    let answer = self.answer(&request);
                    self.app.on(Incoming::Line(answer), self.now);
                } else if effect == Effect::Redraw {
                    self.painter.forget();
                }
            }
        }
    }

    fn answer(&mut self, request: &Value) -> Value {
        let mut answer = json!({"ok": true, "tag": request["tag"]});
        match request["cmd"].as_str().unwrap() {
            "create" => {
                self.terminals += 1;
                answer["id"] = format!("t{}", self.terminals).into();
            }
            "attach" => {
                let view = self.views.len() as u64 + 1;
                self.views.push((view, request["id"].as_str().unwrap().to_owned()));
                answer["view"] = view.into();
            }
            "list" => answer["terminals"] = json!([{"id": "t1", "cwd": "/", "alive": true}]),
            "commands" => answer["commands"] = json!([]),
            _ => {}
        }
        answer
    }

    /// A frame with some text, of a size that the pane may or may not have.
    fn frame(&mut self, which: usize, (cols, rows): (u16, u16), text: &str, row: Option<u16>) {
        let Some((view, terminal)) = self.views.get(which % self.views.len().max(1)).cloned()
        else {
            return;
        };
        let lines: Vec<Value> = (0..rows)
            .filter(|at| row.is_none_or(|row| row == *at))
            .map(|row| json!({"row": row, "runs": runs(text)}))
            .collect();
        let mut frame = json!({"frame": 1, "view": view, "terminal": terminal, "cols": cols,
            "rows": rows, "full": true, "lines": lines, "styles": [{}, {"bold": true, "fg": 3}],
            "top_line": 0, "state": {"title": text, "alive": true, "command": text},
            "cursor": {"row": rows / 2, "col": cols / 2, "visible": true, "shape": "bar",
                "blink": true}});
        if row.is_some() {
            let _ =
                frame.as_object_mut().map(|frame| (frame.remove("full"), frame.remove("state")));
        }
        self.on(Incoming::read(frame.to_string().as_bytes()).unwrap());
    }

    fn paint(&mut self) {
        let rows = self.app.update(&mut self.canvas);
        let mut bytes = Vec::new();
        self.painter.paint(&self.canvas, rows.as_ref(), &mut bytes);
        self.outer.feed(&bytes, &mut Vec::new());
        check(&self.outer, &self.app.draw());
    }
}

/// Each character in the look that its column has, wide ones as such.
fn runs(text: &str) -> Vec<Value> {
    let run = |(at, c): (usize, char)| match c {
        '日' | '本' => json!([c, at / 8 % 2, 2]),
        c => json!([c, at / 8 % 2]),
    };
    text.chars().enumerate().map(run).collect()
}

#[derive(Debug, Clone)]
enum Step {
    Prefix(&'static str),
    Key(&'static str),
    Frame(usize, (u16, u16), String, Option<u16>),
    Resize(u16, u16),
}

fn step() -> impl Strategy<Value = Step> {
    let action = "| - % \" h j k l H J K L o ; z x ! } { Space c n p 1 2 [ / t a w m r ? , Ctrl+l";
    let action = prop::sample::select(action.split(' ').collect::<Vec<_>>());
    let key =
        prop::sample::select(vec!["a", "q", "Escape", "Enter", "j", "k", "g", "Up", "PageUp"]);
    // Often of the same size, so that some bring nothing but a row.
    let size = prop_oneof![Just((98, 27)), Just((48, 12)), (1..120_u16, 1..40_u16)];
    let frame = (0..8_usize, size, "[ab日本]{0,60}", prop::option::of(0..28_u16));
    prop_oneof![
        4 => action.prop_map(Step::Prefix),
        2 => key.prop_map(Step::Key),
        3 => frame.prop_map(|(which, size, text, row)| Step::Frame(which, size, text, row)),
        1 => (1..130_u16, 1..45_u16).prop_map(|(cols, rows)| Step::Resize(cols, rows)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..Default::default() })]

    #[test]
    fn whatever_is_done_the_outer_screen_shows_what_was_drawn(
        steps in prop::collection::vec(step(), 1..40),
    ) {
        let mut desk = Desk::new(100, 30);
        for step in steps {
            match step {
                Step::Prefix(key) => {
                    desk.on(Incoming::Key("Ctrl+Space".parse().unwrap()));
                    desk.on(Incoming::Key(key.parse().unwrap()));
                }
                Step::Key(key) => desk.on(Incoming::Key(key.parse().unwrap())),
                Step::Frame(which, size, text, row) => desk.frame(which, size, &text, row),
                Step::Resize(cols, rows) => {
                    desk.outer.resize(Size { cols, rows });
                    desk.on(Incoming::Resize(cols, rows));
                }
            }
            desk.paint();
        }
    }
}

/// What is asked of the server, with the names of keys that are typed; nothing is answered.
fn asked(app: &mut App) -> Vec<String> {
    let sent = app.take_effects().into_iter().filter_map(|effect| request(&effect));
    let name = |request: Value| match request["cmd"].as_str().unwrap() {
        "keys" => request["keys"].as_array().unwrap().iter().map(Value::to_string).collect(),
        other => other.to_owned(),
    };
    sent.map(name).filter(|name| name != "view" && name != "workspace").collect()
}

fn press(desk: &mut Desk, keys: &[&str]) {
    for key in keys {
        desk.app.on(Incoming::Key(key.parse().unwrap()), desk.now);
    }
}

#[test]
fn keys_typed_ahead_go_where_they_are_meant_to() {
    let mut desk = Desk::new(100, 30);
    press(&mut desk, &["Ctrl+Space", "c", "l", "s", "Enter"]);
    assert_eq!(asked(&mut desk.app), ["create"]);
    let tag = |app: &App| *app.pending.last_key_value().unwrap().0;
    let line = json!({"ok": true, "tag": tag(&desk.app), "id": "t2"});
    desk.app.on(Incoming::Line(line), desk.now);
    assert_eq!(asked(&mut desk.app), ["attach"], "not into the window before");
    let line = json!({"ok": true, "tag": tag(&desk.app), "view": 7});
    desk.app.on(Incoming::Line(line), desk.now);
    assert_eq!(asked(&mut desk.app), ["\"l\"", "\"s\"", "\"Enter\""]);
}

#[test]
fn a_server_that_does_not_answer_holds_up_nobody_for_long() {
    let mut desk = Desk::new(100, 30);
    press(&mut desk, &["Ctrl+Space", "m", "Ctrl+Space", "d"]);
    assert_eq!(asked(&mut desk.app), ["commands"]);
    let due = desk.app.deadline().unwrap();
    desk.app.on(Incoming::Tick, due);
    assert!(
        desk.app.take_effects().iter().any(|effect| matches!(effect, Effect::Wish(Wish::Leave(_))))
    );
}
