//! How a shell is started so that it reports prompts and commands by itself.

const BASH: &str = include_str!("../../contrib/shell/t4a.bash");
const ZSH: &str = include_str!("../../contrib/shell/t4a.zsh");
const FISH: &str = include_str!("../../contrib/shell/t4a.fish");
const ZSHENV: &str = include_str!("../../contrib/shell/zshenv");

/// A shell's command line and environment, changed so that it reads our file after its own.
#[derive(Debug, PartialEq, Eq)]
pub struct Injection {
    pub argv: Vec<String>,
    pub env: Vec<(String, String)>,
    /// Variables of an outer terminal that must not reach this shell.
    pub unset: Vec<&'static str>,
}

/// `argv` as asked for, `get_env` what the shell will get, `dir` where `files` lie.
///
/// None: not a shell named alone or with -i, -l, so there is nothing to add to.
pub fn inject(
    argv: &[String],
    get_env: impl Fn(&str) -> Option<String>,
    dir: &str,
    key: &str,
) -> Option<Injection> {
    let (program, options) = argv.split_first()?;
    let login = is_login(options)?;
    let start = match base_name(program) {
        "bash" => bash(program, login, dir),
        "zsh" => zsh(argv, get_env("ZDOTDIR"), dir),
        "fish" => fish(argv, dir),
        _ => return None,
    };
    Some(start.with_key(key))
}

/// What must lie in the directory given to `inject`: names and contents.
pub fn files() -> [(&'static str, &'static str); 4] {
    [("t4a.bash", BASH), ("t4a.zsh", ZSH), ("t4a.fish", FISH), (".zshenv", ZSHENV)]
}

/// The file that a user's own rc file may read, for shells that t4a does not start.
pub fn snippet(shell: &str) -> Option<&'static str> {
    match shell {
        "bash" => Some(BASH),
        "zsh" => Some(ZSH),
        "fish" => Some(FISH),
        _ => None,
    }
}

impl Injection {
    fn new(argv: Vec<String>, env: Vec<(&str, String)>) -> Injection {
        let env = env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Injection { argv, env, unset: Vec::new() }
    }

    fn with_key(mut self, key: &str) -> Injection {
        const OURS: [&str; 4] = ["T4A_INJECT", "T4A_KEY", "T4A_ZDOTDIR", "T4A_ZSH"];
        self.env.push(("T4A_KEY".to_owned(), key.to_owned()));
        let is_set = |name: &str| self.env.iter().any(|(set, _)| set == name);
        self.unset = OURS.into_iter().filter(|name| !is_set(name)).collect();
        self
    }
}

/// bash reads no rc file as a login shell, so that one is started as an ordinary one and the file
/// reads the profile files itself.
fn bash(program: &str, login: bool, dir: &str) -> Injection {
    let kind = if login { "login" } else { "rc" };
    let argv = [program, "--rcfile", &format!("{dir}/t4a.bash")];
    Injection::new(argv.map(str::to_owned).to_vec(), vec![("T4A_INJECT", kind.to_owned())])
}

fn zsh(argv: &[String], users_dir: Option<String>, dir: &str) -> Injection {
    let mut env = vec![("ZDOTDIR", dir.to_owned()), ("T4A_ZSH", format!("{dir}/t4a.zsh"))];
    env.extend(users_dir.map(|dir| ("T4A_ZDOTDIR", dir)));
    Injection::new(argv.to_vec(), env)
}

fn fish(argv: &[String], dir: &str) -> Injection {
    let source = format!("source {}", quote(&format!("{dir}/t4a.fish")));
    let mut argv = argv.to_vec();
    argv.extend(["-C".to_owned(), source]);
    Injection::new(argv, Vec::new())
}

/// In single quotes, as fish reads them.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Whether -l or --login is there; None if there is anything but those and -i.
fn is_login(options: &[String]) -> Option<bool> {
    let mut login = false;
    for option in options {
        login |= option == "--login" || short_flags(option)?.contains('l');
    }
    Some(login)
}

/// The letters of `-i`, `-l`, `-il`.
fn short_flags(option: &str) -> Option<&str> {
    option.strip_prefix('-').filter(|l| !l.is_empty() && l.bytes().all(|b| b"il".contains(&b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn injection(line: &str, zdotdir: Option<&str>) -> Option<Injection> {
        let argv: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let get = |name: &str| zdotdir.filter(|_| name == "ZDOTDIR").map(str::to_owned);
        inject(&argv, get, "/run/t4a", "K")
    }

    /// `expected`: the command line, then the variables set.
    fn check(line: &str, zdotdir: Option<&str>, expected: &str) {
        let found = injection(line, zdotdir).unwrap();
        let env = found.env.iter().map(|(name, value)| format!(" {name}={value}"));
        assert_eq!(format!("{} |{}", found.argv.join(" "), env.collect::<String>()), expected);
    }

    #[test]
    fn bash_reads_our_file_in_place_of_its_own() {
        check("bash", None, "bash --rcfile /run/t4a/t4a.bash | T4A_INJECT=rc T4A_KEY=K");
        let login = "/bin/bash --rcfile /run/t4a/t4a.bash | T4A_INJECT=login T4A_KEY=K";
        for line in ["/bin/bash -l", "/bin/bash --login", "/bin/bash -il", "/bin/bash -i -l"] {
            check(line, None, login);
        }
    }

    #[test]
    fn zsh_finds_our_directory_first_and_then_the_users() {
        let env = "ZDOTDIR=/run/t4a T4A_ZSH=/run/t4a/t4a.zsh";
        check("zsh -l", None, &format!("zsh -l | {env} T4A_KEY=K"));
        check("zsh", Some("/home/z"), &format!("zsh | {env} T4A_ZDOTDIR=/home/z T4A_KEY=K"));
        check("zsh", Some(""), &format!("zsh | {env} T4A_ZDOTDIR= T4A_KEY=K"));
    }

    #[test]
    fn fish_reads_our_file_last() {
        check("fish -i", None, "fish -i -C source '/run/t4a/t4a.fish' | T4A_KEY=K");
        assert_eq!(quote(r"a'b\"), r"'a\'b\\'");
    }

    #[test]
    fn anything_else_runs_as_it_was_asked_for() {
        for line in [
            "",
            "vim",
            "sh",
            "bashful",
            "bash -c true",
            "bash script",
            "bash --norc",
            "bash -",
            "bash --noprofile",
            "bash --posix",
            "bash -x",
            "bash --",
            "bash -i script",
            "zsh -f",
            "fish -c true",
            "fish --no-config",
            "-bash",
            "env bash",
            "zsh --login-not",
        ] {
            assert_eq!(injection(line, None), None, "{line}");
        }
    }

    #[test]
    fn nothing_is_left_over_from_an_outer_terminal() {
        let unset = |line| injection(line, Some("/z")).map(|found| found.unset);
        assert_eq!(unset("bash"), Some(vec!["T4A_ZDOTDIR", "T4A_ZSH"]));
        assert_eq!(unset("zsh"), Some(vec!["T4A_INJECT"]));
        assert_eq!(unset("fish"), Some(vec!["T4A_INJECT", "T4A_ZDOTDIR", "T4A_ZSH"]));
    }

    #[test]
    fn each_snippet_is_one_of_the_files() {
        for shell in ["bash", "zsh", "fish"] {
            let file = files().into_iter().find(|(name, _)| *name == format!("t4a.{shell}"));
            assert_eq!(file.map(|(_, text)| text), snippet(shell));
        }
        assert_eq!(snippet("sh"), None);
    }
}
