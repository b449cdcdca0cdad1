//! `probes` and `clients`: what there is.

use std::path::PathBuf;

use serde_json::json;

use super::root::Root;
use super::{Failure, OK, output};
use crate::catalogue::load::select;
use crate::cli::ListFormat;
use crate::render::table;

pub(super) fn probes(
    root: Option<PathBuf>,
    prefix: Option<String>,
    format: ListFormat,
) -> Result<u8, Failure> {
    let root = Root::find(root)?;
    let catalogue = root.catalogue()?;
    let prefixes: Vec<String> = prefix.into_iter().collect();
    let selected = select(&catalogue, &prefixes).map_err(|error| {
        let hint = error.hint();
        Failure::request(error).hint(hint)
    })?;
    if format == ListFormat::Json {
        output::result(&format!("{:#}\n", json!({"format": 1, "probes": selected})))?;
        return Ok(OK);
    }
    let mut rows = vec![
        ["probe", "title", "invalid on purpose in"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for probe in &selected {
        let invalid: Vec<&str> = probe
            .invalid
            .keys()
            .map(|revision| revision.as_str())
            .collect();
        rows.push(vec![
            probe.id.to_string(),
            probe.title.clone(),
            invalid.join(", "),
        ]);
    }
    output::result(&table::plain(&rows))?;
    Ok(OK)
}

pub(super) fn clients(
    root: Option<PathBuf>,
    own: &[PathBuf],
    format: ListFormat,
) -> Result<u8, Failure> {
    let root = Root::find(root)?;
    let clients = root.clients(own)?;
    if format == ListFormat::Json {
        output::result(&format!("{:#}\n", json!({"format": 1, "clients": clients})))?;
        return Ok(OK);
    }
    let mut rows = vec![["target", "what it is"].map(str::to_owned).to_vec()];
    for client in &clients {
        for (name, surface) in &client.surfaces {
            rows.push(vec![
                format!("{}@{}/{name}", client.id, client.pinned),
                surface.title.clone(),
            ]);
        }
    }
    output::result(&table::plain(&rows))?;
    Ok(OK)
}
