"""Builds the distributions of the last commit into dist/ and checks them: `make release`.

They are built twice from fresh copies and must be equal to the byte; all files get the time of the commit. Then twine
checks them, and the wheel is installed into an empty virtual environment, where an example runs.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import subprocess
import sys
import tarfile
import venv
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]

EXAMPLE = """
import tensorbackend as tb
x = tb.tensor([[1.0, 2.0], [3.0, 4.0]], names=("batch", "feature"))
assert tb.sum(x, axis="feature").tolist() == [3.0, 7.0]
assert tb.jit(tb.grad(lambda x: tb.sum(x * x)))(x).names == ("batch", "feature")
print("tensorbackend", tb.__version__, "from", tb.__file__)
"""


def run(*command: str | Path, **environment: str) -> None:
    """Runs a command in an empty folder, and exits if the command fails."""
    with TemporaryDirectory() as neutral:
        result = subprocess.run(command, cwd=neutral, env=os.environ | environment)
    if result.returncode:
        sys.exit(result.returncode)


def built(time: str, folder: Path) -> dict[str, bytes]:
    """Builds the last commit; returns the contents of the distributions by file name."""
    source = folder / "source"
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=BytesIO(archive)) as files:
        files.extractall(source, filter="data")
    run(sys.executable, "-m", "build", "--outdir", folder / "dist", source, SOURCE_DATE_EPOCH=time)
    distributions = {path.name: path.read_bytes() for path in sorted((folder / "dist").iterdir())}
    return {
        name: repacked(data, int(time)) if name.endswith(".tar.gz") else data for name, data in distributions.items()
    }


def repacked(data: bytes, time: int) -> bytes:
    """Returns a source distribution without what differs between builds: times, owners, the order of files."""
    packed = BytesIO()
    with (
        tarfile.open(fileobj=BytesIO(data)) as before,
        gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=time) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as after,
    ):
        for member in sorted(before.getmembers(), key=lambda member: member.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = time, 0, 0, "", ""
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            member.pax_headers = {}
            after.addfile(member, before.extractfile(member) if member.isfile() else None)
    return packed.getvalue()


def main() -> None:
    """Builds twice, compares, writes dist/ and checks its contents."""
    time = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, check=True, capture_output=True, text=True)
    builds = []
    for _ in range(2):
        with TemporaryDirectory() as folder:
            builds.append(built(time.stdout.strip(), Path(folder)))
    if builds[0] != builds[1]:
        differing = [name for name in builds[0] if builds[0][name] != builds[1].get(name)]
        sys.exit(f"release: expected two builds to be equal to the byte, got other bytes in {', '.join(differing)}")
    dist = ROOT / "dist"
    dist.mkdir(exist_ok=True)
    for old in dist.iterdir():
        old.unlink()
    for name, data in builds[0].items():
        (dist / name).write_bytes(data)
    run(sys.executable, "-m", "twine", "check", "--strict", *sorted(dist.iterdir()))
    with TemporaryDirectory() as clean:
        venv.create(clean, with_pip=True)
        python = Path(clean) / "bin" / "python"
        run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *dist.glob("*.whl"))
        run(python, "-W", "error", "-c", EXAMPLE)
        run(python, "-m", "tensorbackend", "info")
    for name, data in builds[0].items():
        print(f"{hashlib.sha256(data).hexdigest()}  dist/{name}  {len(data):,} bytes")


if __name__ == "__main__":
    main()
