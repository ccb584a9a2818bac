"""What an agent may try to get out of its sandbox: a program of the standard library, for the escape tests.

    python3 tries.py targets.json

Each try is a function; it prints `<name> OUT: <what it got>` when it got there, else `<name> held: <why not>`. The
targets are made by the test, which also runs this without a sandbox, where the tries must succeed.
"""
# ruff: noqa: PTH103, PTH123, PTH207, PTH208, PTH211, SIM115

from __future__ import annotations

import glob
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

TARGETS = json.load(open(sys.argv[1]))
SECONDS = 3


def read(path: str) -> str:
    with open(path, errors="replace") as file:
        return file.read()[:40]


def connected(family: int, address: Any) -> str:
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.settimeout(SECONDS)
        client.connect(address)
    return str(address)


def first(tries: Iterable[Callable[[], str]]) -> str:
    """The first that succeeds; else why the last did not."""
    why: Exception = OSError("nothing to try")
    for attempt in tries:
        try:
            return attempt()
        except (OSError, LookupError, http.client.HTTPException) as error:
            why = error
    raise why


def processes() -> list[int]:
    return sorted(int(name) for name in os.listdir("/proc") if name.isdigit())


# -- files


def rubric_by_its_path() -> str:
    return read(TARGETS["rubric"])


def rubric_by_dots() -> str:
    return read("../" * 30 + TARGETS["rubric"].lstrip("/"))


def rubric_by_a_link() -> str:
    os.symlink(TARGETS["rubric"], "output/answers.txt")  # it stays, for whoever follows it later
    return read("output/answers.txt")


def rubric_by_a_hard_link() -> str:
    os.link(TARGETS["rubric"], "output/answers-too.txt")
    return read("output/answers-too.txt")


def rubric_by_the_root_of_a_process() -> str:
    return first([partial(read, f"/proc/{pid}/root{TARGETS['rubric']}") for pid in processes()])


def rubric_by_the_mounts() -> str:
    places = {line.split()[3] for line in open("/proc/self/mountinfo")} | {"/", "/mnt", "/tmp", "/workspace"}
    return first([partial(read, place.rstrip("/") + TARGETS["rubric"]) for place in sorted(places)])


def workspace_of_another() -> str:
    return read(TARGETS["other_workspace"])


def runs_directory() -> str:
    return str(os.listdir(TARGETS["runs"]))


def store() -> str:
    return str(os.listdir(TARGETS["runs"] + "/store"))


def home_of_the_user() -> str:
    return first([partial(read, path) for path in TARGETS["home_files"]])


def system_files() -> str:
    return first([partial(read, path) for path in ("/etc/shadow", "/etc/machine-id", "/etc/hostname")])


def write_to_the_system() -> str:
    def write(path: str) -> str:
        with open(path, "w") as file:
            file.write("x")
        return path

    return first([partial(write, path) for path in ("/usr/bin/harness2-was-here", "/harness2-was-here")])


def raw_memory_and_disks() -> str:
    places = [path for pattern in ("/dev/sd*", "/dev/vd*", "/dev/mem", "/dev/kmsg") for path in glob.glob(pattern)]
    return first([partial(read, path) for path in places])


def remount() -> str:
    done = subprocess.run(["mount", "-o", "remount,rw", "/usr"], capture_output=True, text=True)
    if done.returncode:
        raise OSError(done.stderr.strip())
    return "/usr"


# -- secrets


def keys_in_the_environment() -> str:
    return str([os.environ[name][:9] for name in TARGETS["variables"]])


def keys_in_other_environments() -> str:
    def find(pid: int) -> str:
        found = [name for name in TARGETS["variables"] if f"\0{name}=" in "\0" + open(f"/proc/{pid}/environ").read()]
        if not found:
            raise KeyError("no such variable")
        return f"{pid}: {found}"

    return first([partial(find, pid) for pid in processes()])


def command_lines_of_others() -> str:
    """Of this very sandbox: its options are the first process's own."""
    lines = {pid: open(f"/proc/{pid}/cmdline", "rb").read() for pid in processes()}
    shown = [pid for pid, line in lines.items() if TARGETS["runs"].encode() in line and pid != 1]
    if not shown:
        raise KeyError(f"only {len(lines)} processes to be seen")
    return str(shown)


# -- sockets and networks


def socket_of_a_daemon() -> str:
    return connected(socket.AF_UNIX, TARGETS["socket"])


def socket_of_docker() -> str:
    return first([partial(connected, socket.AF_UNIX, p) for p in ("/var/run/docker.sock", "/run/docker.sock")])


def agent_that_keeps_keys() -> str:
    return connected(socket.AF_UNIX, os.environ["SSH_AUTH_SOCK"])


def abstract_socket() -> str:
    return connected(socket.AF_UNIX, "\0" + TARGETS["abstract"])


def another_loopback_service() -> str:
    return connected(socket.AF_INET, ("127.0.0.1", TARGETS["port"]))


def metadata_of_the_cloud() -> str:
    return connected(socket.AF_INET, ("169.254.169.254", 80))


def names() -> str:
    return str(socket.getaddrinfo("example.com", 443))


def name_server() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect(("192.0.2.53", 53))
        return str(client.send(b"\0" * 12))


def addresses_of_the_host() -> str:
    return first([partial(connected, socket.AF_INET, (name, TARGETS["port"])) for name in TARGETS["hosts"]])


def other_network_devices() -> str:
    found = [name for _, name in socket.if_nameindex() if name != "lo"]
    if not found:
        raise OSError("only lo")
    return str(found)


# -- the relay


def token() -> str:
    for pid in processes():
        try:
            data = open(f"/proc/{pid}/environ").read()
        except OSError:
            continue
        if found := re.search(r"run-[A-Za-z0-9_-]{30,}", data):
            return found.group()
    raise KeyError("no token")


def asked(method: str, target: str, key: str) -> str:
    client = http.client.HTTPConnection("127.0.0.1", TARGETS["relay"], timeout=SECONDS * 3)
    client.putrequest(method, target, skip_host=True)
    for name, value in (("Host", TARGETS["elsewhere"]), ("Authorization", f"Bearer {key}")):
        client.putheader(name, value)
    client.endheaders()
    answer = client.getresponse()
    data = answer.read(200).decode(errors="replace")
    if answer.status != 200:
        raise OSError(f"status {answer.status}")
    return data


def relay_asked_for_another_path() -> str:
    return first([partial(asked, "GET", path, token()) for path in ("/admin", "/v1/../admin", "/v1/%2e%2e/admin")])


def relay_asked_for_another_host() -> str:
    elsewhere = TARGETS["elsewhere"]
    targets = (
        ("GET", f"http://{elsewhere}/"),
        ("CONNECT", elsewhere),
        ("GET", f"//{elsewhere}/"),
        ("GET", f"@{elsewhere}/"),
    )
    return first([partial(asked, method, target, token()) for method, target in targets])


def relay_asked_without_a_key() -> str:
    return first([partial(asked, "GET", "/v1/models", key) for key in ("", "run-" + "x" * 43, "none")])


# -- processes


def kill_the_first_process() -> str:
    os.kill(1, signal.SIGKILL)
    time.sleep(0.2)
    os.kill(1, 0)
    raise OSError("it lives on")


def kill_who_started_this() -> str:
    os.kill(TARGETS["pid"], signal.SIGKILL)
    return str(TARGETS["pid"])


def trace_the_first_process() -> str:
    return read("/proc/1/mem")


def daemon() -> str:
    """Not a way out by itself: the test looks whether it lives longer than the run."""
    subprocess.Popen(
        ["setsid", "sh", "-c", f"sh -c 'sleep 600; : {TARGETS['mark']}' & exit 0"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    raise OSError("left behind")


def main() -> None:
    os.makedirs("output", exist_ok=True)
    for name in TARGETS["tries"]:
        try:
            said = f"OUT: {globals()[name]()}"
        except Exception as error:
            said = f"held: {type(error).__name__} {error}"
        print(name, said.replace("\n", " ")[:100], flush=True)


main()
