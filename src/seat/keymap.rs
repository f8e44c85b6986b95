//! What keys do: a prefix, then a key of the table; everything else goes to the program.

use std::time::{Duration, Instant};

use super::layout::Direction;
use crate::input::Key;

/// A prefix that nothing follows is forgotten after this long.
pub const PREFIX_TIMEOUT: Duration = Duration::from_secs(2);
pub const DEFAULT_PREFIX: &str = "Ctrl+Space";

macro_rules! actions {
    ($($action:ident $(($value:expr))? $name:literal $keys:literal $may_view:literal $help:literal)*) => {
        /// Each action with its name for the configuration, its keys, whether someone who only
        /// looks on may do it, and what it does.
        const TABLE: &[(Action, &str, &str, bool, &str)] =
            &[$((Action::$action $(($value))?, $name, $keys, $may_view, $help)),*];
    };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Detach,
    Suspend,
    SplitColumns,
    SplitRows,
    Focus(Direction),
    Grow(Direction),
    NextPane,
    LastPane,
    Zoom,
    Close,
    Break,
    SwapNext,
    SwapPrevious,
    Arrange,
    NewWindow,
    NextWindow,
    PreviousWindow,
    Window(usize),
    RenameWindow,
    CloseWindow,
    Scroll,
    Search,
    Paste,
    Take,
    Terminals,
    Dashboard,
    Worktrees,
    Markers,
    Reload,
    Redraw,
    Help,
}

actions! {
    Detach                   "detach"          "d"          true  "leave; everything goes on"
    SplitColumns             "split_columns"   "| %"        false "a new pane to the right"
    SplitRows                "split_rows"      "- \""       false "a new pane below"
    Focus(Direction::Left)   "focus_left"      "h Left"     false "go to the pane on the left"
    Focus(Direction::Down)   "focus_down"      "j Down"     false "go to the pane below"
    Focus(Direction::Up)     "focus_up"        "k Up"       false "go to the pane above"
    Focus(Direction::Right)  "focus_right"     "l Right"    false "go to the pane on the right"
    Grow(Direction::Left)    "grow_left"       "H"          false "grow the pane to the left"
    Grow(Direction::Down)    "grow_down"       "J"          false "grow the pane downwards"
    Grow(Direction::Up)      "grow_up"         "K"          false "grow the pane upwards"
    Grow(Direction::Right)   "grow_right"      "L"          false "grow the pane to the right"
    NextPane                 "next_pane"       "o"          false "go to the next pane"
    LastPane                 "last_pane"       ";"          false "go back to the pane before"
    Zoom                     "zoom"            "z"          false "the pane alone, and back"
    Close                    "close"           "x"          false "close the pane, end its terminal"
    Break                    "break"           "!"          false "move the pane to a window of its own"
    SwapNext                 "swap_next"       "}"          false "change places with the next pane"
    SwapPrevious             "swap_previous"   "{"          false "change places with the pane before"
    Arrange                  "arrange"         "Space"      false "the next arrangement of panes"
    NewWindow                "new_window"      "c"          false "a new window"
    NextWindow               "next_window"     "n"          false "the next window"
    PreviousWindow           "previous_window" "p"          false "the window before"
    Window(1)                "window_1"        "1"          false "the first window; 2 to 9 likewise"
    Window(2)                "window_2"        "2"          false ""
    Window(3)                "window_3"        "3"          false ""
    Window(4)                "window_4"        "4"          false ""
    Window(5)                "window_5"        "5"          false ""
    Window(6)                "window_6"        "6"          false ""
    Window(7)                "window_7"        "7"          false ""
    Window(8)                "window_8"        "8"          false ""
    Window(9)                "window_9"        "9"          false ""
    RenameWindow             "rename_window"   ","          false "give the window a name"
    CloseWindow              "close_window"    "&"          false "close the window and its terminals"
    Scroll                   "scroll"          "["          true  "look back through the scrollback"
    Search                   "search"          "/"          true  "search the scrollback by regex"
    Paste                    "paste"           "]"          false "paste what was copied last"
    Take                     "take"            "t"          false "take the keyboard for yourself, give it back"
    Terminals                "terminals"       "s"          false "all terminals, to show one here"
    Dashboard                "dashboard"       "a"          false "all terminals and agents at a glance"
    Worktrees                "worktrees"       "w"          false "terminals by git work tree"
    Markers                  "markers"         "m"          true  "commands so far: jump there, copy output"
    Reload                   "reload"          "r"          false "read the configuration again"
    Redraw                   "redraw"          "Ctrl+l"     false "paint everything anew"
    Suspend                  "suspend"         "Ctrl+z"     true  "put the client to sleep; fg wakes it"
    Help                     "help"            "?"          true  "this list"
}

impl Action {
    pub fn named(name: &str) -> Option<Action> {
        TABLE.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    pub fn name(self) -> &'static str {
        TABLE.iter().find(|row| row.0 == self).map_or("", |row| row.1)
    }

    pub fn names() -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|row| row.1)
    }

    /// Someone who only looks on may do this.
    pub fn may_view(self) -> bool {
        TABLE.iter().any(|row| row.0 == self && row.3)
    }
}

#[derive(Debug, Clone)]
pub struct Keymap {
    pub prefix: Key,
    bindings: Vec<(Key, Action)>,
}

impl Default for Keymap {
    fn default() -> Keymap {
        let mut keymap = Keymap { prefix: key(DEFAULT_PREFIX), bindings: Vec::new() };
        for (action, _, keys, ..) in TABLE {
            keys.split(' ').for_each(|name| keymap.bind(key(name), Some(*action)));
        }
        keymap
    }
}

/// A key of our own table; a test reads them all.
fn key(name: &str) -> Key {
    name.parse().unwrap_or_else(|_| Key::composed(name))
}

impl Keymap {
    /// None takes a key's binding away.
    pub fn bind(&mut self, key: Key, action: Option<Action>) {
        self.bindings.retain(|(bound, _)| *bound != key);
        self.bindings.extend(action.map(|action| (key, action)));
    }

    fn action(&self, key: &Key) -> Option<Action> {
        self.bindings.iter().find(|(bound, _)| bound == key).map(|(_, action)| *action)
    }

    /// What the help shows: keys and what they do, in the order of the table.
    pub fn help(&self) -> Vec<(String, &'static str)> {
        let rows = TABLE.iter().filter(|row| !row.4.is_empty());
        let line = |row: &(Action, &str, &str, bool, &'static str)| {
            let keys: Vec<String> = self.keys_of(row.0).map(Key::to_string).collect();
            (keys.join(" "), row.4)
        };
        rows.map(line).filter(|(keys, _)| !keys.is_empty()).collect()
    }

    fn keys_of(&self, action: Action) -> impl Iterator<Item = &Key> {
        self.bindings.iter().filter(move |(_, bound)| *bound == action).map(|(key, _)| key)
    }

    /// The first key of an action, for hints.
    pub fn key_of(&self, action: Action) -> Option<String> {
        self.keys_of(action).next().map(Key::to_string)
    }
}

/// What a key comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// For the program.
    Type(Vec<Key>),
    Act(Action),
    /// The prefix: one more key decides.
    Wait,
    Nothing,
}

#[derive(Debug, Default)]
pub struct Prefix {
    since: Option<Instant>,
}

impl Prefix {
    pub fn is_on(&self) -> bool {
        self.since.is_some()
    }

    /// When the prefix is forgotten.
    pub fn deadline(&self) -> Option<Instant> {
        self.since.map(|since| since + PREFIX_TIMEOUT)
    }

    pub fn expire(&mut self, now: Instant) {
        self.since.take_if(|since| *since + PREFIX_TIMEOUT <= now);
    }

    /// `view`: this client only looks on.
    pub fn press(&mut self, key: Key, keymap: &Keymap, view: bool, now: Instant) -> Step {
        self.expire(now);
        let typed = |keys: Vec<Key>| if view { Step::Nothing } else { Step::Type(keys) };
        match self.since.take() {
            None if key == keymap.prefix => {
                self.since = Some(now);
                Step::Wait
            }
            None => typed(vec![key]),
            Some(_) if key == keymap.prefix => typed(vec![key]),
            Some(_) => match keymap.action(&key) {
                Some(action) if !view || action.may_view() => Step::Act(action),
                Some(_) => Step::Nothing,
                None => typed(vec![keymap.prefix.clone(), key]),
            },
        }
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests of time-outs begin somewhere")]
mod tests {
    use super::*;

    fn press(keys: &str, view: bool) -> Vec<Step> {
        let (mut prefix, keymap, now) = (Prefix::default(), Keymap::default(), Instant::now());
        keys.split(' ').map(|name| prefix.press(key(name), &keymap, view, now)).collect()
    }

    fn typed(names: &str) -> Step {
        Step::Type(names.split(' ').map(key).collect())
    }

    #[test]
    fn the_table_has_real_keys_each_once() {
        let mut seen = Vec::new();
        for (_, name, keys, ..) in TABLE {
            for name in keys.split(' ') {
                assert!(name.parse::<Key>().is_ok(), "{name}");
                assert!(!seen.contains(&name), "{name} twice");
                seen.push(name);
            }
            assert_eq!(Action::named(name).map(Action::name), Some(*name));
        }
        assert_eq!(Keymap::default().prefix.to_string(), DEFAULT_PREFIX);
    }

    #[test]
    fn the_prefix_makes_an_action_of_the_next_key() {
        assert_eq!(press("a", false), [typed("a")]);
        assert_eq!(press("C-Space d", false), [Step::Wait, Step::Act(Action::Detach)]);
        let [_, twice] = &press("C-Space C-Space", false)[..] else { panic!() };
        assert_eq!(*twice, typed("C-Space"));
        let [_, unknown] = &press("C-Space Q", false)[..] else { panic!() };
        assert_eq!(*unknown, typed("C-Space Q"));
    }

    #[test]
    fn who_looks_on_types_nothing_and_may_do_little() {
        assert_eq!(press("a", true), [Step::Nothing]);
        assert_eq!(press("C-Space |", true), [Step::Wait, Step::Nothing]);
        assert_eq!(press("C-Space Q", true), [Step::Wait, Step::Nothing]);
        for name in ["/", "m", "[", "d", "?"] {
            let steps = press(&format!("C-Space {name}"), true);
            assert!(matches!(steps[1], Step::Act(_)), "{name}");
        }
    }

    #[test]
    fn a_prefix_that_nothing_follows_is_forgotten() {
        let (mut prefix, keymap, now) = (Prefix::default(), Keymap::default(), Instant::now());
        assert_eq!(prefix.press(key("C-Space"), &keymap, false, now), Step::Wait);
        let later = now + PREFIX_TIMEOUT;
        assert_eq!(prefix.press(key("d"), &keymap, false, later), typed("d"));
    }

    #[test]
    fn keys_can_be_bound_and_set_free() {
        let mut keymap = Keymap::default();
        keymap.bind(key("d"), None);
        keymap.bind(key("q"), Some(Action::Detach));
        assert_eq!(keymap.action(&key("d")), None);
        assert_eq!(keymap.key_of(Action::Detach).as_deref(), Some("q"));
        assert!(keymap.help().iter().any(|(keys, help)| keys == "q" && help.starts_with("leave")));
    }
}
