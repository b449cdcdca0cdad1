//! Bytes as they were on a wire, and how they stand in a recording.
//!
//! Owns that no byte is lost, also where they are no text. It must not know what they say.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes as they were on a wire. In JSON a string where they are UTF-8, else `{"hex": "..."}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wire(pub Vec<u8>);

impl Wire {
    /// The bytes of a text.
    pub fn text(text: impl Into<String>) -> Wire {
        Wire(text.into().into_bytes())
    }

    /// The bytes as text, with replacement characters where they are not UTF-8.
    #[must_use]
    pub fn to_text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}

impl Serialize for Wire {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => {
                use serde::ser::SerializeMap;
                let hex: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("hex", &hex)?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Wire {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Wire, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Wire;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string or {\"hex\": \"...\"}")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Wire, E> {
                Ok(Wire::text(text))
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Wire, A::Error> {
                use serde::de::Error;
                let Some((key, hex)) = map.next_entry::<String, String>()? else {
                    return Err(A::Error::missing_field("hex"));
                };
                if key != "hex" {
                    return Err(A::Error::unknown_field(&key, &["hex"]));
                }
                from_hex(&hex)
                    .map(Wire)
                    .ok_or_else(|| A::Error::custom("expected pairs of hex digits"))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

fn from_hex(hex: &str) -> Option<Vec<u8>> {
    if !hex.len().is_multiple_of(2) || !hex.is_ascii() {
        return None;
    }
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).ok())
        .collect()
}
