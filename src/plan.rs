//! Probes x targets -> sessions of cells.
//!
//! Owns which cells are asked together. Pure. Every cell that is left out carries its reason.

use std::collections::BTreeSet;

use crate::catalogue::Probe;
use crate::clients::{Client, Surface};
use crate::names::{ProbeId, Target};

/// A target with what its client file says of it.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedTarget {
    /// The target.
    pub target: Target,
    /// The client's file.
    pub client: Client,
    /// The surface.
    pub surface: Surface,
}

/// One session that is to be run first; a session that breaks gives rise to more.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedSession {
    /// Index into [`Plan::targets`].
    pub target: usize,
    /// The probes, controls before those that are compared with them.
    pub probes: Vec<Probe>,
}

/// A cell that is not asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The target.
    pub target: Target,
    /// The probe.
    pub probe: ProbeId,
    /// Why.
    pub reason: String,
}

/// What a run will do.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    /// All targets.
    pub targets: Vec<PlannedTarget>,
    /// The first sessions.
    pub sessions: Vec<PlannedSession>,
    /// What is not asked.
    pub left_out: Vec<LeftOut>,
}

/// Makes the plan. All probes of today share one handshake, so each target needs one session.
#[must_use]
pub fn plan(targets: Vec<PlannedTarget>, selected: &[&Probe], catalogue: &[Probe]) -> Plan {
    let probes = with_controls(selected, catalogue);
    let sessions = (0..targets.len())
        .map(|target| PlannedSession {
            target,
            probes: probes.clone(),
        })
        .filter(|session| !session.probes.is_empty())
        .collect();
    Plan {
        targets,
        sessions,
        left_out: Vec::new(),
    }
}

/// The selected probes and the controls that they need, controls first, else in the order of the catalogue.
#[must_use]
pub fn with_controls(selected: &[&Probe], catalogue: &[Probe]) -> Vec<Probe> {
    let mut wanted: BTreeSet<&ProbeId> = selected.iter().map(|probe| &probe.id).collect();
    wanted.extend(selected.iter().filter_map(|probe| probe.control.as_ref()));
    let chosen: Vec<&Probe> = catalogue
        .iter()
        .filter(|probe| wanted.contains(&probe.id))
        .collect();
    let (controls, others): (Vec<&Probe>, Vec<&Probe>) = chosen
        .into_iter()
        .partition(|probe| probe.control.is_none());
    controls.into_iter().chain(others).cloned().collect()
}

/// The probes of one session.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// The probes, controls first.
    pub probes: Vec<Probe>,
    /// Set when the session is run for one cell that broke another session; then only that cell counts.
    pub alone_for: Option<ProbeId>,
}

/// The sessions that follow one that `broken` broke: that cell alone with its control, and the cells that
/// are `left`, with the controls that they need.
#[must_use]
pub fn after_break(session: &[Probe], broken: &ProbeId, left: &[ProbeId]) -> Vec<Batch> {
    let pick = |keep: &dyn Fn(&ProbeId) -> bool| -> Vec<Probe> {
        let wanted: Vec<&Probe> = session.iter().filter(|probe| keep(&probe.id)).collect();
        with_controls(&wanted, session)
    };
    let alone = Batch {
        probes: pick(&|id| id == broken),
        alone_for: Some(broken.clone()),
    };
    let rest = pick(&|id| id != broken && left.contains(id));
    let mut batches = vec![alone];
    if !rest.is_empty() {
        batches.push(Batch {
            probes: rest,
            alone_for: None,
        });
    }
    batches
}

#[cfg(test)]
mod tests;
