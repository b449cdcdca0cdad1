//! The definitions of a revision, as one JSON Schema document, and the validators made of them.
//!
//! Owns the layering of the project's own files and the use of the JSON Schema library. It must not know which
//! message a definition is for.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::{Map, Value, json};

use super::errata;
use crate::names::Revision;

/// A schema file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// A revision is missing.
    #[error("no schema for revision {0}")]
    NoRevision(Revision),
    /// A file has no definitions at all.
    #[error("the schema of {0} has neither `$defs` nor `definitions`")]
    NoDefinitions(Revision),
    /// A file of the project's own is no JSON.
    #[error("the project's own schema of {revision} is no JSON: {reason}")]
    NoJson {
        /// The revision.
        revision: Revision,
        /// What the library says.
        reason: String,
    },
    /// The project's own rules cannot be used, and they tell what a file must have.
    #[error("the project's own rules cannot be used: {0}")]
    Builtin(String),
    /// A definition does not compile.
    #[error("the schema of {revision}: {definition} cannot be used: {reason}")]
    Broken {
        /// The revision.
        revision: Revision,
        /// The definition.
        definition: String,
        /// What the library says, bounded.
        reason: String,
    },
}

/// The definitions of one revision, each compiled when it is first needed.
pub(super) struct Definitions {
    /// The document: a schema with all definitions.
    document: Value,
    /// Where in the document they stand: `$defs`, or `definitions` in the files of older revisions.
    place: &'static str,
    compiled: BTreeMap<String, OnceLock<Result<Validator, String>>>,
}

impl Definitions {
    /// Those of a schema file, with the known mistakes of the file put right.
    pub(super) fn of(revision: Revision, mut document: Value) -> Result<Definitions, SchemaError> {
        let place = ["$defs", "definitions"]
            .into_iter()
            .find(|place| document.get(place).is_some_and(Value::is_object))
            .ok_or(SchemaError::NoDefinitions(revision))?;
        errata::apply(revision, &mut document[place]);
        let names: Vec<String> = document[place]
            .as_object()
            .map(|all| all.keys().cloned().collect())
            .unwrap_or_default();
        let compiled = names.into_iter().map(|name| (name, OnceLock::new()));
        Ok(Definitions {
            compiled: compiled.collect(),
            document,
            place,
        })
    }

    /// Whether there is a definition of that name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.compiled.contains_key(name)
    }

    /// The validator of a definition.
    ///
    /// # Errors
    /// When there is no such definition, or it does not compile: whoever asks must not take that for a valid message.
    pub(super) fn validator(&self, name: &str) -> Result<&Validator, &str> {
        let compiled = self.compiled.get(name);
        let compiled = compiled.ok_or("there is no such definition")?;
        let compiled = compiled.get_or_init(|| self.compile(name));
        compiled.as_ref().map_err(String::as_str)
    }

    /// Compiles a definition.
    pub(super) fn compile(&self, name: &str) -> Result<Validator, String> {
        let mut schema = json!({"$ref": format!("#/{}/{name}", self.place)});
        schema[self.place] = self.document[self.place].clone();
        jsonschema::draft202012::options()
            .should_validate_formats(false)
            .build(&schema)
            .map_err(|error| error.to_string().chars().take(200).collect())
    }
}

/// The project's own schema files, oldest first. Each holds what is new or changed; null takes a definition away.
const FILES: [(Revision, &str); 5] = [
    (
        Revision::V2024_11_05,
        include_str!("schemas/2024-11-05.json"),
    ),
    (
        Revision::V2025_03_26,
        include_str!("schemas/2025-03-26.json"),
    ),
    (
        Revision::V2025_06_18,
        include_str!("schemas/2025-06-18.json"),
    ),
    (
        Revision::V2025_11_25,
        include_str!("schemas/2025-11-25.json"),
    ),
    (
        Revision::V2026_07_28,
        include_str!("schemas/2026-07-28.json"),
    ),
];

/// The whole schema document of every revision, from the layers of the project's own files.
///
/// # Errors
/// When a file is no JSON or has no definitions.
pub(super) fn own_schemas() -> Result<BTreeMap<Revision, Value>, SchemaError> {
    layered(&FILES)
}

/// Each file on top of those before it.
pub(super) fn layered(
    files: &[(Revision, &str)],
) -> Result<BTreeMap<Revision, Value>, SchemaError> {
    let mut all = Map::new();
    let mut schemas = BTreeMap::new();
    for &(revision, text) in files {
        let layer: Value = serde_json::from_str(text).map_err(|error| SchemaError::NoJson {
            revision,
            reason: error.to_string(),
        })?;
        let definitions = layer["$defs"].as_object();
        for (name, definition) in definitions.ok_or(SchemaError::NoDefinitions(revision))? {
            if definition.is_null() {
                all.shift_remove(name);
            } else {
                all.insert(name.clone(), definition.clone());
            }
        }
        schemas.insert(revision, json!({ "$defs": all }));
    }
    Ok(schemas)
}
