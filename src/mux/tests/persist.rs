//! When terminals are put on disk, and when they are taken off it.

use super::super::kept::{Kept, Key};
use super::super::limits::{
    KEEP_AGAIN, KEEP_GRACE, KEEP_PACE, KEEP_QUIET, KEEP_RATE_BUSY, MAX_KEEPING,
};
use super::super::{DeadFound, OldTerminal, Page, ServerPage};
use super::*;

const MOMENT: Duration = Duration::from_millis(1);

impl Bench {
    fn persistent(&mut self) -> TerminalId {
        let id = self.create(json!({"cmd": "create", "cmd_args": ["cat"], "persist": true}));
        self.effects.clear();
        id
    }

    fn key(&self, id: TerminalId) -> Key {
        self.mux.get(id).unwrap().key()
    }

    /// What is to be put on disk since the last look.
    fn pages(&mut self) -> Vec<Page> {
        let effects = std::mem::take(&mut self.effects);
        let page = |effect| if let Effect::Keep(page) = effect { Some(*page) } else { None };
        effects.into_iter().filter_map(page).collect()
    }

    fn dropped(&mut self) -> Vec<Key> {
        let effects = std::mem::take(&mut self.effects);
        let key = |effect| if let Effect::DropKept(key) = effect { Some(key) } else { None };
        effects.into_iter().filter_map(key).collect()
    }

    fn server_pages(&mut self) -> Vec<ServerPage> {
        let effects = std::mem::take(&mut self.effects);
        let page = |effect| if let Effect::KeepServer(page) = effect { Some(page) } else { None };
        effects.into_iter().filter_map(page).collect()
    }

    /// It is written, with so many bytes.
    fn kept(&mut self, id: TerminalId, bytes: usize) {
        let key = self.key(id);
        self.on(Incoming::Kept { key, result: Ok(bytes) });
    }
}

fn text(page: &Page) -> String {
    let mut text = String::new();
    page.rows.write(usize::MAX, &mut text);
    text
}

#[test]
fn a_terminal_is_kept_when_it_goes_quiet_and_not_too_often() {
    let mut bench = bench();
    let id = bench.persistent();
    bench.print(id, b"one");
    bench.pass(KEEP_QUIET - MOMENT);
    assert!(bench.pages().is_empty());
    bench.pass(MOMENT);
    let pages = bench.pages();
    assert_eq!(pages.iter().map(text).collect::<Vec<_>>(), ["one\n"]);
    assert_eq!((pages[0].kept.id, pages[0].pid, pages[0].sync), (id, Some(100 + id.0), true));
    // What came meanwhile waits until that is done.
    bench.print(id, b" two");
    bench.pass(KEEP_PACE * 10);
    assert!(bench.pages().is_empty());
    bench.kept(id, 100);
    bench.pass(MOMENT);
    assert_eq!(bench.pages().len(), 1);
    bench.kept(id, 100);
    bench.print(id, b" three");
    bench.pass(KEEP_PACE - MOMENT * 2);
    assert!(bench.pages().is_empty());
    bench.pass(MOMENT * 2);
    assert_eq!(bench.pages().iter().map(text).collect::<Vec<_>>(), ["one two three\n"]);
    bench.kept(id, 100);
    bench.pass(KEEP_PACE * 100);
    assert!(bench.pages().is_empty(), "nothing has changed");
}

#[test]
fn one_that_never_goes_quiet_is_kept_all_the_same_and_the_larger_the_less_often() {
    let mut bench = bench();
    let id = bench.persistent();
    let mut writes = |bytes: usize, seconds: u64| {
        let mut count = 0;
        for _ in 0..seconds * 10 {
            bench.print(id, b"x");
            bench.pass(Duration::from_millis(100));
            for _ in bench.pages() {
                count += 1;
                bench.kept(id, bytes);
            }
        }
        count
    };
    assert_eq!(writes(100, 30), 10);
    let large = KEEP_RATE_BUSY * 30;
    writes(large, 3);
    assert_eq!(writes(large, 90), 3);
}

#[test]
fn what_does_not_persist_is_never_kept() {
    let mut bench = bench();
    let id = bench.cat();
    bench.print(id, b"secret");
    bench.pass(KEEP_PACE * 10);
    bench.on(Incoming::Part);
    let kept = |effect: &Effect| matches!(effect, Effect::Keep(_) | Effect::KeepServer(_));
    assert!(!bench.effects.iter().any(kept));
}

#[test]
fn the_servers_setting_counts_where_there_is_no_own_one() {
    let mut bench = bench();
    let (own, plain) = (bench.persistent(), bench.cat());
    let never = bench.create(json!({"cmd": "create", "cmd_args": ["cat"], "persist": false}));
    bench.pass(KEEP_PACE);
    assert_eq!(bench.pages().len(), 1);
    bench.kept(own, 10);
    bench.ask(json!({"cmd": "config", "persist": true}));
    bench.pass(KEEP_PACE);
    let pages = bench.pages();
    let ids: Vec<_> = pages.iter().map(|page| page.kept.id).collect();
    assert!(ids.contains(&plain) && !ids.contains(&never), "{ids:?}");
    ids.iter().for_each(|id| bench.kept(*id, 10));
    bench.ask(json!({"cmd": "config", "persist": false}));
    let key = bench.key(plain);
    assert_eq!(bench.dropped(), [key]);
    bench.ask(json!({"cmd": "config", "id": own.to_string(), "persist": false}));
    let key = bench.key(own);
    assert_eq!(bench.dropped(), [key]);
}

#[test]
fn a_few_are_written_at_a_time() {
    let mut bench = bench();
    let all: Vec<_> = (0..MAX_KEEPING + 2).map(|_| bench.persistent()).collect();
    bench.pass(KEEP_PACE);
    assert_eq!(bench.pages().len(), MAX_KEEPING);
    bench.kept(all[0], 10);
    assert_eq!(bench.pages().len(), 1);
    // One that is gone before its turn is passed over.
    bench.ask(json!({"cmd": "kill", "id": all[MAX_KEEPING + 1].to_string()}));
    bench.on(Incoming::Exited { id: all[MAX_KEEPING + 1], exit: Exit::Signal(1) });
    bench.kept(all[1], 10);
    assert!(bench.pages().is_empty());
    // So is one that is not to persist any more, until it is again.
    let (busy, late) = (&all[2..MAX_KEEPING + 1], all[0]);
    bench.print(all[1], b"x");
    bench.pass(KEEP_PACE);
    assert_eq!(bench.pages().len(), 1);
    bench.print(late, b"x");
    bench.pass(KEEP_PACE);
    let persist = |on: bool| json!({"cmd": "config", "id": late.to_string(), "persist": on});
    bench.ask(persist(false));
    busy.iter().for_each(|id| bench.kept(*id, 10));
    assert!(bench.pages().is_empty());
    bench.ask(persist(true));
    bench.pass(KEEP_PACE);
    assert_eq!(bench.pages().len(), 1);
}

#[test]
fn a_disk_that_refuses_is_tried_again_later_and_told() {
    let mut bench = bench();
    let id = bench.persistent();
    bench.pass(KEEP_QUIET);
    assert_eq!(bench.pages().len(), 1);
    let key = bench.key(id);
    bench.on(Incoming::Kept { key, result: Err("no room".to_owned()) });
    bench.ask(json!({"cmd": "config"}));
    assert_eq!(bench.lines().last().unwrap()["persist_error"], "no room");
    bench.print(id, b"x");
    bench.pass(KEEP_AGAIN - KEEP_QUIET);
    assert!(bench.pages().is_empty());
    bench.pass(KEEP_QUIET);
    assert_eq!(bench.pages().len(), 1);
    bench.kept(id, 10);
    bench.ask(json!({"cmd": "config"}));
    assert!(bench.lines().last().unwrap().get("persist_error").is_none());
}

#[test]
fn a_kill_forgets_at_once_and_an_end_a_little_later() {
    let mut bench = bench();
    let (killed, ended) = (bench.persistent(), bench.persistent());
    bench.pass(KEEP_PACE);
    let keys = [bench.key(killed), bench.key(ended)];
    [killed, ended].into_iter().for_each(|id| bench.kept(id, 10));
    bench.ask(json!({"cmd": "kill", "id": killed.to_string()}));
    bench.on(Incoming::Exited { id: killed, exit: Exit::Signal(1) });
    assert_eq!(bench.dropped(), [keys[0]]);
    bench.on(Incoming::Exited { id: ended, exit: Exit::Code(0) });
    bench.pass(KEEP_GRACE - MOMENT);
    assert!(bench.dropped().is_empty());
    bench.pass(MOMENT);
    assert_eq!(bench.dropped(), [keys[1]]);
}

/// When the machine goes down programs may end before the server hears that it is to end.
#[test]
fn those_that_end_with_the_server_stay() {
    let mut bench = bench();
    let (before, after) = (bench.persistent(), bench.persistent());
    bench.pass(KEEP_PACE);
    [before, after].into_iter().for_each(|id| bench.kept(id, 10));
    bench.print(after, b"last words");
    bench.on(Incoming::Exited { id: before, exit: Exit::Signal(15) });
    bench.pages();
    bench.on(Incoming::Part);
    let effects = std::mem::take(&mut bench.effects);
    let pages: Vec<_> = effects
        .iter()
        .filter_map(|e| if let Effect::Keep(p) = e { Some(p) } else { None })
        .collect();
    assert_eq!((pages.len(), text(pages[0]), pages[0].sync), (1, "last words\n".to_owned(), false));
    assert!(effects.iter().any(|e| matches!(e, Effect::KeepServer(page) if page.ended)));
    bench.on(Incoming::Exited { id: after, exit: Exit::Signal(1) });
    bench.pass(KEEP_GRACE * 2);
    assert!(bench.dropped().is_empty());
    assert!(bench.mux.is_keeping());
    bench.kept(after, 10);
    assert!(!bench.mux.is_keeping());
}

#[test]
fn layouts_are_kept_with_the_terminals_that_they_show() {
    let mut bench = bench();
    let set = json!({"cmd": "workspace", "name": "main", "layout": {"a": 1}});
    bench.ask(set.clone());
    assert!(bench.server_pages().is_empty());
    let id = bench.persistent();
    bench.pass(KEEP_QUIET);
    let pages = bench.server_pages();
    assert_eq!((pages.len(), &pages[0].workspaces["main"]), (1, &json!({"a": 1})));
    bench.kept(id, 10);
    bench.ask(set);
    assert_eq!(bench.server_pages().len(), 1);
}

fn old(id: u32) -> OldTerminal {
    let kept = Kept {
        id: TerminalId(id),
        born_ms: 5,
        saved_ms: 6,
        run: 7,
        boot: String::new(),
        name: Some("old".to_owned()),
        labels: Vec::new(),
        argv: vec!["bash".to_owned()],
        cwd: "/gone\u{1b}".to_owned(),
        command: None,
        cols: 30,
        rows: 5,
        scrollback_lines: 100,
        idle_timeout_ms: Some(77),
        take_over: TakeOver::default(),
        shell_integration: true,
        persist: None,
        lines: [40, 41],
    };
    let (text, date) = ("old text\n".to_owned(), "then".to_owned());
    OldTerminal { kept, text, cwd_is_there: false, date, env: Vec::new(), inherit_env: true }
}

impl Bench {
    fn restore(&mut self, old: OldTerminal) -> Option<Box<Plan>> {
        self.ask(json!({"cmd": "restore", "id": "old", "tag": 9}));
        let effects = std::mem::take(&mut self.effects);
        let ticket = effects.into_iter().find_map(|effect| match effect {
            Effect::LookAtDead { ticket, .. } => Some(ticket),
            _ => None,
        });
        let found = Ok(DeadFound::Terminal(Box::new(old)));
        self.on(Incoming::FoundDead { ticket: ticket.unwrap(), found });
        let spawn = |effect: &Effect| matches!(effect, Effect::Spawn(_));
        let at = self.effects.iter().position(spawn)?;
        match self.effects.remove(at) {
            Effect::Spawn(plan) => Some(plan),
            _ => None,
        }
    }
}

#[test]
fn an_old_terminal_gets_its_id_back_and_ids_go_on_after_it() {
    let mut bench = bench();
    let plan = bench.restore(old(7)).unwrap();
    assert_eq!((plan.id, plan.cwd.as_str()), (TerminalId(7), "/home/me"));
    let text = plan.old_text.unwrap();
    assert_eq!(text.first, crate::term::LineNo(40));
    let expected = "old text\n\x1b[0;2m── restored, from then ───────\x1b[0m\n\
        \x1b[0;2m/gone\u{fffd} is not there: it starts in /home/me\x1b[0m\n";
    assert_eq!(text.text, expected);
    let id = TerminalId(7);
    bench.on(Incoming::Forked { id, pid: 9 });
    bench.on(Incoming::Started { id, result: Ok(()) });
    // It does not persist any more, as the server's setting is off now.
    let dropped: Vec<_> =
        bench.effects.iter().filter(|e| matches!(e, Effect::DropKept(_))).collect();
    assert_eq!(dropped.len(), 1);
    let answer = bench.lines().into_iter().find(|line| line["tag"] == 9).unwrap();
    assert_eq!(
        (&answer["id"], &answer["was"], &answer["name"]),
        (&json!("t7"), &json!("t7"), &json!("old"))
    );
    assert_eq!(
        (&answer["lines"], answer["notes"].as_array().map(Vec::len)),
        (&json!([40, 41]), Some(1))
    );
    assert_eq!(bench.cat(), TerminalId(8));
    // A second time it is alive.
    assert!(bench.restore(old(7)).is_none());
    let answer = bench.lines().into_iter().find(|line| line["tag"] == 9).unwrap();
    assert_eq!(answer["code"], "not_found");
}

#[test]
fn an_old_terminal_whose_id_and_name_are_taken_gets_another_id_and_no_name() {
    let mut bench = bench();
    let taken = bench.create(json!({"cmd": "create", "cmd_args": ["cat"], "name": "old"}));
    bench.ask(json!({"cmd": "config", "persist": true}));
    let plan = bench.restore(old(taken.0)).unwrap();
    assert_ne!(plan.id, taken);
    let id = plan.id;
    assert_eq!(bench.mux.get(id).unwrap().identity.name, None);
    bench.on(Incoming::Forked { id, pid: 9 });
    bench.on(Incoming::Started { id, result: Ok(()) });
    // The old file goes when the new one is there.
    assert!(bench.dropped().is_empty());
    bench.pass(KEEP_PACE);
    bench.pages();
    bench.kept(id, 10);
    assert_eq!(bench.dropped(), [Key { id: taken, born_ms: 5 }]);
}

#[test]
fn what_cannot_be_started_stays_on_disk() {
    let mut bench = bench();
    let id = bench.restore(old(3)).unwrap().id;
    let failure = Failure::new(Code::SpawnFailed, "no such program");
    bench.on(Incoming::Started { id, result: Err(failure) });
    assert!(!bench.effects.iter().any(|effect| matches!(effect, Effect::DropKept(_))));
    let answer = bench.lines().into_iter().find(|line| line["tag"] == 9).unwrap();
    assert_eq!(answer["code"], "spawn_failed");
    assert!(bench.restore(old(3)).is_some());
}
