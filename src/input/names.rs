//! Names of keys, in the spellings that people and other programs use.
//!
//! A single character is itself, and its case counts: `a`, `A`, `+`. Anything longer is a name, and
//! there case, `_`, spaces and inner `-` do not: `PageUp`, `page_up`, `PGUP`. Modifiers stand
//! before the key, with `+` or `-`: `Ctrl+Shift+Left`, `ctrl-c`; short ones as in tmux, with `-`:
//! `C-c`, `M-x` (Alt), `S-Up`; and `^c` is `Ctrl+c`. With Ctrl or Shift a letter's case does not
//! count: `Ctrl+C` is `Ctrl+c`, and the capital with Ctrl is `Ctrl+Shift+c`.

use super::key::{Key, KeyCode, Mods};
use super::table::TABLE;
use std::fmt;
use std::str::FromStr;

/// Bytes of a name; with every modifier the longest needs 68.
pub const MAX_NAME: usize = 96;
/// Names that an error suggests.
const MAX_NEAR: usize = 3;

/// In the order in which names are written.
const MODIFIERS: [(Mods, &str, &[&str]); 8] = [
    (Mods::CTRL, "Ctrl", &["Control"]),
    (Mods::ALT, "Alt", &["Option", "Opt"]),
    (Mods::SHIFT, "Shift", &[]),
    (Mods::SUPER, "Super", &["Cmd", "Command", "Win", "Windows"]),
    (Mods::HYPER, "Hyper", &[]),
    (Mods::META, "Meta", &[]),
    (Mods::CAPS_LOCK, "CapsLock", &[]),
    (Mods::NUM_LOCK, "NumLock", &[]),
];
/// tmux's, which always have a `-` after them: `C++` is no key.
const SHORT_MODIFIERS: [(Mods, &str); 3] =
    [(Mods::CTRL, "C"), (Mods::ALT, "M"), (Mods::SHIFT, "S")];
const CHARACTERS: [(char, &str); 3] = [(' ', "Space"), ('+', "Plus"), ('-', "Minus")];
/// Shift+Tab where it counts as a key of its own.
const BACK_TABS: [&str; 2] = ["BTab", "BackTab"];

/// Why a name is none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KeyError {
    Empty,
    TooLong,
    Unknown { name: String, near: Vec<String> },
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyError::Empty => write!(f, "a key needs a name"),
            KeyError::TooLong => write!(f, "the name of a key has at most {MAX_NAME} bytes"),
            KeyError::Unknown { name, near } if near.is_empty() => write!(
                f,
                "unknown key {name:?}: a key is one character or a name such as Enter, Up, F5, Ctrl+c"
            ),
            KeyError::Unknown { name, near } => {
                write!(f, "unknown key {name:?}, did you mean {}?", near.join(" or "))
            }
        }
    }
}

impl std::error::Error for KeyError {}

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(name: &str) -> Result<Key, KeyError> {
        match name.len() {
            0 => Err(KeyError::Empty),
            length if length > MAX_NAME => Err(KeyError::TooLong),
            _ => parse(name).ok_or_else(|| unknown(name)),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.mods, self.code)
    }
}

/// Every modifier with a `+` after it.
impl fmt::Display for Mods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = MODIFIERS.iter().filter(|(mods, ..)| self.has(*mods));
        held.into_iter().try_for_each(|(_, name, _)| write!(f, "{name}+"))
    }
}

impl fmt::Display for KeyCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.row()) {
            (KeyCode::Char(' '), _) => f.write_str("Space"),
            (KeyCode::Char(c), _) => write!(f, "{c}"),
            (_, row) => f.write_str(row.map_or("Composed", |row| row.name)),
        }
    }
}

impl Mods {
    /// A modifier by its long name, in any case.
    pub fn named(name: &str) -> Option<Mods> {
        let is = |other: &&str| other.eq_ignore_ascii_case(name);
        let found = MODIFIERS.iter().find(|(_, name, aliases)| is(name) || aliases.iter().any(is));
        found.map(|(mods, ..)| *mods)
    }
}

fn parse(name: &str) -> Option<Key> {
    let (mods, rest) = split(name);
    let (code, more) = key(rest)?;
    Some(Key::new(code, mods | more))
}

/// The modifiers before a key, and the rest.
fn split(name: &str) -> (Mods, &str) {
    let (mut mods, mut rest) = (Mods::NONE, name);
    while let Some((more, key)) = modifier(rest) {
        mods |= more;
        rest = key;
    }
    (mods, rest)
}

/// The first modifier of a name and what follows it, which is never nothing.
fn modifier(name: &str) -> Option<(Mods, &str)> {
    if let Some(rest) = name.strip_prefix('^').filter(|rest| single(rest).is_some()) {
        return Some((Mods::CTRL, rest));
    }
    let (head, mark, rest) = apart(name)?;
    let short = SHORT_MODIFIERS.iter().find(|(_, name)| name.eq_ignore_ascii_case(head));
    let short = short.filter(|_| mark == '-').map(|(mods, _)| *mods);
    Some((short.or_else(|| Mods::named(head))?, rest))
}

/// What stands before the first `+` or `-`, which of them it is, and what follows.
fn apart(name: &str) -> Option<(&str, char, &str)> {
    let at = name.find(['+', '-'])?;
    let (head, tail) = name.split_at(at);
    let rest = &tail[1..];
    let rest = if single(rest).is_some() { rest } else { rest.trim_start_matches(' ') };
    (!rest.is_empty()).then(|| (head.trim_matches(' '), tail.chars().next().unwrap_or('+'), rest))
}

fn single(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|_| chars.next().is_none())
}

/// A key by its name alone, or by its character.
fn key(name: &str) -> Option<(KeyCode, Mods)> {
    if let Some(c) = single(name) {
        return Some((KeyCode::Char(c), Mods::NONE));
    }
    let name = folded(name);
    names().find(|(other, ..)| folded(other) == name).map(|(_, code, mods)| (code, mods))
}

/// Every name of a key, and what it stands for.
fn names() -> impl Iterator<Item = (&'static str, KeyCode, Mods)> {
    let characters = CHARACTERS.iter().map(|(c, name)| (*name, KeyCode::Char(*c), Mods::NONE));
    let tabs = BACK_TABS.iter().map(|name| (*name, KeyCode::Tab, Mods::SHIFT));
    let table = TABLE.iter().flat_map(|row| {
        let all = std::iter::once(&row.name).chain(row.aliases);
        all.map(|name| (*name, row.code, Mods::NONE))
    });
    table.chain(characters).chain(tabs)
}

/// A name as it is compared. A `-` at the end is a key's own: `KP-`.
fn folded(name: &str) -> String {
    let last = name.len().saturating_sub(1);
    let kept = name.char_indices().filter(|(at, c)| match c {
        '_' | ' ' => false,
        '-' => *at == last,
        _ => true,
    });
    kept.map(|(_, c)| c.to_ascii_lowercase()).collect()
}

fn unknown(name: &str) -> KeyError {
    let mut near = near_keys(name);
    near.extend(near_modifiers(name));
    near.sort();
    let mut names: Vec<String> = Vec::new();
    for (_, name) in near {
        if !names.contains(&name) && names.len() < MAX_NEAR {
            names.push(name);
        }
    }
    KeyError::Unknown { name: name.to_owned(), near: names }
}

/// Keys with a similar name, with the modifiers as given.
fn near_keys(name: &str) -> Vec<(usize, String)> {
    let (mods, rest) = split(name);
    let rest = folded(rest);
    let near = names().filter_map(|(name, code, more)| {
        let far = near(&rest, &folded(name))?;
        Some((far, Key::new(code, mods | more).to_string()))
    });
    near.collect()
}

/// The first modifier put right, if the rest is a key then.
fn near_modifiers(name: &str) -> Vec<(usize, String)> {
    let Some((head, _, rest)) = apart(name) else { return Vec::new() };
    let Some(key) = parse(rest) else { return Vec::new() };
    let near = MODIFIERS.iter().filter_map(|(mods, name, _)| {
        let far = near(&head.to_ascii_lowercase(), &name.to_ascii_lowercase())?;
        Some((far, Key::new(key.code, key.mods | *mods).to_string()))
    });
    near.collect()
}

/// How far two names are apart, if that may be a slip of the finger.
fn near(given: &str, name: &str) -> Option<usize> {
    let allowed = match given.len() {
        0..=1 => 0,
        2..=3 => 1,
        4..=7 => 2,
        _ => 3,
    };
    let far = distance(given.as_bytes(), name.as_bytes());
    (far <= allowed && far < name.len()).then_some(far)
}

/// Bytes to insert, drop, change or swap with their neighbour.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let changed = above[j] + usize::from(a[i] != b[j]);
            let mut best = changed.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(names: &str, canonical: &str) {
        for name in names.split('|') {
            let key: Key = name.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(key.to_string(), canonical, "{name}");
        }
    }

    #[test]
    fn names_of_other_programs() {
        check("Enter|enter|ENTER|Return|CR", "Enter");
        check("Escape|Esc|esc|ESC", "Escape");
        check("Tab|TAB", "Tab");
        check("Shift+Tab|S-Tab|BTab|BackTab|back_tab", "Shift+Tab");
        check("Backspace|BSpace|BS|back_space", "Backspace");
        check("Delete|Del|DC", "Delete");
        check("Insert|Ins|IC", "Insert");
        check("Up|ArrowUp|up|Arrow-Up|arrow_up", "Up");
        check("Down|ArrowDown", "Down");
        check("Left|ArrowLeft", "Left");
        check("Right|ArrowRight", "Right");
        check("Home|HOME", "Home");
        check("End", "End");
        check("PageUp|PgUp|PPage|PAGE_UP|page-up|Page Up|Prior", "PageUp");
        check("PageDown|PgDn|PgDown|NPage|Next", "PageDown");
        check("Space|space| ", "Space");
        check("F5|f5|F_5", "F5");
        check("F35", "F35");
        check("KP0|KP_0|kp0", "Kp0");
        check("KP/|KP_DIVIDE", "KpDivide");
        check("KP-|Kp_-|KP_SUBTRACT", "KpSubtract");
        check("KP+", "KpAdd");
        check("KPEnter|KP_ENTER", "KpEnter");
        check("ISO_LEVEL3_SHIFT|AltGr", "IsoLevel3Shift");
        check("MEDIA_PLAY_PAUSE", "MediaPlayPause");
        check("LEFT_CONTROL|Ctrl|Control", "LeftControl");
        check("Caps_Lock|CapsLock|Caps", "CapsLock");
    }

    #[test]
    fn modifiers_in_all_spellings() {
        check("Ctrl+c|ctrl+c|CTRL+C|Control+c|C-c|c-c|C-C|^c|^C|Ctrl-c|Ctrl + C|\x03", "Ctrl+c");
        check("Ctrl+Shift+c|C-S-c|Shift+Ctrl+C|S-C-C", "Ctrl+Shift+c");
        check("Alt+x|M-x|Option+x|Alt-x", "Alt+x");
        check("Alt+X|M-X", "Alt+X");
        check("Shift+a|Shift+A|S-a", "Shift+a");
        check("C-M-a|M-C-a|Ctrl+Alt+a|Alt+Ctrl+A|M-^a", "Ctrl+Alt+a");
        check("S-Up|Shift+ArrowUp|shift-up", "Shift+Up");
        check("Ctrl+Shift+Left|C-S-Left", "Ctrl+Shift+Left");
        check("Alt+Enter|M-Enter|alt-return", "Alt+Enter");
        check("Ctrl+Alt+Delete|ctrl-alt-del", "Ctrl+Alt+Delete");
        check("Ctrl+Space|C-Space|C- |Ctrl+ |^ |\0|ctrl-space", "Ctrl+Space");
        check("Cmd+k|Win+k|Super+k", "Super+k");
    }

    #[test]
    fn characters_are_themselves() {
        for c in ["a", "A", "+", "-", "^", "_", "é", "日", "👍", "\"", "\\", "C", "M"] {
            check(c, c);
        }
        check("Ctrl++|Ctrl+Plus|C-+", "Ctrl++");
        check("Ctrl+-|C--|Ctrl+Minus", "Ctrl+-");
        check("^^|C-^", "Ctrl+^");
        check("^[|C-[", "Ctrl+[");
        check("^?", "Ctrl+?");
        check("\r|\n", "Enter");
        check("\t", "Tab");
        check("\x1b", "Escape");
        check("\x7f|\x08", "Backspace");
    }

    fn near_names(name: &str) -> String {
        match name.parse::<Key>() {
            Err(KeyError::Unknown { near, .. }) => near.join(" "),
            other => panic!("{name}: {other:?}"),
        }
    }

    #[test]
    fn unknown_names_suggest_near_ones() {
        assert_eq!(near_names("Entr"), "Enter End");
        assert_eq!(near_names("Ctrl+Entr"), "Ctrl+Enter Ctrl+End");
        assert_eq!(near_names("Crtl+c"), "Ctrl+c");
        assert_eq!(near_names("Contrl+Shift+Up"), "Ctrl+Shift+Up");
        assert_eq!(near_names("ArowUp"), "Up");
        assert_eq!(near_names("PagDown"), "PageDown");
        assert_eq!(near_names("F99"), "F19 F29 F9");
        assert_eq!(near_names("hello world"), "");
        assert_eq!(near_names("C++"), "");
    }

    #[test]
    fn errors_are_sentences() {
        let message = |name: &str| name.parse::<Key>().unwrap_err().to_string();
        assert_eq!(message("Escpe"), "unknown key \"Escpe\", did you mean Escape?");
        assert_eq!(
            message("\x1b[A"),
            "unknown key \"\\u{1b}[A\": a key is one character or a name such as Enter, Up, F5, Ctrl+c"
        );
        assert_eq!(message(""), "a key needs a name");
        assert_eq!(message(&"x".repeat(97)), "the name of a key has at most 96 bytes");
    }

    #[test]
    fn no_name_stands_for_two_keys() {
        let mut all: Vec<String> = names().map(|(name, ..)| folded(name)).collect();
        let before = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), before);
    }

    fn code() -> impl Strategy<Value = KeyCode> {
        let named = (0..TABLE.len()).prop_map(|at| TABLE[at].code);
        prop_oneof![any::<char>().prop_map(KeyCode::Char), named]
    }

    proptest! {
        #[test]
        fn names_round_trip(code in code(), mods in any::<u8>()) {
            let key = Key::new(code, Mods(mods));
            let name = key.to_string();
            prop_assert!(name.len() <= MAX_NAME);
            prop_assert_eq!(name.parse::<Key>(), Ok(key));
        }

        #[test]
        fn any_name_is_a_key_or_an_error(name in "\\PC{0,40}|[CMS^+ -]{0,8}[a-zA-Z+-]{0,6}|.{0,200}") {
            if let Ok(key) = name.parse::<Key>() {
                prop_assert_eq!(key.to_string().parse::<Key>(), Ok(key));
            }
        }
    }
}
