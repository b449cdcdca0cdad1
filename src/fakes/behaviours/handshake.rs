//! Faults in the handshake, the tool list and other messages of the client's own, outside a probe.
//!
//! Owns those rows. Each is found beside the cells: the subject itself is presented and answered as it should be, or is not
//! sent where the broken capabilities do not declare it.

use super::expect::{NOT_DECLARED, VIOLATES_MUST, VIOLATES_SCHEMA, VIOLATES_SHOULD, WORKS};
use super::{Behaviour, Class, Judgement};
use crate::fakes::hooks::Change::{self, After, Before, Drop};
use crate::fakes::hooks::Edit::{Remove, Set};
use crate::fakes::hooks::{BEHAVES, Hooks};

const INITIALIZE: &str = "initialize";
const INITIALIZED: &str = "notifications/initialized";
const TOOLS_LIST: &str = "tools/list";

type Sends = &'static [(&'static str, Change)];

const fn row(
    name: &'static str,
    does: &'static str,
    finding: Judgement,
    sends: Sends,
) -> Behaviour {
    Behaviour {
        finding: Some(finding),
        ..super::row(Class::Handshake, name, does, WORKS).with(Hooks { sends, ..BEHAVES })
    }
}

impl Behaviour {
    /// What is broken is what declares the capability, so that the subject is not sent.
    const fn undeclared(self) -> Behaviour {
        Behaviour {
            cell: NOT_DECLARED,
            ..self
        }
    }
}

pub(super) const ROWS: &[Behaviour] = &[
    row(
        "no-client-info",
        "leaves `clientInfo` out of `initialize`",
        VIOLATES_SCHEMA,
        &[(INITIALIZE, Change::Edit(Remove("/params/clientInfo")))],
    ),
    row(
        "client-info-null",
        "sends null as `clientInfo`",
        VIOLATES_SCHEMA,
        &[(INITIALIZE, Change::Edit(Set("/params/clientInfo", "null")))],
    ),
    row(
        "client-info-without-version",
        "leaves the version out of `clientInfo`",
        VIOLATES_SCHEMA,
        &[(
            INITIALIZE,
            Change::Edit(Remove("/params/clientInfo/version")),
        )],
    ),
    row(
        "client-name-is-a-number",
        "has a number as its name in `clientInfo`",
        VIOLATES_SCHEMA,
        &[(
            INITIALIZE,
            Change::Edit(Set("/params/clientInfo/name", "5")),
        )],
    ),
    row(
        "no-protocol-version",
        "offers no protocol version",
        VIOLATES_SCHEMA,
        &[(INITIALIZE, Change::Edit(Remove("/params/protocolVersion")))],
    ),
    row(
        "protocol-version-is-a-number",
        "offers its protocol version as a number",
        VIOLATES_SCHEMA,
        &[(
            INITIALIZE,
            Change::Edit(Set("/params/protocolVersion", "20251125")),
        )],
    ),
    row(
        "no-capabilities",
        "leaves `capabilities` out of `initialize`",
        VIOLATES_SCHEMA,
        &[(INITIALIZE, Change::Edit(Remove("/params/capabilities")))],
    )
    .undeclared(),
    row(
        "capabilities-null",
        "sends null as `capabilities`",
        VIOLATES_SCHEMA,
        &[(
            INITIALIZE,
            Change::Edit(Set("/params/capabilities", "null")),
        )],
    )
    .undeclared(),
    row(
        "capabilities-array",
        "sends an array as `capabilities`",
        VIOLATES_SCHEMA,
        &[(
            INITIALIZE,
            Change::Edit(Set("/params/capabilities", r#"["elicitation"]"#)),
        )],
    )
    .undeclared(),
    row(
        "elicitation-true",
        "declares elicitation with true in the place of an object",
        VIOLATES_SCHEMA,
        &[(
            INITIALIZE,
            Change::Edit(Set("/params/capabilities/elicitation", "true")),
        )],
    )
    .undeclared(),
    row(
        "elicitation-without-a-mode",
        "declares elicitation with a mode that there is not, and no other",
        VIOLATES_MUST,
        &[(
            INITIALIZE,
            Change::Edit(Set("/params/capabilities/elicitation", r#"{"foo":{}}"#)),
        )],
    ),
    row(
        "experimental-true",
        "declares an experimental capability with true in the place of an object",
        VIOLATES_SCHEMA,
        &[(
            INITIALIZE,
            Change::Edit(Set(
                "/params/capabilities/experimental",
                r#"{"com.example/x":true}"#,
            )),
        )],
    ),
    row(
        "initialize-without-jsonrpc",
        "leaves `jsonrpc` out of `initialize`",
        VIOLATES_MUST,
        &[(INITIALIZE, Change::Edit(Remove("/jsonrpc")))],
    ),
    row(
        "no-initialized",
        "never sends `notifications/initialized`",
        VIOLATES_MUST,
        &[(INITIALIZED, Drop)],
    ),
    row(
        "request-before-initialize",
        "asks for the tools before the server has answered `initialize`",
        VIOLATES_SHOULD,
        // In front of it and not behind: what comes while the server is still answering is recorded behind the answer.
        &[(
            INITIALIZE,
            Before(b"{\"jsonrpc\":\"2.0\",\"id\":\"own-1\",\"method\":\"tools/list\"}\n"),
        )],
    ),
    row(
        "reused-id",
        "uses the id of `initialize` for another request",
        VIOLATES_MUST,
        &[(
            INITIALIZED,
            After(b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ping\"}\n"),
        )],
    ),
    row(
        "null-id",
        "sends a request whose id is null",
        VIOLATES_MUST,
        &[(
            INITIALIZED,
            After(b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}\n"),
        )],
    ),
    row(
        "boolean-id",
        "sends a request whose id is true",
        VIOLATES_MUST,
        &[(
            INITIALIZED,
            After(b"{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"ping\"}\n"),
        )],
    ),
    row(
        "tools-list-without-jsonrpc",
        "leaves `jsonrpc` out of `tools/list`",
        VIOLATES_MUST,
        &[(TOOLS_LIST, Change::Edit(Remove("/jsonrpc")))],
    ),
    row(
        "tools-list-params-array",
        "sends an array as the params of `tools/list`",
        VIOLATES_SCHEMA,
        &[(TOOLS_LIST, Change::Edit(Set("/params", "[]")))],
    ),
    row(
        "tools-list-cursor-number",
        "sends a number as the cursor of `tools/list`",
        VIOLATES_SCHEMA,
        &[(TOOLS_LIST, Change::Edit(Set("/params", r#"{"cursor":5}"#)))],
    ),
    row(
        "reply-to-nobody",
        "replies to a request that nobody sent, before any probe",
        VIOLATES_MUST,
        &[(
            INITIALIZED,
            After(b"{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}\n"),
        )],
    ),
    row(
        "progress-without-token",
        "sends a progress notification without a token",
        VIOLATES_SCHEMA,
        &[(
            INITIALIZED,
            After(
                b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progress\":1}}\n",
            ),
        )],
    ),
    row(
        "cancelled-id-object",
        "cancels a request whose id is an object",
        VIOLATES_SCHEMA,
        &[(
            INITIALIZED,
            After(
                b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":{}}}\n",
            ),
        )],
    ),
];
