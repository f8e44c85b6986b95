//! Pictures on their way: asked for, made elsewhere, handed out.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};

use super::limits::MAX_PICTURE_BYTES;
use super::{ClientId, Effect, Mux, Ticket};
use crate::view::shot::{Order, Picture};
use crate::wire::{Code, Failure, PictureHeader};

/// Who wants a picture, and how.
#[derive(Debug, Clone)]
pub struct PictureRequest {
    pub ticket: Ticket,
    pub form: Form,
}

/// How a picture comes to its client.
#[derive(Debug, Clone)]
pub enum Form {
    /// As bytes after the answer's line.
    Bytes,
    /// In the answer.
    Base64,
    /// As a part of another answer.
    Within(Box<Map<String, Value>>),
}

impl Mux {
    /// Has a picture made; it is answered when it is there.
    pub fn render(&mut self, ticket: &Ticket, order: Order, base64: bool) -> Result<(), Failure> {
        let waiting = self.clients.get_mut(ticket.client).map_or(0, |client| client.picture_bytes);
        if waiting >= MAX_PICTURE_BYTES {
            let error = format!(
                "screenshot: {waiting} bytes of pictures wait to be read on this connection: read \
                 them first"
            );
            return Err(Failure::new(Code::Limit, error));
        }
        let form = if base64 { Form::Base64 } else { Form::Bytes };
        let request = PictureRequest { ticket: ticket.clone(), form };
        self.effect(Effect::Render { request, order: Box::new(order) });
        Ok(())
    }

    pub(super) fn rendered(&mut self, request: &PictureRequest, result: Result<Picture, Failure>) {
        let ticket = &request.ticket;
        let picture = match result {
            Ok(picture) => picture,
            Err(failure) => return self.refuse(ticket, &failure),
        };
        let mut header = PictureHeader::from(&picture);
        match &request.form {
            Form::Bytes => {}
            Form::Base64 => {
                header.data_base64 = Some(BASE64_STANDARD.encode(&picture.bytes));
                return self.answer(ticket, header);
            }
            Form::Within(body) => {
                header.data_base64 = Some(BASE64_STANDARD.encode(&picture.bytes));
                let mut body = body.clone();
                body.insert("screenshot".to_owned(), json!(header));
                return self.answer(ticket, body);
            }
        }
        let client = ticket.client;
        if let Some(client) = self.clients.get_mut(client) {
            client.picture_bytes += picture.bytes.len();
        }
        let header = ticket.line(header);
        self.effect(Effect::Picture { client, header, bytes: picture.bytes });
        self.end(ticket);
    }

    pub(super) fn taken(&mut self, client: ClientId, bytes: usize) {
        if let Some(client) = self.clients.get_mut(client) {
            client.picture_bytes = client.picture_bytes.saturating_sub(bytes);
        }
    }
}
