//! Room that is in use within one call only: no part of the state.

/// Two of them are always equal.
#[derive(Clone, Debug, Default)]
pub struct Scratch<T>(pub T);

impl<T> PartialEq for Scratch<T> {
    fn eq(&self, _: &Scratch<T>) -> bool {
        true
    }
}
