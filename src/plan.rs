//! Probes x targets -> sessions of cells.
//!
//! Owns which cells are asked together. Pure. Every cell that is left out carries its reason.

use std::collections::BTreeSet;

use crate::catalogue::script::Script;
use crate::catalogue::{Probe, Way};
use crate::clients::{Client, Surface};
use crate::names::{ProbeId, Revision, Target};
use crate::recording::{AskedBy, Label};

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
    /// The revision that it is in.
    pub revision: Revision,
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
    /// The revision.
    pub revision: Revision,
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

/// Makes the plan: for each target one session a revision, which carries all probes that share its handshake, and one for
/// each probe whose handshake goes by a script. `only` restricts it to one revision.
#[must_use]
pub fn plan(
    targets: Vec<PlannedTarget>,
    selected: &[&Probe],
    catalogue: &[Probe],
    only: Option<Revision>,
) -> Plan {
    let probes = with_controls(selected, catalogue);
    let mut plan = Plan::default();
    for (index, target) in targets.iter().enumerate() {
        let mut sessions: Vec<PlannedSession> = Vec::new();
        for probe in &probes {
            for revision in probe.revisions.iter().copied() {
                if let Some(reason) = left_out(target, probe, revision, only) {
                    plan.left_out.push(LeftOut {
                        target: target.target.clone(),
                        probe: probe.id.clone(),
                        revision,
                        reason: reason.to_owned(),
                    });
                    continue;
                }
                let shares = |session: &&mut PlannedSession| {
                    session.revision == revision
                        && probe.script.is_none()
                        && session.probes.iter().all(|probe| probe.script.is_none())
                };
                match sessions.iter_mut().find(shares) {
                    Some(session) => session.probes.push(probe.clone()),
                    None => sessions.push(PlannedSession {
                        target: index,
                        revision,
                        probes: vec![probe.clone()],
                    }),
                }
            }
        }
        sessions.sort_by_key(PlannedSession::label);
        plan.sessions.extend(sessions);
    }
    plan.targets = targets;
    plan
}

impl PlannedSession {
    /// What tells it from the other sessions of its target.
    #[must_use]
    pub fn label(&self) -> Label {
        Label::new(Some(self.revision), script_of(&self.probes))
    }
}

/// The probe whose script the handshake of a session with these probes goes by.
#[must_use]
pub fn script_of(probes: &[Probe]) -> Option<&ProbeId> {
    let scripted = probes.iter().find(|probe| probe.script.is_some());
    scripted.map(|probe| &probe.id)
}

/// Why a probe is not asked of a target in a revision, if it is not.
fn left_out(
    target: &PlannedTarget,
    probe: &Probe,
    revision: Revision,
    only: Option<Revision>,
) -> Option<&'static str> {
    let spoken = target.client.revisions_of(&target.target.version);
    // A script of the legacy era answers with the version that it is about, whichever the client was made for.
    let may_script = probe.script.is_some() && revision.is_legacy();
    if only.is_some_and(|only| only != revision) {
        Some("not selected by --revision")
    } else if !spoken.contains(&revision) && !may_script {
        Some("the client file does not list this revision for this version")
    } else if probe
        .script
        .as_ref()
        .and_then(Script::transport)
        .is_some_and(|it| it != target.surface.transport)
    {
        Some("it is about another transport")
    } else if probe.script.is_some() && !target.surface.handshakes {
        Some("handshakes are asked about on another surface of this client")
    } else if probe.way == Way::AfterCall && target.surface.asked_by() == AskedBy::Model {
        Some("a model calls tools only within its turn, so that no request comes after a call")
    } else {
        None
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
