//! Kills at random, under full output, with clients that look on: nothing is lost.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::storm::Storm;
use crate::support::{Server, eventually};
use crate::survival::ask_once;

/// Of each kind; more with T4A_STRESS_KILLS.
const KILLS: u64 = 100;
/// Kills between looks at what was written.
const LOOK_EVERY: u64 = 8;

pub fn kills() -> u64 {
    std::env::var("T4A_STRESS_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(KILLS)
}

pub fn kill(pid: &Value) {
    let pid = Pid::from_raw(pid.as_i64().unwrap() as i32).unwrap();
    // It may be gone already.
    let _ = kill_process(pid, Signal::KILL);
}

/// Kills a process of the server again and again, named by a field of `hello`.
fn kill_again_and_again(victim: &str) {
    let mut storm = Storm::over(Server::start());
    let mut last = Value::Null;
    for number in 1..=kills() {
        let hello = storm.hello();
        assert_ne!(hello[victim], last, "the one that was killed");
        storm.pause(Duration::from_millis(30));
        kill(&hello[victim]);
        last = hello[victim].clone();
        eventually("another one is there", || {
            ask_once(&storm.server, &json!({"cmd": "hello"}))
                .is_ok_and(|hello| hello["ok"] == true && hello[victim] != last)
        });
        if number % LOOK_EVERY == 0 {
            storm.look();
        }
    }
    let dead_workers = if victim == "worker_pid" { kills() } else { 0 };
    assert_eq!(storm.end(), dead_workers);
}

#[test]
fn nothing_is_lost_when_workers_are_killed() {
    kill_again_and_again("worker_pid");
}

#[test]
fn nothing_is_lost_when_keepers_are_killed() {
    kill_again_and_again("keeper_pid");
}
