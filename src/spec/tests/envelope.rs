//! Messages of JSON-RPC, alone and in batches, whatever they say.

use super::*;

#[test]
fn envelopes() {
    let check = |value: Value, expect: &[&str]| {
        for revision in Revision::ALL {
            let found = found(revision, Server, &value, None);
            // What a server may not send at all since 2026-07-28 is another rule.
            let found: Vec<&str> = found
                .iter()
                .map(String::as_str)
                .filter(|said| !said.contains("Receiving Messages"))
                .collect();
            assert_eq!(found, expect, "{revision}: {value}");
        }
    };
    let jsonrpc = "MUST basic/index Messages /jsonrpc: expected \"2.0\"";
    check(json!({"jsonrpc": "2.0", "id": 1, "method": "x"}), &[]);
    check(
        json!({"jsonrpc": "2.0", "id": "a", "method": "x", "params": {}}),
        &[],
    );
    check(json!({"jsonrpc": "2.0", "method": "x"}), &[]);
    check(
        json!({"jsonrpc": "2.0", "id": 1.0, "error": {"code": 1, "message": ""}}),
        &[],
    );
    check(json!({"id": 1, "method": "x"}), &[jsonrpc]);
    check(json!({"jsonrpc": 2.0, "id": 1, "method": "x"}), &[jsonrpc]);
    for id in [json!(null), json!(1.5), json!([1]), json!(true)] {
        check(
            json!({"jsonrpc": "2.0", "id": id, "method": "x"}),
            &["MUST basic/index Requests /id: expected a string or a whole number"],
        );
    }
    check(
        json!({"jsonrpc": "2.0", "id": 1}),
        &["MUST basic/index Messages : expected a method, a result or an error"],
    );
    check(
        json!({"jsonrpc": "2.0", "id": 1, "result": []}),
        &["MUST basic/index Messages /result: expected an object"],
    );
    check(
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": "1"}}),
        &[
            "MUST basic/index Messages /error/code: expected a whole number",
            "MUST basic/index Messages /error/message: expected a string",
        ],
    );
    check(
        json!({"jsonrpc": "2.0", "id": 1, "result": {"resultType": "complete"}, "error": {"code": 1, "message": ""}}),
        &["MUST basic/index Messages /error: expected a result or an error, not both"],
    );
    check(
        json!("x"),
        &["MUST basic/index Messages : expected an object"],
    );
}

#[test]
fn batches_are_of_one_revision_only() {
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    for revision in Revision::ALL {
        let is_allowed = found(revision, Client, &json!([ping]), None).is_empty();
        assert_eq!(is_allowed, revision == V2025_03_26, "{revision}");
    }
    let mixed = json!([ping, result(&json!({}))]);
    assert_eq!(found(V2025_03_26, Client, &mixed, None).len(), 1);
    assert_eq!(
        found(
            V2025_03_26,
            Client,
            &json!([{"id": 1, "method": "ping"}]),
            None
        ),
        ["MUST basic/index Messages /0/jsonrpc: expected \"2.0\""]
    );
    assert_eq!(
        found(V2025_03_26, Client, &json!([]), None),
        ["MUST basic/index Messages : expected at least one message in the batch"]
    );
}

#[test]
fn what_holds_for_a_message_holds_in_a_batch() {
    let params = json!({"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}});
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"});
    let both =
        json!({"jsonrpc": "2.0", "id": 1, "result": {}, "error": {"code": 1, "message": ""}});
    let cases = [
        (json!([ping, ping]), vec![]),
        (
            json!([ping, initialize]),
            vec![
                "MUST basic/lifecycle Initialization /1/method: expected initialize outside a batch",
            ],
        ),
        (
            json!([result(&json!({})), both]),
            vec!["MUST basic/index Messages /1/error: expected a result or an error, not both"],
        ),
        (
            json!([ping, 1, {"jsonrpc": "2.0", "method": "ping"}]),
            vec![
                "MUST basic/index Messages /1: expected an object",
                "MUST basic/index Requests /2/id: expected a string or a whole number",
            ],
        ),
    ];
    for (value, expect) in cases {
        assert_eq!(found(V2025_03_26, Client, &value, None), expect, "{value}");
    }
}

#[test]
fn the_method_tells_a_request_from_a_notification() {
    let no_id = "MUST basic/index Requests /id: expected a string or a whole number";
    let id = "MUST basic/index Notifications /id: expected no id of a notification";
    let check = |revision, direction, value: Value, expect: &[&str]| {
        assert_eq!(
            found(revision, direction, &value, None),
            expect,
            "{revision}: {value}"
        );
    };
    let legacy = [V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25];
    for revision in legacy {
        for method in ["ping", "tools/list", "initialize"] {
            check(
                revision,
                Client,
                json!({"jsonrpc": "2.0", "method": method}),
                &[no_id],
            );
        }
        for wrong in [json!(1), json!(null)] {
            let value =
                json!({"jsonrpc": "2.0", "id": wrong, "method": "notifications/initialized"});
            check(revision, Client, value, &[id]);
        }
        // One that only the other side sends, and one that came later, are unknown.
        check(
            revision,
            Client,
            json!({"jsonrpc": "2.0", "method": "roots/list"}),
            &[],
        );
        check(
            revision,
            Client,
            json!({"jsonrpc": "2.0", "method": "server/discover"}),
            &[],
        );
    }
    check(
        V2026_07_28,
        Client,
        json!({"jsonrpc": "2.0", "method": "tools/list"}),
        &[no_id],
    );
    let cancelled = json!({"jsonrpc": "2.0", "id": 1, "method": "notifications/cancelled", "params": {"requestId": 1}});
    check(V2026_07_28, Client, cancelled, &[id]);
    // What the revision removed is unknown, and its schema is open for any method.
    for method in ["initialize", "ping", "notifications/initialized"] {
        check(
            V2026_07_28,
            Client,
            json!({"jsonrpc": "2.0", "method": method}),
            &[],
        );
        check(
            V2026_07_28,
            Client,
            json!({"jsonrpc": "2.0", "id": 1, "method": method}),
            &[],
        );
    }
}
