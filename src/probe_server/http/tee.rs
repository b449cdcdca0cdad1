//! A connection whose bytes are recorded.
//!
//! Owns nothing but that each byte that was read or written stands in the recording. It must not know what they say.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::{Dir, Event, Recorder};
use crate::recording::Wire;

pub(super) struct Tee {
    stream: TcpStream,
    recorder: Recorder,
    number: u64,
}

impl Tee {
    pub(super) fn new(stream: TcpStream, recorder: Recorder, number: u64) -> Tee {
        Tee {
            stream,
            recorder,
            number,
        }
    }

    fn record(&self, dir: Dir, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.recorder.record(Event::Bytes {
                dir,
                connection: self.number,
                bytes: Wire(bytes.to_vec()),
            });
        }
    }
}

impl AsyncRead for Tee {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        self.record(Dir::ClientToServer, &buffer.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Tee {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, bytes))?;
        self.record(Dir::ServerToClient, &bytes[..written]);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
