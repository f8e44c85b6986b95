//! Tests of the client's pure parts: data in, cells or bytes out.

mod app;
mod layout;
mod paint;
