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
            let error = "screenshot: too many pictures wait to be drawn: try again";
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
