//! The rules to judge by: the project's own, or the official schema files of the specification in a folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, anyhow};

use super::Failure;
use crate::names::Revision;
use crate::spec::Rules;

/// The project's own rules, or those of `DIR/REVISION/schema.json` for every revision. They live as long as the process.
///
/// # Errors
/// When a file of the folder cannot be read, or is not the schema of its revision; when the project's own are broken.
pub(super) fn rules(schema_dir: Option<&Path>) -> Result<&'static Rules, Failure> {
    let Some(dir) = schema_dir else {
        let rules = Rules::builtin();
        return match rules.fault() {
            Some(fault) => Err(Failure::untested(anyhow!(
                "capmatrix's own rules cannot be used: {fault}"
            ))),
            None => Ok(rules),
        };
    };
    let read = |revision: Revision| {
        let path = dir.join(revision.as_str()).join("schema.json");
        let text = fs::read_to_string(&path)
            .with_context(|| format!("cannot read the schema file {}", path.display()))?;
        let schema =
            serde_json::from_str(&text).map_err(|error| anyhow!("{}: {error}", path.display()))?;
        Ok((revision, schema))
    };
    let hint = "--schema-dir wants the specification's own folder of schemas: REVISION/schema.json for each of the \
                revisions that capmatrix knows";
    let schemas: BTreeMap<Revision, serde_json::Value> = Revision::ALL
        .into_iter()
        .map(read)
        .collect::<anyhow::Result<_>>()
        .map_err(|error| Failure::request(error).hint(hint))?;
    let rules = Rules::from_schemas(schemas).map_err(|error| Failure::request(error).hint(hint))?;
    Ok(Box::leak(Box::new(rules)))
}
