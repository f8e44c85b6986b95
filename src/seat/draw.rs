//! Everything put together to one screen of cells.

use std::collections::BTreeMap;
use std::ops::Range;

use super::app::{App, MIN_COLS, MIN_ROWS, join};
use super::canvas::{Canvas, Caret, Cell};
use super::layout::{Area, PaneId, Placed};
use super::overlay::{Choice, List, Overlay, Prompt, duration};
use super::pane::Pane;
use super::screen::Screen;
use crate::term::{Attrs, Color, Style};
use crate::wire::Role;

/// Which sides of a cell a border line leaves by.
const UP: u8 = 1;
const DOWN: u8 = 2;
const LEFT: u8 = 4;
const RIGHT: u8 = 8;
const LINES: [char; 16] =
    [' ', '│', '│', '│', '─', '┘', '┐', '┤', '─', '└', '┌', '├', '─', '┴', '┬', '┼'];
/// Columns of a thumbnail, and its rows with the frame.
const THUMB_COLS: u16 = 40;
const THUMB_ROWS: u16 = 10;

fn fg(color: Color) -> Style {
    Style { fg: color, ..Style::default() }
}

fn with(mut style: Style, attr: Attrs) -> Style {
    style.attrs.set(attr, true);
    style
}

/// The first row of a list that is shown, so that the selected one is.
pub fn list_top(list: &List, rows: usize) -> usize {
    (list.selected + 3).saturating_sub(rows)
}

impl App {
    /// Brings what was drawn before up to date; the columns of rows that may be others, None for all.
    pub fn update(&mut self, canvas: &mut Canvas) -> Option<BTreeMap<u16, Range<u16>>> {
        let changed = std::mem::take(&mut self.changed);
        let window = self.window().filter(|_| self.overlay.is_none() && !self.too_small());
        let Some(window) = window.filter(|_| !changed.all) else {
            *canvas = self.draw();
            return None;
        };
        let mut rows = BTreeMap::new();
        for placed in window.places(self.area()) {
            let Some(pane) = self.panes.get(&placed.id) else { continue };
            let (from, col) = pane.shown_from();
            let its = (placed.id, 0)..=(placed.id, u16::MAX);
            for ((_, row), columns) in changed.rows.range(its) {
                let row = usize::from(*row);
                let y = row.checked_sub(from).filter(|y| *y < usize::from(placed.area.rows));
                let (Some(y), Some(cells)) = (y, pane.screen.rows.get(row)) else { continue };
                if let Some(drawn) = draw_part(cells, col, columns, placed.area, y as u16, canvas) {
                    join(&mut rows, placed.area.y + y as u16, drawn);
                }
            }
            if Some(placed.id) == self.focus() {
                canvas.caret = caret(pane, placed.area);
            }
        }
        Some(rows)
    }

    /// The outer screen as it is to be now.
    pub fn draw(&self) -> Canvas {
        let mut canvas = Canvas::new(self.cols, self.rows);
        if self.too_small() {
            let text = format!("terminal too small: {MIN_COLS}x{MIN_ROWS} at least");
            canvas.text(0, 0, &text, Style::default(), self.cols);
            return canvas;
        }
        if let Some(window) = self.window() {
            let places = window.places(self.area());
            places.iter().for_each(|placed| self.draw_pane(placed, &mut canvas));
            if places.len() > 1 {
                self.draw_borders(&places, window.focus, &mut canvas);
            }
        }
        if self.config.status {
            self.draw_status(&mut canvas);
        }
        if let Some(overlay) = &self.overlay {
            canvas.caret = None;
            self.draw_overlay(overlay, &mut canvas);
        }
        canvas
    }

    fn draw_pane(&self, placed: &Placed, canvas: &mut Canvas) {
        let Some(pane) = self.panes.get(&placed.id) else { return };
        let area = placed.area;
        match pane.scroll.as_ref().filter(|scroll| !scroll.is_empty()) {
            Some(_) => self.draw_scroll(pane, area, canvas),
            None => {
                let (row, col) = pane.shown_from();
                draw_screen(&pane.screen, row, col, area, canvas);
            }
        }
        if Some(placed.id) == self.focus() {
            canvas.caret = caret(pane, area);
        }
    }

    fn draw_scroll(&self, pane: &Pane, area: Area, canvas: &mut Canvas) {
        let Some(scroll) = &pane.scroll else { return };
        let matches = scroll.matches();
        for (y, row) in scroll.rows().enumerate().take(usize::from(area.rows)) {
            draw_row(&row.cells, 0, area, y as u16, canvas);
            let at = area.y + y as u16;
            for x in 0..area.cols.min(row.cells.len() as u16) {
                let col = usize::from(x);
                if scroll.is_selected(y, col) {
                    canvas.restyle(area.x + x, at, |style| style.attrs.flip(Attrs::INVERSE));
                } else if matches.get(y).is_some_and(|m| m.iter().any(|m| m.contains(&col))) {
                    canvas.restyle(area.x + x, at, |style| {
                        style.bg = self.config.colors.found;
                        style.fg = Color::Indexed(0);
                    });
                }
            }
        }
    }

    fn draw_borders(&self, places: &[Placed], focus: PaneId, canvas: &mut Canvas) {
        let mut lines = vec![0_u8; usize::from(self.cols) * usize::from(self.rows)];
        let focused = places.iter().find(|placed| placed.id == focus).map(|placed| placed.area);
        places.iter().for_each(|placed| frame(placed.area, self.cols, &mut lines));
        for y in 0..self.rows {
            for x in 0..self.cols {
                let line = lines[usize::from(y) * usize::from(self.cols) + usize::from(x)];
                if line != 0 {
                    let active = focused.is_some_and(|area| surrounds(area, x, y));
                    let color =
                        if active { self.active_color(focus) } else { self.config.colors.border };
                    canvas.put(x, y, Cell::of(LINES[usize::from(line)], fg(color)));
                }
            }
        }
        places.iter().for_each(|placed| self.draw_label(placed, placed.id == focus, canvas));
    }

    fn active_color(&self, focus: PaneId) -> Color {
        let held = self.panes.get(&focus).is_some_and(|pane| pane.screen.state.role == Role::Take);
        if held { self.config.colors.held } else { self.config.colors.active }
    }

    /// What a pane is, in the line above it.
    fn draw_label(&self, placed: &Placed, focused: bool, canvas: &mut Canvas) {
        let Some(pane) = self.panes.get(&placed.id) else { return };
        let Area { x, y, cols, .. } = placed.area;
        let color = if focused { self.active_color(placed.id) } else { self.config.colors.border };
        let label = format!(" {} ", self.label(pane));
        let limit = (x + cols).saturating_sub(1);
        canvas.text(x + 1, y.saturating_sub(1), &label, with(fg(color), Attrs::BOLD), limit);
    }

    fn label(&self, pane: &Pane) -> String {
        let state = &pane.screen.state;
        let branch = state.cwd.as_ref().and_then(|cwd| self.branches.get(cwd)).cloned().flatten();
        let mut parts = vec![format!("[{}]", pane.label())];
        parts.extend(branch.map(|branch| format!("[{branch}]")));
        parts.push(role_name(state.role).to_owned());
        parts.extend(state.typing.as_ref().map(|name| format!("{name} types")));
        parts.extend(self.doing(pane));
        parts.join(" ")
    }

    /// What runs, or how the last command ended.
    fn doing(&self, pane: &Pane) -> Option<String> {
        let state = &pane.screen.state;
        if let Some(code) = state.exit_code {
            return Some(format!("[exited: code {code}]"));
        }
        match (&state.command, state.last_code) {
            (Some(command), _) => {
                let line = command.lines().next().unwrap_or_default();
                let time =
                    pane.command_since.map(|since| self.now.saturating_duration_since(since));
                let time = time.filter(|time| time.as_secs() > 0);
                let time = time.map(|time| duration(time.as_secs() * 1000)).unwrap_or_default();
                Some(format!("{line} {time}").trim_end().to_owned())
            }
            (None, Some(code)) if code != 0 => Some(format!("exit {code}")),
            _ => None,
        }
    }

    fn draw_status(&self, canvas: &mut Canvas) {
        let colors = self.config.colors;
        let base = Style { fg: colors.status_text, bg: colors.status, ..Style::default() };
        let y = self.rows - 1;
        canvas.fill(Area { x: 0, y, cols: self.cols, rows: 1 }, base);
        for (x, label, index) in self.window_labels() {
            let window = &self.windows[index];
            let style = match (index == self.current, window.alert) {
                (true, _) => with(base, Attrs::BOLD),
                (_, true) => Style { fg: colors.alert, ..base },
                _ => base,
            };
            canvas.text(x, y, &label, style, self.cols);
        }
        let left = self.window_labels().last().map_or(0, |(x, label, _)| x + width(label));
        let right = self.status_right();
        let mut x = self.cols.saturating_sub(right.iter().map(|(text, _)| width(text) + 1).sum());
        if let Some((message, _)) = &self.message {
            let style = Style { fg: colors.alert, ..base };
            canvas.text(left + 1, y, message, style, x.saturating_sub(1).max(left + 1));
        }
        for (text, color) in &right {
            x = canvas.text(x, y, text, Style { fg: *color, ..base }, self.cols) + 1;
        }
    }

    /// Column, text and number of each window in the status bar.
    fn window_labels(&self) -> Vec<(u16, String, usize)> {
        let mut x: u16 = 0;
        let mut labels = Vec::new();
        for (index, window) in self.windows.iter().enumerate() {
            let name = window.name.clone().unwrap_or_else(|| self.window_name(window.focus));
            let alert = if window.alert { "!" } else { "" };
            let zoom = if window.zoomed { "+" } else { "" };
            let label = match index == self.current {
                true => format!("*{}:{name}{zoom}", index + 1),
                false => format!("[{}:{name}{alert}{zoom}]", index + 1),
            };
            labels.push((x, label.clone(), index));
            x = x.saturating_add(width(&label) + 1);
        }
        labels
    }

    fn window_name(&self, pane: PaneId) -> String {
        const SHOWN: usize = 16;
        let title = self.panes.get(&pane).map(|pane| {
            let state = &pane.screen.state;
            let command = state.command.as_deref().and_then(|line| line.split_whitespace().next());
            let name = state.name.as_deref().or(command).unwrap_or(&state.title);
            name.rsplit('/').next().unwrap_or(name).chars().take(SHOWN).collect()
        });
        title.filter(|title: &String| !title.is_empty()).unwrap_or_else(|| "shell".to_owned())
    }

    pub(super) fn window_in_status(&self, x: u16) -> Option<usize> {
        let mut labels = self.window_labels().into_iter();
        labels.find(|(at, label, _)| (*at..at + width(label)).contains(&x)).map(|(.., index)| index)
    }

    fn status_right(&self) -> Vec<(String, Color)> {
        let colors = self.config.colors;
        let mut parts = Vec::new();
        if self.prefix.is_on() {
            parts.push(("[PREFIX]".to_owned(), Color::Indexed(11)));
        }
        if !self.connected {
            parts.push(("[NO SERVER]".to_owned(), colors.held));
        }
        let Some(pane) = self.focus().and_then(|id| self.panes.get(&id)) else { return parts };
        if let Some(scroll) = &pane.scroll {
            parts.push((format!("[SCROLL +{} lines]", scroll.below()), colors.alert));
        }
        let role = pane.screen.state.role;
        let color = if role == Role::Take { colors.held } else { colors.status_text };
        parts.push((self.label(pane), color));
        parts
    }

    fn draw_overlay(&self, overlay: &Overlay, canvas: &mut Canvas) {
        match overlay {
            Overlay::Prompt(prompt, typed) => self.draw_prompt(*prompt, typed, canvas),
            Overlay::Help(lines, top) => self.draw_help(lines, *top, canvas),
            Overlay::List(list) if list.grid => self.draw_thumbnails(list, canvas),
            Overlay::List(list) => self.draw_list(list, canvas),
        }
    }

    fn draw_prompt(&self, prompt: Prompt, typed: &str, canvas: &mut Canvas) {
        let label = match prompt {
            Prompt::Rename => "window's name: ",
            Prompt::Search => "search (regex): ",
        };
        let y = self.rows - 1;
        let style =
            Style { fg: Color::Indexed(0), bg: self.config.colors.alert, ..Style::default() };
        canvas.fill(Area { x: 0, y, cols: self.cols, rows: 1 }, style);
        let x = canvas.text(0, y, label, with(style, Attrs::BOLD), self.cols);
        let room = usize::from(self.cols.saturating_sub(x + 1));
        let shown: String =
            typed.chars().skip(typed.chars().count().saturating_sub(room)).collect();
        let x = canvas.text(x, y, &shown, style, self.cols);
        let shape = crate::term::CursorShape::Bar;
        canvas.caret = Some(Caret { x: x.min(self.cols - 1), y, shape, blink: false });
    }

    fn draw_help(&self, lines: &[(String, &'static str)], top: usize, canvas: &mut Canvas) {
        let prefix = &self.config.keymap.prefix;
        let title =
            format!(" {prefix}, then …   (in scroll mode: j k g G Ctrl+d Ctrl+u / n N v y q) ");
        let keys = lines.iter().map(|(keys, _)| keys.chars().count()).max().unwrap_or(0);
        let lines: Vec<String> =
            lines.iter().map(|(key, help)| format!(" {key:<keys$}  {help}")).collect();
        self.draw_page(&title, &lines, top.min(lines.len().saturating_sub(1)), None, canvas);
    }

    fn draw_list(&self, list: &List, canvas: &mut Canvas) {
        let wide = list.items.iter().map(|item| item.label.chars().count()).max().unwrap_or(0);
        let half = usize::from(self.cols) / 2;
        let wide = wide.min(half);
        let line = |item: &super::overlay::Item| {
            let label: String = item.label.chars().take(half).collect();
            format!(" {label:<wide$}  {}", item.detail)
        };
        let lines: Vec<String> = list.items.iter().map(line).collect();
        let top = list_top(list, usize::from(self.rows));
        let title = format!(" {} ", list.title);
        self.draw_page(&title, &lines, top, Some(list.selected), canvas);
        self.draw_preview(list, lines.len().min(usize::from(self.rows)), canvas);
    }

    /// The chosen terminal as it is now, below the list.
    fn draw_preview(&self, list: &List, used: usize, canvas: &mut Canvas) {
        let Some(Choice::Terminal(id)) = list.choice() else { return };
        let Some(screen) = list.screens.get(id) else { return };
        let y = used as u16 + 2;
        let rows = self.rows.saturating_sub(y + 1);
        if rows < 2 {
            return;
        }
        let area = Area { x: 1, y, cols: self.cols.saturating_sub(2), rows };
        let from =
            screen.rows.len().saturating_sub(usize::from(rows)).min(usize::from(screen.cursor.row));
        draw_screen(screen, from, 0, area, canvas);
    }

    fn draw_page(
        &self,
        title: &str,
        lines: &[String],
        top: usize,
        selected: Option<usize>,
        canvas: &mut Canvas,
    ) {
        canvas.fill(canvas.area(), Style::default());
        let head = with(fg(self.config.colors.active), Attrs::BOLD);
        canvas.text(0, 0, title, head, self.cols);
        for (y, (index, line)) in
            lines.iter().enumerate().skip(top).take(usize::from(self.rows) - 1).enumerate()
        {
            let mut style = Style::default();
            if selected == Some(index) {
                style.attrs.set(Attrs::INVERSE, true);
            }
            canvas.text(0, y as u16 + 1, line, style, self.cols);
        }
    }

    fn draw_thumbnails(&self, list: &List, canvas: &mut Canvas) {
        self.draw_page(&format!(" {} ", list.title), &[], 0, None, canvas);
        let across = (self.cols / THUMB_COLS).max(1);
        let down = ((self.rows - 1) / THUMB_ROWS).max(1);
        let page = usize::from(across) * usize::from(down);
        let first = list.selected / page * page;
        for (at, item) in list.items.iter().enumerate().skip(first).take(page) {
            let place = (at - first) as u16;
            let area = Area {
                x: place % across * THUMB_COLS + 1,
                y: place / across * THUMB_ROWS + 2,
                cols: THUMB_COLS.min(self.cols) - 2,
                rows: THUMB_ROWS - 2,
            };
            self.draw_thumbnail(list, item, at == list.selected, area, canvas);
        }
    }

    fn draw_thumbnail(
        &self,
        list: &List,
        item: &super::overlay::Item,
        selected: bool,
        area: Area,
        canvas: &mut Canvas,
    ) {
        let mut lines = vec![0_u8; usize::from(self.cols) * usize::from(self.rows)];
        frame(area, self.cols, &mut lines);
        let colors = self.config.colors;
        let color = if selected { colors.active } else { colors.border };
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| **line != 0) {
            let (x, y) = (at % usize::from(self.cols), at / usize::from(self.cols));
            canvas.put(x as u16, y as u16, Cell::of(LINES[usize::from(*line)], fg(color)));
        }
        let label = format!(" {} {} ", item.label, item.detail);
        let limit = area.x + area.cols;
        canvas.text(area.x + 1, area.y - 1, &label, with(fg(color), Attrs::BOLD), limit);
        let Choice::Terminal(id) = &item.choice else { return };
        if let Some(screen) = list.screens.get(id) {
            let last = usize::from(screen.cursor.row) + 1;
            let from = last.saturating_sub(usize::from(area.rows));
            draw_screen(screen, from, 0, area, canvas);
        }
    }
}

fn width(text: &str) -> u16 {
    text.chars().map(|c| crate::term::char_width(c, false) as u16).sum()
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::View => "[VIEW]",
        Role::Edit => "[EDIT]",
        Role::Take => "[TAKE]",
    }
}

fn caret(pane: &Pane, area: Area) -> Option<Caret> {
    let cursor = pane.screen.cursor;
    let (row, col) = pane.shown_from();
    let (y, x, shape) = match pane.scroll.as_ref().filter(|scroll| !scroll.is_empty()) {
        Some(scroll) => {
            let spot = scroll.shown_cursor();
            (spot.row, spot.col, crate::term::CursorShape::Block)
        }
        None if !cursor.visible => return None,
        None => (
            usize::from(cursor.row).checked_sub(row)?,
            usize::from(cursor.col).checked_sub(col)?,
            cursor.shape.into(),
        ),
    };
    let inside = x < usize::from(area.cols) && y < usize::from(area.rows);
    let blink = cursor.blink;
    inside.then(|| Caret { x: area.x + x as u16, y: area.y + y as u16, shape, blink })
}

/// A screen's rows from one on, cut to an area.
fn draw_screen(screen: &Screen, row: usize, col: usize, area: Area, canvas: &mut Canvas) {
    for (y, cells) in screen.rows.iter().skip(row).take(usize::from(area.rows)).enumerate() {
        draw_row(cells, col, area, y as u16, canvas);
    }
}

fn draw_row(cells: &[Cell], col: usize, area: Area, y: u16, canvas: &mut Canvas) {
    let shown = cells.get(col..).unwrap_or_default();
    canvas.put_row(area.x, area.y + y, &shown[..shown.len().min(usize::from(area.cols))]);
}

/// Draws some columns of a row; those that may be others then.
fn draw_part(
    cells: &[Cell],
    col: usize,
    columns: &Range<u16>,
    area: Area,
    y: u16,
    canvas: &mut Canvas,
) -> Option<Range<u16>> {
    let from = usize::from(columns.start).max(col);
    let to = usize::from(columns.end).min(col + usize::from(area.cols));
    let part = cells.get(from..to).filter(|part| !part.is_empty())?;
    let x = area.x + (from - col) as u16;
    canvas.put_row(x, area.y + y, part);
    Some(x..(x + part.len() as u16).min(canvas.cols()))
}

/// Draws a frame around an area: lines that meet are joined.
fn frame(area: Area, cols: u16, lines: &mut [u8]) {
    let (left, top) = (area.x.saturating_sub(1), area.y.saturating_sub(1));
    let (right, bottom) = (area.x + area.cols, area.y + area.rows);
    let mut add = |x: u16, y: u16, line: u8| {
        if x < cols
            && let Some(cell) = lines.get_mut(usize::from(y) * usize::from(cols) + usize::from(x))
        {
            *cell |= line;
        }
    };
    for x in left..=right {
        let along = if x > left { LEFT } else { 0 } | if x < right { RIGHT } else { 0 };
        add(x, top, along);
        add(x, bottom, along);
    }
    for y in top..=bottom {
        let along = if y > top { UP } else { 0 } | if y < bottom { DOWN } else { 0 };
        add(left, y, along);
        add(right, y, along);
    }
}

fn surrounds(area: Area, x: u16, y: u16) -> bool {
    let across = x + 1 >= area.x && x <= area.x + area.cols;
    let down = y + 1 >= area.y && y <= area.y + area.rows;
    across && down && !area.contains(x, y)
}
