//! Limits of the server's state, each from both sides.

use super::*;
use crate::cast::Written;
use crate::mux::limits::{
    MAX_COMMANDS, MAX_ENDED_RECORDINGS, MAX_NESTED_COMMANDS, MAX_OUTPUT_CHUNK, MAX_PICTURE_BYTES,
    MAX_RECORDING_QUEUE, MAX_RECORDINGS, MAX_REPLY_QUEUE, MAX_RUN_HEAD, MAX_SEARCHES, MAX_VIEWS,
    MAX_WAITS, RECORDING_GRACE, SYNC_TIMEOUT,
};
use crate::term::{LineNo, Notice};
use crate::view::shot::Picture;

const MOMENT: Duration = Duration::from_millis(1);

impl Bench {
    /// The answer to a request, which comes at once.
    fn answer(&mut self, request: Value) -> Value {
        self.lines();
        let mut tagged = request;
        tagged["tag"] = json!("a");
        self.ask(tagged);
        self.lines().into_iter().find(|line| line["tag"] == "a").expect("an answer")
    }

    #[track_caller]
    fn refused(&mut self, request: Value, most: usize) {
        let answer = self.answer(request);
        assert_eq!((&answer["ok"], &answer["code"]), (&json!(false), &json!("limit")));
        let error = answer["error"].as_str().expect("a sentence");
        assert!(error.contains(&most.to_string()), "{error} does not name {most}");
    }

    /// A recording into a file that is open; its id.
    fn record(&mut self, id: TerminalId) -> RecordingId {
        let request = json!({"cmd": "record", "id": id.to_string(), "path": "/r"});
        self.ask(request);
        let opened = self.effects.iter().rev().find_map(|effect| match effect {
            Effect::OpenRecording { id, .. } => Some(*id),
            _ => None,
        });
        let recording = opened.expect("a file to open");
        let written = Written { events: 0, last: Duration::ZERO };
        self.on(Incoming::RecordingOpened { id: recording, result: Ok(written) });
        recording
    }
}

#[test]
fn answers_to_a_program_wait_up_to_a_limit() {
    let mut bench = bench();
    let id = bench.cat();
    let queued = |bench: &Bench| bench.mux.get(id).map(Terminal::queued);
    // Each is six bytes.
    let fit = MAX_REPLY_QUEUE / 6;
    bench.print(id, &b"\x1b[6n".repeat(fit));
    assert_eq!(queued(&bench), Some(6 * fit));
    bench.print(id, b"\x1b[6n");
    assert_eq!(queued(&bench), Some(6 * fit), "one that does not fit is not given at all");
    bench.print(id, b"\x1b[5n");
    assert_eq!(queued(&bench), Some(MAX_REPLY_QUEUE), "one that just fits is");
}

#[test]
fn output_comes_in_events_of_a_bounded_size() {
    let mut bench = bench();
    let id = bench.cat();
    bench.ask(json!({"cmd": "events", "types": ["output"], "tag": "o"}));
    let sizes = |bench: &mut Bench, length: usize| -> Vec<usize> {
        bench.lines();
        bench.print(id, &vec![b'x'; length]);
        // A batch at a time is handed out.
        (0..9).for_each(|_| bench.on(Incoming::Tick));
        let events = bench.lines().into_iter().filter(|line| line["event"] == "output");
        events.map(|line| line["data_base64"].as_str().map_or(0, str::len) / 4 * 3).collect()
    };
    assert_eq!(sizes(&mut bench, MAX_OUTPUT_CHUNK), [MAX_OUTPUT_CHUNK]);
    assert_eq!(sizes(&mut bench, MAX_OUTPUT_CHUNK + 3), [MAX_OUTPUT_CHUNK, 3]);
}

#[test]
fn one_wait_too_many_is_refused() {
    let mut bench = bench();
    let id = bench.cat();
    for _ in 0..MAX_WAITS {
        bench.waits(id, json!([{"exit": true}]), json!({}));
    }
    assert_eq!(bench.answers(), [] as [Value; 0]);
    let one_more = json!({"cmd": "wait", "id": "t1", "any": [{"exit": true}]});
    bench.refused(one_more, MAX_WAITS);
    bench.refused(json!({"cmd": "run", "id": "t1", "command": "x"}), MAX_WAITS);
    bench.on(Incoming::Exited { id, exit: Exit::Code(0) });
    assert_eq!(bench.answers().len(), MAX_WAITS);
}

#[test]
fn one_search_too_many_is_refused() {
    let mut bench = bench();
    bench.cat();
    let search = json!({"cmd": "search", "id": "t1", "pattern": "x", "tag": "s"});
    for _ in 0..MAX_SEARCHES {
        bench.ask(search.clone());
    }
    assert_eq!(bench.lines(), [] as [Value; 0]);
    bench.refused(search.clone(), MAX_SEARCHES);
    let ticket = Ticket { client: ME, tag: None };
    bench.on(Incoming::Searched { ticket, result: Ok(Found::default()) });
    bench.lines();
    bench.ask(search);
    assert_eq!(bench.lines(), [] as [Value; 0], "there is room again");
}

#[test]
fn one_view_too_many_is_refused() {
    let mut bench = bench();
    bench.cat();
    let attach = json!({"cmd": "attach", "id": "t1", "role": "view"});
    for _ in 0..MAX_VIEWS {
        let line = attach.to_string();
        bench.mux.request(ME, line.as_bytes(), bench.now, crate::command::run);
        while bench.mux.next_effect().is_some() {}
    }
    bench.refused(attach.clone(), MAX_VIEWS);
    assert_eq!(bench.answer(json!({"cmd": "detach", "view": 1}))["ok"], true);
    assert_eq!(bench.answer(attach)["ok"], true);
}

#[test]
fn one_recording_too_many_is_refused() {
    let mut bench = bench();
    let id = bench.cat();
    let all: Vec<_> = (0..MAX_RECORDINGS).map(|_| bench.record(id)).collect();
    let one_more = json!({"cmd": "record", "id": "t1", "path": "/r"});
    bench.refused(one_more, MAX_RECORDINGS);
    bench.ask(json!({"cmd": "record_stop", "recording": all[0].to_string()}));
    bench.on(Incoming::RecordingWritten { id: all[0], result: Ok(()) });
    bench.record(id);
}

#[test]
fn recordings_that_are_over_are_kept_up_to_a_number() {
    let mut bench = bench();
    let listed = |bench: &mut Bench| {
        let answer = bench.answer(json!({"cmd": "recordings"}));
        let all = answer["recordings"].as_array().expect("a list").clone();
        (all.len(), all[0]["recording"].clone())
    };
    for number in 1..=MAX_ENDED_RECORDINGS + 1 {
        let id = bench.cat();
        let recording = bench.record(id);
        bench.on(Incoming::Exited { id, exit: Exit::Code(0) });
        bench.on(Incoming::RecordingWritten { id: recording, result: Ok(()) });
        let oldest = if number <= MAX_ENDED_RECORDINGS { "r1" } else { "r2" };
        let kept = number.min(MAX_ENDED_RECORDINGS);
        assert_eq!(listed(&mut bench), (kept, json!(oldest)));
    }
}

#[test]
fn a_recording_waits_up_to_a_limit_and_then_loses() {
    let mut bench = bench();
    let id = bench.cat();
    let recording = bench.record(id);
    bench.print(id, b"on its way");
    let lost = |bench: &mut Bench| {
        bench.answer(json!({"cmd": "recordings"}))["recordings"][0]["lost"].clone()
    };
    // The disk does not take it: lines of 64 KiB wait, each with some bytes around it.
    let piece = vec![b'x'; 64 << 10];
    for _ in 0..MAX_RECORDING_QUEUE / piece.len() - 1 {
        bench.print(id, &piece);
    }
    assert_eq!(lost(&mut bench), Value::Null);
    bench.print(id, &piece);
    assert!(lost(&mut bench).as_u64() >= Some(100), "{}", lost(&mut bench));
    bench.on(Incoming::RecordingWritten { id: recording, result: Ok(()) });
    let gap = bench.effects.iter().rev().find_map(|effect| match effect {
        Effect::WriteRecording { bytes, .. } => Some(bytes.len()),
        _ => None,
    });
    assert!(gap < Some(100 << 10), "the screen anew, and no backlog: {gap:?}");
}

#[test]
fn a_stop_waits_for_the_disk_and_no_longer_than_it_may() {
    let mut bench = bench();
    let id = bench.cat();
    let recording = bench.record(id);
    bench.print(id, b"on its way");
    bench.ask(json!({"cmd": "record_stop", "recording": recording.to_string(), "tag": "s"}));
    let answered = |bench: &mut Bench| bench.lines().into_iter().find(|line| line["tag"] == "s");
    bench.pass(RECORDING_GRACE - MOMENT);
    assert_eq!(answered(&mut bench), None);
    bench.pass(MOMENT);
    assert_eq!(answered(&mut bench).expect("an answer")["code"], "system");
}

/// Ends of commands that nobody saw begin.
#[test]
fn commands_are_remembered_up_to_a_number() {
    let mut bench = bench();
    let id = bench.cat();
    let commands = |bench: &mut Bench| {
        let answer = bench.answer(json!({"cmd": "commands", "id": "t1"}));
        let all = answer["commands"].as_array().expect("a list").clone();
        (all.len(), all[0]["number"].clone())
    };
    bench.print(id, &b"\x1b]7777;done;0\x07".repeat(MAX_COMMANDS));
    assert_eq!(commands(&mut bench), (MAX_COMMANDS, json!(1)));
    bench.print(id, b"\x1b]7777;done;0\x07");
    assert_eq!(commands(&mut bench), (MAX_COMMANDS, json!(2)));
}

#[test]
fn commands_within_commands_are_timed_up_to_a_depth() {
    let timed = |depth: usize| {
        let mut bench = bench();
        let id = bench.cat();
        for _ in 0..depth {
            bench.mux.notice(id, Notice::CommandStart { command: None });
        }
        bench.lines();
        let done = || Notice::CommandDone {
            code: Some(0),
            key: None,
            command: None,
            output: None,
            cut: None,
        };
        for _ in 0..depth {
            bench.mux.notice(id, done());
        }
        bench.on(Incoming::Tick);
        let ends = bench.lines().into_iter().filter(|line| line["event"] == "command_done");
        ends.filter(|line| line["duration_ms"].is_u64()).count()
    };
    assert_eq!(timed(MAX_NESTED_COMMANDS), MAX_NESTED_COMMANDS);
    assert_eq!(timed(MAX_NESTED_COMMANDS + 1), MAX_NESTED_COMMANDS);
}

/// The scrollback holds ten lines only; what `run` answers with it has read before.
#[test]
fn the_head_of_a_run_is_kept_up_to_a_limit() {
    const LINE: usize = 8 << 10;
    let head = |lines: usize| {
        let mut bench = bench();
        let request = json!({"cmd": "create", "cmd_args": ["bash"], "cols": 1024, "rows": 4,
            "scrollback_lines": 10});
        let id = bench.create(request);
        let key = bench.mux.get(id).expect("a terminal").identity.key.clone();
        bench.print(id, b"\x1b]133;A;aid=1\x07$ \x1b]133;B\x07");
        bench.ask(
            json!({"cmd": "run", "id": "t1", "command": "x", "max_lines": 100_000, "tag": "r"}),
        );
        bench.print(id, b"x\r\n\x1b]133;C;aid=1;cmdline_url=x\x07");
        let line = "x".repeat(LINE) + "\r\n";
        (0..lines).for_each(|_| bench.print(id, line.as_bytes()));
        bench.print(id, format!("\x1b]7777;done;0;key={key};aid=1\x07").as_bytes());
        bench.print(id, b"\x1b]133;A;aid=1\x07$ \x1b]133;B\x07");
        let answer = bench.lines().into_iter().find(|line| line["tag"] == "r").expect("an answer");
        let count = answer["left_out"]["count"].as_u64().unwrap_or(0) as usize;
        assert_eq!(answer["lines"].as_array().map(|all| all.len() + count), Some(lines));
        count
    };
    let fit = MAX_RUN_HEAD / LINE;
    assert_eq!(head(fit), 0);
    assert!((20..40).contains(&head(fit + 40)), "the scrollback has the last ten");
}

#[test]
fn a_picture_has_as_many_pixels_as_it_may() {
    let mut bench = bench();
    bench.cat();
    bench.ask(json!({"cmd": "resize", "id": "t1", "cols": 1024, "rows": 1024}));
    let shot = |scale: u64| json!({"cmd": "screenshot", "id": "t1", "scale": scale});
    // Cells of 4x8 pixels are just as many as may be.
    bench.effects.clear();
    bench.ask(shot(44));
    assert!(bench.effects.iter().any(|effect| matches!(effect, Effect::Render { .. })));
    let refused = bench.answer(shot(45));
    assert_eq!(refused["code"], "bad_value");
    let error = refused["error"].as_str().expect("a sentence");
    assert!(error.contains("33554432 are the most: the largest scale that fits is 44"), "{error}");
}

#[test]
fn pictures_wait_to_be_read_up_to_a_limit() {
    let mut bench = bench();
    bench.cat();
    let picture = |bytes: usize| Picture {
        bytes: vec![0; bytes],
        format: crate::view::shot::Format::Png,
        cols: 1,
        rows: 1,
        gutter: 0,
        pixels: None,
        highlighted: None,
        first_line: 0,
        next_line: 0,
        stamp: 0,
    };
    let made = |bench: &mut Bench, bytes: usize, inline: bool| -> bool {
        bench.effects.clear();
        let shot = json!({"cmd": "screenshot", "id": "t1",
            "encoding": if inline { "base64" } else { "raw" }});
        bench.ask(shot);
        let request = bench.effects.drain(..).find_map(|effect| match effect {
            Effect::Render { request, .. } => Some(request),
            _ => None,
        });
        let Some(request) = request else { return false };
        bench.on(Incoming::Rendered { request, result: Ok(picture(bytes)) });
        let given =
            |effect: &Effect| matches!(effect, Effect::Picture { size, .. } if *size == bytes);
        bench.effects.iter().any(given)
    };
    for inline in [false, true] {
        assert!(made(&mut bench, MAX_PICTURE_BYTES - 1000, inline));
        assert!(made(&mut bench, 1000, inline), "so many may wait");
        assert!(!made(&mut bench, 1, inline), "and no more");
        bench.on(Incoming::Taken { client: ME, bytes: 1000 });
        assert!(!made(&mut bench, 1001, inline));
        assert!(made(&mut bench, 1000, inline));
        bench.on(Incoming::Taken { client: ME, bytes: MAX_PICTURE_BYTES });
    }
    let refused = bench.answer(json!({"cmd": "look", "id": "t9", "screenshot": true}));
    assert_eq!(refused["code"], "not_found");
}

#[test]
fn an_update_that_does_not_end_is_shown_in_the_end() {
    let mut bench = bench();
    let id = bench.cat();
    let shown = |bench: &Bench| {
        let mut text = String::new();
        bench.mux.get(id).expect("a terminal").grid.row_text(0, &mut text);
        text.trim_end().to_owned()
    };
    bench.print(id, b"before\x1b[?2026h\x1b[Hafter!");
    assert_eq!(shown(&bench), "before");
    bench.pass(SYNC_TIMEOUT - MOMENT);
    assert_eq!(shown(&bench), "before");
    bench.pass(MOMENT);
    assert_eq!(shown(&bench), "after!");
}

/// All terminals share the ceiling: whose lines are the oldest loses them, and no screen is touched.
#[test]
fn the_oldest_lines_of_all_terminals_are_dropped() {
    let mut bench = bench();
    let ids: Vec<_> = (0..3).map(|_| bench.cat()).collect();
    for id in &ids {
        let memory = crate::term::Memory::lent(vec![0; 8 << 20]);
        bench.mux.get_mut(*id).expect("a terminal").lend(memory);
    }
    bench.ask(json!({"cmd": "config", "scrollback_total_bytes": 4 << 20}));
    let line = "y".repeat(70) + "\r\n";
    let first =
        |bench: &Bench, at: usize| bench.mux.get(ids[at]).expect("a terminal").grid.lines().start;
    for round in 0..4 {
        for id in &ids {
            bench.pass(Duration::from_secs(1));
            for _ in 0..8 {
                bench.print(*id, line.repeat(1000).as_bytes());
            }
            assert!(bench.mux.scrollback_total() <= 4 << 20);
        }
        let dropped: Vec<_> = (0..3).map(|at| first(&bench, at).0).collect();
        match round {
            0 => assert_eq!(dropped, [0, 0, 0]),
            _ => assert!(dropped[0] >= dropped[1] && dropped[1] >= dropped[2], "{dropped:?}"),
        }
    }
    assert!(first(&bench, 2) > LineNo(0));
    let total = bench.mux.scrollback_total();
    bench.on(Incoming::Exited { id: ids[0], exit: Exit::Code(0) });
    bench.ask(json!({"cmd": "kill", "id": "t1"}));
    assert!(bench.mux.scrollback_total() < total);
}
