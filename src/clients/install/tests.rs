//! Installs with a shell script in npm's place.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::time::Duration;

use super::*;

/// What every script starts with: `$op`, `$dir`, and a line for each call.
const PREAMBLE: &str = r#"
op=$1
for arg; do [ "$before" = --prefix ] && dir=$arg; before=$arg; done
here=$(dirname "$0")
echo "$*" >> "$here/calls"
"#;
const GOOD: &str = r#"
mkdir -p "$dir/node_modules/tool/bin"
echo '#!/bin/sh' > "$dir/node_modules/tool/bin/tool"
"#;
const PROGRAM: &str = "node_modules/tool/bin/tool";

struct Case {
    dir: tempfile::TempDir,
    cache: Cache,
    client: Client,
    told: RefCell<Vec<String>>,
}

impl Case {
    fn new(script: &str) -> Case {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("npm.sh");
        fs::write(&file, format!("{PREAMBLE}{script}")).unwrap();
        let cache = Cache {
            root: fs::canonicalize(dir.path()).unwrap().join("cache"),
            // Run by name, because to execute a file that was just written fails while another test forks.
            npm: vec!["/bin/sh".into(), file.into()],
        };
        let client = Client {
            format: 1,
            id: "tool".to_owned(),
            title: "Tool".to_owned(),
            pinned: "1.2.3".to_owned(),
            source: Source::Npm {
                package: "@x/tool".to_owned(),
                programs: vec![
                    "node_modules/none/*".to_owned(),
                    "node_modules/*/bin/tool".to_owned(),
                ],
                verify: vec![],
            },
            env: BTreeMap::new(),
            files: BTreeMap::new(),
            transports: BTreeMap::new(),
            model: None,
            revisions: Vec::new(),
            modern: None,
            surfaces: BTreeMap::new(),
        };
        let told = RefCell::default();
        Case {
            dir,
            cache,
            client,
            told,
        }
    }

    async fn ensure(&self, version: &str) -> Result<Installed, InstallError> {
        let tell = |text: &str| self.told.borrow_mut().push(text.to_owned());
        let verify = async |installed: &Installed| {
            // It is complete before it is started, and not in its place yet.
            assert!(Path::new(&installed.argv[0]).is_file());
            assert!(!self.place().join(&installed.version).exists());
            Ok(())
        };
        ensure(&self.cache, &self.client, version, &tell, verify).await
    }

    fn place(&self) -> PathBuf {
        self.cache.root.join("tool")
    }

    fn calls(&self) -> usize {
        let calls = fs::read_to_string(self.dir.path().join("calls")).unwrap_or_default();
        calls.lines().count()
    }

    /// What lies in the client's folder.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.place()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

#[tokio::test]
async fn an_install_is_made_once() {
    let case = Case::new(GOOD);
    let installed = case.ensure("1.2.3").await.unwrap();
    let folder = case.place().join("1.2.3");
    assert_eq!(installed.argv, [folder.join(PROGRAM).to_str().unwrap()]);
    assert_eq!(
        (&installed.root, installed.version.as_str()),
        (&folder, "1.2.3")
    );
    // sha256sum of "#!/bin/sh\n"
    assert_eq!(
        installed.digest,
        "a8076d3d28d21e02012b20eaf7dbf75409a6277134439025f282e368e3305abf"
    );
    assert_eq!(case.names(), ["1.2.3", "1.2.3.lock"]);
    assert_eq!(
        *case.told.borrow(),
        [
            "installing @x/tool@1.2.3 with npm",
            "installed; starting it once"
        ]
    );
    let call = fs::read_to_string(case.dir.path().join("calls")).unwrap();
    assert!(
        call.starts_with("install --ignore-scripts --no-audit --no-fund --no-save "),
        "{call}"
    );

    assert_eq!(case.ensure("1.2.3").await.unwrap(), installed);
    assert_eq!((case.calls(), case.told.borrow().len()), (1, 2));
}

#[tokio::test]
async fn an_install_that_is_not_what_the_file_says_is_made_again() {
    let case = Case::new(GOOD);
    let marker = case.place().join("1.2.3/capmatrix-install.json");
    case.ensure("1.2.3").await.unwrap();
    for (old, new) in [
        ("@x/tool", "@y/tool"),
        ("\"format\":1", "\"format\":9"),
        ("/bin/", "/sbin/"),
    ] {
        let text = fs::read_to_string(&marker).unwrap();
        assert!(text.contains(old), "{text}");
        fs::write(&marker, text.replace(old, new)).unwrap();
        // The check that nothing is in place yet does not hold here.
        let verify = async |_: &Installed| Ok(());
        ensure(&case.cache, &case.client, "1.2.3", &|_| {}, verify)
            .await
            .unwrap();
    }
    assert_eq!(case.calls(), 4);
}

#[tokio::test]
async fn two_at_once_install_once() {
    let case = Case::new(&format!("sleep 0.3\n{GOOD}"));
    let (a, b) = tokio::join!(case.ensure("1.2.3"), case.ensure("1.2.3"));
    assert_eq!(a.unwrap(), b.unwrap());
    assert_eq!(case.calls(), 1);
    assert!(
        case.told
            .borrow()
            .contains(&"waiting for another install".to_owned())
    );
}

#[tokio::test]
async fn leftovers_of_this_version_are_removed() {
    let case = Case::new(GOOD);
    for name in [
        ".installing-1.2.3-77/x",
        ".installing-1.2.3-beta-77",
        "1.2.3/half",
    ] {
        fs::create_dir_all(case.place().join(name)).unwrap();
    }
    let verify = async |_: &Installed| Ok(());
    ensure(&case.cache, &case.client, "1.2.3", &|_| {}, verify)
        .await
        .unwrap();
    assert_eq!(
        case.names(),
        [".installing-1.2.3-beta-77", "1.2.3", "1.2.3.lock"]
    );
    assert!(!case.place().join("1.2.3/half").exists());
}

#[tokio::test]
async fn a_dropped_install_leaves_nothing() {
    let script = r#"
(while :; do echo more >> "$dir/busy"; done) &
echo $$ $! > "$here/pids"
sleep 100
"#;
    let case = Case::new(script);
    let pids = case.dir.path().join("pids");
    let started = async {
        while fs::read_to_string(&pids).unwrap_or_default().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        tokio::time::sleep(Duration::from_millis(2200)).await;
    };
    tokio::select! {
        done = case.ensure("1.2.3") => panic!("{done:?}"),
        () = started => {}
    }
    assert_eq!(case.names(), ["1.2.3.lock"]);
    for pid in fs::read_to_string(&pids).unwrap().split_whitespace() {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    }
    let told = case.told.borrow();
    assert!(told[1].starts_with("installing, 2 s, "), "{told:?}");
    // The lock is free again.
    File::open(case.place().join("1.2.3.lock"))
        .unwrap()
        .try_lock()
        .unwrap();
}

/// What a failed install says, chain and hint. Nothing of it is left.
async fn failure(case: &Case, version: &str) -> String {
    let error = case.ensure(version).await.unwrap_err();
    assert_eq!(case.names(), [format!("{version}.lock")]);
    let hint = error.hint().unwrap_or_default();
    format!("{:#}\nhint: {hint}", anyhow::Error::from(error))
}

#[tokio::test]
async fn failures_are_told_and_leave_nothing() {
    let no_version = r#"
if [ $op = view ]; then echo '["1.2.0","1.2.2","1.2.2-linux","2.0.0"]'; exit; fi
echo 'npm error code ETARGET
npm error notarget No matching version found for @x/tool@1.2.9.' >&2; exit 1"#;
    let said = failure(&Case::new(no_version), "1.2.9").await;
    let expect = "@x/tool has no version `1.2.9`\n\
        hint: the nearest are `1.2.2` and `2.0.0`; the newest is `2.0.0`";
    assert_eq!(said, expect);

    let no_network = r#"echo 'npm error code EAI_AGAIN
npm error syscall getaddrinfo
npm error request to https://r.example/@x%2ftool failed, reason: getaddrinfo EAI_AGAIN r.example' >&2; exit 1"#;
    let said = failure(&Case::new(no_network), "1.2.3").await;
    assert!(
        said.starts_with("cannot reach npm's registry (EAI_AGAIN): request to https://r.example/@x%2ftool failed, "),
        "{said}"
    );

    let said = failure(
        &Case::new("printf 'npm error \\033[31mboom\\nnpm notice new\\n' >&2; exit 7"),
        "1.2.3",
    )
    .await;
    assert_eq!(
        said,
        "npm failed (exit status: 7):\n  \\u{1b}[31mboom\nhint: "
    );

    let said = failure(&Case::new("exit 0"), "1.2.3").await;
    assert!(
        said.starts_with(
            "@x/tool@1.2.3 has no program at node_modules/none/* or node_modules/*/bin/tool\n"
        ),
        "{said}"
    );

    // A link that leads out is not taken for the program.
    let link =
        r#"mkdir -p "$dir/node_modules/tool/bin"; ln -s /bin/sh "$dir/node_modules/tool/bin/tool""#;
    assert!(
        failure(&Case::new(link), "1.2.3")
            .await
            .contains("has no program")
    );

    let mut case = Case::new("");
    case.cache.npm = vec!["/no/such/npm".into()];
    let said = failure(&case, "1.2.3").await;
    assert!(
        said.starts_with("/no/such/npm not found on PATH; it is needed for installing clients\n"),
        "{said}"
    );
}

#[tokio::test]
async fn what_does_not_start_is_not_kept() {
    let case = Case::new(GOOD);
    let verify = async |_: &Installed| anyhow::bail!("no such library");
    let error = ensure(&case.cache, &case.client, "1.2.3", &|_| {}, verify)
        .await
        .unwrap_err();
    let said = format!("{:#}", anyhow::Error::from(error));
    assert_eq!(
        said,
        "@x/tool@1.2.3 was installed but does not start: no such library"
    );
    assert_eq!(case.names(), ["1.2.3.lock"]);
}

#[tokio::test]
async fn versions_are_resolved() {
    let script = r#"
case "$*" in
*@x/tool@latest*) echo '"2.0.0"' ;;
*@x/tool@1*) echo '["1.9.0","1.10.0"]' ;;
*@x/tool@old*) ;;
*@x/tool@evil*) echo '"../../x"' ;;
*) echo '["1.9.0","1.10.0","2.0.0"]' ;;
esac"#;
    let case = Case::new(script);
    let ask = async |wanted| resolve(&case.cache, &case.client, wanted).await;
    assert_eq!(ask(None).await.unwrap(), "1.2.3");
    assert_eq!(ask(Some("7.0.0-beta.1")).await.unwrap(), "7.0.0-beta.1");
    assert_eq!(case.calls(), 0);
    assert_eq!(ask(Some("latest")).await.unwrap(), "2.0.0");
    assert_eq!(ask(Some("1")).await.unwrap(), "1.10.0");
    for tag in ["old", "evil"] {
        let error = ask(Some(tag)).await.unwrap_err();
        assert_eq!(error.to_string(), format!("@x/tool has no version `{tag}`"));
        assert_eq!(error.hint().unwrap(), "the newest is `2.0.0`");
    }
    let bad = ask(Some("../x")).await.unwrap_err();
    assert_eq!(bad.to_string(), "@x/tool has no version `../x`");
}

#[tokio::test]
async fn links_to_the_cache_are_followed_to_their_end() {
    let mut case = Case::new(GOOD);
    let real = case.cache.root.clone();
    fs::create_dir(&real).unwrap();
    case.cache.root = case.dir.path().join("link");
    std::os::unix::fs::symlink(&real, &case.cache.root).unwrap();
    for _ in 0..2 {
        let verify = async |installed: &Installed| {
            assert!(installed.root.starts_with(&real), "{installed:?}");
            Ok(())
        };
        let installed = ensure(&case.cache, &case.client, "1.2.3", &|_| {}, verify)
            .await
            .unwrap();
        let folder = real.join("tool/1.2.3");
        assert_eq!(installed.argv, [folder.join(PROGRAM).to_str().unwrap()]);
        assert_eq!(installed.root, folder);
    }
    assert_eq!(case.calls(), 1);
}

#[test]
fn this_program_is_a_client_too() {
    let own = builtin("1.0.0").unwrap();
    assert!(Path::new(&own.argv[0]).starts_with(&own.root));
    assert_eq!(
        own.digest,
        format!("capmatrix {}", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn the_cache_has_a_root() {
    let check = |vars: &[(&str, &str)], expect: Option<&str>| {
        let get = |name: &str| {
            vars.iter()
                .find(|(n, _)| *n == name)
                .map(|(_, value)| OsString::from(value))
        };
        assert_eq!(root_by(get).as_deref(), expect.map(Path::new));
    };
    check(
        &[
            ("CAPMATRIX_CACHE", "/c"),
            ("XDG_CACHE_HOME", "/x"),
            ("HOME", "/h"),
        ],
        Some("/c"),
    );
    check(
        &[
            ("CAPMATRIX_CACHE", ""),
            ("XDG_CACHE_HOME", "/x"),
            ("HOME", "/h"),
        ],
        Some("/x/capmatrix"),
    );
    check(
        &[("XDG_CACHE_HOME", "x"), ("HOME", "/h")],
        Some("/h/.cache/capmatrix"),
    );
    check(&[], None);
}
