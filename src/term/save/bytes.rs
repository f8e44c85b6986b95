//! State as bytes and back. What is read is checked: a length never asks for more memory than the
//! bytes that are there can fill.

use super::Refused;

/// A part of the state. `saved!` makes it for structs and enums so that a field or variant that
/// is left out does not compile.
pub trait Save: Sized {
    fn put(&self, out: &mut Vec<u8>);
    fn take(from: &mut Reader<'_>) -> Result<Self, Refused>;
}

pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    pub fn bytes(&mut self, len: usize) -> Result<&'a [u8], Refused> {
        let (bytes, rest) = self.rest.split_at_checked(len).ok_or(Refused("it is cut"))?;
        self.rest = rest;
        Ok(bytes)
    }

    pub fn take<T: Save>(&mut self) -> Result<T, Refused> {
        T::take(self)
    }

    /// A list of at most `most`.
    pub fn list<T: Save>(&mut self, most: usize) -> Result<Vec<T>, Refused> {
        let len = self.len(most)?;
        (0..len).map(|_| T::take(self)).collect()
    }

    /// A number of things that take a byte each at least.
    pub fn len(&mut self, most: usize) -> Result<usize, Refused> {
        let len = u32::take(self)? as usize;
        let fits = len <= most && len <= self.rest.len();
        fits.then_some(len).ok_or(Refused("a list is too long"))
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
}

/// A value that must be within bounds.
pub fn ensure(good: bool, what: &'static str) -> Result<(), Refused> {
    good.then_some(()).ok_or(Refused(what))
}

/// Writes a list that `Reader::list` reads.
pub fn put_list<T: Save>(list: &[T], out: &mut Vec<u8>) {
    (list.len() as u32).put(out);
    list.iter().for_each(|item| item.put(out));
}

macro_rules! saved {
    (struct $name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::term::save::Save for $name {
            fn put(&self, out: &mut Vec<u8>) {
                let $name { $($field),* } = self;
                $($crate::term::save::Save::put($field, out);)*
            }

            fn take(
                from: &mut $crate::term::save::Reader<'_>,
            ) -> Result<Self, $crate::term::save::Refused> {
                Ok($name { $($field: from.take()?),* })
            }
        }
    };
    (enum $name:ident { $($variant:ident),* $(,)? }) => {
        impl $crate::term::save::Save for $name {
            fn put(&self, out: &mut Vec<u8>) {
                match self {
                    $($name::$variant)|* => out.push(*self as u8),
                }
            }

            fn take(
                from: &mut $crate::term::save::Reader<'_>,
            ) -> Result<Self, $crate::term::save::Refused> {
                let number: u8 = from.take()?;
                $(if number == $name::$variant as u8 {
                    return Ok($name::$variant);
                })*
                Err($crate::term::save::Refused(stringify!($name)))
            }
        }
    };
}
pub(in crate::term) use saved;

macro_rules! numbers {
    ($($number:ident)*) => {$(
        impl Save for $number {
            #[inline]
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
                let bytes = from.bytes(size_of::<$number>())?;
                bytes.try_into().map($number::from_le_bytes).map_err(|_| Refused("it is cut"))
            }
        }
    )*};
}
numbers!(u8 u16 u32 u64 i32);

impl Save for usize {
    fn put(&self, out: &mut Vec<u8>) {
        (*self as u64).put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        let number: u64 = from.take()?;
        usize::try_from(number).map_err(|_| Refused("a number is too large"))
    }
}

impl Save for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        let byte: u8 = from.take()?;
        ensure(byte < 2, "a switch that is neither on nor off")?;
        Ok(byte == 1)
    }
}

impl Save for char {
    fn put(&self, out: &mut Vec<u8>) {
        u32::from(*self).put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        char::from_u32(from.take()?).ok_or(Refused("a character that is none"))
    }
}

impl Save for String {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        let len = from.len(usize::MAX)?;
        let text = str::from_utf8(from.bytes(len)?).map_err(|_| Refused("text that is none"))?;
        Ok(text.to_owned())
    }
}

impl<T: Save> Save for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        self.iter().for_each(|value| value.put(out));
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        let some: bool = from.take()?;
        some.then(|| from.take()).transpose()
    }
}

impl<T: Save> Save for Box<T> {
    fn put(&self, out: &mut Vec<u8>) {
        T::put(self, out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        from.take().map(Box::new)
    }
}

impl<A: Save, B: Save> Save for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        Ok((from.take()?, from.take()?))
    }
}

impl<T: Save + Copy + Default, const N: usize> Save for [T; N] {
    fn put(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|item| item.put(out));
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Refused> {
        let mut all = [T::default(); N];
        for item in &mut all {
            *item = from.take()?;
        }
        Ok(all)
    }
}

/// Scratch room is not saved.
impl<T: Default> Save for crate::term::scratch::Scratch<T> {
    fn put(&self, _: &mut Vec<u8>) {}

    fn take(_: &mut Reader<'_>) -> Result<Self, Refused> {
        Ok(Self::default())
    }
}
