"""Times capmatrix against bare client starts. A bare start is a session that asks the control alone."""
import statistics
import subprocess
import sys
import tempfile
import time

program, rounds = sys.argv[1], int(sys.argv[2])


def timed(*args):
    """The median wall-clock seconds of `capmatrix run ARGS` over the rounds."""
    times = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            start = time.monotonic()
            command = [program, "run", *args, "--format", "json", "--out", f"{folder}/run"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            times.append(time.monotonic() - start)
    return statistics.median(times)


print(f"{'session':32} {'bare s':>8} {'whole s':>8} {'ratio':>6}   (median of {rounds}; bare: the control alone)")
for target in ["codex/exec", "codex/app-server", "claude-code/print", "claude-code/stream-json", "reference"]:
    bare = timed(target, "--probe", "elicitation/form/bare")
    whole = timed(target)
    print(f"{target:32} {bare:8.2f} {whole:8.2f} {whole / bare:6.2f}")
print(f"{'whole pinned matrix':32} {'':8} {timed():8.2f}")
