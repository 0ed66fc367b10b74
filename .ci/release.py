"""Builds the distributions of the last commit into dist/ and tries them: `make release`.

The core and each plugin are built twice, from fresh copies, and must be equal to the byte; all files get the time of
the commit, and each wheel a bill of materials. Then twine checks them. The wheels are installed together into an empty
environment: what others made comes from the package index, ours from the wheels alone. The demo runs there, and the
first example of each plugin's README. A plugin that needs something without a wheel is named, and what that needs is
built from source or, where that fails too, the plugin is left out.

    python .ci/release.py [CONSTRAINT...]

Constraints such as torch==2.13.0 choose among the versions of what others made.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import subprocess
import sys
import tarfile
import venv
from email.parser import Parser
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from sbom import canonical, with_bill

ROOT = Path(__file__).resolve().parents[1]

# Without debug information, a compiler writes no name of a folder into what it makes.
FLAGS = {"CFLAGS": "-g0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def run(*command: str | Path, **environment: str) -> bool:
    """Runs a command in an empty folder; whether it succeeds."""
    with TemporaryDirectory() as neutral:
        return subprocess.run(command, cwd=neutral, env=os.environ | FLAGS | environment, check=False).returncode == 0


def must(*command: str | Path, **environment: str) -> None:
    """Runs a command in an empty folder, and exits if the command fails."""
    if not run(*command, **environment):
        sys.exit(f"release: failed: {' '.join(map(str, command))}")


def git(*arguments: str) -> bytes:
    """What git says."""
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True).stdout


def copied(commit: str, folder: Path) -> Path:
    """A copy of a commit, as a clone has it."""
    with tarfile.open(fileobj=BytesIO(git("archive", commit))) as files:
        files.extractall(folder, filter="data")
    return folder


def projects(source: Path) -> list[Path]:
    """The folders of the distributions: the core, then the plugins."""
    return [source, *sorted(path.parent for path in source.glob("plugins/*/pyproject.toml"))]


def built(commit: str, time: int, folder: Path) -> dict[str, bytes]:
    """Builds a commit; returns the contents of the distributions by file name."""
    contents = {}
    for project in projects(copied(commit, folder / "source")):
        place = folder / "dist" / project.name
        log = subprocess.run(
            [sys.executable, "-m", "build", "--no-isolation", "--outdir", place, project],
            env=os.environ | FLAGS | {"SOURCE_DATE_EPOCH": str(time)},
            capture_output=True,
            text=True,
            check=False,
        )
        if log.returncode:
            sys.exit(f"release: failed to build {project.name}:\n{log.stdout}{log.stderr}")
        for path in sorted(place.iterdir()):
            data = path.read_bytes()
            contents[path.name] = with_bill(data, time) if path.suffix == ".whl" else repacked(data, time)
    return contents


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


def requirements(wheel: Path) -> list[str]:
    """What a wheel requires, without what only its extras do."""
    with ZipFile(wheel) as files:
        (name,) = [name for name in files.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = Parser().parsestr(files.read(name).decode())
    return [line for line in metadata.get_all("Requires-Dist") or [] if "extra ==" not in line]


def first_example(readme: Path) -> str:
    """The first block of Python in a page; empty if there is none."""
    found = re.search(r"^```python\n(.*?)^```", readme.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return "" if found is None else found[1]


def tried(wheels: list[Path], source: Path, folder: Path, constraints: Path) -> list[tuple[str, str]]:
    """Installs the wheels together and runs an example of each; returns what came of each."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    pip = [python, "-m", "pip", "install", "-q", "-c", constraints]
    ours = {canonical(wheel.name.partition("-")[0]): wheel for wheel in wheels}
    notes, installed = dict.fromkeys(ours, ""), []
    for name, wheel in ours.items():
        others = [line for line in requirements(wheel) if canonical(line) not in ours]
        if run(*pip, "--only-binary", ":all:", *others) if others else True:
            installed.append(wheel)
        elif run(*pip, *others):
            installed.append(wheel)
            notes[name] = ", with a dependency that has no wheel and was built from source"
        else:
            notes[name] = f"left out: there is no wheel for this Python of {', '.join(others)}"
    must(*pip, "--no-index", *installed)
    results = []
    for project in projects(source):
        name = canonical("tensorbackend" if project == source else project.name)
        if ours[name] not in installed:
            results.append((name, notes[name]))
            continue
        example = ["-c", first_example(project / "README.md")]
        done = run(python, source / "examples" / "digits.py") if project == source else run(python, *example)
        if not done or not example[-1]:
            sys.exit(f"release: expected an example that runs: {project.name}")
        ran = "the demo" if project == source else "its README's first example"
        results.append((name, f"installed, ran {ran}{notes[name]}"))
    must(python, "-m", "tensorbackend", "info")
    return results


def main() -> None:
    """Builds twice, compares, writes dist/ and tries its contents."""
    commit, time = git("log", "-1", "--format=%H %ct").decode().split()
    builds = []
    for _ in range(2):
        with TemporaryDirectory() as folder:
            builds.append(built(commit, int(time), Path(folder)))
    if builds[0] != builds[1]:
        differing = [name for name in builds[0] if builds[0][name] != builds[1].get(name)]
        sys.exit(f"release: expected two builds to be equal to the byte, got other bytes in {', '.join(differing)}")
    dist = ROOT / "dist"
    dist.mkdir(exist_ok=True)
    for old in dist.iterdir():
        old.unlink()
    for name, data in builds[0].items():
        (dist / name).write_bytes(data)
    must(sys.executable, "-m", "twine", "check", "--strict", *sorted(dist.iterdir()))
    with TemporaryDirectory() as folder:
        source = copied(commit, Path(folder) / "source")
        constraints = Path(folder) / "constraints.txt"
        constraints.write_text("\n".join(sys.argv[1:]))
        results = tried(sorted(dist.glob("*.whl")), source, Path(folder) / "environment", constraints)
    print(f"\n{'distribution':24} tried")
    for name, came in results:
        print(f"{name:24} {came}")
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in sorted(builds[0].items())}
    (dist / "SHA256SUMS").write_text("".join(f"{digest}  {name}\n" for name, digest in digests.items()))
    print(f"\n{'artefact, built twice, equal to the byte':72} {'bytes':>9}  sha256")
    for name, digest in digests.items():
        print(f"{name:72} {len(builds[0][name]):9,}  {digest}")


if __name__ == "__main__":
    main()
