"""Who and where a program inside finds itself to be: one user, one host name, the same on every machine.

Programs look themselves up in /etc/passwd and give up when they are not there, yet the machine's own file would name
its users. bwrap takes such texts from descriptors, and an argv cannot hold any: so a shell opens them as
here-documents and becomes bwrap. Nothing is left on any disk.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

HOSTNAME: Final = "sandbox"
_END: Final = "END"
_FIRST: Final = 3


def with_identity(command: Sequence[str], home: str, *, networked: bool) -> tuple[str, ...]:
    """`command`, a call of bwrap up to its options, preceded by what opens the texts and followed by their options."""
    texts = _texts(home if ":" not in home and "\n" not in home else "/")
    if networked:
        del texts["/etc/hosts"]  # the machine's own is shown
    numbered = list(enumerate(texts.items(), _FIRST))
    documents = " ".join(f"{number}<<'{_END}{number}'" for number, _ in numbered)
    bodies = "".join(f"{text}{_END}{number}\n" for number, (_, text) in numbered)
    options = ["--hostname", HOSTNAME, "--perms", "0755", "--dir", "/etc"]
    for number, (path, _) in numbered:
        options += ["--perms", "0644", "--ro-bind-data", str(number), path]
    return ("/bin/sh", "-c", f'exec "$@" {documents}\n{bodies}', "sh", *command, *options)


def _texts(home: str) -> dict[str, str]:
    user, group = os.getuid(), os.getgid()
    name = "root" if user == 0 else "agent"
    users = [f"{name}:x:{user}:{group}:agent:{home}:/bin/sh", "nobody:x:65534:65534:nobody:/:/bin/false"]
    groups = [f"{name}:x:{group}:", "nogroup:x:65534:"]
    if user:
        users.append("root:x:0:0:root:/:/bin/false")
    return {
        "/etc/passwd": "\n".join(users) + "\n",
        "/etc/group": "\n".join(groups) + "\n",
        "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
        "/etc/hosts": f"127.0.0.1 localhost {HOSTNAME}\n::1 localhost\n",
    }
