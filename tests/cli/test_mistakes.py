"""Every mistake in a configuration or on a command line that a person can make, and what they are told.

Each row is one mistake, and the words that must be in the message: where it is, what was expected, the nearest right
thing or the way out. Never a traceback, always exit code 1, and no work is begun.
"""
# ruff: noqa: E501  (a table reads by rows)

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from attrs import field, frozen

from harness2_core.cli import main


@frozen
class Mistake:
    """`lines` are added to `harness2.toml`; `without` leaves keys of it out; `type` is what is typed."""

    id: str
    told: tuple[str, ...]
    lines: str = ""
    without: tuple[str, ...] = ()
    typed: tuple[str, ...] = ("run",)
    variables: Mapping[str, str] = field(factory=dict)
    files: Mapping[str, str] = field(factory=dict)


MISTAKES = (
    # tables and keys
    Mistake("unknown table", ("harness2.toml:", "no table [rum]", "did you mean 'run'"), "rum.k = 2"),
    Mistake("unknown key", ("harness2.toml:", "[run] has no setting 'slotz'", "did you mean 'slots'"), "run.slotz = 2"),
    Mistake("key in no table", ("harness2.toml:", "`k` stands in no table", "[run]"), "k = 2"),
    Mistake("table that is a value", ("harness2.toml:", "`library` is a table", "[library]"), "library = 3"),
    Mistake("value for a table of names", ("harness2.toml:", "directly under [roles]"), "roles.model = 'm'"),
    Mistake("unknown role", ("harness2.toml:", "[roles.improvr]", "did you mean 'improver'"), "roles.improvr.model = 'm'"),
    Mistake("unknown key of a role", ("[roles.judge] has no setting 'modell'", "did you mean 'model'"), "roles.judge.modell = 'm'"),
    Mistake("table of no plugin", ("[adapters.task]", "did you mean 'tasks'"), "adapters.task.path = 'x'"),
    Mistake("unknown key of a plugin", ("[adapters.tasks] has no setting 'pathh'", "did you mean 'path'"), "adapters.tasks.pathh = 'x'"),
    Mistake("settings of a plugin that has none", ("[selectors.blind]", "has no settings", "leave the table out"), "selectors.blind.x = 1"),
    Mistake("required setting missing", ("[adapters.tasks] lacks `path`", "HARNESS2_ADAPTERS__TASKS__PATH"), without=("adapters.tasks.path",)),
    # types and values
    Mistake("text for an integer", ("harness2.toml:", "`run.k` is \"two\"", "give an integer"), "run.k = 'two'"),
    Mistake("float for an integer", ("harness2.toml:", "`run.k` is", "give an integer"), "run.k = 2.5"),
    Mistake("integer for a text", ("`run.tag` is 3", "put it in quotes"), "run.tag = 3"),
    Mistake("text for a switch", ("`run.strict` is \"maybe\"", "true or false"), "run.strict = 'maybe'"),
    Mistake("text for a list", ("`run.modes` is", "as in [\"a\", \"b\"]"), "run.modes = 'parallel'"),
    Mistake("table for a text", ("`run.tag` is a table", "a text"), "run.tag.x = 'a'"),
    Mistake("k of zero", ("[run]", "k", "at least 1"), "run.k = 0"),
    Mistake("k below zero", ("k", "at least 1"), typed=("run", "--k=-1")),
    Mistake("k that is huge", ("k", "at most 100"), "run.k = 100000"),
    Mistake("no slots", ("slots", "at least 1"), "run.slots = 0"),
    Mistake("seed in words", ("option -o run.seed", "`run.seed` is \"lucky\"", "give an integer"), typed=("run", "--seed", "lucky")),
    Mistake("seed below zero", ("seed", "at least 0"), "run.seed = -1"),
    Mistake("tag like a seed", ("the tag 's7'", "do not begin with a seed"), "run.tag = 's7'"),
    Mistake("tag like a path", ("the tag '../x'", "letters, digits"), "run.tag = '../x'"),
    Mistake("unknown pool", ("`run.pool` is \"all\"", "'finals', 'mixed'"), "run.pool = 'all'"),
    Mistake("unknown network", ("network", "hosts:<name>"), "run.network = 'some'"),
    Mistake("money below zero", ("max_usd",), "run.max_usd = '-1'"),
    Mistake("money in words", ("max_usd", "decimal number"), "run.max_usd = 'ten'"),
    Mistake("limit of no time", ("limit_seconds", "at least 1"), "roles.executor.limit_seconds = 0"),
    # names of plugins, modes, tasks, splits
    Mistake("unknown benchmark", ("no adapter is named 'task'", "did you mean 'tasks'"), typed=("run", "--bench", "task")),
    Mistake("unknown agent", ("no substrate is named 'pocked'", "did you mean 'pocket'"), typed=("run", "--substrate", "pocked")),
    Mistake("unknown mode", ("no mode is named 'paralel'", "did you mean 'parallel'"), "run.modes = ['paralel']"),
    Mistake("unknown selector", ("no selector is named 'blnd'", "did you mean 'blind'"), typed=("run", "--selector", "blnd")),
    Mistake("unknown reflector", ("no reflector is named 'lessen'", "did you mean 'lesson'"), typed=("run", "--reflector", "lessen")),
    Mistake("unknown improver", ("no proposer is named 'scriptd'", "did you mean 'scripted'"), "roles.improver.provider = 'scriptd'"),
    Mistake("unknown judge", ("no judge is named 'check'", "did you mean 'checks'"), "run.judge = 'check'"),
    Mistake("unknown store", ("no store is named 'sqlit'", "did you mean 'sqlite'"), "run.store = 'sqlit'"),
    Mistake("unknown engine", ("no engine is named 'thread'", "did you mean 'threads'"), typed=("run", "-o", "run.engine=thread")),
    Mistake("unknown sandbox", ("no sandbox is named 'bubblewrp'", "did you mean 'bubblewrap'"), typed=("run", "--sandbox", "bubblewrp")),
    Mistake("unknown access", ("no access is named 'plane'", "plain"), "run.access = 'plane'"),
    Mistake("unknown extra", ("no listener is named 'watcher'",), "run.extra = ['watcher']"),
    Mistake("unknown split", ("no split named 'tran'", "train"), typed=("run", "--split", "tran"), files={"bench/bench.toml": "[words]\nwork = 'Sums are added up.'\n[splits]\ntrain = ['sums/first']\n"}),
    Mistake("unknown domain", ("unknown domain 'sumz'", "did you mean 'sums'"), typed=("run", "--only-domains", "sumz")),
    Mistake("unknown task", ("unknown task 'sums/frist'", "did you mean 'sums/first'"), typed=("run", "--only-tasks", "sums/frist")),
    Mistake("nothing left", ("no task is both in `only_tasks` and in `only_domains`",), typed=("run", "--only-tasks", "sums/first", "--only-domains", "more"), files={"bench/more/one/instruction.md": "x\n"}),
    Mistake("unknown retry", ("--retry sums/frist", "did you mean 'sums/first'", "partial, dead"), typed=("run", "--retry", "sums/frist")),
    Mistake("name of two plugins", ("offered more than once", "rival-selector-made:rival"), typed=("run", "--selector", "rival")),
    Mistake("disabled plugin", ("is disabled by --disable-plugin",), typed=("--disable-plugin", "selector.blind", "run", "--selector", "blind")),
    Mistake("disabled by a wrong name", ("no installed plugin is named 'blnd'", "did you mean 'blind'"), typed=("--disable-plugin", "blnd", "run")),
    # files and directories
    Mistake("no such configuration", ("missing.toml: no such file", "--config"), typed=("--config", "missing.toml", "run")),
    Mistake("no such configuration by variable", ("missing.toml: no such file", "HARNESS2_CONFIG"), variables={"HARNESS2_CONFIG": "missing.toml"}),
    Mistake("bad TOML", ("harness2.toml", "line", "mend the TOML"), "[run"),
    Mistake("configuration that is no text", ("odd.toml", "mend the TOML"), typed=("--config", "odd.toml", "run"), files={"odd.toml": "\udcff"}),
    Mistake("no such folder of tasks", ("no folder of tasks at", "nowhere", "`path`"), typed=("run", "-o", "adapters.tasks.path=nowhere")),
    Mistake("folder without tasks", ("holds no task",), typed=("run", "-o", "adapters.tasks.path=empty"), files={"empty/file": ""}),
    Mistake("task without instruction", ("has no instruction.md",), files={"bench/sums/second/inputs/x": ""}),
    Mistake("blank instruction", ("instruction.md is blank",), files={"bench/sums/second/instruction.md": " \n"}),
    Mistake("playbook missing", ("nowhere.toml", "cannot be read"), typed=("run", "-o", "proposers.scripted.playbooks.sums=nowhere.toml")),
    Mistake("runs is a file", ("afile",), typed=("run", "--runs", "afile"), files={"afile": ""}),
    Mistake("templates missing", ("nowhere", "no such directory of mission texts"), "run.templates = 'nowhere'"),
    Mistake("split file missing", ("nowhere.json", "harness2 split"), typed=("run", "--split-file", "nowhere.json")),
    Mistake("split file of another benchmark", ("of the benchmark 'x', not of 'small'",), typed=("run", "--split-file", "s.json"), files={"s.json": '{"benchmark": "x", "train": [], "test": []}'}),
    Mistake("base harness that does not fit", ("not on the editable surface", "base"), files={"bench/base/notes.md": "x"}),
    # variables and options
    Mistake("variable of no setting", ("variable HARNESS2_RUN__SLOTZ", "did you mean 'slots'"), variables={"HARNESS2_RUN__SLOTZ": "2"}),
    Mistake("variable of a wrong type", ("variable HARNESS2_RUN__K", "give an integer"), variables={"HARNESS2_RUN__K": "two"}),
    Mistake("key variable that is not set", ("takes its key from NO_SUCH_KEY", "export NO_SUCH_KEY"), "roles.improver.options.key_variable = 'NO_SUCH_KEY'"),
    Mistake("option without a value", ("'run.k' gives no value", "-o run.k=2"), typed=("run", "-o", "run.k")),
    Mistake("option of no table", ("'k' names no key of a table", "-o run.k=2"), typed=("run", "-o", "k=2")),
    Mistake("option of no setting", ("option -o run.kk", "did you mean 'k'"), typed=("run", "-o", "run.kk=2")),
    Mistake("unknown flag", ("--slot", "--slots", "harness2 run --help"), typed=("run", "--slot", "2")),
    Mistake("flag without its value", ("--k", "requires an argument"), typed=("run", "--k")),
    Mistake("too many words", ("unexpected extra argument",), typed=("run", "now")),
    Mistake("unknown command", ("no command 'rum'", "did you mean 'run'"), typed=("rum",)),
    Mistake("unknown command of a group", ("lst", "harness2 plugins --help"), typed=("plugins", "lst")),
    # money
    Mistake("limit that cannot hold", ("--max-usd 1 cannot hold", "--max-rollouts"), typed=("run", "--max-usd", "1")),
    # looking at what is not there
    Mistake("task that is not there", ("no task 'sums/frist'", "did you mean 'sums/first'"), typed=("show", "sums/frist")),
    Mistake("label that is not there", ("has no 'agg1'", "known are"), typed=("show", "sums/first", "--trajectory", "agg1")),
    Mistake("mode that is not there", ("mode 'agg'",), typed=("show", "sums/first", "--mode", "agg", "--trajectory", "x")),
    Mistake("mode of no label that is not there", ("mode 'agg'",), typed=("show", "sums/first", "--mode", "agg")),
    Mistake("entry that is not there", ("no library holds an entry of 'sums/first'",), typed=("library", "show", "sums/first")),
    Mistake("experiment that is not there", ("no experiment 'small-po-agg3'",), typed=("show", "--ns", "small-po-agg3")),
    Mistake("voter that is not there", ("no selector is named 'frist'", "did you mean 'first'"), typed=("reselect", "--by", "frist")),
    Mistake("nothing to judge", ("run the experiment first",), typed=("judge",)),
    Mistake("nothing to vote on", ("run the experiment first",), typed=("reselect", "--by", "first")),
    Mistake("nothing to report", ("has not begun",), typed=("report",)),
)  # fmt: skip

RIVAL = """
class Made:
    def run(self, ballot):
        yield from ()
"""


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.id.replace(" ", "-"))
def test_a_mistake_is_told_with_the_way_out(
    bench: Any, typed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, distributions: Any, mistake: Mistake
) -> None:
    bench.plugin("selector", "rival", RIVAL)
    distributions.add("other-made", {"selector.rival": "rival_selector_made"}, {})
    for key in mistake.without:
        del bench.options[key]
    if mistake.lines:  # in place of what the bench says of the same key
        bench.options.pop(mistake.lines.partition(" ")[0], None)
    for path, text in mistake.files.items():
        (bench.root / path).parent.mkdir(parents=True, exist_ok=True)
        (bench.root / path).write_bytes(text.encode(errors="surrogateescape"))
    typed("--version")  # writes the file
    with (bench.root / "harness2.toml").open("a", encoding="utf-8") as file:
        file.write(mistake.lines + "\n")
    for name, value in mistake.variables.items():
        monkeypatch.setenv(name, value)

    said = typed(*mistake.typed)

    assert said.code == 1, said
    for words in mistake.told:
        assert words in said.err, said.err
    assert "Traceback" not in said.err
    assert "error: unexpected" not in said.err
    assert not list(bench.runs.glob("adapt/*/events.jsonl"))


def test_no_mistake_stands_in_the_table_twice() -> None:
    ids = [mistake.id for mistake in MISTAKES]
    assert len(ids) == len(set(ids))


def test_the_bench_itself_is_no_mistake(bench: Any, typed: Callable[..., Any]) -> None:
    assert typed("run").code == 0


def test_debug_shows_where_it_was_raised(bench: Any, typed: Callable[..., Any]) -> None:
    said = typed("--debug", "run", "--k", "0")
    assert said.code == 1
    assert "Traceback" in said.err


def test_a_plugin_that_raises_is_named_and_is_no_traceback(bench: Any, typed: Callable[..., Any]) -> None:
    bench.plugin("selector", "broken", "raise RuntimeError('not today')")
    said = typed("run", "--selector", "broken")
    assert said.code == 1
    assert "broken-selector-made 1.0" in said.err
    assert "not today" in said.err
    assert "Traceback" not in said.err


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_runs_directory_that_may_not_be_written_is_told(bench: Any, typed: Callable[..., Any]) -> None:
    bench.root.joinpath("closed").mkdir(mode=0o500)
    said = typed("run", "--runs", "closed/runs")
    assert said.code == 1
    assert "closed" in said.err
    assert "permission" in said.err.lower()


def test_a_sandbox_that_was_asked_for_and_does_not_work_stops_the_run(bench: Any, typed: Callable[..., Any]) -> None:
    bench.plugin(
        "sandbox",
        "leaky",
        """
        class Made:
            def wrap(self, argv, policy, place):
                return argv

            def works(self):
                return "there is a hole in it"
        """,
    )
    said = typed("run", "--sandbox", "leaky")
    assert said.code == 1
    assert "'leaky' does not work here: there is a hole in it" in said.err
    assert 'sandbox = "none"' in said.err


def test_another_experiment_under_the_same_name_is_declined_with_a_new_tag(
    bench: Any, typed: Callable[..., Any]
) -> None:
    typed("run")
    said = typed("run", "--selector", "first")
    assert said.code == 1
    assert "selector was blind, is now first" in said.err
    assert "--new-tag second" in said.err


def test_a_damaged_experiment_is_told_by_file(bench: Any, typed: Callable[..., Any]) -> None:
    typed("run")
    (bench.runs / "adapt" / "small-po-agg1" / "config.json").write_text("{")
    for command in ("run", "show", "report"):
        said = typed(command)
        assert said.code == 1
        assert "config.json" in said.err
        assert "Traceback" not in said.err


def test_the_exit_code_of_success_is_0(bench: Any, typed: Callable[..., Any]) -> None:
    for arguments in (("check",), ("plan",), ("run",), ("judge",), ("report",), ("show",), ("library", "list")):
        assert typed(*arguments).code == 0, arguments


def test_the_exit_code_of_tasks_that_are_not_ok_is_2(bench: Any, typed: Callable[..., Any]) -> None:
    bench.write("base/scripts/solve.py", "def solve(inputs, output, say):\n    say('nothing')\n")
    assert typed("run").code == 2
    assert typed("judge").code in (0, 2)


def test_the_exit_code_of_a_budget_is_3_and_says_what_is_left(bench: Any, typed: Callable[..., Any]) -> None:
    bench.task("sums/second")
    said = typed("run", "--max-rollouts", "5")
    assert said.code == 3
    assert "not finished: 1 (sums/second)" in said.out
    assert "--max-rollouts 5" in said.out
    assert "with a higher limit" in said.out
    again = typed("run", "--max-rollouts", "5").out
    assert "paid: nothing\n" in again  # not that all was served: a task is left


@pytest.mark.process
@pytest.mark.parametrize(("signal", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_the_exit_code_of_an_interrupted_run_is_its_signal_s(
    bench: Any, typed: Callable[..., Any], signal: str, code: int
) -> None:
    """The improver raises the signal in the middle of its work, as a terminal would."""
    bench.improver(
        "raising",
        f"""
        import os, signal

        class Made(Scripted):
            def run(self, *given, **named):
                os.kill(os.getpid(), signal.{signal})
                return super().run(*given, **named)
        """,
    )
    said = typed("run")
    assert said.code == code
    assert "not finished" in said.out


def test_json_is_json_whatever_the_names(bench: Any, typed: Callable[..., Any]) -> None:
    bench.task('sums/"é" {odd}')
    typed("run")
    for arguments in (
        ("show",),
        ("plan",),
        ("check",),
        ("judge",),
        ("report",),
        ("library", "list"),
        ("plugins", "list"),
        ("config", "show"),
        ("cache", "stats"),
        ("cache", "prune"),
        ("cache", "verify"),
    ):
        said = typed(*arguments, "--json")
        assert json.loads(said.out) is not None, arguments
        assert said.out.isascii()


def test_every_command_has_a_help_that_names_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    for name in main.COMMANDS:
        assert main.run([name, "--help"]) == 0
        out = capsys.readouterr().out
        assert "--help" in out
        assert f"harness2 {name}" in out
