//! The command line: commands, their options, and what `--help` says.

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::{agent, config, dead, picture, recording, upgrade};
use crate::command;

/// Terminals for agents, and for the people beside them.
///
/// Any command starts the server if there is none. On a terminal the output is for people; in a
/// pipe, or with --json, it is one JSON object a line.
#[derive(Debug, Parser)]
#[command(name = "t4a", version, after_help = EXAMPLES, max_term_width = 100)]
pub struct Cli {
    /// Print JSON also on a terminal
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    pub action: Option<Action>,
}

const EXAMPLES: &str = "Examples:
  t4a create --name build         a new terminal with your shell, called build
  t4a run build -- cargo test     run a command in it: its output, and its exit code
  t4a look build                  see what it shows and does
  t4a send build 'cargo test\\n'   type into it
  t4a events build                see what happens: prompts, exit codes, bells
  t4a screenshot build -o it.png  take a picture of its screen
  t4a record build -o it.cast     record it; `t4a play it.cast` shows it again
  t4a text build                  read its screen; `t4a text build 0:5` the last five rows
  t4a kill build                  end it

The socket is $T4A_SOCKET, else $XDG_RUNTIME_DIR/t4a/t4a.sock, else /tmp/t4a-UID/t4a.sock.
PROTOCOL.md tells what goes over it.";

#[derive(Debug, Subcommand)]
pub enum Action {
    Create(CreateArgs),
    /// Show terminals on this one: look on, type along or take over
    ///
    /// Without ID the windows and splits of last time come back, or all terminals are offered.
    /// Ctrl+Space is the prefix: then ? shows all keys, d leaves; everything goes on without you.
    Attach(AttachArgs),
    /// Make a terminal with your shell and show it
    New(AttachArgs),
    List(command::List),
    Run(agent::RunArgs),
    Wait(agent::WaitArgs),
    Look(command::Look),
    Send(command::Send),
    Keys(command::Keys),
    Paste(command::Paste),
    Mouse(command::Mouse),
    Screenshot(picture::ScreenshotArgs),
    /// Write a picture whenever the screen has settled after a change, until the program ends
    Watch(picture::WatchArgs),
    Text(command::Text),
    Search(command::Search),
    Commands(command::Commands),
    Cursor(command::Cursor),
    Info(command::Info),
    Resize(command::Resize),
    Signal(command::Signal),
    Events(command::Events),
    Record(command::Record),
    RecordStop(command::RecordStop),
    Recordings(command::Recordings),
    /// Show a recording on this terminal
    ///
    /// Space stands still and goes on, ] goes to the next chapter, q or Ctrl-C ends. In a pipe it
    /// is the bytes of the program, at their time.
    Play(recording::PlayArgs),
    /// Make a moving picture of a recording: GIF, APNG or SVG
    Export(recording::ExportArgs),
    Kill(command::Kill),
    /// Bring back terminals that are only on disk any more: their text, and a new program below it
    ///
    /// `t4a list --dead` shows them. They get their name, directory, size and settings, windows and splits of
    /// `t4a attach` too, and the environment of this command.
    Restore(dead::RestoreArgs),
    Config(config::ConfigArgs),
    Hello(command::Hello),
    /// Run the server in the foreground
    Daemon(DaemonArgs),
    /// Have a newly installed t4a take over from the server that runs; nothing is lost
    ///
    /// Terminals, their programs and screens go on; `t4a attach` connects again by itself. If the
    /// new one does not fit or does not start, the old one goes on.
    Upgrade(upgrade::UpgradeArgs),
    Shutdown(command::Shutdown),
    /// Say what is running, where, which version, and what is wrong
    Doctor,
    /// Print the shell integration, to be sourced by a shell t4a did not start itself
    ///
    /// For bash: eval "$(t4a shell-init bash)" in ~/.bashrc; the same for zsh. For fish:
    /// t4a shell-init fish | source
    ShellInit {
        shell: IntegratedShell,
    },
    /// Print completions for a shell
    Completions {
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
    /// Serve the terminals as tools of the Model Context Protocol, on standard input and output
    ///
    /// For an MCP client's configuration: command t4a, arguments mcp.
    #[cfg(feature = "mcp")]
    Mcp,
    /// Speak as much of tmux's command line as harnesses call; so does a link named tmux
    ///
    /// A session is a terminal. `t4a tmux no-such-command` tells which commands there are.
    #[command(disable_help_flag = true)]
    Tmux {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
        args: Vec<String>,
    },
    #[command(name = "__worker", hide = true)]
    Worker(WorkerArgs),
    #[command(name = "__formats", hide = true)]
    Formats,
    #[command(name = "__pipe", hide = true)]
    Pipe {
        terminal: Option<String>,
    },
    #[command(name = "__keeper", hide = true)]
    Keeper(KeeperArgs),
}

#[derive(Debug, Args)]
pub struct CreateArgs {
    #[command(flatten)]
    pub create: command::Create,
    /// Do not let bash, zsh or fish report prompts and commands by themselves
    #[arg(long)]
    pub no_integration: bool,
    /// Record what is typed, too
    #[arg(long, requires = "record")]
    pub record_input: bool,
}

#[derive(Debug, Default, Args)]
pub struct AttachArgs {
    /// The terminal's id or name
    pub id: Option<String>,
    /// Only look on: nothing that is typed reaches a program
    #[arg(long, conflicts_with = "take")]
    pub view: bool,
    /// Type alone: agents' input is refused until you give the keyboard back
    #[arg(long)]
    pub take: bool,
    /// The name under which windows and splits are kept
    #[arg(long, value_name = "NAME", default_value = "main")]
    pub workspace: String,
    /// A layout of your own, which is neither kept nor shared
    #[arg(long)]
    pub independent: bool,
    /// Draw on this many columns instead of all there are
    #[arg(long)]
    pub cols: Option<u16>,
    /// Draw on this many rows instead of all there are
    #[arg(long)]
    pub rows: Option<u16>,
}

#[derive(Debug, Args)]
pub struct DaemonArgs {
    /// Milliseconds without output after which a terminal is idle [default: 2000]
    pub timeout_ms: Option<u64>,
    /// Leave the caller's session, as a command that starts the server asks for
    #[arg(long, hide = true)]
    pub background: bool,
}

#[derive(Debug, Args)]
pub struct WorkerArgs {
    #[arg(long)]
    pub idle_timeout_ms: Option<u64>,
    #[arg(long)]
    pub scrollback_total_bytes: Option<usize>,
    /// What programs may use, for a keeper that has to be started
    #[arg(long)]
    pub limits: Option<String>,
    #[arg(long)]
    pub keeper_version: String,
    /// The number of the worker before, if it ended by itself
    #[arg(long)]
    pub crashed: Option<u32>,
}

#[derive(Debug, Args)]
pub struct KeeperArgs {
    #[arg(long)]
    pub limits: String,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum IntegratedShell {
    Bash,
    Zsh,
    Fish,
}
