//! How far a cell came.

use serde_json::json;

use super::*;

#[test]
fn the_last_stage_is_named() {
    let check = |script: Script, expect: Stage| {
        assert_eq!(a(&script.finish()).stage, Some(expect));
    };
    check(Script::new(&["a"]), Stage::ClientStarted);
    check(Script::new(&["a"]).initialize(), Stage::Handshake);
    check(Script::new(&["a"]).initialize().list(), Stage::ToolsListed);
    check(
        Script::new(&["a"])
            .with_model()
            .initialize()
            .list()
            .event(tool_offered()),
        Stage::ToolOffered,
    );
    check(called(), Stage::ToolCalled);
    check(sent(), Stage::RequestSent);
    check(sent().presented("a", form()), Stage::Presented);
    let given = || {
        sent()
            .presented("a", form())
            .answer("a", json!({"action": "decline"}))
    };
    check(given(), Stage::AnswerGiven);
    check(
        given().reply(1, json!({"action": "decline"})),
        Stage::AnswerOnWire,
    );
}
