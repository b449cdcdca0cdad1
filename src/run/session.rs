//! The supervisor of one session: the first process inside the sandbox (`capmatrix session DIR`).
//!
//! Owns the life of one client: prepares its folders, starts the scripted model and the resolver, starts the
//! client, lets the driver ask, ends everything, and leaves the parts of a recording in DIR.
//! It judges nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::net::{TcpListener, UdpSocket};
use tokio::time::{sleep, timeout};

use super::drivers::{self, Drive};
use super::host::{Host, Launch};
use super::resolver;
use super::sandbox::{self, Paths};
use super::spec::{self, SessionSpec};
use crate::clients::load::fill;
use crate::model;
use crate::names::TransportKind;
use crate::plan;
use crate::probe_server::{self, http};
use crate::recording::write::{self, Recorder};
use crate::recording::{End, Event, FORMAT, Header, Isolation, read};

/// The supervisor's part of the recording, in the session's folder.
pub const PART: &str = "session.jsonl";

/// Names the probe whose call has come back to the driver, in the session's folder.
pub const BACK: &str = "call-is-back";

/// Names the probe whose first request the driver holds open, in the session's folder.
pub const HELD: &str = "request-is-held";

/// The prompt that clients with a model are given; the scripted model does not read it.
const PROMPT: &str = "run the probe";

/// How long the probe servers may take to read what a client that is gone has written. Only a process that the client
/// left behind, with the channel in its hands, makes them take longer than an instant.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Runs the session that `dir/spec.json` describes. `workspace` is the folder for an environment-only sandbox.
///
/// # Errors
/// When the sandbox cannot be set up; whatever a client does is a fact of the recording, not an error.
pub async fn run(dir: &Path, workspace: Option<&Path>) -> anyhow::Result<()> {
    let text =
        fs::read_to_string(dir.join(spec::FILE)).context("cannot read the session's spec")?;
    let spec: SessionSpec =
        serde_json::from_str(&text).context("cannot parse the session's spec")?;
    let paths = match workspace {
        Some(workspace) => sandbox::enter_env(workspace, dir)?,
        None => sandbox::enter_namespace(dir, &spec.visible)?,
    };
    if spec.isolation == Isolation::Env {
        super::orphans::adopt();
    }
    let recorder = Recorder::create(&paths.rec.join(PART), "session")?;
    recorder.record(Event::Header(Box::new(header(&spec))));
    let _resolver = match spec.isolation {
        Isolation::Namespace => Some(start_resolver(&recorder).await?),
        Isolation::Env => None,
    };
    let end = match prepare(&spec, &paths, &recorder).await {
        Ok(prepared) => {
            let end = live(&spec, &paths, &prepared, &recorder).await;
            drop(prepared.endpoint);
            end
        }
        Err(error) => {
            recorder.record(Event::HarnessError {
                message: format!("{error:#}"),
            });
            End::NotStarted
        }
    };
    let _ = timeout(LAST_WORDS, servers_left(&paths.rec)).await;
    recorder.record(Event::Footer { end });
    if spec.isolation == Isolation::Env {
        super::orphans::end_all();
    }
    Ok(())
}

/// Waits for the probe servers to end. When this process ends, the kernel ends them, whatever they have still to read.
async fn servers_left(rec: &Path) {
    let parts = read::server_parts(rec).unwrap_or_default();
    while !parts.iter().all(|part| write::is_left(part)) {
        sleep(Duration::from_millis(1)).await;
    }
}

fn header(spec: &SessionSpec) -> Header {
    // Texts before their placeholders are filled: no port and no path of a machine gets into the record.
    let settings = |env: &BTreeMap<String, String>| env.clone().into_iter();
    let mut settings: BTreeMap<String, String> = environments(spec).flat_map(settings).collect();
    let args: Vec<&str> = args(spec).map(String::as_str).collect();
    settings.insert("args".to_owned(), args.join(" "));
    for (path, text) in &spec.client.files {
        settings.insert(format!("file {path}"), text.clone());
    }
    if let Some(transport) = spec.client.transports.get(&spec.surface.transport) {
        settings.insert("server_entry".to_owned(), transport.server.clone());
    }
    Header {
        format: FORMAT,
        capmatrix: env!("CARGO_PKG_VERSION").to_owned(),
        target: spec.target.clone(),
        revision: spec.revision,
        script: plan::script_of(&spec.probes).cloned(),
        digest: spec.installed.digest.clone(),
        platform: format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH),
        isolation: spec.isolation,
        settings,
        probes: spec.probes.iter().map(|probe| probe.id.clone()).collect(),
        cells: Vec::new(),
        note: None,
        asked_by: spec.surface.asked_by(),
        answered_by: spec.surface.answered_by(),
    }
}

async fn start_resolver(recorder: &Recorder) -> anyhow::Result<tokio::task::JoinHandle<()>> {
    let socket = UdpSocket::bind(("127.0.0.1", 53))
        .await
        .context("cannot bind the sandbox's resolver")?;
    Ok(tokio::spawn(resolver::serve(socket, recorder.clone())))
}

/// What the client is started with.
struct Prepared {
    argv: Vec<String>,
    env: Vec<(String, String)>,
    /// The probe server, where the client does not start it itself.
    endpoint: Option<http::Running>,
}

async fn prepare(
    spec: &SessionSpec,
    paths: &Paths,
    recorder: &Recorder,
) -> anyhow::Result<Prepared> {
    let server_args = vec![
        "serve".to_owned(),
        "--session".to_owned(),
        paths.rec.display().to_string(),
    ];
    let mut values = BTreeMap::from([
        ("home", paths.home.display().to_string()),
        ("wd", paths.wd.display().to_string()),
        ("server_command", paths.server.display().to_string()),
        ("server_args", serde_json::to_string(&server_args)?),
        ("prompt", PROMPT.to_owned()),
    ]);
    let endpoint = match spec.surface.transport {
        TransportKind::Stdio => None,
        TransportKind::Http => Some(start_endpoint(spec, paths, recorder, &mut values).await?),
    };
    if let Some(transport) = spec.client.transports.get(&spec.surface.transport) {
        values.insert("server_entry", fill(&transport.server, &values));
    }
    if let Some(dialect) = spec.client.model {
        let listener = TcpListener::bind(("127.0.0.1", 0))
            .await
            .context("cannot bind the model endpoint")?;
        values.insert("model_port", listener.local_addr()?.port().to_string());
        let script = model::Script {
            server: probe_server::NAME.to_owned(),
            tool: probe_server::NAME.to_owned(),
            probes: spec.probes.iter().map(|probe| probe.id.clone()).collect(),
        };
        tokio::spawn(model::serve(listener, dialect, script, recorder.clone()));
    }
    for (path, text) in &spec.client.files {
        let file = paths.home.join(path);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&file, fill(text, &values))
            .with_context(|| format!("cannot write the client's file {path}"))?;
    }
    Ok(Prepared {
        argv: argv(spec, &values, &server_args, &paths.server),
        env: environment(spec, paths, &values),
        endpoint,
    })
}

/// Starts the probe server on a port of the kernel's choice.
async fn start_endpoint(
    spec: &SessionSpec,
    paths: &Paths,
    recorder: &Recorder,
    values: &mut BTreeMap<&str, String>,
) -> anyhow::Result<http::Running> {
    let listener = TcpListener::bind(("127.0.0.1", 0))
        .await
        .context("cannot bind the probe server's endpoint")?;
    let url = format!("http://{}{}", listener.local_addr()?, http::PATH);
    values.insert("server_url", url);
    let options = Arc::new(spec.server_options(&paths.rec));
    let rec = paths.rec.clone();
    Ok(http::start(listener, options, rec, recorder.clone()))
}

/// The arguments for the client: what its era needs, then the surface's own.
fn args(spec: &SessionSpec) -> impl Iterator<Item = &String> {
    let modern = spec.client.modern_in(spec.revision);
    let transport = modern.and_then(|_| spec.client.transports.get(&spec.surface.transport));
    let modern = modern.into_iter().flat_map(|modern| &modern.args);
    let transport = transport
        .into_iter()
        .flat_map(|transport| &transport.modern_args);
    modern.chain(transport).chain(&spec.surface.args)
}

/// Environment variables, each over those before it.
fn environments(spec: &SessionSpec) -> impl Iterator<Item = &BTreeMap<String, String>> {
    let modern = spec.client.modern_in(spec.revision);
    let modern = modern.map(|modern| &modern.env);
    [&spec.client.env, &spec.surface.env]
        .into_iter()
        .chain(modern)
}

fn argv(
    spec: &SessionSpec,
    values: &BTreeMap<&str, String>,
    server_args: &[String],
    server: &Path,
) -> Vec<String> {
    let mut argv = spec.installed.argv.clone();
    for arg in args(spec) {
        // Where a command line names the server as separate words, the argument is the placeholder alone.
        if arg == "{server}" {
            argv.push(server.display().to_string());
            argv.extend(server_args.iter().cloned());
        } else {
            argv.push(fill(arg, values));
        }
    }
    argv
}

fn environment(
    spec: &SessionSpec,
    paths: &Paths,
    values: &BTreeMap<&str, String>,
) -> Vec<(String, String)> {
    let mut env = BTreeMap::from([
        ("HOME".to_owned(), paths.home.display().to_string()),
        ("TMPDIR".to_owned(), paths.tmp.display().to_string()),
        ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()),
    ]);
    for (key, text) in environments(spec).flatten() {
        env.insert(key.clone(), fill(text, values));
    }
    env.into_iter().collect()
}

async fn live(spec: &SessionSpec, paths: &Paths, prepared: &Prepared, recorder: &Recorder) -> End {
    let launch = Launch {
        argv: &prepared.argv,
        env: &prepared.env,
        wd: &paths.wd,
        talks: spec.surface.driver != crate::clients::DriverKind::Prompt,
    };
    let mut host = match Host::start(&launch, recorder.clone()) {
        Ok(host) => host,
        Err(error) => {
            let program = launch.argv.first().map_or("", String::as_str);
            recorder.record(Event::HarnessError {
                message: format!("cannot start {program}: {error}"),
            });
            return End::NotStarted;
        }
    };
    let step = Duration::from_millis(spec.limits.step_ms);
    let mut drive = Drive {
        host: &mut host,
        probes: &spec.probes,
        recorder,
        rec: &paths.rec,
        wd: &paths.wd,
        step,
        held: None,
    };
    let whole = Duration::from_millis(spec.limits.session_ms);
    let end = timeout(whole, drivers::drive(spec.surface.driver, &mut drive))
        .await
        .unwrap_or(End::TimedOut);
    // A client that did not keep its deadline is not given another one.
    let patience = if end == End::TimedOut {
        Duration::ZERO
    } else {
        step
    };
    host.finish(patience).await;
    end
}
