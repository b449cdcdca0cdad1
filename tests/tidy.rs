//! What the architecture promises and a test can see.

use std::fs;
use std::path::{Path, PathBuf};

fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["src", "tests"] {
        collect(&root.join(folder), &mut files);
    }
    assert!(files.len() > 50, "only {} files", files.len());
    files
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a source file");
            (
                path.strip_prefix(root).expect("below the root").to_owned(),
                text,
            )
        })
        .collect()
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn every_file_says_what_it_owns_and_is_of_a_readable_length() {
    for (path, text) in sources() {
        assert!(
            text.starts_with("//!"),
            "{} does not say what it owns",
            path.display()
        );
        let lines = text.lines().count();
        assert!(lines <= 420, "{} has {lines} lines", path.display());
    }
}

#[test]
fn pure_stages_do_no_io() {
    for (path, text) in sources() {
        let name = path.display().to_string();
        let is_pure = ["outcome", "spec", "verdict", "matrix", "render", "plan"]
            .iter()
            .any(|stage| {
                name.starts_with(&format!("src/{stage}/")) || name == format!("src/{stage}.rs")
            });
        if !is_pure || name.contains("tests") {
            continue;
        }
        for word in [
            "tokio",
            "std::fs",
            "std::process",
            "std::net",
            "std::time",
            "Instant",
            "println!",
            "std::env::var",
        ] {
            assert!(!text.contains(word), "{name} is pure, but has `{word}`");
        }
    }
}

#[test]
fn async_code_stays_where_processes_and_sockets_are() {
    let allowed = [
        "src/run/",
        "src/model/",
        "src/probe_server/http/",
        "src/loopback.rs",
        "src/fakes",
        "src/commands/",
        "src/clients/install",
    ];
    for (path, text) in sources() {
        let name = path.display().to_string();
        if name.starts_with("src/") && text.contains("tokio::") {
            assert!(
                allowed.iter().any(|place| name.starts_with(place)),
                "{name} uses tokio"
            );
        }
    }
}

#[test]
fn only_drivers_and_client_files_know_a_client() {
    for (path, text) in sources() {
        let name = path.display().to_string();
        let may = ["src/run/drivers/", "src/cli.rs", "tests/"]
            .iter()
            .any(|place| name.starts_with(place));
        if may || name.contains("test") {
            continue;
        }
        let program = text
            .split("#[cfg(test)]\nmod tests {")
            .next()
            .unwrap_or_default();
        // Messages may give an example of what to type.
        for (number, line) in program
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.contains("e.g. "))
        {
            let code = line.split("//").next().unwrap_or_default().to_lowercase();
            for client in ["codex", "claude"] {
                // The drivers are named for what they speak.
                let code = code
                    .replace("codexappserver", "")
                    .replace("claudestreamjson", "");
                let code = code
                    .replace("codex_app_server", "")
                    .replace("claude_stream_json", "");
                assert!(!code.contains(client), "{name}:{}: {line}", number + 1);
            }
        }
    }
}
