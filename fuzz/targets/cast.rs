//! Recordings from anywhere: read, and made into moving pictures.

use std::time::Duration;

use t4a::cast::{Cast, Film, FilmFormat, Pace};

pub const PIECES: &[&[u8]] = &[
    b"[0.1, \"o\", \"hello\"]\n",
    b"[0.5, \"o\", \"\\u001b[31m\\u001b[2;3Hred\\u001b[m\"]\n",
    b"[1, \"r\", \"12x3\"]\n",
    b"[2.25, \"m\", \"\"]\n",
    b"[2.5, \"i\", \"q\"]\n",
    b"[3, \"o\", \"\\ud83d",
    b"\\ude00\"]\n",
    b"[1e300, \"o\", \"x\"]\n",
    b"[0.0, \"x\", \"1\"]\n",
    b"# a note\n",
    b"\n",
    b"[",
    b"0.2,",
];

pub fn run(input: &[u8]) {
    let heads = [
        &b"{\"version\":2,\"width\":10,\"height\":4}\n"[..],
        b"{\"version\":3,\"term\":{\"cols\":10,\"rows\":4}}\n",
        b"",
    ];
    for head in heads {
        let bytes = [head, input].concat();
        let Ok(cast) = Cast::read(bytes.as_slice()) else { continue };
        let pace = Pace { speed: 3.0, idle_limit: Some(Duration::from_secs(2)) };
        for format in [FilmFormat::Svg, FilmFormat::Apng, FilmFormat::Gif] {
            let film = Film::make(&cast, pace, format, 10);
            assert!(film.is_ok_and(|film| film.frames > 0));
        }
    }
}
