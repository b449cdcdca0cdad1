//! The driver of clients that run one prompt and end: the scripted model does the asking.

use tokio::time::timeout;

use super::Drive;
use crate::recording::End;

/// Waits until the client closes its output. Its calls come from the scripted model's replies.
pub(super) async fn drive(drive: &mut Drive<'_>) -> End {
    let patience = drive.step * u32::try_from(drive.probes.len().max(1)).unwrap_or(1);
    let ended = timeout(patience, async {
        while drive.host.next_line().await.is_some() {}
    })
    .await;
    match ended {
        Ok(()) => End::Finished,
        Err(_) => End::TimedOut,
    }
}
