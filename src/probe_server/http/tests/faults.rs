//! What a script has the endpoint do with one request.

use super::*;
use crate::catalogue::script::{Fault, Reply, Script, Then};

/// The way of each fault, until the client does the next thing.
#[tokio::test]
async fn faults_happen_once() {
    let faulty = |fault: Fault, to: &str| Probe {
        method: to.to_owned(),
        params: "{}".to_owned(),
        script: Some(Script {
            reply: Reply::Http(fault),
            then: vec![Then::GoesOn],
            starts_after_ms: 0,
            over: None,
        }),
        ..by(Way::Plain)
    };
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#.to_owned();
    let check = async |fault: Fault, body: &str, first: (u16, &str), second: u16| {
        let method: Value = serde_json::from_str(body).unwrap();
        let method = method["method"].as_str().unwrap();
        let endpoint = endpoint(vec![faulty(fault, method)], Revision::V2025_11_25).await;
        endpoint.initialize().await;
        let got = endpoint.post(ONE, body).await;
        assert_eq!(got.status, first.0, "{fault:?}");
        assert!(got.body.contains(first.1), "{fault:?}: {}", got.body);
        let got = endpoint.post(ONE, body).await;
        assert_eq!(got.status, second, "{fault:?}");
        let (_, parts) = endpoint.end().await;
        let marked = |entry: &&Entry| entry.event.probe().is_some_and(|id| id.0 == "a/one");
        assert!(parts[0].iter().any(|entry| marked(&entry)), "{fault:?}");
    };
    check(Fault::NotFound, &call(2), (404, ""), 404).await;
    check(Fault::BadRequest, &call(2), (400, ""), 200).await;
    check(
        Fault::Dropped,
        &call(2),
        (200, "id: capmatrix-event-1"),
        200,
    )
    .await;
    check(
        Fault::AsEvents,
        &list,
        (200, "event: message\ndata: {"),
        200,
    )
    .await;
    check(Fault::Commented, &list, (200, ": data: capmatrix"), 200).await;

    let endpoint = endpoint(
        vec![faulty(Fault::Dropped, "tools/call")],
        Revision::V2025_11_25,
    )
    .await;
    endpoint.initialize().await;
    endpoint.post(ONE, &call(2)).await;
    let headers = [
        (SESSION, "capmatrix-1"),
        ("last-event-id", "capmatrix-event-1"),
    ];
    let rest = endpoint.send("GET", PATH, &headers, "").await;
    assert!(
        rest.body.contains("the stream was resumed"),
        "{}",
        rest.body
    );
}
