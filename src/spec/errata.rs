//! Where the official schema files are known to be wrong, and why.
//!
//! Owns the list. The source of truth is the specification's `schema.ts`; the JSON files are generated from it, and the
//! generator wrote whole numbers where the source says `number`. Each mistake is put right in whatever file is used,
//! so that no client is blamed for it.

use serde_json::Value;

use crate::names::Revision;

/// One known mistake of the official files.
#[derive(Debug)]
pub struct Erratum {
    /// What it is called.
    pub name: &'static str,
    /// Where it stands: revision and JSON pointer below the definitions.
    pub places: &'static [(Revision, &'static str)],
    /// What stands there, as JSON.
    pub released: &'static str,
    /// What should stand there, as JSON.
    pub corrected: &'static str,
    /// Why that is known.
    pub reason: &'static str,
    /// The definition that it makes too strict.
    pub definition: &'static str,
    /// A value, as JSON, that the definition should allow and does not.
    pub example: &'static str,
}

/// All that are known.
pub static ERRATA: &[Erratum] = &[
    Erratum {
        name: "fractions in form content, beside strings and booleans",
        places: &[(
            Revision::V2025_06_18,
            "/ElicitResult/properties/content/additionalProperties/type",
        )],
        released: r#"["string","integer","boolean"]"#,
        corrected: r#"["string","number","boolean"]"#,
        reason: "schema.ts says number; the generator makes whole numbers of it unless it is told otherwise",
        definition: "ElicitResult",
        example: r#"{"action":"accept","content":{"value":1.5}}"#,
    },
    Erratum {
        name: "fractions in form content, beside lists",
        places: &[
            (
                Revision::V2025_11_25,
                "/ElicitResult/properties/content/additionalProperties/anyOf/1/type",
            ),
            (
                Revision::V2026_07_28,
                "/ElicitResult/properties/content/additionalProperties/anyOf/1/type",
            ),
        ],
        released: r#"["string","integer","boolean"]"#,
        corrected: r#"["string","number","boolean"]"#,
        reason: "schema.ts says number; the generator makes whole numbers of it unless it is told otherwise",
        definition: "ElicitResult",
        example: r#"{"action":"accept","content":{"value":1.5}}"#,
    },
    Erratum {
        name: "null and fractions in any JSON value",
        places: &[(Revision::V2026_07_28, "/JSONValue/anyOf/2/type")],
        released: r#"["string","integer","boolean"]"#,
        corrected: r#"["string","number","boolean","null"]"#,
        reason: "schema.ts says string, number, boolean or null",
        definition: "ClientCapabilities",
        example: r#"{"experimental":{"x":{"ratio":0.5,"none":null}}}"#,
    },
    Erratum {
        name: "fractional minimum of a number",
        places: &[
            (
                Revision::V2025_06_18,
                "/NumberSchema/properties/minimum/type",
            ),
            (
                Revision::V2025_11_25,
                "/NumberSchema/properties/minimum/type",
            ),
        ],
        released: r#""integer""#,
        corrected: r#""number""#,
        reason: "as released only; the file was corrected since, and schema.ts always said number",
        definition: "NumberSchema",
        example: r#"{"type":"number","minimum":0.5}"#,
    },
    Erratum {
        name: "fractional maximum of a number",
        places: &[
            (
                Revision::V2025_06_18,
                "/NumberSchema/properties/maximum/type",
            ),
            (
                Revision::V2025_11_25,
                "/NumberSchema/properties/maximum/type",
            ),
        ],
        released: r#""integer""#,
        corrected: r#""number""#,
        reason: "as released only; the file was corrected since, and schema.ts always said number",
        definition: "NumberSchema",
        example: r#"{"type":"number","maximum":0.5}"#,
    },
    Erratum {
        name: "fractional default of a number",
        places: &[(
            Revision::V2025_11_25,
            "/NumberSchema/properties/default/type",
        )],
        released: r#""integer""#,
        corrected: r#""number""#,
        reason: "as released only; the file was corrected since, and schema.ts always said number",
        definition: "NumberSchema",
        example: r#"{"type":"number","default":95.5}"#,
    },
];

/// Puts the known mistakes right in the definitions of a schema file of `revision`. What is right already stays.
pub fn apply(revision: Revision, definitions: &mut Value) {
    for erratum in ERRATA {
        for (_, at) in erratum.places.iter().filter(|(of, _)| *of == revision) {
            replace(definitions, at, erratum.released, erratum.corrected);
        }
    }
}

/// Replaces the value at `at`, if it is `before`.
fn replace(definitions: &mut Value, at: &str, before: &str, after: &str) {
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    if let Some(value) = definitions.pointer_mut(at)
        && *value == parse(before)
    {
        *value = parse(after);
    }
}
