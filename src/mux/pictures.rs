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
            return Err(unread(waiting));
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
        if let Err(failure) = self.count_picture(ticket.client, picture.bytes.len()) {
            return self.refuse(ticket, &failure);
        }
        let mut header = PictureHeader::from(&picture);
        let inline = !matches!(request.form, Form::Bytes);
        header.data_base64 = inline.then(|| BASE64_STANDARD.encode(&picture.bytes));
        let header = match &request.form {
            Form::Bytes | Form::Base64 => ticket.line(header),
            Form::Within(body) => {
                let mut body = body.clone();
                body.insert("screenshot".to_owned(), json!(header));
                ticket.line(body)
            }
        };
        let size = picture.bytes.len();
        let bytes = if inline { Vec::new() } else { picture.bytes };
        self.effect(Effect::Picture { client: ticket.client, header, bytes, size });
        self.end(ticket);
    }

    /// One picture may always wait to be read, but many were asked for at once.
    fn count_picture(&mut self, client: ClientId, bytes: usize) -> Result<(), Failure> {
        let Some(client) = self.clients.get_mut(client) else { return Ok(()) };
        if client.picture_bytes > 0 && client.picture_bytes + bytes > MAX_PICTURE_BYTES {
            return Err(unread(client.picture_bytes));
        }
        client.picture_bytes += bytes;
        Ok(())
    }

    pub(super) fn taken(&mut self, client: ClientId, bytes: usize) {
        if let Some(client) = self.clients.get_mut(client) {
            client.picture_bytes = client.picture_bytes.saturating_sub(bytes);
        }
    }
}

fn unread(bytes: usize) -> Failure {
    let error = format!(
        "screenshot: {bytes} bytes of pictures wait to be read on this connection, and \
         {MAX_PICTURE_BYTES} are the most: read them first"
    );
    Failure::new(Code::Limit, error)
}
