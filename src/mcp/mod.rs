//! `t4a mcp`: the terminals as tools of the Model Context Protocol, on standard input and output.
//!
//! A thin client: each call is a request or two on a connection of its own. No call waits for longer
//! than clients do, and the t4a server is touched by none but calls.

mod answer;
mod args;

use std::time::Duration;

use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, Implementation, ServerCapabilities, ServerConfig};
use rmcp::{ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::client::{Client, Trouble, own_create};
use crate::command::{Command, Kill, List, Look};
use crate::mux::limits::MAX_MCP_CALLS;
use answer::{Output, Told};
use args::{CreateArgs, KeysArgs, KillArgs, LookArgs, ReadArgs, RunArgs, WaitArgs};

/// Standard input and output are read and written on threads of the same pool.
const STDIO_THREADS: usize = 2;
/// Longer than any call waits: a server that says nothing for so long is stuck.
const PATIENCE: Duration = Duration::from_secs(60);
/// Tokens of a screen's text.
const SCREEN_TOKENS: i64 = 6000;

const INSTRUCTIONS: &str = "Real terminals that live on between calls. terminal_create makes one \
    with a shell; terminal_run runs a command in it and answers with its exit code and output. For \
    anything interactive (editors, REPLs, prompts) type with terminal_keys and see with \
    terminal_look. Nothing waits for longer than 50 seconds: `done: false` means that it goes on, \
    and terminal_wait waits on.";

/// What an answer of `look` tells besides its rows.
const LOOK_FACTS: [&str; 12] = [
    "id",
    "state",
    "title",
    "cwd",
    "program",
    "running",
    "running_ms",
    "exit_code",
    "cursor",
    "cols",
    "rows",
    "stamp",
];

/// Serves until standard input ends.
pub fn serve() -> Result<(), Trouble> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(MAX_MCP_CALLS + STDIO_THREADS)
        .build()?;
    let served = runtime.block_on(async {
        let service = Terminals::new().serve(rmcp::transport::stdio()).await;
        let service = service.map_err(|error| std::io::Error::other(error.to_string()))?;
        service.waiting().await.map_err(|error| std::io::Error::other(error.to_string()))
    });
    // A thread may still sit in a read of standard input.
    runtime.shutdown_background();
    served?;
    Ok(())
}

/// More calls than these wait for their turn, and cancelling them works meanwhile.
static CALLS: Semaphore = Semaphore::const_new(MAX_MCP_CALLS);

#[derive(Clone)]
struct Terminals {
    tool_router: ToolRouter<Terminals>,
}

/// One call's connection.
struct Asker(Client);

impl Asker {
    fn ask<C: Command>(&mut self, command: &C) -> Result<Value, Trouble> {
        Ok(self.0.ask(command)?.value)
    }

    fn look(&mut self, id: &str, since: Option<u64>, picture: bool) -> Result<Told, Trouble> {
        let look =
            Look { id: id.to_owned(), since, max_tokens: Some(SCREEN_TOKENS), screenshot: picture };
        let mut answer = self.ask(&look)?;
        let picture = answer["screenshot"]["data_base64"].take();
        let told = look_told(&answer);
        Ok(Told { picture: picture.as_str().map(str::to_owned), ..told })
    }
}

fn look_told(look: &Value) -> Told {
    Told { text: Some(answer::screen(look)), ..Told::of(look, &LOOK_FACTS) }
}

/// Asks where that may block, and tells refusals as a model can use them.
async fn call(
    ask: impl FnOnce(&mut Asker) -> Result<Told, Trouble> + Send + 'static,
) -> CallToolResult {
    // It is never closed.
    let _turn = CALLS.acquire().await;
    let answered = tokio::task::spawn_blocking(move || {
        let mut client = Client::connect_or_start()?;
        client.set_patience(PATIENCE)?;
        ask(&mut Asker(client))
    });
    match answered.await {
        Ok(Ok(told)) => told.result(),
        Ok(Err(trouble)) => answer::refused(&trouble),
        Err(error) => answer::refused(&Trouble::Start(error.to_string())),
    }
}

#[tool_router]
impl Terminals {
    fn new() -> Terminals {
        Terminals { tool_router: Terminals::tool_router() }
    }

    #[tool(
        description = "Make a terminal with a shell (or another program) and wait until it is ready. \
            It keeps its state between calls and lives until terminal_kill. Returns its id.",
        annotations(title = "Create terminal", read_only_hint = false, destructive_hint = false)
    )]
    async fn terminal_create(&self, Parameters(args): Parameters<CreateArgs>) -> CallToolResult {
        call(move |asker| {
            args.check_env().map_err(Trouble::Usage)?;
            let made = asker.ask(&own_create(args.request())?)?;
            Ok(Told::of(&made, &["id", "name", "cols", "rows", "ready", "seq"]))
        })
        .await
    }

    #[tool(
        description = "Run a command in a terminal's shell and wait for its end: exit code, \
            directory, output without prompt and echo. With `done: false` it still runs. Not for \
            interactive programs: start those with terminal_keys.",
        annotations(title = "Run command", read_only_hint = false)
    )]
    async fn terminal_run(&self, Parameters(args): Parameters<RunArgs>) -> CallToolResult {
        call(move |asker| {
            let ran = asker.ask(&args.request())?;
            let fields = ["id", "code", "duration_ms", "cwd", "exit_code", "output_lines", "seq"];
            let told = Told::of(&ran, &fields);
            let next = "terminal_wait with command_done and after = seq waits for its end; \
                terminal_keys with C-c interrupts it";
            let told = answer::done(told, ran["timed_out"] == true, next);
            Ok(Told { text: Some(Output::of_run(&ran).ends()), ..told })
        })
        .await
    }

    #[tool(
        description = "See a terminal as it is now: state (at_prompt, running, waiting_for_input, \
            password, full_screen, exited), rows of the screen, cursor, what runs; with `picture` \
            also an image of it.",
        annotations(title = "Look at terminal", read_only_hint = true)
    )]
    async fn terminal_look(&self, Parameters(args): Parameters<LookArgs>) -> CallToolResult {
        call(move |asker| asker.look(&args.id, args.since, args.picture)).await
    }

    #[tool(
        description = "Type text, then press keys, then wait until the screen is quiet (3 s at \
            most) and show it. For interactive programs, answers to prompts, Ctrl-C.",
        annotations(title = "Type", read_only_hint = false)
    )]
    async fn terminal_keys(&self, Parameters(args): Parameters<KeysArgs>) -> CallToolResult {
        call(move |asker| {
            let (text, keys) = (args.text_request(), args.keys_request());
            if text.is_none() && keys.is_none() {
                return Err(Trouble::Usage("give text or keys".to_owned()));
            }
            text.map(|text| asker.ask(&text)).transpose()?;
            keys.map(|keys| asker.ask(&keys)).transpose()?;
            let waited = asker.ask(&args.then())?;
            Ok(look_told(&waited["look"]))
        })
        .await
    }

    #[tool(
        description = "Wait until one of several things has come: a text, a regex, the end of a \
            command, a prompt (the default), the program's end, silence. Answers `done: false` when \
            the time is up. Shows the screen then.",
        annotations(title = "Wait", read_only_hint = true)
    )]
    async fn terminal_wait(&self, Parameters(args): Parameters<WaitArgs>) -> CallToolResult {
        call(move |asker| {
            let waited = asker.ask(&args.request())?;
            let screen = look_told(&waited["look"]);
            let told = Told::of(&waited, &["id", "condition", "found", "exit_code", "lost", "seq"]);
            let next = "call terminal_wait again, or terminal_look to see what it does";
            let told = answer::done(told, !waited["met"].is_u64(), next);
            let state = screen.facts.get("state").cloned().unwrap_or_default();
            Ok(Told { text: screen.text, ..told.with("state", state) })
        })
        .await
    }

    #[tool(
        description = "Read lines of a terminal, also those that have scrolled away: the last ones, \
            from a line number on (a page at a time, `next_line` tells where to go on), or those \
            that match a pattern.",
        annotations(title = "Read lines", read_only_hint = true)
    )]
    async fn terminal_read(&self, Parameters(args): Parameters<ReadArgs>) -> CallToolResult {
        call(move |asker| {
            if let Some(search) = args.search() {
                let found = asker.ask(&search)?;
                let told = Told::of(&found, &["total"]);
                return Ok(Told { text: Some(answer::matches(&found)), ..told });
            }
            let text = asker.ask(&args.request())?;
            let output = Output::of_text(&text);
            let told = Told::of(&text, &["first_line", "next_line", "total_lines", "stamp"]);
            if args.first_line.is_some() {
                let (page, next) = output.head();
                let told = Told { text: Some(page), ..told };
                return Ok(match next {
                    Some(next) => told.with("next_line", next),
                    None => told,
                });
            }
            let (page, first) = output.tail();
            let told = Told { text: Some(page), ..told };
            Ok(match first {
                Some(first) => told.with("first_line", first),
                None => told,
            })
        })
        .await
    }

    #[tool(
        description = "All terminals: id, name, size, whether the program lives, what it runs.",
        annotations(title = "List terminals", read_only_hint = true)
    )]
    async fn terminal_list(&self) -> CallToolResult {
        call(|asker| {
            let list = asker.ask(&List::default())?;
            let rows = list["terminals"].as_array().into_iter().flatten();
            let text: String = rows.clone().map(|row| format!("{row}\n")).collect();
            Ok(Told { text: Some(text), ..Told::default() }.with("terminals", rows.count()))
        })
        .await
    }

    #[tool(
        description = "End a terminal and the program in it.",
        annotations(title = "Kill terminal", read_only_hint = false, destructive_hint = true)
    )]
    async fn terminal_kill(&self, Parameters(args): Parameters<KillArgs>) -> CallToolResult {
        call(move |asker| {
            let killed = asker.ask(&Kill::new(args.id))?;
            Ok(Told::of(&killed, &["id"]).with("done", true))
        })
        .await
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Terminals {
    fn get_info(&self) -> ServerConfig {
        let tools = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(tools)
            .with_server_info(Implementation::new("t4a", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }
}
