//! Where clients find the server, from the first moment to the last.

use std::io;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use crate::os::paths;
use crate::os::socket::{self, Bound};

pub struct Place {
    pub listener: UnixListener,
    path: Option<PathBuf>,
    /// The usual place, which has a second name.
    usual: bool,
    /// The socket file, unless somebody else made it for us.
    bound: Option<Bound>,
}

impl Place {
    pub fn take() -> io::Result<Place> {
        let usual = !paths::socket()?.explicit;
        let place = match socket::inherited_listener() {
            Some(listener) => Place::inherit(listener, usual)?,
            None => Place::bind(usual)?,
        };
        place.linked().into_iter().for_each(socket::link_seed_path);
        Ok(place)
    }

    fn inherit(listener: UnixListener, usual: bool) -> io::Result<Place> {
        let path = listener.local_addr()?.as_pathname().map(PathBuf::from);
        Ok(Place { listener, path, usual, bound: None })
    }

    fn bind(usual: bool) -> io::Result<Place> {
        let wanted = paths::socket()?;
        let listener = socket::listen(&wanted)?;
        let bound = Some(Bound::remember(&wanted.path));
        Ok(Place { listener, path: Some(wanted.path), usual, bound })
    }

    /// Where an earlier keeper listened.
    pub fn adopt(listener: UnixListener) -> io::Result<Place> {
        let usual = !paths::socket()?.explicit;
        let mut place = Place::inherit(listener, usual)?;
        place.bound = place.path.as_deref().map(Bound::remember);
        Ok(place)
    }

    fn linked(&self) -> Option<&Path> {
        self.path.as_deref().filter(|_| self.usual)
    }

    /// The path, if the worker cannot find it out by itself.
    pub fn named(&self) -> Option<PathBuf> {
        self.path.clone().filter(|_| !self.usual || self.bound.is_none())
    }

    /// From here on clients find no server, and may start another.
    pub fn leave(&mut self) {
        self.linked().into_iter().for_each(socket::unlink_seed_path);
        self.path = None;
        if let Some(bound) = self.bound.take() {
            bound.remove(&self.listener);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.leave();
    }
}
