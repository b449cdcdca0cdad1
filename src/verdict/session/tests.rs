//! What is said of messages that belong to no cell: one fault a row.

mod rounds;

use serde_json::{Value, json};

use super::*;
use crate::recording::Recording;
use crate::spec::Rules;
use crate::testing::{Script, form, handshake, id, reply, request, welcome};

/// A session up to the handshake's end.
fn greeted() -> Script {
    Script::new(&["a"]).initialize().client(initialized())
}

fn initialized() -> String {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string()
}

/// A handshake with other params.
fn greeted_with(params: &Value) -> Script {
    Script::new(&["a"])
        .client(request(json!("init"), "initialize", params))
        .said(&reply(json!("init"), welcome()))
        .client(initialized())
}

fn without(mut params: Value, member: &str) -> Value {
    let members = params.as_object_mut().expect("an object");
    members.shift_remove(member).expect("a member");
    params
}

fn with(mut params: Value, member: &str, value: Value) -> Value {
    params[member] = value;
    params
}

fn checked(recording: &Recording) -> Checked {
    check(Rules::builtin(), &Messages::parse(recording))
}

/// The findings, each as `strength clause (lines)`.
fn findings(script: Script) -> Vec<String> {
    let recording = script.finish();
    let said = checked(&recording).findings(&BTreeMap::new(), &[]);
    let words = said.iter().map(|verdict| {
        assert!(!verdict.reason.is_empty());
        let strength = verdict.strength.expect("a strength").name();
        let clause = verdict.clause.as_deref().expect("a clause");
        let kind = verdict.kind.name();
        format!("{kind} {strength} {clause} {:?}", verdict.evidence)
    });
    words.collect()
}

#[test]
fn a_sound_session_has_no_findings() {
    let accept = json!({"action": "accept", "content": {"value": "x"}});
    let script = greeted()
        .list()
        .call("a")
        .send("a", 1)
        .reply(1, accept)
        .done("a");
    assert_eq!(findings(script.clone()), [""; 0]);
    let checked = checked(&script.finish());
    assert_eq!(checked.harness_error(), None);
    assert_eq!(checked.ours_of(Some(&id("a"))), None);
    assert_eq!(checked.declared(), Some(&json!({"elicitation": {}})));
}

#[test]
fn a_broken_handshake_is_found() {
    let check = |what: &str, script: Script, expect: &[&str]| {
        assert_eq!(findings(script), expect, "{what}");
    };
    let schema = ["violates SCHEMA 2025-11-25 schema InitializeRequest [3]"];
    for member in ["protocolVersion", "capabilities", "clientInfo"] {
        let what = format!("no {member}");
        check(&what, greeted_with(&without(handshake(), member)), &schema);
    }
    for (member, value) in [
        ("protocolVersion", json!(20251125)),
        ("capabilities", json!(null)),
        ("capabilities", json!([])),
        ("capabilities", json!({"elicitation": true})),
        ("clientInfo", json!({"name": "acme"})),
    ] {
        let what = format!("{member} is {value}");
        check(
            &what,
            greeted_with(&with(handshake(), member, value)),
            &schema,
        );
    }
    let no_mode = with(
        handshake(),
        "capabilities",
        json!({"elicitation": {"foo": {}}}),
    );
    check(
        "no mode",
        greeted_with(&no_mode),
        &["violates MUST 2025-11-25 client/elicitation Capabilities [3]"],
    );
    let lifecycle = "2025-11-25 basic/lifecycle Initialization";
    check(
        "never confirmed",
        Script::new(&["a"]).initialize().list(),
        &[&format!("violates MUST {lifecycle} [5]")],
    );
    check("left at once", Script::new(&["a"]).initialize(), &[]);
    let early = Script::new(&["a"])
        .list()
        .initialize()
        .client(initialized());
    check(
        "too early",
        early,
        &[&format!("violates SHOULD {lifecycle} [3]")],
    );
    let ping = request(json!("p"), "ping", &json!({}));
    let pinged = Script::new(&["a"])
        .client(ping)
        .said(&reply(json!("p"), json!({})));
    check(
        "an early ping",
        pinged.initialize().client(initialized()),
        &[],
    );
    let modern = json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "acme", "version": "1.0.0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    let discover = request(json!("d"), "server/discover", &modern);
    let fallen_back = Script::new(&["a"])
        .client(discover)
        .initialize()
        .client(initialized());
    check("tried the modern era first", fallen_back, &[]);
}

#[test]
fn broken_messages_beside_the_probes_are_found() {
    let check = |what: &str, line: &str, expect: &[&str]| {
        assert_eq!(findings(greeted().client(line)), expect, "{what}");
    };
    let messages = "violates MUST 2025-11-25 basic/index Messages [6]";
    let requests = "violates MUST 2025-11-25 basic/index Requests [6]";
    let stdio = "violates MUST 2025-11-25 basic/transports stdio [6]";
    check("not JSON", "hello", &[stdio]);
    check("an empty line", "", &[stdio]);
    check(
        "no jsonrpc",
        r#"{"id":9,"method":"tools/list"}"#,
        &[messages],
    );
    check(
        "a null id",
        r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#,
        &[requests],
    );
    check(
        "no id",
        r#"{"jsonrpc":"2.0","method":"tools/list"}"#,
        &[requests],
    );
    check(
        "a notification with an id",
        r#"{"jsonrpc":"2.0","id":9,"method":"notifications/roots/list_changed"}"#,
        &["violates MUST 2025-11-25 basic/index Notifications [6]"],
    );
    check(
        "a cursor that is a number",
        r#"{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{"cursor":1}}"#,
        &["violates SCHEMA 2025-11-25 schema ListToolsRequest [6]"],
    );
    check(
        "a reply to nobody",
        r#"{"jsonrpc":"2.0","id":9,"result":{}}"#,
        &["violates MUST 2025-11-25 basic/index Result Responses [6]"],
    );
    check(
        "an id used before",
        r#"{"jsonrpc":"2.0","id":"init","method":"ping"}"#,
        &[requests],
    );
    check(
        "an unknown notification",
        r#"{"jsonrpc":"2.0","method":"notifications/x/y"}"#,
        &[],
    );
    check(
        "an unknown request",
        r#"{"jsonrpc":"2.0","id":9,"method":"x/y"}"#,
        &[],
    );
    assert_eq!(
        findings(greeted().client(b"\"\xff\"")),
        [stdio],
        "not UTF-8"
    );
}

#[test]
fn batches() {
    let check = |version: &str, batch: &Value, expect: &[&str]| {
        let welcome = with(welcome(), "protocolVersion", json!(version));
        let script = Script::new(&["a"])
            .client(request(json!("init"), "initialize", &handshake()))
            .said(&reply(json!("init"), welcome))
            .client(initialized());
        let found = findings(script.client(batch.to_string()));
        assert_eq!(found, expect, "{version}: {batch}");
    };
    let ping = json!({"jsonrpc": "2.0", "id": 9, "method": "ping"});
    check("2025-03-26", &json!([ping]), &[]);
    let messages = |version: &str| format!("violates MUST {version} basic/index Messages [6]");
    for version in ["2025-03-26", "2025-11-25"] {
        check(version, &json!([]), &[&messages(version)]);
    }
    check("2025-06-18", &json!([ping]), &[&messages("2025-06-18")]);
    let params = with(handshake(), "protocolVersion", json!("2025-03-26"));
    let again = json!({"jsonrpc": "2.0", "id": 9, "method": "initialize", "params": params});
    check(
        "2025-03-26",
        &json!([again]),
        &["violates MUST 2025-03-26 basic/lifecycle Initialization [6]"],
    );
}

#[test]
fn the_same_fault_again_is_one_finding() {
    let mut script = greeted();
    for _ in 0..50 {
        script = script.client("noise");
    }
    let recording = script.finish();
    let found = checked(&recording).findings(&BTreeMap::new(), &[]);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].evidence.len(), MAX_LINES);
}

#[test]
fn our_own_faults_come_first() {
    let wrong = without(form(), "requestedSchema");
    let script = greeted()
        .call("a")
        .send_with("a", 1, &wrong)
        .reply(1, json!({"action": "cancel"}));
    let checked_ = checked(&script.done("a").finish());
    assert_eq!(checked_.harness_error(), None);
    let said = checked_.ours_of(Some(&id("a"))).expect("a fault");
    assert!(said.contains("line 7 is of ours"), "{said}");
    let no_version = Script::new(&["a"])
        .client(request(json!("init"), "initialize", &handshake()))
        .said(&reply(json!("init"), without(welcome(), "serverInfo")));
    let checked_ = checked(&no_version.finish());
    assert!(checked_.harness_error().is_some());
}

#[test]
fn what_a_cell_says_is_no_finding_as_well() {
    let reject = json!({"action": "reject"});
    let recording = greeted()
        .call("a")
        .send("a", 1)
        .reply(1, reject)
        .done("a")
        .finish();
    let checked = checked(&recording);
    assert!(!checked.reply(Some(8)).is_empty());
    let outcomes = crate::outcome::all(&recording).into_iter().collect();
    assert_eq!(
        checked.findings(&outcomes, &[]),
        [],
        "judged in another session"
    );
    let unspoken = checked.findings(&BTreeMap::new(), &[]);
    assert_eq!(unspoken.len(), 1, "a reply that no outcome rests on");
}

#[test]
fn each_server_has_a_conversation_of_its_own() {
    let noise = |script: Script| script.server("server-2").initialize().client(initialized());
    assert_eq!(
        findings(noise(greeted())),
        [""; 0],
        "the same ids, to another server"
    );
}
