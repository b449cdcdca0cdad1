//! Accepting connections on loopback.
//!
//! Owns how many there may be, and what a failed accept means. It must not know what goes over them.

use std::io;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::recording::Event;
use crate::recording::write::Recorder;

/// Clients use a handful; more wait until one is closed.
const MAX_CONNECTIONS: usize = 256;
/// How long to wait after a failed accept, so that a lasting cause does not spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Serves each connection of `listener` with `serve` until the future is dropped, which ends all of them. `who` names the
/// server in what is recorded of its failures.
///
/// Never fails: an error of one connection ends that connection. Needs a tokio runtime with IO and time.
pub async fn accept<F, S>(listener: TcpListener, who: &str, recorder: &Recorder, mut serve: F)
where
    F: FnMut(TcpStream) -> S,
    S: Future<Output = ()> + Send + 'static,
{
    let complain = |what: String| {
        let message = format!("{who} {what}");
        recorder.record(Event::HarnessError { message });
    };
    let mut connections = JoinSet::new();
    let mut complained = false;
    loop {
        tokio::select! {
            accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve(stream));
                }
                Err(error) => {
                    if !complained && !is_peers_doing(&error) {
                        complained = true;
                        complain(format!("cannot accept a connection: {error}"));
                    }
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(ended) = connections.join_next() => {
                if let Err(error) = ended
                    && error.is_panic()
                {
                    complain(format!("broke: {error}"));
                }
            }
        }
    }
}

/// Whether a failed accept is the other side's doing, who went away before we came.
fn is_peers_doing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    )
}
