from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from attrs import evolve

from harness2_core.api import (
    Bridge,
    Channel,
    ConfigError,
    Context,
    Digest,
    Endpoint,
    FrozenMap,
    HarnessTree,
    Install,
    Outcome,
    Place,
    Policy,
    Said,
    SessionRequest,
    Usage,
)
from harness2_core.testing.workroom import SUM, ActingProposer, ProgramAgent, WorkRoom
from harness2_core.work.bridging import PORT, bridges, constant_addresses, inside

CHANNEL = Channel("vendor/model", limit_seconds=60)
HOST = "http://127.0.0.1:40417"
SAYS = "import os\nprint(os.environ['TOY_URL'])\n"
APART = "import os\nprint(*os.environ[{!r}].split(':'))\n"
"""Says an address in a way that no rewriting of what is captured finds."""


class Relay:
    """Gives a port of this machine and a socket, as an access that relays does."""

    def __init__(self, socket: Path | None = Path("/private/socket")) -> None:
        self.socket = socket

    @contextmanager
    def open(self, channel: Channel, key: Digest, role: str) -> Iterator[Endpoint]:
        env = FrozenMap({"BASE_URL": f"{HOST}/v1", "OTHER": "as it is"})
        yield Endpoint(f"{HOST}/v1", "canary-of-the-run", env, self.socket)

    def usage(self, key: Digest) -> Usage | None:
        return None


class Unwrapped:
    """A sandbox that changes nothing, and notes what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[Policy] = []

    def wrap(self, argv: Sequence[str], policy: Policy, place: Place) -> Sequence[str]:
        self.asked.append(policy)
        return argv

    def works(self) -> str:
        return ""


class Telling(ProgramAgent):
    """Its program gets the url in a variable."""

    def install(self, tree: HarnessTree, prompt: str, channel: Channel, place: Place, endpoint: Endpoint) -> Install:
        made = super().install(tree, prompt, channel, place, endpoint)
        return evolve(made, env=FrozenMap({**made.env, "TOY_URL": endpoint.url}))


def shown(room: WorkRoom, program: str = SAYS) -> str:
    return room.text(room.rolled(program, CHANNEL).stream)


@pytest.fixture
def relayed(room: WorkRoom) -> WorkRoom:
    room.access, room.agent = Relay(), Telling()
    return room


def test_in_a_sandbox_with_only_the_model_the_address_is_the_same_in_every_run(relayed: WorkRoom) -> None:
    sandbox = relayed.sandbox = Unwrapped()

    assert shown(relayed, APART.format("TOY_URL")) == f"http //127.0.0.1 {PORT}/v1\n"

    (policy,) = sandbox.asked
    assert policy.network == "model"
    assert policy.bridges == (Bridge(PORT, Path("/private/socket")),)


def test_variables_of_the_endpoint_name_the_bridged_address_too(relayed: WorkRoom) -> None:
    relayed.sandbox = Unwrapped()

    assert shown(relayed, APART.format("BASE_URL")) == f"http //127.0.0.1 {PORT}/v1\n"
    assert shown(relayed, APART.format("OTHER")) == "as it is\n"


def test_no_port_of_this_machine_gets_into_a_record(relayed: WorkRoom) -> None:
    """Without a sandbox the agent is told the real one, and prints it."""
    program = SAYS + (
        "import json, pathlib, re\nurl = os.environ['TOY_URL']\n"
        "assert re.search(r'127.0.0.1:(?!11811)', url), url\n"
        "pathlib.Path('output/said.json').write_text(json.dumps({'url': url}))\n"
        "print('connect ECONNREFUSED', url.removeprefix('http://'))\n"
    )

    record = relayed.rolled(program, CHANNEL)

    assert relayed.text(record.stream).startswith(f"http://127.0.0.1:{PORT}/v1\n")
    assert record.outcome is Outcome.FINISHED
    assert b"40417" not in relayed.text(record.stream).encode()
    assert b"/private/socket" not in relayed.everything()


def test_the_key_of_a_run_gets_into_no_record(relayed: WorkRoom) -> None:
    relayed.sandbox = Unwrapped()

    assert shown(relayed, "import os\nprint(os.environ['TOY_KEY'])\n") == "[key withheld]\n"
    assert b"canary-of-the-run" not in relayed.everything()


def test_with_the_whole_network_nothing_is_bridged(relayed: WorkRoom) -> None:
    relayed.work = evolve(relayed.work, network="open")
    spec = relayed.sums.spec
    relayed.sums.spec = evolve(spec, network="open")
    sandbox = relayed.sandbox = Unwrapped()
    seen: list[str] = []

    class Watching(Telling):
        def install(
            self, tree: HarnessTree, prompt: str, channel: Channel, place: Place, endpoint: Endpoint
        ) -> Install:
            seen.append(endpoint.url)
            return super().install(tree, prompt, channel, place, endpoint)

    relayed.agent = Watching()
    relayed.rolled(SUM, CHANNEL)

    assert seen[0] == f"{HOST}/v1"
    assert sandbox.asked[0].bridges == ()


def test_code_of_the_worker_itself_gets_the_address_of_this_machine(relayed: WorkRoom) -> None:
    relayed.sandbox = Unwrapped()
    seen: list[Endpoint] = []

    def act(request: SessionRequest, workspace: Path, ctx: Context) -> Said:
        seen.extend((ctx.endpoint(request.channel), ctx.endpoint(request.channel, own=True)))
        return Said(Outcome.FINISHED, "Done.")

    relayed.proposer = ActingProposer(act)
    relayed.replied(relayed.session_request(channel=CHANNEL))

    assert [endpoint.url for endpoint in seen] == [f"http://127.0.0.1:{PORT}/v1", f"{HOST}/v1"]
    assert {endpoint.key for endpoint in seen} == {"canary-of-the-run"}


def test_an_access_without_a_socket_cannot_lead_out_of_such_a_sandbox(relayed: WorkRoom) -> None:
    relayed.access, relayed.sandbox = Relay(None), Unwrapped()

    (ended,) = relayed.perform(relayed.rollout_request(SUM, channel=CHANNEL))

    assert not ended.final
    assert 'access = "relay"' in ended.note
    assert 'network = "open"' in ended.note


def test_an_access_without_a_socket_is_no_matter_where_no_model_is_meant(relayed: WorkRoom) -> None:
    relayed.access, relayed.sandbox, relayed.agent = Relay(None), Unwrapped(), ProgramAgent()

    assert relayed.rolled(SUM).outcome is Outcome.FINISHED


def test_each_socket_has_a_port_of_its_own() -> None:
    one, two = (Endpoint(f"http://127.0.0.1:{port}/v1", socket=Path(f"/{port}")) for port in (4001, 4002))
    again = evolve(one, url="http://127.0.0.1:4001/anthropic")

    assert bridges((one, two, again, Endpoint("https://a.invalid"))) == (
        Bridge(PORT, Path("/4001")),
        Bridge(PORT + 1, Path("/4002")),
    )
    assert constant_addresses((one, two)) == {
        "127.0.0.1:4001": f"127.0.0.1:{PORT}",
        "127.0.0.1:4002": f"127.0.0.1:{PORT + 1}",
    }


@pytest.mark.parametrize("path", ["", "/", "/v1", "/a/b?c=d", "/v1#x"])
def test_the_path_of_an_address_stays(path: str) -> None:
    endpoint = Endpoint(f"{HOST}{path}", socket=Path("/s"))

    assert inside(endpoint, bridges([endpoint])).url == f"http://127.0.0.1:{PORT}{path}"


def test_what_is_not_bridged_is_refused() -> None:
    with pytest.raises(ConfigError, match="unix socket"):
        inside(Endpoint(HOST), ())


def test_values_of_an_endpoint_are_json_free_of_its_port(relayed: WorkRoom) -> None:
    """An agent that escapes slashes writes the address in another spelling."""
    program = "import json, os\nprint(json.dumps({'u': os.environ['TOY_URL']}).replace('/', '\\\\/'))\n"

    assert json.loads(shown(relayed, program)) == {"u": f"http://127.0.0.1:{PORT}/v1"}


def test_the_network_that_a_program_had_is_in_its_record(relayed: WorkRoom) -> None:
    assert relayed.rolled(SUM, CHANNEL).versions["network"] == "open"  # nothing holds it without a sandbox
    relayed.sandbox = Unwrapped()
    relayed.store = type(relayed.store)()
    assert relayed.rolled(SUM, CHANNEL).versions["network"] == "model"
