"""A bill of materials inside a wheel, in its `.dist-info/sboms/` (PEP 770), as CycloneDX's JSON.

Our wheels hold nothing of others, so the bill lists what the wheel needs to run: the requirements as its metadata
declares them, without versions, which an installer chooses. It is made from the wheel alone, and is the same each time.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import sys
import time as clock
import uuid
import zipfile
from base64 import urlsafe_b64encode
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from typing import Any


def with_bill(wheel: bytes, time: int) -> bytes:
    """The wheel with its bill of materials, every file of which has the given time."""
    before = zipfile.ZipFile(io.BytesIO(wheel))
    contents = {name: before.read(name) for name in before.namelist() if not name.endswith("/")}
    (record,) = [name for name in contents if re.fullmatch(r"[^/]+\.dist-info/RECORD", name)]
    folder = record.removesuffix("RECORD")
    metadata, made = (message_from_bytes(contents[folder + name]) for name in ("METADATA", "WHEEL"))
    bill = json.dumps(bill_of(metadata, made["Generator"], time, contents), indent=1) + "\n"
    contents[f"{folder}sboms/{metadata['Name']}.cdx.json"] = bill.encode()
    contents[record] = b""
    contents[record] = _record(contents, record).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as after:
        for name in [*sorted(contents.keys() - {record}), record]:
            entry = zipfile.ZipInfo(name, clock.gmtime(time)[:6])
            executable = name in before.namelist() and before.getinfo(name).external_attr >> 16 & 0o111
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            after.writestr(entry, contents[name])
    return packed.getvalue()


def _record(contents: dict[str, bytes], record: str) -> str:
    """The list of a wheel's files with their hashes and sizes."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    for name in sorted(contents):
        digest = urlsafe_b64encode(hashlib.sha256(contents[name]).digest()).rstrip(b"=").decode()
        writer.writerow([name, "", ""] if name == record else [name, f"sha256={digest}", len(contents[name])])
    return lines.getvalue()


def bill_of(metadata: Message, tool: str, time: int, contents: dict[str, bytes]) -> dict[str, Any]:
    """The bill of a distribution with this metadata."""
    name, version = metadata["Name"], metadata["Version"]
    root = f"pkg:pypi/{name}@{version}"
    digest = hashlib.sha256(b"".join(hashlib.sha256(contents[key]).digest() for key in sorted(contents))).hexdigest()
    needs: dict[str, list[str]] = {}
    for requirement in metadata.get_all("Requires-Dist") or []:
        needs.setdefault(canonical(requirement), []).append(requirement)
    needs.pop(name, None)  # an extra that takes another extra
    required = {need for need, lines in needs.items() if any("extra ==" not in line for line in lines)}
    built_by, _, built_with = tool.partition(" ")
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{root}#{digest}')}",
        "version": 1,
        "metadata": {
            "timestamp": clock.strftime("%Y-%m-%dT%H:%M:%SZ", clock.gmtime(time)),
            "tools": {"components": [{"type": "application", "name": built_by, "version": built_with.strip("()")}]},
            "component": {
                "type": "library",
                "bom-ref": root,
                "name": name,
                "version": version,
                "description": metadata["Summary"],
                "licenses": [{"license": {"id": metadata["License-Expression"]}}],
                "purl": root,
            },
        },
        "components": [
            {
                "type": "library",
                "bom-ref": f"pkg:pypi/{need}",
                "name": need,
                "scope": "required" if need in required else "optional",
                "purl": f"pkg:pypi/{need}",
                "properties": [{"name": "requirement", "value": line} for line in lines],
            }
            for need, lines in sorted(needs.items())
        ],
        "dependencies": [{"ref": root, "dependsOn": [f"pkg:pypi/{need}" for need in sorted(required)]}],
    }


def canonical(requirement: str) -> str:
    """The name of what a requirement asks for.

    >>> canonical("ml_dtypes>=0.5; extra == 'x'")
    'ml-dtypes'
    """
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement, maxsplit=1)[0]).lower()


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        path = Path(argument)
        path.write_bytes(with_bill(path.read_bytes(), int(os.environ["SOURCE_DATE_EPOCH"])))
