//! Terminals that are only on disk any more: listed for people, and brought back.

use std::collections::BTreeMap;

use clap::Args;
use serde_json::Value;

use super::output::{self, Output, table, text};
use crate::client::{Client, Trouble, own_create};
use crate::command;
use crate::os::date;
use crate::seat::restored_layout;

#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// Ids or names that they had
    #[arg(required_unless_present = "all", value_name = "ID")]
    ids: Vec<String>,
    /// All of them
    #[arg(long, conflicts_with = "ids")]
    all: bool,
}

pub fn list(answer: &Value) -> String {
    let dead: Vec<_> = answer["dead"].as_array().into_iter().flatten().map(row).collect();
    if dead.is_empty() {
        return "none; with `persist = true` terminals are kept on disk\n".to_owned();
    }
    let head = ["ID", "NAME", "SAVED", "LINES", "BYTES", "GONE", "DIRECTORY", "PROGRAM"];
    table(std::iter::once(head.map(str::to_owned)).chain(dead).collect())
}

fn row(dead: &Value) -> [String; 8] {
    let of = |name: &str| text(&dead[name]);
    if !dead["error"].is_null() {
        let nothing = String::new;
        let why = of("error");
        return [
            of("id"),
            nothing(),
            nothing(),
            nothing(),
            of("bytes"),
            "damaged".into(),
            nothing(),
            why,
        ];
    }
    let saved = dead["saved_ms"].as_u64().map(date::local).unwrap_or_default();
    let line = |at: usize| dead["lines"][at].as_u64().unwrap_or(0);
    let lines = line(1).saturating_sub(line(0)).to_string();
    let words = dead["argv"].as_array().into_iter().flatten().map(text);
    let program = words.collect::<Vec<_>>().join(" ");
    let program = match dead["command"].as_str() {
        Some(_) => format!("{program}, ran {}", of("command")),
        None => program,
    };
    [of("id"), of("name"), saved, lines, of("bytes"), of("gone"), of("cwd"), program]
}

/// One after another; what cannot be restored is told, and the others are.
pub fn restore(args: RestoreArgs, out: &mut Output) -> Result<(), Trouble> {
    let mut client = Client::connect_or_start()?;
    let known = client.ask(&command::List { dead: true })?.value;
    let all = known["dead"].as_array().into_iter().flatten();
    let all = all.filter_map(|dead| dead["id"].as_str().map(str::to_owned));
    let wanted: Vec<String> = if args.all { all.collect() } else { args.ids };
    let env = own_create(command::Create::new())?.env;
    let (mut ids, mut failed) = (BTreeMap::new(), None);
    for id in wanted {
        let request = command::Restore { id, env: env.clone(), inherit_env: false };
        match client.ask(&request) {
            Ok(answer) => {
                let id = |name: &str| answer.value[name].as_str().unwrap_or_default().to_owned();
                ids.insert(id("was"), id("id"));
                out.answer(Ok(answer), told)?;
            }
            Err(trouble @ Trouble::Refused { .. }) => {
                // The last one is told by whoever called.
                if let Some(before) = failed.replace(trouble) {
                    eprintln!("t4a: {before}");
                }
            }
            Err(trouble) => return Err(trouble),
        }
    }
    restore_layouts(&mut client, &known, &ids)?;
    failed.map_or(Ok(()), Err)
}

fn told(answer: &Value) -> String {
    let notes = answer["notes"].as_array().into_iter().flatten();
    let notes: String = notes.map(|note| format!("; {}", output::text(note))).collect();
    let name = answer["name"].as_str().map(|_| format!(" ({})", output::text(&answer["name"])));
    let (id, cwd) = (output::text(&answer["id"]), output::text(&answer["cwd"]));
    format!("{id}{} in {cwd}{notes}\n", name.unwrap_or_default())
}

/// Windows and splits of before, for the human client.
fn restore_layouts(
    client: &mut Client,
    known: &Value,
    ids: &BTreeMap<String, String>,
) -> Result<(), Trouble> {
    let names = known["workspaces"].as_array().into_iter().flatten().filter_map(Value::as_str);
    for name in names {
        let ask = |layout, dead, by: Option<&str>| command::Workspace {
            name: name.to_owned(),
            layout,
            by: by.map(str::to_owned),
            dead,
        };
        let old = client.ask(&ask(None, true, None))?.value;
        let present = client.ask(&ask(None, false, None))?.value;
        if let Some(layout) = restored_layout(&present["layout"], &old["layout"], ids) {
            client.ask(&ask(Some(layout), false, Some("restore")))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_table_for_people() {
        let saved_ms = 1_700_000_000_000_u64;
        let answer = json!({"dead": [
            {"id": "t3", "name": "build", "argv": ["bash", "-l"], "cwd": "/src\u{1b}[31m", "command": "make",
             "lines": [5, 25], "bytes": 700, "saved_ms": saved_ms, "gone": "reboot"},
            {"id": "t12", "bytes": 3, "error": "it is damaged or cut"},
        ]});
        let saved = date::local(saved_ms);
        let expected = format!(
            "\
ID   NAME   SAVED             LINES  BYTES  GONE     DIRECTORY  PROGRAM
t3   build  {saved}  20     700    reboot   /src\u{fffd}[31m  bash -l, ran make
t12                                  3      damaged             it is damaged or cut
"
        );
        assert_eq!(list(&answer), expected);
        assert!(list(&json!({"dead": []})).contains("persist = true"));
    }
}
