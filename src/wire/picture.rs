//! What is told about a screenshot, before its bytes.

use serde::Serialize;

use crate::view::shot::{Format, Picture};

#[derive(Debug, Serialize)]
pub struct PictureHeader {
    /// Bytes that follow the line, or that `data_base64` stands for.
    pub len: usize,
    pub format: &'static str,
    pub cols: usize,
    pub rows: usize,
    #[serde(skip_serializing_if = "is_zero")]
    pub gutter_cols: usize,
    #[serde(flatten)]
    pub pixels: Option<PixelHeader>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highlighted: Option<usize>,
    pub first_line: u64,
    pub next_line: u64,
    pub stamp: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_base64: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct PixelHeader {
    pub width: usize,
    pub height: usize,
    pub cell_width: usize,
    pub cell_height: usize,
    pub scale: usize,
    pub tokens: TokenHeader,
}

#[derive(Debug, Serialize)]
pub struct TokenHeader {
    pub claude: usize,
    pub openai: usize,
    pub gemini: usize,
}

fn is_zero(value: &usize) -> bool {
    *value == 0
}

impl From<&Picture> for PictureHeader {
    fn from(picture: &Picture) -> PictureHeader {
        let pixels = picture.pixels.as_ref().map(|pixels| PixelHeader {
            width: pixels.width,
            height: pixels.height,
            cell_width: pixels.cell.w,
            cell_height: pixels.cell.h,
            scale: pixels.scale,
            tokens: TokenHeader {
                claude: pixels.tokens.claude,
                openai: pixels.tokens.openai,
                gemini: pixels.tokens.gemini,
            },
        });
        PictureHeader {
            len: picture.bytes.len(),
            format: name(picture.format),
            cols: picture.cols,
            rows: picture.rows,
            gutter_cols: picture.gutter,
            pixels,
            highlighted: picture.highlighted,
            first_line: picture.first_line,
            next_line: picture.next_line,
            stamp: picture.stamp,
            data_base64: None,
        }
    }
}

fn name(format: Format) -> &'static str {
    match format {
        Format::Png => "png",
        Format::Svg => "svg",
        Format::Html => "html",
        Format::Ansi => "ansi",
        Format::Text => "text",
        Format::Json => "json",
    }
}
