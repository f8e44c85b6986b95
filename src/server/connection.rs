//! One client's connection: lines in, answers and events out.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{Semaphore, mpsc};

use super::{News, ToHub};
use crate::mux::ClientId;
use crate::mux::limits::{MAX_IN_FLIGHT, MAX_LINE};
use crate::os::socket;

/// Messages the hub may have waiting for one connection; it never sends more than it is asked for.
pub const OUT_QUEUE: usize = 4 * MAX_IN_FLIGHT;
/// A line that is too long is read to its end before the connection closes, up to here, so that
/// the client gets to see why.
const MAX_DISCARD: usize = 64 << 20;
/// And for so long: it may never end.
const DISCARD_TIME: Duration = Duration::from_secs(1);
/// How often it is looked whether a client that sends no more still reads.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
const READ_CHUNK: usize = 16 << 10;

pub enum FromClient {
    Line(Vec<u8>),
    TooLong,
    HalfClosed,
    Gone,
    Drained,
    /// So many bytes of pictures were written.
    Taken(usize),
}

pub enum ToClient {
    Reply(Vec<u8>),
    /// `Drained` is due when it was written.
    Stream(Vec<u8>),
    /// A line, and bytes after it; `Taken` is due when they were written.
    Picture {
        header: Vec<u8>,
        bytes: Vec<u8>,
        size: usize,
    },
    /// The next line may be read.
    ReadOn,
}

/// Serves one connection until either side ends it.
pub async fn serve(stream: UnixStream, id: ClientId, hub: ToHub, out: mpsc::Receiver<ToClient>) {
    let (read, write) = stream.into_split();
    let gate = Semaphore::new(1);
    let reader = Reader { read, buffer: Vec::new(), scanned: 0, ended: false, gone: false };
    tokio::select! {
        () = read_lines(reader, id, &hub, &gate) => {}
        () = write_out(write, id, &hub, &gate, out) => {}
    }
    let _ = hub.send(News::Client(id, FromClient::Gone)).await;
}

struct Reader {
    read: OwnedReadHalf,
    buffer: Vec<u8>,
    /// So far there is no line end in the buffer.
    scanned: usize,
    ended: bool,
    /// Nobody is left to read an answer: what was sent is handed over without waiting for turns.
    gone: bool,
}

/// Hands over a line whenever the gate lets one through; ends when the client is gone.
async fn read_lines(mut reader: Reader, id: ClientId, hub: &ToHub, gate: &Semaphore) {
    loop {
        reader.wait_for_turn(gate).await;
        let message = match reader.next_line().await {
            Next::Line(line) => FromClient::Line(line),
            Next::TooLong => {
                let _ = hub.send(News::Client(id, FromClient::TooLong)).await;
                let _ = tokio::time::timeout(DISCARD_TIME, reader.discard()).await;
                break;
            }
            Next::End => break,
        };
        if hub.send(News::Client(id, message)).await.is_err() {
            return;
        }
    }
    let _ = hub.send(News::Client(id, FromClient::HalfClosed)).await;
    reader.wait_until_gone().await;
}

enum Next {
    Line(Vec<u8>),
    TooLong,
    End,
}

impl Reader {
    /// Until it is this connection's turn, reads ahead: only so is a client's end noticed.
    async fn wait_for_turn(&mut self, gate: &Semaphore) {
        while !self.gone {
            let may_read = !self.ended && self.buffer.len() <= MAX_LINE;
            tokio::select! {
                permit = gate.acquire() => {
                    if let Ok(permit) = permit {
                        permit.forget();
                    }
                    return;
                }
                () = read_more(&mut self.read, &mut self.buffer, &mut self.ended), if may_read => {
                    self.gone = self.ended && closed_for_good(&self.read).await;
                }
            }
        }
    }

    async fn next_line(&mut self) -> Next {
        loop {
            if let Some(line) = self.take_line() {
                return Next::Line(line);
            }
            if self.buffer.len() > MAX_LINE {
                return Next::TooLong;
            }
            if self.ended {
                return Next::End;
            }
            read_more(&mut self.read, &mut self.buffer, &mut self.ended).await;
        }
    }

    fn take_line(&mut self) -> Option<Vec<u8>> {
        let found = self.buffer[self.scanned..].iter().position(|byte| *byte == b'\n');
        let Some(end) = found.map(|at| self.scanned + at) else {
            self.scanned = self.buffer.len();
            return None;
        };
        if end > MAX_LINE {
            return None;
        }
        self.scanned = 0;
        let rest = self.buffer.split_off(end + 1);
        let mut line = std::mem::replace(&mut self.buffer, rest);
        line.pop();
        Some(line)
    }

    async fn discard(&mut self) {
        let mut dropped = 0;
        while !self.ended && dropped < MAX_DISCARD && !self.buffer.contains(&b'\n') {
            dropped += self.buffer.len();
            self.buffer.clear();
            read_more(&mut self.read, &mut self.buffer, &mut self.ended).await;
        }
    }

    /// A client that only sends no more stays; the hub closes it when it has had its answers.
    async fn wait_until_gone(&self) {
        while !closed_for_good(&self.read).await {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }
}

async fn read_more(read: &mut OwnedReadHalf, buffer: &mut Vec<u8>, ended: &mut bool) {
    buffer.reserve(READ_CHUNK);
    match read.read_buf(buffer).await {
        Ok(0) | Err(_) => *ended = true,
        Ok(_) => {}
    }
}

/// Whether the client closed both ways and not just its sending side.
async fn closed_for_good(read: &OwnedReadHalf) -> bool {
    let ready = read.ready(Interest::READABLE | Interest::WRITABLE).await;
    ready.map_or(true, |ready| ready.is_write_closed())
}

/// Writes what the hub gives until it closes the connection or the client is gone.
async fn write_out(
    mut write: OwnedWriteHalf,
    id: ClientId,
    hub: &ToHub,
    gate: &Semaphore,
    mut out: mpsc::Receiver<ToClient>,
) {
    while let Some(message) = out.recv().await {
        let written = match message {
            ToClient::ReadOn => {
                gate.add_permits(1);
                Ok(())
            }
            ToClient::Reply(bytes) => write.write_all(&bytes).await,
            ToClient::Picture { header, bytes, size } => {
                let written = write_picture(&mut write, &header, &bytes).await;
                let _ = hub.send(News::Client(id, FromClient::Taken(size))).await;
                written
            }
            ToClient::Stream(bytes) => {
                let written = write.write_all(&bytes).await;
                let _ = hub.send(News::Client(id, FromClient::Drained)).await;
                written
            }
        };
        if written.is_err() {
            return;
        }
    }
}

/// Clients that read a line with a `recv` of a few kilobytes would get the first bytes of the picture
/// with it: the header is sent so that a read ends behind it.
async fn write_picture(write: &mut OwnedWriteHalf, header: &[u8], bytes: &[u8]) -> io::Result<()> {
    let mut left = header;
    while !left.is_empty() {
        write.writable().await?;
        let stream: &UnixStream = write.as_ref();
        let sent = stream.try_io(Interest::WRITABLE, || socket::send_alone(stream.as_fd(), left));
        match sent {
            Ok(count) => left = &left[count..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    write.write_all(bytes).await
}
