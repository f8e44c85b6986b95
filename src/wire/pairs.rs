//! `KEY=VALUE` on the command line, an object's entries on the wire.

use std::fmt;
use std::str::FromStr;

use serde::de::{MapAccess, Visitor};
use serde::{Deserializer, Serializer};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    pub key: String,
    pub value: String,
}

impl FromStr for Pair {
    type Err = String;

    fn from_str(text: &str) -> Result<Pair, String> {
        match text.split_once('=') {
            Some((key, value)) if !key.is_empty() => {
                Ok(Pair { key: key.to_owned(), value: value.to_owned() })
            }
            _ => Err(format!("expected KEY=VALUE, got {text:?}")),
        }
    }
}

pub fn serialize<S: Serializer>(pairs: &[Pair], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(pairs.iter().map(|pair| (&pair.key, &pair.value)))
}

pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Pair>, D::Error> {
    from.deserialize_map(Pairs)
}

struct Pairs;

impl<'de> Visitor<'de> for Pairs {
    type Value = Vec<Pair>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object whose values are strings")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<Pair>, A::Error> {
        let mut pairs = Vec::new();
        while let Some((key, value)) = map.next_entry()? {
            pairs.push(Pair { key, value });
        }
        Ok(pairs)
    }
}
