//! What is started in a terminal: the program asked for, with environment and shell integration.

use super::integration;
use super::{Mux, TerminalId};
use crate::wire::{Code, Failure, Pair};

/// A program as it is asked for; without words it is the user's shell.
#[derive(Debug)]
pub struct Wish {
    pub argv: Vec<String>,
    pub env: Vec<Pair>,
    /// Start from the server's environment; else from `env` alone.
    pub inherit_env: bool,
    /// Let a shell report prompts and commands.
    pub integrate: bool,
}

/// The program asked for, and how it is really called.
pub struct Program {
    pub asked: Vec<String>,
    pub argv: Vec<String>,
    pub env: Vec<(String, String)>,
    pub key: String,
}

impl Mux {
    pub fn program(&self, id: TerminalId, wish: &Wish) -> Result<Program, Failure> {
        let mut env = if wish.inherit_env { self.host.env.clone() } else { Vec::new() };
        set(&mut env, "TERM", "xterm-256color");
        set(&mut env, "COLORTERM", "truecolor");
        for Pair { key, value } in &wish.env {
            set(&mut env, key, value);
        }
        set(&mut env, "T4A_TERMINAL", &id.to_string());
        set(&mut env, "T4A_SOCKET", &self.host.socket);
        let asked = match wish.argv.is_empty() {
            true => vec![shell(&env, &self.host.shell)],
            false => wish.argv.clone(),
        };
        let mut program = Program { argv: asked.clone(), asked, env, key: String::new() };
        if wish.integrate
            && let Some(dir) = &self.host.integration_dir
        {
            program.integrate(dir)?;
        }
        Ok(program)
    }
}

impl Program {
    fn integrate(&mut self, dir: &str) -> Result<(), Failure> {
        let key = random_key()?;
        let get = |name: &str| {
            self.env.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        };
        let Some(injection) = integration::inject(&self.asked, get, dir, &key) else {
            return Ok(());
        };
        self.argv = injection.argv;
        self.env.retain(|(name, _)| !injection.unset.contains(&name.as_str()));
        for (name, value) in injection.env {
            set(&mut self.env, &name, &value);
        }
        self.key = key;
        Ok(())
    }
}

/// The user's shell: the caller's own, if it says one, else the server's.
fn shell(env: &[(String, String)], fallback: &str) -> String {
    let own = env.iter().find(|(name, _)| name == "SHELL").map(|(_, shell)| shell.as_str());
    own.filter(|shell| shell.starts_with('/')).unwrap_or(fallback).to_owned()
}

fn set(env: &mut Vec<(String, String)>, name: &str, value: &str) {
    env.retain(|(known, _)| known != name);
    env.push((name.to_owned(), value.to_owned()));
}

/// A secret no program in the terminal can guess.
fn random_key() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|e| Failure::new(Code::System, format!("no randomness to be had: {e}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A variable that a program can be given.
pub fn check_variable(pair: &Pair) -> Result<(), Failure> {
    let Pair { key, value } = pair;
    if key.is_empty() || key.contains(['=', '\0']) || value.contains('\0') {
        let error = format!(
            "env: {key:?} cannot be set: a name is not empty and holds no '=', neither holds NUL"
        );
        return Err(Failure::bad_value(error));
    }
    Ok(())
}
