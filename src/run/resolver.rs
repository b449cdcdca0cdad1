//! The sandbox's resolver: answers no name and records what was asked.
//!
//! Owns the DNS side only; a name that a quiet client asks for is a fact of its session, not an error.

use std::collections::BTreeSet;

use simple_dns::{Packet, PacketFlag, RCODE};
use tokio::net::UdpSocket;

use crate::recording::Event;
use crate::recording::write::Recorder;

/// The most names that one session records.
const MAX_NAMES: usize = 1000;

/// Answers every query on `socket` with "no such name" until it is dropped.
pub async fn serve(socket: UdpSocket, recorder: Recorder) {
    let mut seen = BTreeSet::new();
    let mut buffer = [0u8; 4096];
    loop {
        let Ok((length, from)) = socket.recv_from(&mut buffer).await else {
            return;
        };
        let Some((names, reply)) = answer(&buffer[..length]) else {
            continue;
        };
        for name in names {
            if seen.len() < MAX_NAMES && seen.insert(name.clone()) {
                recorder.record(Event::NameAsked { name });
            }
        }
        let _ = socket.send_to(&reply, from).await;
    }
}

/// The names in a query, and the bytes of the answer; `None` if it is no query.
fn answer(query: &[u8]) -> Option<(Vec<String>, Vec<u8>)> {
    let packet = Packet::parse(query).ok()?;
    if packet.has_flags(PacketFlag::RESPONSE) {
        return None;
    }
    let names = packet
        .questions
        .iter()
        .map(|question| question.qname.to_string())
        .collect();
    let mut reply = packet.into_reply();
    *reply.rcode_mut() = RCODE::NameError;
    Some((names, reply.build_bytes_vec().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_query_is_named_and_refused() {
        let query = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x07example\x03com\x00\x00\x01\x00\x01";
        let (names, reply) = answer(query).unwrap();
        assert_eq!(names, ["example.com"]);
        let reply = Packet::parse(&reply).unwrap();
        assert_eq!(reply.id(), 0x1234);
        assert_eq!(reply.rcode(), RCODE::NameError);
        assert_eq!(answer(&reply.build_bytes_vec().unwrap()), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = answer(&bytes);
        }
    }
}
