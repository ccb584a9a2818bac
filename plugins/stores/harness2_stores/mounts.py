"""Which file systems are on the network: there a lock may be granted twice, or outlive its owner.

Only Linux tells; elsewhere nothing is refused. 9p is not counted: sandboxes and small virtual machines present their
local disk that way.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from harness2_core.api import StoreError

NETWORK: Final = frozenset(
    """
    nfs nfs4 cifs smb3 smbfs ncpfs afs coda ceph lustre gpfs beegfs glusterfs pvfs2 orangefs davfs fuse.sshfs
    fuse.glusterfs fuse.ceph fuse.s3fs fuse.rclone fuse.gcsfuse fuse.davfs fuse.curlftpfs
    """.split()  # noqa: SIM905 (a list of words)
)
_MOUNTS: Final = Path("/proc/self/mountinfo")


def refuse_network(path: Path, purpose: str) -> None:
    """`StoreError` when `path`, which exists, is on a network file system."""
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return
    kind = file_system(mounts, str(path.resolve()))
    if kind in NETWORK:
        raise StoreError(
            f"{path} is on a network file system ({kind}), where {purpose} cannot be relied on",
            "set the store's `path` to a local disk, or `network_locks = true` if you vouch for its locks and only "
            "one machine uses the store",
        )


def file_system(mountinfo: str, path: str) -> str:
    """The type of the file system that holds an absolute `path`, from the text of `mountinfo`; empty if unknown."""
    best, kind = -1, ""
    for line in mountinfo.splitlines():
        fields, separator, rest = line.partition(" - ")
        parts = fields.split(" ")
        if not separator or len(parts) < 5:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), parts[4])
        inside = point == "/" or path == point or path.startswith(point + "/")
        if inside and len(point) >= best:  # a later mount on the same point covers the earlier one
            best, kind = len(point), rest.split(" ")[0]
    return kind
