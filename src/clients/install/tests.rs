//! Installing with a stand-in for npm: what is kept, what is redone, and what is said.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use super::*;
use crate::clients::Surface;

fn client() -> Client {
    Client {
        format: 1,
        id: "demo".to_owned(),
        title: "Demo".to_owned(),
        pinned: "1.0.0".to_owned(),
        source: Source::Npm {
            package: "@demo/cli".to_owned(),
            programs: vec!["node_modules/@demo/*/bin/demo".to_owned()],
            verify: vec!["--version".to_owned()],
        },
        env: BTreeMap::new(),
        files: BTreeMap::new(),
        model: None,
        surfaces: BTreeMap::<String, Surface>::new(),
    }
}

/// A cache whose npm is a shell script; `$9` is the folder that npm is to install into.
fn cache(dir: &Path, script: &str) -> Cache {
    let npm = dir.join("npm");
    let log = dir.join("calls");
    fs::write(
        &npm,
        format!("#!/bin/sh\necho \"$@\" >> {}\n{script}\n", log.display()),
    )
    .unwrap();
    fs::set_permissions(&npm, fs::Permissions::from_mode(0o755)).unwrap();
    Cache {
        root: dir.join("cache"),
        npm,
    }
}

const WORKS: &str = "mkdir -p \"$9/node_modules/@demo/cli/bin\"\necho program > \"$9/node_modules/@demo/cli/bin/demo\"";

fn calls(dir: &Path) -> usize {
    fs::read_to_string(dir.join("calls"))
        .unwrap_or_default()
        .lines()
        .count()
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}

fn names_below(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

async fn install(cache: &Cache) -> Result<Installed, InstallError> {
    ensure(cache, &client(), "1.0.0", &|_| {}, async |_| Ok(())).await
}

#[test]
fn an_install_is_done_once_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let cache = cache(dir.path(), WORKS);
    let first = block_on(install(&cache)).unwrap();
    let second = block_on(install(&cache)).unwrap();
    assert_eq!(first, second);
    assert_eq!(calls(dir.path()), 1);
    assert!(Path::new(&first.argv[0]).is_file(), "{:?}", first.argv);
    assert_eq!(first.digest.len(), 64);
    assert_eq!(
        names_below(&cache.root.join("demo")),
        ["1.0.0", "1.0.0.lock"]
    );
}

#[test]
fn what_an_interruption_left_is_not_taken() {
    let dir = tempfile::tempdir().unwrap();
    let cache = cache(dir.path(), WORKS);
    let folder = cache.root.join("demo");
    fs::create_dir_all(folder.join("1.0.0/node_modules")).unwrap();
    fs::create_dir_all(folder.join(".installing-1.0.0-1")).unwrap();
    block_on(install(&cache)).unwrap();
    assert_eq!(calls(dir.path()), 1);
    assert_eq!(names_below(&folder), ["1.0.0", "1.0.0.lock"]);
}

#[test]
fn an_interrupted_install_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let cache = cache(dir.path(), &format!("{WORKS}\nsleep 60"));
    block_on(async {
        let work = tokio::time::timeout(Duration::from_millis(300), install(&cache)).await;
        assert!(work.is_err(), "it should still have been installing");
    });
    assert_eq!(names_below(&cache.root.join("demo")), ["1.0.0.lock"]);
}

#[test]
fn a_program_that_does_not_start_is_not_kept() {
    let dir = tempfile::tempdir().unwrap();
    let cache = cache(dir.path(), WORKS);
    let refuse = async |_: &Installed| Err(anyhow::anyhow!("it said no"));
    let error = block_on(ensure(&cache, &client(), "1.0.0", &|_| {}, refuse)).unwrap_err();
    assert_eq!(
        format!("{:#}", anyhow::Error::from(error)),
        "the installed program does not start: it said no"
    );
    assert_eq!(names_below(&cache.root.join("demo")), ["1.0.0.lock"]);
}

#[test]
fn failures_of_npm_are_told_apart() {
    let check = |script: &str, expect: &str, hint: Option<&str>| {
        let dir = tempfile::tempdir().unwrap();
        let error = block_on(install(&cache(dir.path(), script))).unwrap_err();
        assert_eq!(error.to_string(), expect);
        let said = error.hint().unwrap_or_default();
        assert!(said.contains(hint.unwrap_or_default()), "{said}");
        assert_eq!(names_below(&dir.path().join("cache/demo")), ["1.0.0.lock"]);
    };
    check(
        "if [ $1 = view ]; then echo '[\"0.9.0\",\"1.0.1\",\"1.0.1-linux\",\"2.0.0\"]'; exit 0; fi\n\
         echo 'npm error code ETARGET' >&2; exit 1",
        "no version `1.0.0` of @demo/cli",
        Some("1.0.1, 2.0.0"),
    );
    check(
        "echo 'npm error code EAI_AGAIN' >&2; exit 1",
        "npm cannot reach its registry (EAI_AGAIN)",
        Some("in the cache already"),
    );
    check(
        "printf 'npm error \\033[31mbad\\n' >&2; exit 1",
        "npm failed: npm error \\u{1b}[31mbad",
        None,
    );
    check(
        "exit 0",
        "@demo/cli@1.0.0 has no program at any of: node_modules/@demo/*/bin/demo",
        Some("programs"),
    );
}

#[test]
fn without_npm_the_hint_says_what_still_works() {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache {
        root: dir.path().join("cache"),
        npm: dir.path().join("nowhere/npm"),
    };
    let error = block_on(install(&cache)).unwrap_err();
    assert!(matches!(error, InstallError::NoNpm));
    assert!(error.hint().unwrap().contains("self-test"));
}

#[test]
fn a_version_is_the_pinned_one_the_named_one_or_what_a_tag_stands_for() {
    let dir = tempfile::tempdir().unwrap();
    let cache = cache(dir.path(), "echo 3.2.1");
    let resolve = |wanted: Option<&str>| block_on(resolve(&cache, &client(), wanted)).unwrap();
    assert_eq!(resolve(None), "1.0.0");
    assert_eq!(resolve(Some("0.9.9")), "0.9.9");
    assert_eq!(resolve(Some("latest")), "3.2.1");
}
