//! Ending what a client left running, where no PID namespace does it for us.
//!
//! Owns only the environment-only sandbox's clean-up.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// Makes this process the parent of every orphan below it. Call before the client starts.
pub fn adopt() {
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Kills every descendant of this process, also one that left its process group or session.
pub fn end_all() {
    // A process may fork while the list is read, so it is read until it is empty; bounded all the same.
    for _ in 0..50 {
        let children = children_of(rustix::process::getpid());
        if children.is_empty() {
            return;
        }
        for child in children {
            let _ = kill_process(child, Signal::KILL);
            let _ = rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty());
        }
    }
}

fn children_of(parent: Pid) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| {
            let pid: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            // "pid (name) state ppid ...": the name may hold spaces and parentheses.
            let ppid: i32 = stat
                .rsplit_once(')')?
                .1
                .split_whitespace()
                .nth(1)?
                .parse()
                .ok()?;
            (ppid == parent.as_raw_nonzero().get()).then(|| Pid::from_raw(pid))?
        })
        .collect()
}
