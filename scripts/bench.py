"""Times capmatrix: judging recordings, and sessions against bare client starts (a session that asks the control alone)."""
import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

program, rounds, what = sys.argv[1], int(sys.argv[2]), sys.argv[3]
CELLS = 10_000
GOAL = 20_000


def timed(make_command):
    """The median wall-clock seconds of a command over the rounds; it is made for a fresh folder each time."""
    times = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            command = make_command(folder)
            start = time.monotonic()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            times.append(time.monotonic() - start)
    return statistics.median(times)


def copies_of_evidence(folder, copies):
    """Lays out the committed evidence `copies` times as versions of their own, and gives the number of its cells."""
    cells = 0
    for evidence in sorted(pathlib.Path("snapshots").glob("*/*/*/evidence*.jsonl")):
        header, rest = evidence.read_text().split("\n", 1)
        header = json.loads(header)
        target = header["event"]["header"]["target"]
        version = target["version"]
        for copy in range(copies):
            target["version"] = f"{version}-{copy}"
            place = pathlib.Path(folder, target["client"], target["version"], target["surface"])
            place.mkdir(parents=True, exist_ok=True)
            (place / evidence.name).write_text(json.dumps(header) + "\n" + rest)
            cells += len(header["event"]["header"]["cells"])
    return cells


def replay():
    with tempfile.TemporaryDirectory() as folder:
        committed = copies_of_evidence(folder, 1)
    print(f"{'replay':32} {'s':>8} {'cells/s':>8} {'ratio':>6}   (median of {rounds}; goal {GOAL} cells/s; ratio: time a cell")
    print(f"{'':59}against the first size, 1.0 is linear)")
    first = None
    for factor in [1, 2, 4]:
        with tempfile.TemporaryDirectory() as folder:
            cells = copies_of_evidence(folder, factor * round(CELLS / committed))
            seconds = timed(lambda _: [program, "replay", folder, "--format", "json"])
        first = first or seconds / cells
        print(f"{cells:26} cells {seconds:8.2f} {cells / seconds:8.0f} {seconds / cells / first:6.2f}")


def sessions_of(folder):
    """How many sessions a run in `folder` had, by target."""
    headers = [json.loads(path.open().readline()) for path in pathlib.Path(folder).glob("sessions/*/recording.jsonl")]
    targets = [header["event"]["header"]["target"] for header in headers]
    return collections.Counter(f"{t['client']}@{t['version']}/{t['surface']}" for t in targets)


def sessions():
    def run(*args):
        return timed(lambda folder: [program, "run", *args, "--format", "json", "--out", f"{folder}/run"])

    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "run", "--format", "json", "--out", f"{folder}/run"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        counted = sessions_of(f"{folder}/run")
    print(f"{'session':40} {'bare s':>8} {'whole s':>8} {'ratio':>6}   (median of {rounds}; bare: the control alone, in one revision)")
    starts = 0
    for target, number in sorted(counted.items()):
        bare = run(target, "--probe", "elicitation/form/bare", "--revision", "2025-11-25")
        whole = run(target, "--probe", "elicitation", "--revision", "2025-11-25")
        starts += number * bare
        print(f"{target:40} {bare:8.2f} {whole:8.2f} {whole / bare:6.2f}   {number:3} sessions in the whole matrix")
    cores = len(os.sched_getaffinity(0))
    whole = run()
    print(f"{'whole pinned matrix':40} {starts / cores:8.2f} {whole:8.2f} {whole / starts * cores:6.2f}   "
          f"({sum(counted.values())} sessions; bare: the sum of their bare starts, {starts:.2f} s, over {cores} cores; goals: 1.3 and 25 s)")


if what in ("all", "replay"):
    replay()
if what in ("all", "sessions"):
    sessions()
