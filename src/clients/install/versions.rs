//! Versions as npm's registry has them.
//!
//! Owns what an exact version looks like and which ones are near another. It must not know clients.

use std::cmp::Reverse;

use serde_json::Value;

use super::{Cache, InstallError, npm};
use crate::names::nearest;

/// Whether it may be part of a path and of npm's arguments: npm takes addresses and folders too.
pub(super) fn is_plain(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.+".contains(c))
}

/// Whether it is an exact version, `1.2.3` or `1.2.3-pre`, rather than a tag.
pub(crate) fn is_exact(text: &str) -> bool {
    is_plain(text) && parse(text).is_some()
}

/// The numbers of an exact version, and whether it is a pre-release.
fn parse(text: &str) -> Option<([u64; 3], bool)> {
    let text = text.split_once('+').map_or(text, |(version, _)| version);
    let (numbers, pre) = match text.split_once('-') {
        Some((_, "")) => return None,
        Some((numbers, _)) => (numbers, true),
        None => (text, false),
    };
    let mut parts = numbers.split('.').map(|part| {
        let digits = part.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| part.parse().ok()).flatten()
    });
    let three = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some((three, pre))
}

/// Whether exact version `a` comes before `b`, a pre-release counting as the release that it leads to. False where one
/// of them is no exact version.
pub(crate) fn is_older(a: &str, b: &str) -> bool {
    match (parse(a), parse(b)) {
        (Some((a, _)), Some((b, _))) => a < b,
        _ => false,
    }
}

/// The version that a dist-tag stands for. For the first numbers of a version, the newest that starts with them.
pub(super) async fn of_tag(
    cache: &Cache,
    package: &str,
    tag: &str,
) -> Result<String, InstallError> {
    let answer = match npm::view(cache, package, Some(tag), "version").await {
        Err(InstallError::NoSuchVersion { .. }) => Value::Null,
        answer => answer?,
    };
    // What comes from outside becomes part of a path.
    let versions = texts(&answer).into_iter().filter(|text| is_exact(text));
    match versions.max_by_key(|version| parse(version)) {
        Some(version) => Ok(version.to_owned()),
        None => Err(no_such(cache, package, tag).await),
    }
}

/// The error for a version that is not there, with those that are.
pub(super) async fn no_such(cache: &Cache, package: &str, wanted: &str) -> InstallError {
    // If npm cannot be asked, the hint is less, the error the same.
    let all = match npm::view(cache, package, None, "versions").await {
        Err(error @ InstallError::NoSuchPackage { .. }) => return error,
        answer => answer.unwrap_or_default(),
    };
    let all = texts(&all);
    InstallError::NoSuchVersion {
        package: package.to_owned(),
        version: wanted.to_owned(),
        near: near(wanted, &all),
        newest: newest(&all).map(str::to_owned),
    }
}

/// npm gives one text instead of a list of one.
fn texts(answer: &Value) -> Vec<&str> {
    match answer {
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    }
}

/// The newest release.
fn newest<'a>(all: &[&'a str]) -> Option<&'a str> {
    let releases = all.iter().filter_map(|text| match parse(text)? {
        (numbers, false) => Some((numbers, *text)),
        _ => None,
    });
    releases.max().map(|(_, text)| text)
}

/// The releases right before and behind a version; for a pre-release or a tag, what is spelled alike.
fn near(wanted: &str, all: &[&str]) -> Vec<String> {
    let Some((wanted_numbers, false)) = parse(wanted) else {
        let alike = nearest(wanted, all.iter().copied());
        return alike.into_iter().map(str::to_owned).collect();
    };
    let releases: Vec<([u64; 3], &str)> = all
        .iter()
        .filter_map(|text| match parse(text)? {
            (numbers, false) => Some((numbers, *text)),
            _ => None,
        })
        .collect();
    let before = releases
        .iter()
        .filter(|(numbers, _)| *numbers < wanted_numbers)
        .max();
    let behind = releases
        .iter()
        .filter(|(numbers, _)| *numbers > wanted_numbers);
    let behind = behind.max_by_key(|(numbers, _)| Reverse(*numbers));
    let both = before.into_iter().chain(behind);
    both.map(|(_, text)| (*text).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_versions_are_told_from_tags() {
        let check = |text: &str, expect: bool| assert_eq!(is_exact(text), expect, "{text}");
        for text in [
            "1.2.3",
            "0.142.4",
            "1.2.3-alpha.1",
            "2026.8.31",
            "1.2.3+build",
        ] {
            check(text, true);
        }
        for text in [
            "latest", "1", "1.2", "1.2.x", "1.2.3.4", "1.2.3-", "v1.2.3", "+1.2.3", "1.2.3/..", "",
        ] {
            check(text, false);
        }
    }

    #[test]
    fn near_versions() {
        let all = [
            "0.9.0",
            "0.10.0",
            "0.10.2",
            "0.10.2-linux",
            "0.11.0-alpha.1",
            "0.12.0",
        ];
        let check =
            |wanted: &str, expect: &[&str]| assert_eq!(near(wanted, &all), expect, "{wanted}");
        check("0.10.99", &["0.10.2", "0.12.0"]);
        check("9.0.0", &["0.12.0"]);
        check("0.0.1", &["0.9.0"]);
        check("0.11.0-alpha.9", &["0.11.0-alpha.1", "0.12.0"]);
        check("nightly", &[]);
        assert_eq!(newest(&all), Some("0.12.0"));
        assert_eq!(texts(&serde_json::json!("1.0.0")), ["1.0.0"]);
    }
}
