//! The client's process and the lines that pass between it and the driver.
//!
//! Owns starting, reading and ending one client process inside the sandbox, and records all that it
//! prints. It must not know what a line means; drivers do.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::timeout;

use crate::names::ProbeId;
use crate::recording::write::Recorder;
use crate::recording::{Event, HostDir, Wire};

/// The most that is kept of each of a client's output streams in one session.
const MAX_OUTPUT: usize = 64 * 1024 * 1024;

/// A running client.
pub struct Host {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Lines,
    stderr: Lines,
    recorder: Recorder,
    /// The probe whose call is open; stamped on what the client prints on standard error meanwhile.
    pub current: Option<ProbeId>,
    /// Whether standard output is a conversation with the driver or just text.
    talks: bool,
}

/// What is needed to start a client.
pub struct Launch<'a> {
    /// Program and arguments.
    pub argv: &'a [String],
    /// The whole environment.
    pub env: &'a [(String, String)],
    /// The working directory.
    pub wd: &'a Path,
    /// Whether the driver talks to it over standard input and output.
    pub talks: bool,
}

impl Host {
    /// Starts the client. Call this only from inside the sandbox.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn start(launch: &Launch<'_>, recorder: Recorder) -> io::Result<Host> {
        let Some((program, args)) = launch.argv.split_first() else {
            return Err(io::Error::other("no program"));
        };
        let mut child = Command::new(program)
            .args(args)
            .env_clear()
            .envs(launch.env.iter().map(|(key, value)| (key, value)))
            .current_dir(launch.wd)
            .stdin(if launch.talks {
                Stdio::piped()
            } else {
                Stdio::null()
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        recorder.record(Event::ClientStarted {
            argv: launch.argv.to_vec(),
        });
        let stdout = child
            .stdout
            .take()
            .ok_or_else(|| io::Error::other("no stdout"))?;
        let stderr = child
            .stderr
            .take()
            .ok_or_else(|| io::Error::other("no stderr"))?;
        Ok(Host {
            stdin: child.stdin.take(),
            stdout: Lines::new(stdout.into_owned_fd()?)?,
            stderr: Lines::new(stderr.into_owned_fd()?)?,
            child,
            recorder,
            current: None,
            talks: launch.talks,
        })
    }

    /// Sends one line to the client's standard input.
    ///
    /// # Errors
    /// When the client has closed it.
    pub async fn send(&mut self, line: &str) -> io::Result<()> {
        let Some(stdin) = &mut self.stdin else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        self.recorder.record(Event::Host {
            dir: HostDir::ToClient,
            line: Wire::text(line),
        });
        stdin.write_all(format!("{line}\n").as_bytes()).await?;
        stdin.flush().await
    }

    /// The next line of the client's standard output; `None` when it is closed. What it printed on
    /// standard error until then is recorded first.
    pub async fn next_line(&mut self) -> Option<Vec<u8>> {
        loop {
            tokio::select! {
                biased;
                line = self.stdout.next() => {
                    // Whatever the client wrote before this line is in the pipe already: take it now, so
                    // that it is stamped with the probe that it belongs to.
                    self.drain_stderr();
                    let line = line?;
                    self.record_stdout(line.clone());
                    return Some(line);
                }
                line = self.stderr.next(), if !self.stderr.closed => {
                    if let Some(line) = line {
                        record_stderr(&self.recorder, line, self.current.as_ref());
                    }
                }
            }
        }
    }

    fn drain_stderr(&mut self) {
        while let Some(line) = self.stderr.next_ready() {
            record_stderr(&self.recorder, line, self.current.as_ref());
        }
    }

    /// Closes standard input, reads what is left, and waits for the client to end by itself within `patience`;
    /// then ends it. Records how it ended.
    pub async fn finish(mut self, patience: Duration) -> bool {
        self.stdin = None;
        let by_itself = timeout(patience, self.read_until_exit()).await;
        let (status, killed) = match by_itself {
            Ok(status) => (status, false),
            Err(_) => (self.kill().await, true),
        };
        while let Some(line) = self.stdout.next_ready() {
            self.record_stdout(line);
        }
        while let Some(line) = self.stderr.next_ready() {
            record_stderr(&self.recorder, line, None);
        }
        for (lines, what) in [
            (&self.stdout, "standard output"),
            (&self.stderr, "standard error"),
        ] {
            if lines.taken >= MAX_OUTPUT {
                self.recorder.record(Event::Truncated {
                    what: what.to_owned(),
                });
            }
        }
        self.recorder.record(exit_event(status, killed));
        !killed
    }

    /// Reads until the process is gone. A grandchild may hold the pipes open longer; that is not waited for.
    async fn read_until_exit(&mut self) -> Option<ExitStatus> {
        loop {
            tokio::select! {
                biased;
                line = self.stdout.next(), if !self.stdout.closed => {
                    if let Some(line) = line {
                        self.record_stdout(line);
                    }
                }
                line = self.stderr.next(), if !self.stderr.closed => {
                    if let Some(line) = line {
                        record_stderr(&self.recorder, line, None);
                    }
                }
                status = self.child.wait() => return status.ok(),
            }
        }
    }

    fn record_stdout(&self, line: Vec<u8>) {
        let line = Wire(line);
        self.recorder.record(if self.talks {
            Event::Host {
                dir: HostDir::FromClient,
                line,
            }
        } else {
            Event::Stdout { line }
        });
    }

    /// Ends the client's process group: first asked, then forced.
    async fn kill(&mut self) -> Option<ExitStatus> {
        use rustix::process::{Pid, Signal, kill_process_group};
        let group = self
            .child
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::TERM);
            if let Ok(status) = timeout(Duration::from_millis(500), self.child.wait()).await {
                return status.ok();
            }
            let _ = kill_process_group(group, Signal::KILL);
        }
        self.child.wait().await.ok()
    }
}

fn exit_event(status: Option<ExitStatus>, killed: bool) -> Event {
    use std::os::unix::process::ExitStatusExt;
    Event::Exit {
        code: status.and_then(|status| status.code()),
        signal: status.and_then(|status| status.signal()),
        killed,
    }
}

fn record_stderr(recorder: &Recorder, line: Vec<u8>, probe: Option<&ProbeId>) {
    recorder.record(Event::Stderr {
        line: Wire(line),
        probe: probe.cloned(),
    });
}

/// Lines out of a pipe, with and without waiting.
struct Lines {
    pipe: pipe::Receiver,
    buffer: Vec<u8>,
    scanned: usize,
    taken: usize,
    closed: bool,
}

impl Lines {
    fn new(fd: OwnedFd) -> io::Result<Lines> {
        Ok(Lines {
            pipe: pipe::Receiver::from_owned_fd(fd)?,
            buffer: Vec::new(),
            scanned: 0,
            taken: 0,
            closed: false,
        })
    }

    /// The next line, or `None` at the end. Safe to drop while it waits: no byte is lost.
    async fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(line) = self.cut() {
                return Some(line);
            }
            if self.closed {
                return None;
            }
            let mut chunk = [0u8; 16 * 1024];
            let read = self.pipe.read(&mut chunk).await;
            self.add(&read, &chunk);
        }
    }

    /// The next line that is there already.
    fn next_ready(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(line) = self.cut() {
                return Some(line);
            }
            if self.closed {
                return None;
            }
            let mut chunk = [0u8; 16 * 1024];
            match self.pipe.try_read(&mut chunk) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
                read => self.add(&read, &chunk),
            }
        }
    }

    fn add(&mut self, read: &io::Result<usize>, chunk: &[u8]) {
        match read {
            Ok(0) | Err(_) => self.closed = true,
            Ok(length) => {
                let length = *length;
                let room = MAX_OUTPUT.saturating_sub(self.taken);
                self.buffer.extend_from_slice(&chunk[..length.min(room)]);
                self.taken = self.taken.saturating_add(length);
            }
        }
    }

    /// Cuts a line off the buffer; at the end of the stream also a last line without a line feed.
    fn cut(&mut self) -> Option<Vec<u8>> {
        if let Some(at) = self.buffer[self.scanned..]
            .iter()
            .position(|byte| *byte == b'\n')
        {
            let mut line: Vec<u8> = self.buffer.drain(..=self.scanned + at).collect();
            self.scanned = 0;
            line.pop();
            return Some(line);
        }
        self.scanned = self.buffer.len();
        (self.closed && !self.buffer.is_empty()).then(|| {
            self.scanned = 0;
            std::mem::take(&mut self.buffer)
        })
    }
}
