"""`stage`: a folder of one task, a real agent in all roles, a scripted model behind the relay, a poisoned user's home.

Each test runs once for each agent that is installed here, and says why when one is not. The model is wrong until its
harness tells it a rule that only an improver adds, so a run that ends well went through the whole method.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import define, field, frozen

from harness2_core.api import ConfigError, Store
from harness2_core.testing import Harness2Home, ModelServer, PlayedModel

RULE: Final = "Amounts in these files have a decimal comma."
RIGHT: Final = "mkdir -p output && echo 3.75 > output/sum.txt"
WRONG: Final = "mkdir -p output && echo 375 > output/sum.txt"
POISON: Final = "POISON-of-the-users-own-settings"
SECRET: Final = "canary-of-the-users-environment-3f90"
KEY_VARIABLE: Final = "MODEL_KEY_OF_THE_TEST"
_PROGRAM: Final = "import sys; from harness2_core.cli.main import main; sys.exit(main())"

CHECK: Final = '''\
"""Whether the sum is right: RUBRIC-canary-5d0b."""
import json
import os
from pathlib import Path

found = Path(os.environ["HARNESS2_DELIVERABLES"], "sum.txt")
passed = found.exists() and found.read_text().strip() == "3.75"
print(json.dumps({"items": [{"name": "sum", "weight": "1", "passed": passed}]}))
'''


@frozen
class Agent:
    """`always_on` is a file of its base harness that the model always reads; its endpoint's address ends in `path`."""

    name: str
    token: str
    always_on: str
    path: str


AGENTS: Final = (
    Agent("codex", "cx", "AGENTS.md", "/v1"),
    Agent("claude", "cc", "CLAUDE.md", ""),
    Agent("opencode", "oc", "systemprompt.md", "/v1"),
)


@frozen
class Said:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@define
class Stage:
    agent: Agent
    home: Harness2Home
    server: ModelServer
    binary: str
    version: str
    env: dict[str, str] = field(repr=False)

    poison: str = POISON
    secret: str = SECRET
    key_variable: str = KEY_VARIABLE
    directory: str = "runs"
    started: list[subprocess.Popen[str]] = field(factory=list, repr=False)

    @property
    def folder(self) -> Path:
        return self.home.work / "tasks"

    @property
    def runs(self) -> Path:
        return self.home.work / self.directory

    def at(self, runs: str) -> None:
        """Takes another runs directory from here on."""
        self.directory = runs
        self.configure(runs=runs)

    def configure(
        self,
        *,
        address: str = "",
        model: str = "scripted",
        key_variable: str = KEY_VARIABLE,
        limit_seconds: int = 300,
        **run: object,
    ) -> None:
        """`harness2.toml` for the scripted model behind `address`, by default the server's own; `run` is its table."""
        options = f'url = "{address or self.server.url}{self.agent.path}"\nkey_variable = "{key_variable}"\n'
        role = f'model = "{model}"\neffort = "high"\nlimit_seconds = {limit_seconds}\n'
        settings = {"bench": "tasks", "substrate": self.agent.name, "k": 1, "modes": ["parallel"]} | run
        lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
        (self.home.work / "harness2.toml").write_text(
            "[run]\n" + "\n".join(lines) + '\n[adapters.tasks]\npath = "tasks"\n'
            f"[roles.executor]\n{role}[roles.executor.options]\n{options}"
            f'[roles.improver]\nprovider = "agent"\n{role}[roles.improver.options]\n{options}'
            '[prices.scripted]\ninput = "1"\noutput = "2"\n'
            f"[substrates.{self.agent.name}]\nbinary = {json.dumps(self.binary)}\n"
        )

    def start(self, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, *arguments],
            cwd=self.home.work,
            env={**self.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def harness2(self, *arguments: str, env: Mapping[str, str] | None = None) -> Said:
        """As a person types it."""
        process = self.start(*arguments, env=env)
        out, err = process.communicate(timeout=900)
        return Said(process.returncode, out, err)

    def first_rollout(self, *arguments: str) -> tuple[Any, str]:
        """Runs until the first rollout has ended, and no further; its record, and what was said."""
        process = self.start("run", "--plain", *arguments)
        while process.poll() is None and not ((self.runs / "store").is_dir() and self.records("rollout")):
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
        rollouts = [*self.records("rollout").values()]
        assert rollouts, err
        return rollouts[0], err

    def written(self) -> Iterator[Path]:
        """Every file that runs left, but for the user's own."""
        return (path for path in self.runs.rglob("*") if path.is_file() and not path.is_symlink())

    @property
    def store(self) -> Store:
        filesystem = pytest.importorskip("harness2_stores.filesystem", reason="harness2-stores is not installed")
        opened: Store = filesystem.FilesystemStore(self.runs / "store")
        return opened

    @property
    def begun(self) -> bool:
        """Whether an experiment was written down."""
        return (self.runs / "adapt").exists()

    def records(self, kind: str) -> dict[str, Any]:
        """Key -> record of all of a kind, such as `rollout`."""
        store = self.store
        return {key: json.loads(store.get(kind, key) or b"") for key, _ in store.scan(kind)}

    def text(self, entry: Mapping[str, Any]) -> str:
        """What a record's entry, such as `transcript`, names."""
        with self.store.open_blob(entry["digest"]) as file:
            return file.read().decode()


@pytest.fixture(params=AGENTS, ids=lambda agent: agent.name)
def agent(request: pytest.FixtureRequest) -> Agent:
    chosen: Agent = request.param
    return chosen


@pytest.fixture
def right() -> str:
    """What an executor does that was told the rule; a module may have another."""
    return RIGHT


@pytest.fixture
def played(agent: Agent, right: str) -> PlayedModel:
    return PlayedModel(RULE, agent.always_on, right, WRONG)


@pytest.fixture
def stage(agent: Agent, played: PlayedModel, tmp_path: Path) -> Iterator[Stage]:
    program = _program(agent)
    home = Harness2Home(tmp_path / "user")
    home.make()
    _task(home.work / "tasks" / "bills" / "january")
    _poison(home.home)
    env = _environment(home)
    with ModelServer(otherwise=played, key=home.canary) as server:
        made = Stage(agent, home, server, str(program.path), program.version, env)
        made.configure()
        try:
            yield made
        finally:
            for process in made.started:  # of a test that was broken off
                process.kill()


def _program(agent: Agent) -> Any:
    """The one that is found for whoever runs the tests: the stage's own home has none."""
    programs = pytest.importorskip("harness2_agents.programs", reason="harness2-agents is not installed")
    pinned = pytest.importorskip("harness2_agents.pinned").PINNED[agent.name]
    pytest.importorskip(f"harness2_{agent.name}", reason=f"harness2-{agent.name} is not installed")
    pytest.importorskip("harness2_relay", reason="harness2-relay is not installed")
    bubblewrap = pytest.importorskip("harness2_bubblewrap.bubblewrap", reason="harness2-bubblewrap is not installed")
    try:
        found = programs.find(pinned)
    except ConfigError as error:
        pytest.skip(f"{error.what}: {error.remedy}")
    if why := bubblewrap.Bubblewrap().works():
        pytest.skip(why)
    return found


def _task(folder: Path) -> None:
    for path, text in {
        "instruction.md": "Add up the amounts in inputs/amounts.csv and write the sum to output/sum.txt.\n",
        "inputs/amounts.csv": "a;1,50\nb;2,25\n",
        "task.toml": 'expects = ["sum.txt"]\n',
        "checks/check_sum.py": CHECK,
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def _poison(home: Path) -> None:
    """What a user may have set up for agents of their own, each of which would show itself in a request or a file."""
    skill = f"---\nname: poison\ndescription: {POISON} skill\n---\n{POISON}\n"
    touch = {"type": "command", "command": f"echo {POISON} >> ~/poisoned; echo {POISON} >> output/poisoned"}
    hooks = {"hooks": {"PreToolUse": [{"hooks": [touch]}], "SessionStart": [{"hooks": [touch]}]}}
    servers = {"mcpServers": {"poison": {"command": "sh", "args": ["-c", f"echo {POISON} >> ~/poisoned"]}}}
    for path, text in {
        ".claude/CLAUDE.md": POISON,
        ".claude/settings.json": json.dumps(hooks),
        ".claude/skills/poison/SKILL.md": skill,
        ".claude.json": json.dumps(servers),
        ".codex/AGENTS.md": POISON,
        ".codex/config.toml": 'model = "poison"\n[mcp_servers.poison]\ncommand = "sh"\n',
        ".codex/hooks.json": json.dumps(hooks),
        ".codex/skills/poison/SKILL.md": skill,
        ".agents/skills/poison/SKILL.md": skill,
        ".config/opencode/AGENTS.md": POISON,
        ".config/opencode/opencode.json": json.dumps({"model": "poison/poison", "instructions": [POISON]}),
        ".config/opencode/skills/poison/SKILL.md": skill,
        ".config/opencode/plugin/poison.js": f'export const Poison = async () => {{ throw new Error("{POISON}") }}',
        ".gitconfig": f"[user]\n\tname = {POISON}\n",
    }.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text)


def _environment(home: Harness2Home) -> dict[str, str]:
    """A user's: with keys of providers, all of them the canary, one for the model, and secrets of something else."""
    kept = {name: value for name, value in os.environ.items() if not re.match(r"HARNESS2_|XDG_|COV_", name)}
    secrets = dict.fromkeys(("GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "DATABASE_URL"), SECRET)
    return kept | dict(home.environment) | secrets | {KEY_VARIABLE: home.canary, "PYTHONDONTWRITEBYTECODE": "1"}
