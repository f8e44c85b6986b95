//! Nothing but the characters.

use crate::view::sheet::Sheet;

/// Rows without the blanks at their ends, each with a line end.
pub fn plain(sheet: &Sheet) -> String {
    let mut out = String::new();
    for row in &sheet.rows {
        let line: String = row.clusters(0).map(|(_, _, text)| text).collect();
        out.push_str(line.trim_end_matches(' '));
        out.push('\n');
    }
    out
}
