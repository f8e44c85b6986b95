//! One client's connection: lines in, and what the hub could not write at once out.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, Interest};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{Semaphore, mpsc};

use super::outbox::Outbox;
use super::{News, ToHub};
use crate::mux::ClientId;
use crate::mux::limits::{MAX_IN_FLIGHT, MAX_LINE};
use crate::os::{channel, socket};

/// Messages the hub may have waiting for one connection; it never sends more than it is asked for.
const OUT_QUEUE: usize = 4 * MAX_IN_FLIGHT;
/// A line that is too long is read to its end before the connection closes, up to here, so that
/// the client gets to see why.
const MAX_DISCARD: usize = 64 << 20;
/// And for so long: it may never end.
const DISCARD_TIME: Duration = Duration::from_secs(1);
/// How often it is looked whether a client that sends no more still reads.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
const READ_CHUNK: usize = 16 << 10;

pub enum FromClient {
    /// A line, and a descriptor if one came with it.
    Line(Vec<u8>, Option<OwnedFd>),
    TooLong,
    HalfClosed,
    Gone,
    /// A message that was left to the task is written.
    Wrote(Wrote),
}

pub enum ToClient {
    Answer(Vec<u8>),
    /// Events or frames; the next ones come when they were taken.
    Stream(Vec<u8>),
    /// A line, and bytes after it.
    Picture {
        header: Vec<u8>,
        bytes: Vec<u8>,
        size: usize,
    },
    /// The next line may be read.
    ReadOn,
}

/// What there is to be told of a message that was written.
pub enum Wrote {
    Nothing,
    Stream,
    /// So many bytes of pictures.
    Picture(usize),
}

/// Begins to serve a connection until either side ends it; what is to be written goes here.
pub fn open(stream: UnixStream, id: ClientId, hub: ToHub) -> Outbox {
    let (read, write) = stream.into_split();
    let (write, gate) = (Arc::new(write), Arc::new(Semaphore::new(1)));
    let (to_task, left) = mpsc::channel(OUT_QUEUE);
    let outbox = Outbox::new(write.clone(), gate.clone(), to_task);
    let reader = Reader {
        read,
        buffer: Vec::new(),
        scanned: 0,
        begun: false,
        lent: None,
        ended: false,
        gone: false,
    };
    tokio::spawn(async move {
        tokio::select! {
            () = read_lines(reader, id, &hub, &gate) => {}
            () = write_out(&write, id, &hub, &gate, left) => {}
        }
        let _ = hub.send(News::Client(id, FromClient::Gone)).await;
    });
    outbox
}

struct Reader {
    read: OwnedReadHalf,
    buffer: Vec<u8>,
    /// So far there is no line end in the buffer.
    scanned: usize,
    /// A descriptor comes with the first byte or not at all.
    begun: bool,
    lent: Option<OwnedFd>,
    ended: bool,
    /// Nobody is left to read an answer: what was sent is handed over without waiting for turns.
    gone: bool,
}

/// Hands over a line whenever the gate lets one through; ends when the client is gone.
async fn read_lines(mut reader: Reader, id: ClientId, hub: &ToHub, gate: &Semaphore) {
    loop {
        reader.wait_for_turn(gate).await;
        let message = match reader.next_line().await {
            Next::Line(line) => FromClient::Line(line, reader.lent.take()),
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
                () = self.read_more(), if may_read => {
                    self.gone = self.ended && closed_for_good(&self.read).await;
                }
            }
        }
    }

    async fn read_more(&mut self) {
        self.buffer.reserve(READ_CHUNK);
        let read = match self.begun {
            true => self.read.read_buf(&mut self.buffer).await,
            false => self.read_first().await,
        };
        self.ended = !matches!(read, Ok(1..));
    }

    /// The first bytes, and a descriptor that came with them.
    async fn read_first(&mut self) -> io::Result<usize> {
        let stream = self.read.as_ref();
        loop {
            stream.readable().await?;
            let mut chunk = vec![0; READ_CHUNK];
            let first =
                stream.try_io(Interest::READABLE, || channel::receive(stream.as_fd(), &mut chunk));
            match first {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
                Ok(None) => return Ok(0),
                Ok(Some(packet)) => {
                    self.begun = true;
                    self.lent = packet.fds.into_iter().next();
                    self.buffer.extend_from_slice(&chunk[..packet.length]);
                    return Ok(packet.length);
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
            self.read_more().await;
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
        let line = self.buffer[..end].to_vec();
        self.buffer.drain(..=end);
        Some(line)
    }

    async fn discard(&mut self) {
        let mut dropped = 0;
        while !self.ended && dropped < MAX_DISCARD && !self.buffer.contains(&b'\n') {
            dropped += self.buffer.len();
            self.buffer.clear();
            self.read_more().await;
        }
    }

    /// A client that only sends no more stays; the hub closes it when it has had its answers.
    async fn wait_until_gone(&self) {
        while !closed_for_good(&self.read).await {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }
}

/// Whether the client closed both ways and not just its sending side.
async fn closed_for_good(read: &OwnedReadHalf) -> bool {
    let ready = read.ready(Interest::READABLE | Interest::WRITABLE).await;
    ready.map_or(true, |ready| ready.is_write_closed())
}

/// Writes what the hub has left to it until that closes the connection.
async fn write_out(
    write: &OwnedWriteHalf,
    id: ClientId,
    hub: &ToHub,
    gate: &Semaphore,
    mut left: mpsc::Receiver<ToClient>,
) {
    while let Some(message) = left.recv().await {
        // When nobody reads, what was asked for before is still done.
        let wrote = match message {
            ToClient::ReadOn => {
                gate.add_permits(1);
                Wrote::Nothing
            }
            ToClient::Answer(bytes) => {
                let _ = write_all(write, &bytes).await;
                Wrote::Nothing
            }
            ToClient::Stream(bytes) => {
                let _ = write_all(write, &bytes).await;
                Wrote::Stream
            }
            ToClient::Picture { header, bytes, size } => {
                let _ = write_picture(write, &header, &bytes).await;
                Wrote::Picture(size)
            }
        };
        let _ = hub.send(News::Client(id, FromClient::Wrote(wrote))).await;
    }
}

async fn write_all(write: &OwnedWriteHalf, bytes: &[u8]) -> io::Result<()> {
    send_all(write, bytes, |stream, left| stream.try_write(left)).await
}

/// Clients that read a line with a `recv` of a few kilobytes would get the first bytes of the picture
/// with it: the header is sent so that a read ends behind it.
async fn write_picture(write: &OwnedWriteHalf, header: &[u8], bytes: &[u8]) -> io::Result<()> {
    let alone = |stream: &UnixStream, left: &[u8]| {
        stream.try_io(Interest::WRITABLE, || socket::send_alone(stream.as_fd(), left))
    };
    send_all(write, header, alone).await?;
    write_all(write, bytes).await
}

async fn send_all(
    write: &OwnedWriteHalf,
    bytes: &[u8],
    send: impl Fn(&UnixStream, &[u8]) -> io::Result<usize>,
) -> io::Result<()> {
    let mut left = bytes;
    while !left.is_empty() {
        write.writable().await?;
        match send(write.as_ref(), left) {
            Ok(count) => left = &left[count..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
