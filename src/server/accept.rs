//! New connections, from the same user only.

use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;
use std::time::Duration;

use super::{News, ToHub};
use crate::os::{process, socket};

/// When descriptors run out, those waiting in the backlog can wait a little longer.
const PAUSE: Duration = Duration::from_millis(100);

pub async fn run(listener: UnixListener, news: ToHub) {
    let listener =
        listener.set_nonblocking(true).and_then(|()| tokio::net::UnixListener::from_std(listener));
    let listener = match listener {
        Ok(listener) => listener,
        Err(error) => return process::complain(&format!("cannot listen: {error}")),
    };
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let own =
                    socket::peer_uid(stream.as_fd()).is_ok_and(|uid| uid == process::my_uid());
                if own && news.send(News::Connection(stream)).await.is_err() {
                    return;
                }
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}
