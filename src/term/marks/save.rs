//! The shells of a terminal as they are saved.

use super::{Dialect, Emitter, Level, MAX_SHELLS, Marks, Owner, ShellState, Source};
use crate::term::save::{Reader, Refused, Save, put_list, saved};

saved!(
    enum ShellState {
        Unknown,
        Prompt,
        Input,
        Running,
    }
);
saved!(
    enum Source {
        Screen,
        Quoted,
        Wezterm,
        VsCode,
        Url,
    }
);
saved!(
    enum Dialect {
        Ftcs,
        VsCode,
    }
);
saved!(struct Emitter { dialect, has_aid });
saved!(struct Level {
    aid, state, owner, command, started_by, held, sends_input_mark, told_ready, ended, continuing,
});

impl Save for Owner {
    fn put(&self, out: &mut Vec<u8>) {
        let key = match self {
            Owner::Anyone => None,
            Owner::Key(key) => Some(key.clone()),
        };
        key.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        Ok(from.take::<Option<Option<String>>>()?.map_or(Owner::Anyone, Owner::Key))
    }
}

impl Save for Marks {
    fn put(&self, out: &mut Vec<u8>) {
        let Marks { levels } = self;
        put_list(levels, out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        Ok(Marks { levels: from.list(MAX_SHELLS)? })
    }
}
