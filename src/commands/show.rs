//! `show`: every byte of one cell, in order, readable.

use std::path::{Path, PathBuf};

use anyhow::anyhow;

use super::root::Root;
use super::{Failure, OK, output, rules, run_dir, targets};
use crate::catalogue::Probe;
use crate::matrix;
use crate::names::{self, CellPattern, ProbeId, Target};
use crate::recording::{Dir, Entry, Event, Head, HostDir, Recording, Wire, redact};
use crate::render::escape::terminal;
use crate::spec::Rules;

/// What is shown of a long text without `--full`.
const SHORT: usize = 600;

pub(super) fn show(
    root: Option<PathBuf>,
    cell: &str,
    run: Option<PathBuf>,
    full: bool,
    schema_dir: Option<&Path>,
) -> Result<u8, Failure> {
    let root = Root::find(root)?;
    let pattern: CellPattern = cell
        .parse()
        .map_err(|error: String| Failure::request(anyhow!(error)))?;
    let catalogue = root.catalogue()?;
    let probe = find_probe(&pattern, &catalogue)?;
    let rules = rules::rules(schema_dir)?;
    let found = match run {
        Some(run) => search(&[run], &root, &pattern)?,
        None => search(&[root.latest(), root.snapshots()], &root, &pattern)?,
    };
    output::result(&render(
        &found,
        probe,
        &judgement(rules, &found.recording, probe, &catalogue),
        full,
    ))?;
    Ok(OK)
}

fn find_probe<'a>(pattern: &CellPattern, catalogue: &'a [Probe]) -> Result<&'a Probe, Failure> {
    catalogue
        .iter()
        .find(|probe| probe.id == pattern.probe)
        .ok_or_else(|| {
            let hint = names::did_you_mean(
                &pattern.probe.0,
                catalogue.iter().map(|probe| probe.id.0.as_str()),
            );
            Failure::request(anyhow!("unknown probe `{}`", pattern.probe)).hint(hint)
        })
}

/// A recording that a cell rests on.
struct Found {
    path: PathBuf,
    recording: Recording,
    is_raw: bool,
}

/// The cell in the first place that has it; of several revisions the newest, unless one is named.
fn search(places: &[PathBuf], root: &Root, pattern: &CellPattern) -> Result<Found, Failure> {
    let version = match &pattern.version {
        Some(version) => version.clone(),
        None => {
            let clients = root.clients(&[]).unwrap_or_default();
            targets::find_client(&pattern.client, &clients)?
                .pinned
                .clone()
        }
    };
    let target = Target {
        client: pattern.client.clone(),
        version,
        surface: pattern.surface.clone(),
    };
    let mut known: Vec<String> = Vec::new();
    for place in places.iter().filter(|place| place.is_dir()) {
        let mut cells = Vec::new();
        for (path, recording, is_raw) in recordings(place)? {
            known.push(recording.header.target.to_string());
            if recording.header.target == target && recording.header.cells.contains(&pattern.probe)
            {
                cells.push(Found {
                    path,
                    recording,
                    is_raw,
                });
            }
        }
        if let Some(found) = of_revision(cells, pattern)? {
            return Ok(found);
        }
    }
    known.sort();
    known.dedup();
    let error = anyhow!("no recording of {target}/{}", pattern.probe);
    let hint = match known.is_empty() {
        true => format!("capmatrix run {target} makes one"),
        false => format!(
            "recorded targets: {}; capmatrix run {target} makes another",
            known.join(", ")
        ),
    };
    Err(Failure::request(error).hint(hint))
}

/// Takes the one in the revision that is asked for. Tells which others there are.
fn of_revision(mut cells: Vec<Found>, pattern: &CellPattern) -> Result<Option<Found>, Failure> {
    let revision = |found: &Found| (found.recording.header.revision).or(found.recording.revision());
    // A later session of the same cell counts, as in the matrix.
    cells.sort_by_key(revision);
    let mut there: Vec<String> = cells
        .iter()
        .filter_map(revision)
        .map(|it| it.to_string())
        .collect();
    there.dedup();
    let taken = match pattern.revision {
        Some(wanted) => cells
            .into_iter()
            .rfind(|found| revision(found) == Some(wanted)),
        None => cells.pop(),
    };
    match (&taken, pattern.revision) {
        (None, Some(wanted)) if !there.is_empty() => {
            let error = anyhow!("this cell was not run in revision {wanted}");
            Err(Failure::request(error).hint(format!("there is {}", there.join(", "))))
        }
        (Some(_), None) if there.len() > 1 => {
            let newest = there.pop().unwrap_or_default();
            output::note(&format!(
                "in {newest}; there is {}, too: end the cell's name with e.g. #{}",
                there.join(", "),
                there[0]
            ));
            Ok(taken)
        }
        _ => Ok(taken),
    }
}

fn recordings(place: &Path) -> Result<Vec<(PathBuf, Recording, bool)>, Failure> {
    if place.join("sessions").is_dir() {
        let raw = run_dir::raw_recordings(place).map_err(Failure::request)?;
        return Ok(raw
            .into_iter()
            .map(|(path, recording)| (path, recording, true))
            .collect());
    }
    let evidence = run_dir::evidence_below(place).map_err(Failure::request)?;
    Ok(evidence
        .into_iter()
        .map(|recording| {
            (
                run_dir::target_folder(place, &recording.header.target),
                recording,
                false,
            )
        })
        .collect())
}

fn render(found: &Found, probe: &Probe, judgement: &str, full: bool) -> String {
    let recording = &found.recording;
    let mut out = String::new();
    let header = &recording.header;
    out.push_str(&format!("cell       {}/{}\n", header.target, probe.id));
    out.push_str(&format!("recording  {}\n", found.path.display()));
    if !found.is_raw {
        out.push_str("           (committed evidence: redacted, without model requests and output; `capmatrix run` records all)\n");
    }
    let revision = recording
        .revision()
        .map_or("none", |revision| revision.as_str());
    out.push_str(&format!(
        "revision   {revision}   isolation  {:?}   {}\n",
        header.isolation, header.platform
    ));
    out.push_str(judgement);
    let places = redact::place(recording);
    let start = recording.entries.first().map_or(0, |entry| entry.t_us);
    for (index, (entry, place)) in recording.entries.iter().zip(&places).enumerate() {
        if belongs(&entry.event, place.as_ref(), &probe.id, full)
            && let Some(text) = describe(&entry.event, full)
        {
            out.push_str(&format!("{:>5} {}{text}\n", index + 2, time(entry, start)));
        }
    }
    if !full && found.is_raw {
        out.push_str("\nlong model requests and output are cut; --full prints them whole\n");
    }
    out
}

fn judgement(rules: &Rules, recording: &Recording, probe: &Probe, catalogue: &[Probe]) -> String {
    // Judged as it stands here, so that the line numbers are those of this file.
    let matrix = matrix::build_by(rules, std::slice::from_ref(recording), catalogue);
    let Some(cell) = matrix.cells.iter().find(|cell| cell.probe == probe.id) else {
        return String::new();
    };
    let verdict = &cell.verdict;
    let mut out = format!(
        "verdict    {} (blame: {})\n",
        verdict.word(),
        verdict.blame.name()
    );
    if let (Some(clause), Some(strength)) = (&verdict.clause, verdict.strength) {
        out.push_str(&format!(
            "clause     {} [{}]\n",
            terminal(clause, 200),
            strength.name()
        ));
    }
    out.push_str(&format!("reason     {}\n", terminal(&verdict.reason, 1000)));
    out.push_str(&format!(
        "evidence   lines {}\n",
        numbers(&verdict.evidence)
    ));
    if let Some(latency) = cell.outcome.latency_us {
        out.push_str(&format!(
            "latency    {}.{:03} ms\n",
            latency / 1000,
            latency % 1000
        ));
    }
    for finding in matrix.targets.iter().flat_map(|facts| &facts.findings) {
        let verdict = &finding.verdict;
        out.push_str(&format!(
            "session    {}: {} (lines {})\n",
            verdict.word(),
            terminal(&verdict.reason, 300),
            numbers(&verdict.evidence)
        ));
    }
    out.push_str(&format!(
        "why        {}\n\n",
        terminal(probe.why.trim(), 1000)
    ));
    out
}

fn numbers(lines: &[usize]) -> String {
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    lines.join(", ")
}

/// Whether an entry is shown for this cell: its own, and those of the session that led there. What a client
/// prints on standard output belongs to no cell for certain; without `full` only lines that name the probe are shown.
fn belongs(event: &Event, place: Option<&ProbeId>, probe: &ProbeId, full: bool) -> bool {
    match (event, place) {
        (_, Some(place)) => place == probe,
        (Event::Stdout { line }, None) if !full => {
            let quoted = format!("\"{probe}\"");
            line.to_text().contains(&quoted) || line.to_text().contains(&format!("{probe}: "))
        }
        (_, None) => true,
    }
}

fn time(entry: &Entry, start: u64) -> String {
    if entry.t_us == 0 {
        return String::new();
    }
    let ms = entry.t_us.saturating_sub(start) / 1000;
    format!("{ms:>6} ms ")
}

fn describe(event: &Event, full: bool) -> Option<String> {
    let whole = |line: &Wire| terminal(&line.to_text(), usize::MAX);
    let short = |line: &Wire| bounded(line, full);
    Some(match event {
        Event::Header(_) | Event::Footer { .. } => return None,
        Event::ClientStarted { argv } => {
            format!("client started  {}", terminal(&argv.join(" "), SHORT))
        }
        Event::ServerStarted => "probe server started".to_owned(),
        Event::Withheld { .. } => "no answer, as the script says".to_owned(),
        Event::Ending { by } => format!("the server is ended: {}", terminal(by, 40)),
        Event::ServerClosed => "the client closed the MCP channel".to_owned(),
        Event::Mcp {
            dir, line, head, ..
        } => {
            let from = match dir {
                Dir::ClientToServer => "client -> server",
                Dir::ServerToClient => "server -> client",
            };
            let head = head.as_deref().map(headers).unwrap_or_default();
            format!(
                "mcp  {from}  {}{}",
                terminal(&head, usize::MAX),
                whole(line)
            )
        }
        Event::Http {
            request, answer, ..
        } => {
            let method = request.method.as_deref().unwrap_or_default();
            let path = request.path.as_deref().unwrap_or_default();
            let (method, path) = (terminal(method, 20), terminal(path, SHORT));
            let headers = terminal(&headers(request), usize::MAX);
            format!("http {method} {path}  {headers}-> {answer}")
        }
        Event::Bytes {
            dir,
            connection,
            bytes,
        } => {
            let from = match dir {
                Dir::ClientToServer => "client -> server",
                Dir::ServerToClient => "server -> client",
            };
            format!("http connection {connection}  {from}  {}", short(bytes))
        }
        Event::NotDeclared { needs, .. } => format!("not sent: {needs} is not declared"),
        Event::NotAsked { reason, .. } => format!("not sent: {reason}"),
        Event::NoReply { after_ms, .. } => format!("no reply within {after_ms} ms"),
        Event::ProbeDone { .. } => "probe done".to_owned(),
        Event::Called { .. } => "driver asks for the call".to_owned(),
        Event::CallReturned { .. } => "the call came back to the driver".to_owned(),
        Event::Presented { params, .. } => {
            format!("presented  {}", terminal(&params.to_string(), usize::MAX))
        }
        Event::AnswerGiven { answer, .. } => format!("answered   {answer}"),
        Event::Host {
            dir: HostDir::ToClient,
            line,
        } => format!("host driver -> client  {}", short(line)),
        Event::Host {
            dir: HostDir::FromClient,
            line,
        } => format!("host client -> driver  {}", short(line)),
        Event::ModelRequest { method, path, body } => {
            format!(
                "model request  {} {}  {}",
                terminal(method, 20),
                terminal(path, 200),
                short(body)
            )
        }
        Event::ModelReply { status, body } => format!("model reply    {status}  {}", short(body)),
        Event::ToolOffered { name, deferred } => {
            let how = if *deferred {
                "offered through a search"
            } else {
                "offered to the model"
            };
            format!("tool {how} as {}", terminal(name, 100))
        }
        Event::ToolCalled { .. } => "the scripted model calls the tool".to_owned(),
        Event::ToolResult { text, .. } => format!("the model is given  {}", terminal(text, SHORT)),
        Event::Stderr { line, .. } => format!("stderr  {}", short(line)),
        Event::Stdout { line } => format!("stdout  {}", short(line)),
        Event::NameAsked { name } => format!("name asked of the resolver  {}", terminal(name, 300)),
        Event::Exit {
            code,
            signal,
            killed,
        } => format!("client ended  code {code:?} signal {signal:?} ended by us: {killed}"),
        Event::HarnessError { message } => format!("HARNESS  {}", terminal(message, SHORT)),
        Event::Truncated { what } => format!("truncated: {}", terminal(what, 100)),
    })
}

/// The status and the headers before a message, each as `name: value;`.
fn headers(head: &Head) -> String {
    let status = head.status.map(|status| format!("{status} "));
    let headers = head.headers.iter();
    let headers = headers.map(|(name, value)| format!("{name}: {value}; "));
    status.into_iter().chain(headers).collect()
}

fn bounded(line: &Wire, full: bool) -> String {
    let text = line.to_text();
    if full || text.len() <= SHORT {
        return terminal(&text, usize::MAX);
    }
    format!("{} ({} bytes)", terminal(&text, SHORT), line.0.len())
}
