//! What a picture costs a model that looks at it. The vendors' formulas, as measured; they change,
//! which is why the picture's size is told too.

/// Side of the squares that a picture is cut into.
const CLAUDE_PATCH: usize = 28;
const CLAUDE_MOST: usize = 4784;
const OPENAI_PATCH: usize = 32;
const OPENAI_MOST: usize = 2940;
/// It takes the same for every picture.
const GEMINI_FLAT: usize = 1100;

/// Bytes of text as programs print it that make a token, with care: it is mostly a bit more.
const TEXT_BYTES: usize = 3;

/// What a line of text takes, with its end.
pub fn text_tokens(text: &str) -> usize {
    text.len().div_ceil(TEXT_BYTES) + 1
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tokens {
    pub claude: usize,
    pub openai: usize,
    pub gemini: usize,
}

impl Tokens {
    pub fn of(width: usize, height: usize) -> Tokens {
        let patches = |side: usize| width.div_ceil(side) * height.div_ceil(side);
        Tokens {
            claude: patches(CLAUDE_PATCH).min(CLAUDE_MOST),
            openai: (patches(OPENAI_PATCH) * 6).div_ceil(5).min(OPENAI_MOST),
            gemini: GEMINI_FLAT,
        }
    }

    /// The most that a model takes whose cost depends on the size.
    pub fn most(self) -> usize {
        self.claude.max(self.openai)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_those_that_were_measured() {
        let of = |w: usize, h: usize| (Tokens::of(w, h).claude, Tokens::of(w, h).openai);
        assert_eq!(of(480, 288), (198, 162));
        assert_eq!(of(560, 336), (240, 238));
        assert_eq!(of(800, 480), (522, 450));
        assert_eq!(of(960, 640), (805, 720));
    }
}
