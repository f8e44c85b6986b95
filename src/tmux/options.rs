//! Options of tmux's commands: letters that may stand together, values that may follow at once.

use super::Failed;

/// The options that were given and what follows them.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Options {
    given: Vec<(char, String)>,
    pub rest: Vec<String>,
}

impl Options {
    /// `known` has the letters, each with a `:` after it if it takes a value.
    pub fn parse(command: &str, known: &str, args: &[String]) -> Result<Options, Failed> {
        let mut options = Options::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            if arg == "--" {
                break;
            }
            let Some(letters) = arg.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
                options.rest.push(arg.clone());
                break;
            };
            let mut letters = letters.chars();
            while let Some(letter) = letters.next() {
                let value = match takes_value(known, letter) {
                    None => return Err(unknown(command, known, letter)),
                    Some(false) => String::new(),
                    Some(true) => {
                        let here: String = letters.by_ref().collect();
                        match here.is_empty() {
                            false => here,
                            true => args.next().cloned().ok_or_else(|| {
                                Failed(format!("command {command}: -{letter} expects an argument"))
                            })?,
                        }
                    }
                };
                options.given.push((letter, value));
            }
        }
        options.rest.extend(args.cloned());
        Ok(options)
    }

    pub fn has(&self, letter: char) -> bool {
        self.given.iter().any(|(given, _)| *given == letter)
    }

    /// The last value of an option counts.
    pub fn value(&self, letter: char) -> Option<&str> {
        self.values(letter).last()
    }

    pub fn values(&self, letter: char) -> impl Iterator<Item = &str> {
        let is_it = move |(given, _): &&(char, String)| *given == letter;
        self.given.iter().filter(is_it).map(|(_, value)| value.as_str())
    }

    /// A whole number.
    pub fn number(&self, letter: char) -> Result<Option<i64>, Failed> {
        let number = |value: &str| {
            value.parse().map_err(|_| Failed(format!("-{letter} is not a number: {value}")))
        };
        self.value(letter).map(number).transpose()
    }
}

fn takes_value(known: &str, letter: char) -> Option<bool> {
    let at = known.find(letter).filter(|_| letter != ':')?;
    Some(known[at + letter.len_utf8()..].starts_with(':'))
}

fn unknown(command: &str, known: &str, letter: char) -> Failed {
    let names: Vec<_> =
        known.chars().filter(|c| *c != ':').map(|letter| format!("-{letter}")).collect();
    let known = names.join(" ");
    Failed(format!("command {command}: unknown flag -{letter}; t4a understands {known}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(known: &str, line: &str) -> Result<Options, Failed> {
        let args: Vec<_> = line.split(' ').map(str::to_owned).collect();
        Options::parse("x", known, &args)
    }

    #[test]
    fn letters_together_and_values_at_once() {
        let options = parse("pJS:t:", "-pJS - -tname").unwrap();
        assert!(options.has('p') && options.has('J'));
        assert_eq!(options.value('S'), Some("-"));
        assert_eq!(options.value('t'), Some("name"));
        assert!(options.rest.is_empty());
    }

    #[test]
    fn what_follows_the_options_is_left_alone() {
        assert_eq!(parse("lt:", "-t a -- -x --").unwrap().rest, ["-x", "--"]);
        assert_eq!(parse("lt:", "a -l").unwrap().rest, ["a", "-l"]);
        assert_eq!(parse("lt:", "-l - -t").unwrap().rest, ["-", "-t"]);
    }

    #[test]
    fn mistakes_are_told() {
        let error = |line| parse("lt:", line).unwrap_err().0;
        assert_eq!(error("-Q"), "command x: unknown flag -Q; t4a understands -l -t");
        assert_eq!(error("-t"), "command x: -t expects an argument");
    }
}
