//! Every limit, from both sides: at it all is well, one above is refused or cut.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use t4a::mux::limits::{PROGRAM, SERVER};

use crate::support::{Client, Server, eventually, on_a_terminal};

/// Where each limit is tested: those that a request meets at once, those that need more, and
/// those of single modules.
const TESTED: &[(&str, &str)] = &[
    ("tests/all/bad_input.rs one_connection_too_many_is_told_so_and_closed", "connections"),
    (
        "tests/all/bad_input.rs a_line_that_is_too_long_is_answered_and_the_connection_closed",
        "line_bytes",
    ),
    ("tests/all/bad_input.rs one_stream_too_many_is_refused_and_the_others_go_on", "subscriptions"),
    (
        "tests/all/limits.rs what_a_request_asks_for_is_taken_at_the_limit_and_refused_above_it",
        "tag_bytes cols rows name_chars labels label_bytes idle_timeout_ms scrollback_lines keys \
         key_name_bytes key_text_chars conditions wait_ms run_command_bytes run_lines matches \
         match_context cell_rows needle_chars tokens picture_scale picture_pad picture_colors \
         workspace_bytes path_bytes pattern_bytes",
    ),
    ("tests/all/limits.rs one_layout_too_many_is_refused", "workspaces"),
    (
        "tests/all/limits.rs answers_have_as_many_rows_as_they_may",
        "text_lines picture_rows cell_rows",
    ),
    ("tests/all/limits.rs a_line_of_a_run_is_cut_behind_its_last_character", "run_line_chars"),
    ("tests/all/persist.rs the_oldest_files_make_room", "kept_terminals kept_bytes"),
    ("src/term/tests/transcript.rs of_much_the_newest_whole_lines_are_written", "kept_text_bytes"),
    ("tests/all/limits.rs the_name_of_a_viewer_is_cut", "view_name_chars"),
    ("tests/all/limits.rs a_configuration_is_read_up_to_its_limit", "config_bytes"),
    (
        "tests/all/limits.rs a_path_of_a_socket_may_be_as_long_as_the_system_allows",
        "socket_path_bytes",
    ),
    ("tests/all/limits.rs what_tmux_keeps_is_bounded", "tmux_signals tmux_buffer_bytes"),
    (
        "tests/all/scrollback.rs a_lower_ceiling_takes_effect_at_once_and_killed_terminals_make_room",
        "scrollback_total_bytes",
    ),
    ("src/keeper/spec.rs the_largest_spec_is_taken_and_one_byte_more_is_refused", "spawn_bytes"),
    ("src/mux/tests.rs one_terminal_too_many_is_refused_unless_a_dead_one_can_go", "terminals"),
    ("src/mux/tests.rs the_dead_are_kept_up_to_a_number", "dead_terminals"),
    ("src/mux/tests.rs ready_waits_for_the_prompt_and_no_longer_than_it_may", "ready_ms"),
    ("src/mux/tests.rs kill_hangs_up_then_kills_then_gives_up", "kill_ms"),
    ("src/mux/tests.rs typing_is_all_or_nothing_and_signals_pass_it_by", "input_queue_bytes"),
    ("src/mux/clients.rs tagged_requests_run_side_by_side_up_to_the_limit", "in_flight"),
    ("src/mux/events.rs the_history_is_bounded_by_number_and_by_bytes", "events event_bytes"),
    ("src/mux/events.rs live_events_are_bounded_by_bytes", "live_event_bytes"),
    ("src/mux/raw.rs a_viewer_that_has_too_much_to_read_gets_a_redraw", "raw_queue_bytes"),
    ("src/mux/tests/bounds.rs answers_to_a_program_wait_up_to_a_limit", "reply_queue_bytes"),
    ("src/mux/tests/bounds.rs output_comes_in_events_of_a_bounded_size", "output_event_bytes"),
    ("src/mux/tests/bounds.rs one_wait_too_many_is_refused", "waits"),
    ("src/mux/tests/bounds.rs one_search_too_many_is_refused", "searches"),
    ("src/mux/tests/bounds.rs one_view_too_many_is_refused", "views"),
    ("src/mux/tests/bounds.rs one_recording_too_many_is_refused", "recordings"),
    (
        "src/mux/tests/bounds.rs recordings_that_are_over_are_kept_up_to_a_number",
        "ended_recordings",
    ),
    (
        "src/mux/tests/bounds.rs a_recording_waits_up_to_a_limit_and_then_loses",
        "recording_queue_bytes",
    ),
    (
        "src/mux/tests/bounds.rs a_stop_waits_for_the_disk_and_no_longer_than_it_may",
        "recording_grace_ms",
    ),
    ("src/mux/tests/bounds.rs commands_are_remembered_up_to_a_number", "commands"),
    ("src/mux/tests/bounds.rs commands_within_commands_are_timed_up_to_a_depth", "nested_commands"),
    ("src/mux/tests/bounds.rs the_head_of_a_run_is_kept_up_to_a_limit", "run_head_bytes"),
    ("src/mux/tests/bounds.rs a_picture_has_as_many_pixels_as_it_may", "picture_pixels"),
    ("src/mux/tests/bounds.rs pictures_wait_to_be_read_up_to_a_limit", "picture_bytes"),
    ("src/view/shot.rs a_picture_has_as_many_bytes_as_it_may", "picture_bytes"),
    ("src/mux/tests/bounds.rs an_update_that_does_not_end_is_shown_in_the_end", "sync_ms"),
    (
        "src/server/render.rs pictures_wait_up_to_a_number_and_a_size",
        "pictures pictures_waiting cells_waiting",
    ),
    ("src/view/grep.rs text_of_matches_is_bounded_and_the_newest_stay", "match_bytes"),
    ("src/term/tests/bounds.rs scrollback_takes_the_memory_there_is", "scrollback_bytes"),
    (
        "src/term/tests/bounds.rs strings_are_read_up_to_their_limits",
        "osc_bytes title_chars cwd_chars notification_chars clipboard_bytes",
    ),
    ("src/term/tests/bounds.rs sequences_are_read_up_to_their_limits", "sequence_bytes params"),
    ("src/term/tests/bounds.rs stacks_have_a_depth", "titles keyboard_stack"),
    ("src/term/marks/tests.rs everything_is_bounded", "shells shell_id_bytes"),
    ("src/term/tests/bounds.rs commands_are_clean_and_bounded", "command_bytes"),
    ("src/term/tests/bounds.rs other_strings_are_read_up_to_a_limit", "string_bytes"),
    (
        "src/term/tests/bounds.rs links_have_addresses_and_ids_of_bounded_length",
        "link_bytes link_id_bytes",
    ),
    ("src/term/tests/bounds.rs links_and_looks_are_told_apart_up_to_a_number", "links styles"),
    ("src/term/tests/unicode.rs a_character_has_eight_code_points_at_most", "marks_per_cell"),
    ("src/cast/read.rs what_is_too_long_is_not_read", "cast_bytes cast_line_bytes"),
    ("src/cast/film.rs a_film_has_as_many_screens_and_bytes_as_it_may", "film_screens film_bytes"),
    ("src/tmux/place.rs buffers_are_bounded_and_the_newest_is_the_usual_one", "tmux_buffers"),
    ("src/mcp/args.rs what_is_asked_for_is_cut_to_what_may_be", "mcp_wait_ms mcp_lines"),
    ("src/mcp/answer.rs text_and_lines_are_cut_at_their_limits", "mcp_text_bytes mcp_line_bytes"),
    ("tests/all/mcp.rs calls_beyond_the_limit_wait_for_their_turn", "mcp_calls"),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_limit_has_its_test() {
    let mut tested = BTreeSet::new();
    for (place, limits) in TESTED {
        let (file, name) = place.split_once(' ').unwrap();
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        assert!(text.contains(&format!("fn {name}(")), "{file} has no {name}");
        tested.extend(limits.split_whitespace());
    }
    let all: BTreeSet<_> = SERVER.iter().chain(PROGRAM).map(|(name, _)| *name).collect();
    assert_eq!(tested, all);
}

/// Bounds that nobody meets from outside: sizes of caches, buffers and formats, of what one process
/// tells the other, and of what the human client shows.
const INTERNAL: &str = "
    src/attach/git.rs MAX_BRANCH MAX_DEPTH
    src/seat/ahead.rs MAX_HELD
    src/seat/app.rs MAX_PENDING
    src/seat/config.rs MAX_PROBLEMS
    src/seat/outer.rs MAX_CLIPBOARD
    src/seat/overlay.rs MAX_TYPED
    src/seat/scroll.rs MAX_HELD
    src/seat/window.rs MAX_WINDOW_NAME
    src/client/lines.rs MAX_TAKEN
    src/client/start.rs MAX_LOG
    src/input/decode.rs MAX_PASTE MAX_SEQUENCE
    src/input/mouse.rs MAX_BYTE MAX_UTF8
    src/input/names.rs MAX_NEAR
    src/journal/record.rs MAX_RECORD
    src/journal/saves.rs MAX_SAVE
    src/keeper/message.rs MAX_SLOTS
    src/keeper/slots.rs MAX_FORGOTTEN
    src/keeper/spec.rs MAX_SPEC
    src/keeper/stragglers.rs MAX_STRAGGLERS
    src/mux/kept.rs MAX_ENDED MAX_LINE_NO
    src/mux/limits.rs MAX_KEEPING MAX_KEPT_FILE MAX_KEPT_ROWS MAX_LOOKS_AT_DEAD
    src/mux/limits.rs MAX_MOMENTS MAX_SCROLLBACK_TOTAL
    src/os/channel.rs MAX_FDS
    src/os/inspect.rs MAX_ARGUMENTS MAX_COMMAND MAX_DESCRIPTORS MAX_SCAN MAX_STAT
    src/os/paths.rs MAX_PRIVATE_FILE MAX_SOCKET_PATH
    src/os/process.rs MAX_PASSWD
    src/os/shelf.rs MAX_NAMES
    src/server/connection.rs MAX_DISCARD
    src/server/hub.rs MAX_LAST_WORDS
    src/server/outbox.rs MAX_LATE
    src/server/recover.rs MAX_FEEDS MAX_READS MAX_RESTORES
    src/server/spawn.rs MAX_LOOKS MAX_STATUS
    src/server/upgrade.rs MAX_TOLD
    src/term/osc.rs MAX_PARTS
    src/term/pack.rs MAX_CELL MAX_RECORD
    src/term/pages.rs MAX_PAGES
    src/term/parser.rs MAX_CLIPBOARD_OSC
    src/term/reflow.rs MAX_PULLED
    src/term/save/check.rs MAX_COUNT
    src/tmux/capture.rs MAX_COLORED
    src/tmux/place.rs MAX_NAME
    src/tmux/typing.rs MAX_BYTES MAX_REPEAT
    src/view/image/codes.rs MAX_LOOKS
    src/view/image/deflate.rs MAX_DISTANCE MAX_MATCH
    src/view/image/forms.rs MAX_FORM_BYTES
    src/view/image/glyphs.rs MAX_MASKS
    src/view/image/huffman.rs MAX_BITS MAX_LENGTH_BITS
    src/view/image/mod.rs MAX_BOOKS MAX_SIZES
    src/view/image/rows.rs MAX_BOOK_BYTES MAX_PAINTS MAX_STRIPS
    src/view/image/strips.rs MAX_REACH
    src/cli/sixel.rs MAX_COLORS
    src/wire/failure.rs MAX_ERROR
";

/// Each constant of a file that is called a limit.
fn constants(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split("const MAX_").skip(1);
    parts.map(|part| part.split(':').next().unwrap())
}

fn sources(dir: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, found),
            // Those in files of tests are none.
            false if path.iter().all(|part| part != "tests") => found.push(path),
            false => {}
        }
    }
}

/// What is called a limit anywhere is named in the one list, or among the internal ones here.
#[test]
fn no_limit_is_forgotten() {
    let list = std::fs::read_to_string(root().join("src/mux/limits.rs")).unwrap();
    let (named, tables) = list.split_once("type Named").unwrap();
    let has = |text: &str, word: &str| {
        text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|part| part == word)
    };
    let mut files = Vec::new();
    sources(&root().join("src"), &mut files);
    let mut internal = BTreeSet::new();
    for path in files {
        let file = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        let module = file.split('/').nth(1).unwrap();
        let uses = named.split("pub use crate::").map(|part| part.split(';').next().unwrap());
        let again: Vec<_> = uses.filter(|part| part.starts_with(module)).collect();
        for constant in constants(&std::fs::read_to_string(&path).unwrap()) {
            let word = format!("MAX_{constant}");
            let listed = file == "src/mux/limits.rs" && has(tables, &word);
            if !listed && !again.iter().any(|part| has(part, &word)) {
                internal.insert(format!("{file} {word}"));
            }
        }
    }
    let expected = INTERNAL.lines().flat_map(|line| {
        let (file, words) = line.trim().split_once(' ').unwrap_or_default();
        words.split_whitespace().map(move |word| format!("{file} {word}"))
    });
    assert_eq!(internal, expected.collect());
}

/// The doctor shows all of them, with what is in use, with and without a server.
#[test]
fn the_doctor_tells_every_limit() {
    let server = Server::not_started();
    for running in [false, true] {
        if running {
            server.cli(&["create", "--", "cat"]);
            server.cli(&["config", "--scrollback-total-bytes", "8388608"]);
        }
        let shown = on_a_terminal(&server, "t4a doctor || true");
        for (name, value) in SERVER.iter().chain(PROGRAM) {
            assert!(shown.contains(&format!(" {name} ")), "{name} {value}\n{shown}");
        }
        assert!(shown.contains("tag_bytes 256") && shown.contains("link_bytes 2083"), "{shown}");
        let used = ["terminals 1 of 2048", "connections 1 of 1024", "_total_bytes 0 B of 8 MiB"];
        assert!(used.iter().all(|used| shown.contains(used) == running), "{shown}");
        assert_eq!(shown.contains("\nmemory    keeper "), running, "{shown}");
    }
    let hello = server.json(&["hello"]);
    let report = server.json(&["doctor"]);
    assert_eq!(report["server"]["limits"], hello["limits"]);
    let told: Vec<_> = hello["limits"].as_object().unwrap().keys().cloned().collect();
    let all: BTreeSet<_> = SERVER.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(told.into_iter().collect::<BTreeSet<_>>(), all);
    let own: Value = PROGRAM.iter().map(|(name, value)| (*name, *value)).collect();
    assert_eq!(report["limits"], own);
    assert!(report["memory"]["worker"].as_u64() > Some(1 << 20), "{report}");
    let used = hello["used"].as_object().unwrap();
    assert!(used.keys().all(|name| all.contains(name)), "{used:?}");
}

/// What a request asks for, how it is answered at the limit, and with what word above it.
struct Case {
    limit: &'static str,
    at: Value,
    /// Empty if it is taken.
    code: &'static str,
    above: Value,
    word: &'static str,
}

fn taken(limit: &'static str, request: impl Fn(u64) -> Value) -> Case {
    answered(limit, "", "", request)
}

fn answered(
    limit: &'static str,
    code: &'static str,
    word: &'static str,
    request: impl Fn(u64) -> Value,
) -> Case {
    let value = SERVER.iter().find(|(name, _)| *name == limit).unwrap().1;
    Case { limit, at: request(value), code, above: request(value + 1), word }
}

fn x(count: u64) -> String {
    "x".repeat(count as usize)
}

fn labels(count: u64) -> Value {
    (0..count).map(|n| (format!("l{n}"), json!("v"))).collect::<serde_json::Map<_, _>>().into()
}

fn cases() -> Vec<Case> {
    let create =
        |field: &str, value: Value| json!({"cmd": "create", "cmd_args": ["cat"], field: value});
    let on = |cmd: &str, field: &str, value: Value| json!({"cmd": cmd, "id": "t1", field: value});
    let shot = |field: &str, value: Value| {
        json!({"cmd": "screenshot", "id": "t1", "encoding": "base64",
            "region": {"rows": 1, "cols": 1}, field: value})
    };
    let wait = |n: u64| vec![json!({"idle_ms": 1}); n as usize];
    let colors = |n: u64| json!({"colors": vec!["#010203"; n as usize]});
    let run = |field: &str, value: Value| json!({"cmd": "run", "id": "t2", "command": "x", "idle_ms": 1, field: value});
    vec![
        taken("tag_bytes", |n| json!({"cmd": "list", "tag": x(n - 2)})),
        taken("cols", |n| json!({"cmd": "resize", "id": "t1", "cols": n, "rows": 2})),
        taken("rows", |n| json!({"cmd": "resize", "id": "t1", "cols": 2, "rows": n})),
        taken("cols", |n| create("cols", json!(n))),
        taken("rows", |n| create("rows", json!(n))),
        taken("cols", |n| json!({"cmd": "attach", "id": "t1", "cols": n, "rows": 2, "tag": 1})),
        taken("rows", |n| json!({"cmd": "attach", "id": "t1", "cols": 2, "rows": n, "tag": 1})),
        taken("name_chars", |n| create("name", json!("é".repeat(n as usize)))),
        taken("labels", |n| create("labels", labels(n))),
        taken("label_bytes", |n| create("labels", json!({"k": x(n)}))),
        taken("label_bytes", |n| create("labels", json!({x(n): "v"}))),
        taken("idle_timeout_ms", |n| on("config", "idle_timeout_ms", json!(n))),
        taken("idle_timeout_ms", |n| create("idle_timeout_ms", json!(n))),
        taken("scrollback_lines", |n| create("scrollback_lines", json!(n))),
        taken("keys", |n| on("keys", "keys", json!(vec!["a"; n as usize]))),
        // No key has so long a name, but it is looked for.
        answered("key_name_bytes", "bad_value", "unknown key", |n| {
            on("keys", "keys", json!([x(n)]))
        }),
        taken("key_text_chars", |n| on("keys", "keys", json!([{"key": "a", "text": x(n)}]))),
        taken("conditions", |n| on("wait", "any", json!(wait(n)))),
        taken("wait_ms", |n| json!({"cmd": "wait", "id": "t1", "any": wait(1), "timeout_ms": n})),
        taken("wait_ms", |n| run("timeout_ms", json!(n))),
        taken("run_command_bytes", |n| run("command", json!(x(n)))),
        taken("run_lines", |n| run("max_lines", json!(n))),
        taken("matches", |n| json!({"cmd": "search", "id": "t1", "pattern": "x", "last": n})),
        taken(
            "match_context",
            |n| json!({"cmd": "search", "id": "t1", "pattern": "x", "context": n}),
        ),
        taken("cell_rows", |n| json!({"cmd": "cells", "id": "t1", "first_line": 0, "count": n})),
        // It is looked for, and does not stand there.
        answered(
            "needle_chars",
            "not_found",
            "",
            |n| json!({"cmd": "mouse", "id": "t1", "kind": "click", "text": x(n)}),
        ),
        taken("needle_chars", |n| shot("highlight", json!({"text": x(n)}))),
        taken("tokens", |n| on("look", "max_tokens", json!(n))),
        taken("tokens", |n| shot("max_tokens", json!(n))),
        taken("picture_scale", |n| shot("scale", json!(n))),
        taken("picture_pad", |n| shot("pad", json!(n))),
        taken("picture_colors", |n| shot("theme", colors(n))),
        taken("workspace_bytes", |n| json!({"cmd": "workspace", "name": "w", "layout": x(n - 2)})),
        // The system is asked, and says that there is no such directory.
        answered("path_bytes", "system", "", |n| {
            let path = "/no".repeat(n as usize / 3) + &x(n % 3);
            on("record", "path", json!(path))
        }),
    ]
}

#[test]
fn what_a_request_asks_for_is_taken_at_the_limit_and_refused_above_it() {
    let server = Server::start();
    let mut client = server.connect();
    client.ok(json!({"cmd": "create", "cmd_args": ["cat"]}));
    client.ok(
        json!({"cmd": "create", "cmd_args": ["sh", "-c", "stty raw -echo; exec cat >/dev/null"]}),
    );
    for case in cases() {
        let Case { limit, at, code, above, word } = case;
        let value = SERVER.iter().find(|(name, _)| *name == limit).unwrap().1;
        // Views go on sending frames: each has a connection of its own.
        let mut client = server.connect();
        let answer = client.ask(at.clone());
        match code {
            "" => assert_eq!(answer["ok"], true, "{limit}: {}", short(&answer)),
            code => {
                assert_eq!(answer["code"], code, "{limit}: {}", short(&answer));
                assert!(answer["error"].as_str().unwrap().contains(word), "{}", short(&answer));
            }
        }
        let answer = server.connect().ask(above);
        assert_eq!(
            (&answer["ok"], &answer["code"]),
            (&json!(false), &json!("bad_value")),
            "{limit}"
        );
        let error = answer["error"].as_str().unwrap();
        assert!(error.contains(&value.to_string()), "{limit}: {error} does not name {value}");
    }
    check_patterns(&mut client);
}

fn short(answer: &Value) -> String {
    answer.to_string().chars().take(300).collect()
}

/// Below its limit a pattern is compiled, above it is refused with it.
fn check_patterns(client: &mut Client) {
    let search =
        |count: u32| json!({"cmd": "search", "id": "t1", "pattern": format!("[a-z]{{{count}}}")});
    client.ok(search(10_000));
    let error = client.refused(search(100_000), "bad_value");
    assert!(error.contains("1048576"), "{error}");
    let wait = |pattern: &str| json!({"cmd": "wait", "id": "t1", "any": [{"regex": pattern}], "timeout_ms": 0});
    assert_eq!(client.ok(wait("[a-z]{10000}"))["timed_out"], true);
    let error = client.refused(wait("[a-z]{100000}"), "bad_value");
    assert!(error.contains("1048576"), "{error}");
}

#[test]
fn one_layout_too_many_is_refused() {
    let server = Server::start();
    let mut client = server.connect();
    let keep = |n: u64| json!({"cmd": "workspace", "name": format!("w{n}"), "layout": n});
    for n in 0..16 {
        client.ok(keep(n));
    }
    let error = client.refused(keep(16), "limit");
    assert!(error.contains("16 workspaces"), "{error}");
    assert_eq!(client.ok(keep(3))["layout"], 3, "those that are there can be changed");
}

#[test]
fn answers_have_as_many_rows_as_they_may() {
    let server = Server::start();
    let mut client = server.connect();
    let id = server.script_with(
        "seq 0 100050; printf '\\a'; exec cat",
        json!({"scrollback_lines": 200_000, "rows": 10}),
    );
    let held = client.info(&id)["lines"][1].as_u64().unwrap();
    assert_eq!(held, 100_052);
    let mut count = |request: Value, field: &str| {
        let answer = client.ok(request);
        (answer[field].as_array().map_or(0, Vec::len), answer["next_line"].clone())
    };
    for (wanted, got) in [(99_999, 99_999), (100_000, 100_000), (100_001, 100_000)] {
        let text =
            count(json!({"cmd": "text", "id": id, "first_line": 0, "count": wanted}), "lines");
        assert_eq!(text, (got, json!(got)));
        let text = count(json!({"cmd": "text", "id": id, "region": "all", "end": wanted}), "lines");
        assert_eq!(text.0, got);
    }
    let (rows, _) = count(json!({"cmd": "cells", "id": id, "first_line": 0}), "rows");
    assert_eq!(rows, 5000);
    for (wanted, got) in [(10_000, 10_000), (10_001, 10_000)] {
        let shot = json!({"cmd": "screenshot", "id": id, "format": "text", "lines": [0, wanted],
            "encoding": "base64"});
        let answer = client.ok(shot);
        assert_eq!((&answer["rows"], &answer["next_line"]), (&json!(got), &json!(got)));
    }
}

#[test]
fn a_line_of_a_run_is_cut_behind_its_last_character() {
    let server = Server::start();
    let id = server.shell("bash");
    let mut client = server.connect();
    for (length, shown) in [(9999, x(9999)), (10_000, x(10_000)), (10_001, x(10_000) + "…")] {
        let command = format!("head -c {length} /dev/zero | tr '\\0' x; echo");
        let lines = client.run(&id, &command)["lines"].clone();
        assert_eq!(lines, json!([shown]), "{length}");
    }
}

#[test]
fn the_name_of_a_viewer_is_cut() {
    let server = Server::start();
    let mut client = server.connect();
    client.ok(json!({"cmd": "create", "cmd_args": ["cat"]}));
    for (length, shown) in [(64, 64), (65, 64)] {
        let mut viewer = server.connect();
        viewer.ok(json!({"cmd": "attach", "id": "t1", "name": x(length), "role": "view"}));
        assert_eq!(client.info("t1")["attached"][0]["name"], x(shown));
        drop(viewer);
        eventually("it is gone", || client.info("t1")["attached"] == json!([]));
    }
}

#[test]
fn a_configuration_is_read_up_to_its_limit() {
    let server = Server::not_started();
    let file = server.home().join(".config/t4a/config.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    for (length, ok) in [(256 << 10, true), ((256 << 10) + 1, false)] {
        let text = format!("mouse = false\n#{}", x(length - 15));
        std::fs::write(&file, &text).unwrap();
        assert_eq!(text.len() as u64, length);
        let checked = server.cli(&["config", "check", "--json"]);
        let report: Value = serde_json::from_slice(&checked.stdout).unwrap();
        assert_eq!(report["ok"], ok, "{report}");
        assert!(ok || report["problems"][0].as_str().unwrap().contains("262144"), "{report}");
    }
}

#[test]
fn a_path_of_a_socket_may_be_as_long_as_the_system_allows() {
    let server = Server::not_started();
    let dir = server.dir().to_str().unwrap().to_owned();
    for (length, ok) in [(103, true), (104, false)] {
        let path = format!("{dir}/{}", x(length - dir.len() as u64 - 1));
        let hello = server.command().env("T4A_SOCKET", &path).arg("hello").output().unwrap();
        let said = String::from_utf8_lossy(&hello.stderr).into_owned();
        assert_eq!(hello.status.success(), ok, "{said}");
        assert!(ok || said.contains("has 104 bytes, the system allows 103"), "{said}");
        if ok {
            server.command().env("T4A_SOCKET", &path).arg("shutdown").output().unwrap();
        }
    }
}

#[test]
fn what_tmux_keeps_is_bounded() {
    let server = Server::start();
    let file = server.dir().join("buffer");
    for (length, ok) in [(16 << 20, true), ((16 << 20) + 1, false)] {
        std::fs::File::create(&file).unwrap().set_len(length).unwrap();
        let loaded = server.cli(&["tmux", "load-buffer", "-b", "b", file.to_str().unwrap()]);
        let said = String::from_utf8_lossy(&loaded.stderr).into_owned();
        assert_eq!(loaded.status.success(), ok, "{said}");
        assert!(ok || said.contains("16777216"), "{said}");
    }
    // One command line sends them all.
    let words: Vec<String> = (0..256).map(|n| format!("wait-for -S c{n}")).collect();
    let line = words.join(" ; ");
    let all: Vec<&str> = std::iter::once("tmux").chain(line.split(' ')).collect();
    let sent = server.cli(&all);
    assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
    let one_more = server.cli(&["tmux", "wait-for", "-S", "another"]);
    let said = String::from_utf8_lossy(&one_more.stderr).into_owned();
    assert!(!one_more.status.success() && said.contains("256 channels"), "{said}");
}
