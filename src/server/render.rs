//! Pictures are made on threads of their own; the renderers and what they remember wander there
//! and back, so that nothing is shared.

use std::collections::VecDeque;

use super::{News, ToHub, elsewhere};
use crate::mux::PictureRequest;
use crate::mux::limits::{MAX_CELLS_WAITING, MAX_PICTURES_WAITING, MAX_RENDERERS};
use crate::view::image::Renderer;
use crate::view::shot::{Order, Picture};
use crate::wire::{Code, Failure};

/// All renderers of the server; there are as many as were ever needed at once.
#[derive(Default)]
pub struct Renderers {
    idle: Vec<Renderer>,
    running: usize,
    waiting: VecDeque<(PictureRequest, Box<Order>)>,
    /// Cells of the screens that wait.
    cells: usize,
}

/// What comes back from a thread.
pub struct Rendered {
    pub request: PictureRequest,
    pub result: Result<Picture, Failure>,
    /// None if it was lost in a panic.
    renderer: Option<Renderer>,
}

fn cells(order: &Order) -> usize {
    order.snapshot.rows.len() * usize::from(order.snapshot.size.cols)
}

impl Renderers {
    /// Begins at once if a thread is free, else when one is; refuses when too much waits.
    pub fn begin(
        &mut self,
        request: PictureRequest,
        order: Box<Order>,
        hub: &ToHub,
    ) -> Result<(), (PictureRequest, Failure)> {
        if self.running < MAX_RENDERERS {
            self.start(request, order, hub);
            return Ok(());
        }
        let more = self.cells + cells(&order);
        if self.waiting.len() >= MAX_PICTURES_WAITING || more > MAX_CELLS_WAITING {
            let error = format!(
                "screenshot: too much waits to be drawn, {MAX_PICTURES_WAITING} pictures or \
                 {MAX_CELLS_WAITING} cells are the most: try again"
            );
            return Err((request, Failure::new(Code::Limit, error)));
        }
        self.cells = more;
        self.waiting.push_back((request, order));
        Ok(())
    }

    /// One has come back; the next may go.
    pub fn done(&mut self, renderer: Option<Renderer>, hub: &ToHub) {
        self.running -= 1;
        self.idle.extend(renderer);
        if let Some((request, order)) = self.waiting.pop_front() {
            self.cells -= cells(&order);
            self.start(request, order, hub);
        }
    }

    fn start(&mut self, request: PictureRequest, order: Box<Order>, hub: &ToHub) {
        self.running += 1;
        let mut renderer = self.take(order.who);
        let hub = hub.clone();
        tokio::spawn(async move {
            let made = elsewhere::run(move || {
                let result = order.take(&mut renderer);
                (result, renderer)
            });
            let (result, renderer) = match made.await {
                Some((result, renderer)) => {
                    let limit = |error| Failure::new(Code::Limit, format!("screenshot: {error}"));
                    (result.map_err(limit), Some(renderer))
                }
                None => {
                    (Err(Failure::new(Code::System, "screenshot: it could not be drawn")), None)
                }
            };
            let rendered = Rendered { request, result, renderer };
            let _ = hub.send(News::Rendered(Box::new(rendered))).await;
        });
    }

    /// The one that drew for this terminal before, else the one used last: it is the warmest.
    fn take(&mut self, who: u64) -> Renderer {
        let known = self.idle.iter().position(|renderer| renderer.knows(who));
        match known {
            Some(at) => self.idle.remove(at),
            None => self.idle.pop().unwrap_or_default(),
        }
    }
}

impl Rendered {
    pub fn take_renderer(&mut self) -> Option<Renderer> {
        self.renderer.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mux::{ClientId, Ticket};
    use crate::term::{Limits, Size, Terminal};

    fn request() -> PictureRequest {
        let ticket = Ticket { client: ClientId(1), tag: None };
        PictureRequest { ticket, form: crate::mux::Form::Bytes }
    }

    fn order(cols: u16, rows: u16) -> Box<Order> {
        let term = Terminal::new(Size { cols, rows }, Limits { lines: 0, bytes: 0 });
        Box::new(Order::usual(1, &term))
    }

    /// All renderers are at work.
    fn busy() -> Renderers {
        Renderers { running: MAX_RENDERERS, ..Renderers::default() }
    }

    #[tokio::test]
    async fn pictures_wait_up_to_a_number_and_a_size() {
        let (hub, mut done) = tokio::sync::mpsc::channel(MAX_RENDERERS);
        let mut renderers = Renderers::default();
        for _ in 0..=MAX_RENDERERS {
            assert!(renderers.begin(request(), order(2, 2), &hub).is_ok());
        }
        assert_eq!((renderers.running, renderers.waiting.len()), (MAX_RENDERERS, 1));
        for _ in 0..MAX_RENDERERS {
            assert!(done.recv().await.is_some());
        }
        let mut many = busy();
        for _ in 0..MAX_PICTURES_WAITING {
            assert!(many.begin(request(), order(2, 2), &hub).is_ok());
        }
        let (_, failure) = many.begin(request(), order(2, 2), &hub).unwrap_err();
        assert_eq!(failure.code, Code::Limit);
        assert!(failure.error.contains("256"), "{}", failure.error);
        let mut large = busy();
        for _ in 0..MAX_CELLS_WAITING >> 20 {
            assert!(large.begin(request(), order(1024, 1024), &hub).is_ok());
        }
        let (_, failure) = large.begin(request(), order(1, 1), &hub).unwrap_err();
        assert!(failure.error.contains("8388608"), "{}", failure.error);
    }
}
