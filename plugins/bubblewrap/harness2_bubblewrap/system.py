"""The part of the machine that programs need to run: shown read-only, and chosen so that it tells little about it.

/etc is picked apart: certificates but no keys, library paths but no users, no host name, no configuration of services.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

_LINKED: Final = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
"""Links into /usr on most systems, directories on some."""

_ETC: Final = (
    "alternatives",  # links that /usr/bin points to
    "crypto-policies",
    "fonts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "magic",
    "mime.types",
    "pki/ca-trust/extracted",
    "pki/tls/certs",
    "pki/tls/cert.pem",
    "protocols",
    "services",
    "ssl/certs",  # not ssl/private, which root could read
    "ssl/cert.pem",
    "ssl/openssl.cnf",
)
_NETWORKED: Final = ("resolv.conf", "hosts", "gai.conf")


def system(*, networked: bool) -> Iterator[str]:
    """Options of bwrap. `networked`: with what name resolution needs."""
    yield from ("--ro-bind", "/usr", "/usr")
    for name in _LINKED:
        path = Path("/", name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))
    for name in (*_ETC, *(_NETWORKED if networked else ())):
        path = Path("/etc", name)
        if path.exists():
            yield from ("--ro-bind", str(path.resolve()), str(path))
    yield from ("--proc", "/proc", "--dev", "/dev")
    yield from ("--perms", "1777", "--tmpfs", "/tmp", "--dir", "/run", "--dir", "/var", "--symlink", "/tmp", "/var/tmp")
