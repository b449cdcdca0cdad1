//! The two ends of what a transport carries.
//!
//! Owns what the conversation may know of a transport: how a message came, and where one goes. It must not know what a message
//! says.

use std::io::{self, Write};

use crate::recording::Head;

/// What the client sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incoming {
    /// One line of stdio without its line feed, or the body of one HTTP request.
    pub line: Vec<u8>,
    /// What HTTP said before it.
    pub head: Option<Box<Head>>,
}

impl Incoming {
    /// A line of stdio.
    #[must_use]
    pub fn line(line: Vec<u8>) -> Incoming {
        Incoming { line, head: None }
    }
}

/// Where the messages for the client go. `call` is the id, as JSON text, of the client's request that is being served.
pub trait Channel {
    /// What stands before a message that is sent now.
    fn head(&self, message: &str, call: Option<&str>) -> Option<Box<Head>>;

    /// Sends messages at once.
    ///
    /// # Errors
    /// When the client cannot be reached any more.
    fn send(&mut self, messages: &[String], call: Option<&str>) -> io::Result<()>;

    /// Whether a request reaches the client while it has none open.
    fn reaches_outside_calls(&self) -> bool;
}

/// On stdio a message is a line, wherever it belongs.
impl<W: Write> Channel for W {
    fn head(&self, _: &str, _: Option<&str>) -> Option<Box<Head>> {
        None
    }

    fn send(&mut self, messages: &[String], _: Option<&str>) -> io::Result<()> {
        let mut bytes = Vec::new();
        for message in messages {
            bytes.extend_from_slice(message.as_bytes());
            bytes.push(b'\n');
        }
        self.write_all(&bytes)?;
        self.flush()
    }

    fn reaches_outside_calls(&self) -> bool {
        true
    }
}
