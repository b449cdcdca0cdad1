//! The command line as a person meets it: errors with hints, exit codes, help, interruption.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A project folder of its own: the real probes and clients, and nothing else.
struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    fn new() -> Project {
        let dir = tempfile::tempdir().expect("a folder");
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        for name in ["probes", "clients"] {
            symlink(root.join(name), dir.path().join(name)).expect("a link");
        }
        fs::create_dir(dir.path().join("snapshots")).expect("a folder");
        Project { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_capmatrix"));
        command
            .arg("--root")
            .arg(self.dir.path())
            .args(args)
            .env_remove("CAPMATRIX_ROOT")
            .current_dir(self.dir.path())
            .stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("capmatrix starts")
    }

    /// Everything below `runs/`, by name.
    fn runs(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path("runs"))
            .into_iter()
            .flatten()
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_wrong_request_is_told_with_a_hint() {
    let project = Project::new();
    fs::write(project.path("broken.toml"), "format = 1\nid = broken\n").expect("a file");
    fs::write(project.path("taken"), "something else").expect("a file");
    let check = |args: &[&str], code: i32, parts: &[&str]| {
        let output = project.run(args);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert!(
            output.stdout.is_empty(),
            "{args:?}: {}",
            text(&output.stdout)
        );
        assert!(
            said.lines().count() <= 24,
            "{args:?}: more than one screen:\n{said}"
        );
        for part in parts {
            assert!(said.contains(part), "{args:?}: no `{part}` in\n{said}");
        }
    };
    check(
        &["run", "codx"],
        2,
        &["unknown client `codx`", "did you mean `codex`?"],
    );
    check(
        &["run", "codex/exce"],
        2,
        &["no surface `exce`", "did you mean `exec`?"],
    );
    check(&["run", "codex@/exec"], 2, &["is not a target"]);
    check(
        &["run", "reference@9.9"],
        2,
        &["unknown version `9.9`", "3.11.0"],
    );
    check(
        &["run", "reference", "--probe", "elicitation/from"],
        2,
        &["no probe `elicitation/from`", "did you mean"],
    );
    check(
        &["run", "--client", "broken.toml"],
        2,
        &["broken.toml:2:6", "^"],
    );
    check(&["run", "--client", "nowhere.toml"], 2, &["nowhere.toml"]);
    check(&["run", "--binary", "codex"], 2, &["is not CLIENT=PATH"]);
    check(
        &["run", "--binary", "codex=/nowhere"],
        2,
        &["no program at /nowhere"],
    );
    check(
        &["run", "reference", "--out", "taken"],
        2,
        &["taken", "--out"],
    );
    check(
        &["run", "reference", "--out", "/proc/nowhere"],
        2,
        &["cannot write the output folder", "--out"],
    );
    check(&["show", "codex"], 2, &["is not a cell"]);
    check(
        &["show", "codex/exec/elicitation/form/bar"],
        2,
        &["unknown probe", "did you mean `elicitation/form/bare`"],
    );
    check(
        &["show", "codex/exec/elicitation/form/bare"],
        2,
        &["no recording of codex@", "capmatrix run codex@"],
    );
    check(
        &["show", "codex/exec/elicitation/form/bare#2025"],
        2,
        &["no revision `2025`"],
    );
    check(&["replay", "nowhere"], 2, &["no folder nowhere"]);
    check(&["accept"], 2, &["is not a run", "capmatrix run makes one"]);
    check(&["probes", "tools"], 2, &["no probe `tools`"]);
    check(&["self-test", "behavs"], 2, &["did you mean `behaves`"]);
    check(&["frobnicate"], 2, &["unrecognized subcommand"]);
    assert!(project.runs().is_empty(), "{:?}", project.runs());
}

#[test]
fn a_broken_probe_file_is_named_with_its_place() {
    let project = Project::new();
    fs::remove_file(project.path("probes")).expect("the link");
    fs::create_dir_all(project.path("probes/a")).expect("a folder");
    fs::write(
        project.path("probes/a/b.toml"),
        "format = 1\ntitel = \"x\"\n",
    )
    .expect("a file");
    let output = project.run(&["run", "reference"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(
        said.contains("probes/a/b.toml:2:1") && said.contains("titel"),
        "{said}"
    );
}

#[test]
fn the_reference_client_works_and_earlier_results_stay() {
    let project = Project::new();
    let output = project.run(&["run", "reference", "--format", "json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let results: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(results["format"], 1);
    for cell in results["cells"].as_array().expect("cells") {
        let kind = cell["verdict"]["kind"].as_str().expect("a kind");
        assert!(kind == "works" || kind == "lenient", "{cell}");
        for member in ["client", "version", "surface", "probe", "revision"] {
            assert!(cell[member].is_string(), "{cell}");
        }
    }
    let latest = fs::read(project.path("runs/latest/results.json")).expect("results");
    assert_eq!(output.stdout, latest);

    // A client that does not start: exit 3, and the latest run is the one from before.
    let own = project.path("dead.toml");
    fs::write(
        &own,
        "format = 1\nid = \"dead\"\ntitle = \"Dead\"\npinned = \"1\"\nrevisions = [\"2025-11-25\"]\n[source.path]\nprogram = \"./dead.sh\"\nversion = [\"--version\"]\n\
         [surfaces.host]\ntitle = \"x\"\ndriver = \"host-lines\"\npresents = true\nargs = []\n",
    )
    .expect("a file");
    fs::write(
        project.path("dead.sh"),
        "#!/bin/sh\n[ \"$1\" = --version ] && echo 1.2.3 && exit 0\nexit 4\n",
    )
    .expect("a file");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(project.path("dead.sh"), mode).expect("permissions");
    let output = project.run(&[
        "run",
        "dead",
        "--client",
        "dead.toml",
        "--probe",
        "elicitation/form/bare",
    ]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("dead@1.2.3/host never spoke to the probe server"));
    assert_eq!(
        fs::read(project.path("runs/latest/results.json")).expect("results"),
        latest
    );
    assert_eq!(project.runs(), ["latest", "latest-failed"]);

    // Judged again without running anything: the same.
    let replayed = project.run(&["replay", "runs/latest", "--format", "json"]);
    assert_eq!(text(&replayed.stdout), text(&latest));
}

#[test]
fn a_run_of_some_cells_is_no_snapshot_and_says_its_revisions() {
    let project = Project::new();
    let cell = "elicitation/form/bare";
    let run = |args: &[&str]| {
        let output =
            project.run(&[&["run", "reference/host-http", "--probe", cell], args].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let whole: Value = serde_json::from_str(&run(&["--format", "json"])).expect("JSON");
    let revisions: Vec<&str> = (whole["cells"].as_array().expect("cells").iter())
        .map(|cell| cell["revision"].as_str().expect("a revision"))
        .collect();
    assert_eq!(revisions, ["2025-06-18", "2025-11-25", "2026-07-28"]);
    let target = format!("reference@3.11.0/host-http/{cell}");
    let cell_in = |revision: &str| format!("{target}#{revision}");
    let check = |args: &[&str], code: i32, part: &str| {
        let output = project.run(args);
        let said = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.contains(part), "{args:?}: {said}");
    };
    check(&["accept"], 2, "--probe");
    check(&["show", &target], 0, "server/discover");
    check(
        &["show", &cell_in("2025-11-25")],
        0,
        "mcp-session-id: capmatrix-1",
    );
    let one = run(&["--revision", "2025-06-18", "--format", "json"]);
    let one: Value = serde_json::from_str(&one).expect("JSON");
    assert_eq!(one["cells"].as_array().map(Vec::len), Some(1));
    check(&["show", &cell_in("2026-07-28")], 2, "2025-06-18");
}

#[test]
fn without_npm_the_reference_still_runs_and_the_exit_code_is_3() {
    let project = Project::new();
    let bin = project.path("bin");
    fs::create_dir(&bin).expect("a folder");
    for program in ["unshare", "true"] {
        symlink(find_on_path(program), bin.join(program)).expect("a link");
    }
    let output = project
        .command(&["run", "--probe", "elicitation/form/bare"])
        .env("PATH", &bin)
        .env("CAPMATRIX_CACHE", project.path("cache"))
        .output()
        .expect("capmatrix starts");
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let said = text(&output.stderr);
    assert!(
        said.contains("npm not found") && said.contains("hint: "),
        "{said}"
    );
    let shown = text(&output.stdout);
    assert!(
        shown.contains("reference") && shown.contains("works"),
        "{shown}"
    );
}

fn find_on_path(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").expect("PATH");
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|candidate| candidate.is_file())
        .unwrap_or_else(|| panic!("{program} is not on PATH"))
}

#[test]
fn an_interrupted_run_leaves_nothing() {
    let project = Project::new();
    let child = project
        .command(&["self-test", "never-answers"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("capmatrix starts");
    // The client is running when its probe server has begun to record.
    let started = Instant::now();
    while !has_server_part(&project.path("runs")) {
        assert!(
            started.elapsed() < Duration::from_secs(30),
            "the session never started"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("a signal");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains("interrupted"),
        "{}",
        text(&output.stderr)
    );
    assert!(project.runs().is_empty(), "{:?}", project.runs());
}

fn has_server_part(dir: &Path) -> bool {
    fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .any(|entry| {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            name.starts_with("server-") || path.is_dir() && has_server_part(&path)
        })
}

#[test]
fn a_probe_server_used_by_hand_can_be_judged() {
    let project = Project::new();
    let mut server = project
        .command(&["serve", "--out", "runs/by-hand"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("capmatrix starts");
    let lines = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"../my client","version":"3.1"}}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"probe","arguments":{"id":"elicitation/form/bare"}}}"#,
        r#"{"jsonrpc":"2.0","id":1001,"result":{"action":"accept","content":{"value":"hello"}}}"#,
    ];
    let mut input = server.stdin.take().expect("stdin");
    std::io::Write::write_all(&mut input, (lines.join("\n") + "\n").as_bytes()).expect("written");
    drop(input);
    assert!(server.wait().expect("it ends").success());
    let output = project.run(&["replay", "runs/by-hand", "--format", "json"]);
    let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let cell = &value["cells"][0];
    assert_eq!(cell["client"], "..-my-client");
    assert_eq!(cell["outcome"]["action"], "accept");
    assert_eq!(cell["verdict"]["blame"], "nobody");
}

#[test]
fn a_reader_that_stops_early_is_no_error() {
    let project = Project::new();
    let mut child = project
        .command(&["probes", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("capmatrix starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn help_has_an_example_for_every_command() {
    for command in [
        "run",
        "check",
        "accept",
        "replay",
        "show",
        "probes",
        "clients",
        "self-test",
        "serve",
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_capmatrix"))
            .args([command, "--help"])
            .output()
            .expect("capmatrix starts");
        let help = text(&output.stdout);
        assert!(help.contains("Example: "), "{command}: {help}");
        insta::assert_snapshot!(format!("help-{command}"), help);
    }
    let output = Command::new(env!("CARGO_BIN_EXE_capmatrix"))
        .arg("--help")
        .output()
        .expect("capmatrix starts");
    insta::assert_snapshot!("help", text(&output.stdout));
}
