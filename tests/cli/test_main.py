"""The program itself: what it imports, how it fails, what it prints."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from harness2_core.cli import main
from harness2_core.cli.terminal import safe, table
from harness2_core.model import exits
from harness2_core.model.errors import ConfigError

HEAVY = {"attr", "attrs", "cattrs", "pluggy", "jinja2", "rich", "tomlkit", "yaml", "filelock", "packaging", "pydantic"}


@pytest.fixture
def program(distributions: Any, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `harness2` as a process that sees the made distributions and a user of its own."""

    def run(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        code = "import sys; from harness2_core.cli.main import main; sys.argv[0] = 'harness2'; main()"
        return subprocess.run(
            [sys.executable, "-P", "-c", code, *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=300,
            env={
                **{name: value for name, value in os.environ.items() if not name.startswith("HARNESS2_")},
                "PYTHONPATH": str(distributions.folder),
                "XDG_CONFIG_HOME": str(tmp_path / "user"),
                **environ,
            },
        )

    return run


@pytest.mark.process
def test_help_imports_no_heavy_library_and_no_plugin(distributions: Any, tmp_path: Path) -> None:
    distributions.add("acme", {"command.hello": "zz_hello"}, {"zz_hello.py": "raise AssertionError('imported')"})
    code = (
        "import json, sys; from harness2_core.cli.main import run; code = run(['--help']);"
        "print(json.dumps([code, sorted({name.partition('.')[0] for name in sys.modules})]))"
    )
    env = {**os.environ, "PYTHONPATH": str(distributions.folder), "XDG_CONFIG_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)

    exit_code, modules = json.loads(done.stdout.splitlines()[-1])

    assert exit_code == exits.DONE
    assert "hello" in done.stdout
    assert HEAVY & set(modules) == set()
    assert not any(name.startswith(("zz_", "harness2_")) and name != "harness2_core" for name in modules)


def test_every_built_in_command_is_there_and_is_summed_up() -> None:
    for name, built in main.COMMANDS.items():
        assert built.summary.endswith("."), name
        assert main.LazyGroup(name="x").get_command(None, name).name == name


@pytest.mark.parametrize("arguments", [["plgins"], ["--no-such-option"], ["plugins", "lst"], ["plugins", "show"]])
def test_a_wrong_command_line_is_one_message_and_exit_code_1(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(arguments) == exits.NOT_DONE
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert "Traceback" not in captured.err


def test_an_unknown_command_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    main.run(["plugns"])
    assert "did you mean 'plugins'" in capsys.readouterr().err


def test_the_version_is_core_s(capsys: pytest.CaptureFixture[str]) -> None:
    from harness2_core import __version__

    assert main.run(["--version"]) == exits.DONE
    assert capsys.readouterr().out == f"harness2-core {__version__}\n"


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Puts a function into the table of commands as `try`."""

    def put(function: Callable[[], object]) -> None:
        monkeypatch.setattr(sys.modules[__name__], "_tried", function, raising=False)
        monkeypatch.setitem(sys.modules, "zz_tried", sys.modules[__name__])
        monkeypatch.setitem(main.COMMANDS, "try", main.Built("zz_tried:_tried", "Made for a test."))

    return put


def _raising(error: BaseException) -> Callable[[], None]:
    def function() -> None:
        raise error

    return function


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError("x"), exits.NOT_DONE),
        (RuntimeError("x"), exits.NOT_DONE),
        (KeyboardInterrupt(), exits.INTERRUPTED),
        (typer.Exit(exits.SOME_NOT_OK), exits.SOME_NOT_OK),
        (typer.Exit(exits.STOPPED_BY_BUDGET), exits.STOPPED_BY_BUDGET),
        (EOFError(), exits.NOT_DONE),
    ],
)
def test_each_way_to_end_has_its_exit_code(command: Any, error: BaseException, code: int) -> None:
    command(_raising(error))
    assert main.run(["try"]) == code


def test_what_a_command_returns_is_its_exit_code_only_if_it_is_one(command: Any) -> None:
    command(lambda: 3)
    assert main.run(["try"]) == 3
    command(lambda: True)
    assert main.run(["try"]) == exits.DONE


def test_an_error_is_its_message_and_remedy_without_traceback(command: Any, capsys: pytest.CaptureFixture[str]) -> None:
    command(_raising(ConfigError("the file x is missing", "create it")))
    main.run(["try"])
    assert capsys.readouterr().err == "error: the file x is missing\n  create it\n"


@pytest.mark.parametrize("error", [ConfigError("expected"), KeyError("unexpected")])
def test_debug_shows_the_traceback(command: Any, capsys: pytest.CaptureFixture[str], error: Exception) -> None:
    command(_raising(error))
    main.run(["--debug", "try"])
    assert "in function" in capsys.readouterr().err


def test_an_unexpected_error_says_how_to_see_more(command: Any, capsys: pytest.CaptureFixture[str]) -> None:
    command(_raising(KeyError("x")))
    main.run(["try"])
    err = capsys.readouterr().err
    assert "KeyError" in err
    assert "--debug" in err


def test_a_file_that_could_not_be_had_is_named_and_is_no_fault_to_report(
    command: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    command(_raising(PermissionError(13, "Permission denied", "/closed/x")))
    assert main.run(["try"]) == 1
    err = capsys.readouterr().err
    assert "error: /closed/x: Permission denied" in err
    assert "unexpected" not in err
    assert "report" not in err


def test_an_error_cannot_act_on_the_terminal(command: Any, capsys: pytest.CaptureFixture[str]) -> None:
    command(_raising(ConfigError("\x1b]0;title\x07 and \u202etxt", "\x9b2J")))
    main.run(["try"])
    err = capsys.readouterr().err
    assert "\\x1b]0;title\\x07 and \\u202etxt" in err
    assert "\\x9b2J" in err


@pytest.mark.process
def test_a_closed_pipe_is_quiet_and_changes_no_exit_code(program: Any) -> None:
    code = "import sys; from harness2_core.cli.main import main; main()"
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, "plugins", "list"], stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)
    assert done.stderr == b""
    assert done.returncode == exits.DONE


@pytest.mark.process
def test_an_interrupt_ends_with_130(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from harness2_core.cli import main\n"
        "def wait(): os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.modules['zz_wait'] = sys.modules['__main__']\n"
        "main.COMMANDS['wait'] = main.Built('zz_wait:wait', 'x'); sys.exit(main.run(['wait']))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 130


HELLO = """
    def hello(name: str = "you", shout: bool = False) -> None:
        '''Says hello.'''
        print(f"hello {name}{'!' if shout else ''}")

    def factory():
        return hello
"""


@pytest.mark.process
def test_a_command_of_a_plugin_runs_is_listed_and_can_be_switched_off(
    distributions: Any, source: Callable[..., str], program: Any
) -> None:
    text = source("command", "hello", "zz_hello_work:factory")
    distributions.add(
        "acme-hello", {"command.hello": "zz_hello"}, {"zz_hello.py": text, "zz_hello_work.py": HELLO}, version="3.1"
    )

    assert program("hello", "--name", "Ada", "--shout").stdout == "hello Ada!\n"
    assert "acme-hello 3.1" in program("--help").stdout

    assert "disabled by --disable-plugin" in program("--disable-plugin", "hello", "hello").stderr
    assert "hello" not in program("--disable-plugin", "hello", "--help").stdout
    assert "hello" not in program("--help", HARNESS2_DISABLE_PLUGINS="hello").stdout


@pytest.mark.process
@pytest.mark.parametrize("broken", ["raise RuntimeError('bad day')", "import sys; sys.exit(9)", "x ="])
def test_a_broken_command_stops_nothing_but_itself(distributions: Any, program: Any, broken: str) -> None:
    distributions.add("acme-hello", {"command.hello": "zz_hello"}, {"zz_hello.py": broken})

    assert program("--help").returncode == 0
    assert program("plugins", "list").returncode == 0
    failed = program("hello")
    assert failed.returncode == 1
    assert "acme-hello" in failed.stderr
    assert "harness2 plugins disable command.hello" in failed.stderr
    assert "Traceback" not in failed.stderr


@pytest.mark.process
def test_a_command_that_is_none_names_its_plugin(distributions: Any, source: Callable[..., str], program: Any) -> None:
    text = source("command", "hello", "zz_hello:factory") + "\ndef factory():\n    return 3\n"
    distributions.add("acme-hello", {"command.hello": "zz_hello"}, {"zz_hello.py": text})
    assert "returned int" in program("hello").stderr


@pytest.mark.process
def test_a_plugin_cannot_take_the_place_of_a_built_in_command(distributions: Any, program: Any) -> None:
    distributions.add("acme", {"command.plugins": "zz_x"}, {"zz_x.py": "raise AssertionError('imported')"})
    done = program("plugins", "list")
    assert done.returncode == 0
    assert "acme" in done.stdout


@pytest.mark.process
def test_help_survives_a_damaged_list_of_disabled_plugins(program: Any, tmp_path: Path) -> None:
    folder = tmp_path / "user" / "harness2"
    folder.mkdir(parents=True)
    (folder / "plugins.toml").write_text("disabled = ")
    done = program("--help")
    assert done.returncode == 0
    assert "plugins.toml" in " ".join(done.stdout.split())


def test_every_character_that_acts_is_shown_and_the_rest_is_left() -> None:
    acting = "\x00\x08\x1b\x7f\x85\x9b\u200f\u2028\u202e\u2066\ufeff\r\ud800"
    assert safe(acting) == r"\x00\x08\x1b\x7f\x85\x9b\u200f\u2028\u202e\u2066\ufeff\x0d\ud800"
    assert safe("a\tb\nü 漢 🙂") == "a\tb\nü 漢 🙂"


def test_a_cell_of_a_table_stays_on_its_line() -> None:
    assert table(["A", "B"], [["x\ny", "\x1b[0m"], ["long one", ""]]) == ("A         B\nx y       \\x1b[0m\nlong one")
