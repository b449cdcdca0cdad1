//! What holds for the catalogue that is committed here.

use std::path::{Path, PathBuf};

use super::*;
use crate::catalogue::Way;
use crate::spec::Strength;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_probe_says_what_it_rests_on_in_every_revision() {
    let probes = load(&root().join("probes")).unwrap();
    assert!(probes.len() >= 52, "only {} probes", probes.len());
    for probe in &probes {
        for &revision in &probe.revisions {
            let norm = probe.norm(revision);
            let Some(norm) = norm else {
                panic!("{}: no norm for {revision}", probe.id);
            };
            // The only valid requests that a sentence decides are those without a mode, and those that are about more than
            // a form: what is declared, how it is sent, and what nobody is shown.
            let is_worded = probe.id.0 == "elicitation/form/mode-missing"
                || probe.asks != Asks::Request
                || probe.way != Way::Plain;
            if probe.validity(revision).is_ok() && !is_worded {
                assert_eq!(norm.keyword, Strength::Schema, "{}: {norm:?}", probe.id);
            }
        }
        for norm in &probe.norms {
            assert!(!norm.section.trim().is_empty(), "{}", probe.id);
            assert_eq!(
                norm.section.starts_with("schema "),
                norm.keyword == Strength::Schema,
                "{}: {norm:?}",
                probe.id
            );
        }
    }
}

#[test]
fn a_declaration_is_asked_about_every_mode() {
    let probes = load(&root().join("probes")).unwrap();
    let asked: Vec<&str> = probes
        .iter()
        .filter(|probe| probe.asks == Asks::Declaration)
        .map(|probe| probe.id.0.as_str())
        .collect();
    assert_eq!(
        asked,
        ["elicitation/declared/form", "elicitation/declared/url"]
    );
}

/// What the README tells people to write is a good probe.
#[test]
fn the_readme_shows_a_good_probe() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (_, section) = readme.split_once("## How to add a probe").unwrap();
    let (_, block) = section.split_once("```toml\n").unwrap();
    let (example, _) = block.split_once("```").unwrap();
    let source = Source::new(Path::new("README.md"), example.to_owned());
    let parsed = probe_file::parse(&source, &ProbeId("a/x".to_owned()));
    if let Err(problems) = parsed {
        panic!("{}", LoadError::from(problems));
    }
}
