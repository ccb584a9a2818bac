"""`harness2 plugins`, as a user sees it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness2_core.cli.main import run
from harness2_core.plugins.discovery import scan
from harness2_core.plugins.off_switches import read_list

SETTINGS = '''
    from pathlib import Path
    from attrs import field, frozen

    @frozen
    class Settings:
        folder: Path
        """Where things are."""
        size: int = field(default=3, metadata={"help": "How large."})
        api_key: str = ""
        url: str = ""
        made: dict[str, str] | None = None

    class Good:
        pass
'''


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without a list of disabled plugins, in an empty directory; returns where the list would be."""
    for name in ("HARNESS2_DISABLE_PLUGINS", "HARNESS2_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    list_ = tmp_path / "user" / "plugins.toml"
    monkeypatch.setattr("harness2_core.plugins.off_switches.user_list", lambda: list_)
    monkeypatch.setattr("harness2_core.cli.plugins.user_list", lambda: list_)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return list_


@pytest.fixture
def zoo(distributions: Any, source: Callable[..., str], user: Path) -> None:
    """One good distribution, and one for each way of being unusable."""
    text = source("store", "zz-vault", "zz_good_work:Good", "zz_good_work:Settings")
    settings = SETTINGS.replace("        made: dict[str, str] | None = None\n", "")
    distributions.add("zz-good", {"store.zz-vault": "zz_good"}, {"zz_good.py": text, "zz_good_work.py": settings})
    distributions.add("zz-raises", {"store.zz-raises": "zz_raises"}, {"zz_raises.py": "raise ValueError('bad day')"})
    distributions.add("zz-exits", {"store.zz-exits": "zz_exits"}, {"zz_exits.py": "import sys; sys.exit(3)"})
    distributions.add("zz-future", {"store.zz-future": "zz_future"}, {}, group="harness2.v7")
    distributions.add("zz-odd", {"stoer.zz-odd": "zz_odd"}, {})
    distributions.add("zz-newer", {"store.zz-newer": "zz_newer"}, {}, requires=["harness2-core>=99"])
    for name in ("zz-one", "zz-two"):
        module = name.replace("-", "_")
        text = source("mode", "zz-twice", f"{module}:Mode")
        distributions.add(name, {"mode.zz-twice.zzt": module}, {f"{module}.py": text})


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def _json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    return json.loads(_run(capsys, *arguments, "--json")[1])


def _mine(rows: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    return [row for row in rows if row["distribution"].startswith("zz-")]


@pytest.mark.usefixtures("zoo")
def test_the_list_has_everything_with_its_state(capsys: pytest.CaptureFixture[str]) -> None:
    run(["plugins", "disable", "zz-raises"])
    capsys.readouterr()

    rows = _mine(_json(capsys, "plugins", "list"))

    assert {(row["name"], row["distribution"], row["state"]) for row in rows} == {
        ("zz-vault", "zz-good", "ok"),
        ("zz-raises", "zz-raises", "disabled"),
        ("zz-exits", "zz-exits", "ok"),
        ("zz-future", "zz-future", "other API version"),
        ("stoer.zz-odd = zz_odd", "zz-odd", "malformed"),
        ("zz-newer", "zz-newer", "other core version"),
        ("zz-twice", "zz-one", "clash"),
        ("zz-twice", "zz-two", "clash"),
    }
    assert {row["token"] for row in rows if row["kind"] == "mode"} == {"zzt"}
    assert all(row["why"] for row in rows if row["state"] != "ok")


@pytest.mark.usefixtures("zoo")
def test_the_list_as_text_names_kind_token_distribution_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _run(capsys, "plugins", "list")
    (line,) = [line for line in out.splitlines() if "zz-one" in line]
    assert line.split() == ["mode", "zz-twice", "zzt", "zz-one", "1.0", "clash"]
    assert code == 0


@pytest.mark.usefixtures("zoo")
def test_listing_imports_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    import sys

    _run(capsys, "plugins", "list")
    assert not [name for name in sys.modules if name.startswith("zz_")]


@pytest.mark.usefixtures("zoo")
def test_show_imports_just_the_one_it_shows(capsys: pytest.CaptureFixture[str]) -> None:
    import sys

    shown = _json(capsys, "plugins", "show", "zz-vault")

    assert (shown["summary"], shown["factory"]) == ("made for a test", "zz_good_work:Good")
    assert not {"zz_raises", "zz_exits"} & set(sys.modules)


@pytest.mark.usefixtures("zoo")
def test_show_tells_each_setting_and_where_its_value_comes_from(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("harness2.toml").write_text("[stores.zz-vault]\nfolder = 'data'\n")
    monkeypatch.setenv("HARNESS2_STORES__ZZ_VAULT__SIZE", "7")

    settings = {row["name"]: row for row in _json(capsys, "plugins", "show", "store.zz-vault")["settings"]}

    assert settings["folder"] == {
        "name": "folder",
        "type": "path",
        "default": "",
        "help": "Where things are.",
        "value": '"data"',
        "from": f"{Path.cwd()}/harness2.toml:2",
    }
    assert settings["size"] == {
        "name": "size",
        "type": "integer",
        "default": "3",
        "help": "How large.",
        "value": '"7"',
        "from": "variable HARNESS2_STORES__ZZ_VAULT__SIZE",
    }
    text = _run(capsys, "plugins", "show", "zz-vault")[1]
    assert "folder: path; required" in text
    assert "size: integer; default 3" in text
    assert "How large." in text


@pytest.mark.usefixtures("zoo")
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_show_never_prints_a_secret(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, form: list[str]
) -> None:
    Path("harness2.toml").write_text(
        "[stores.zz-vault]\nurl = 'https://me:canary-5512@host.example/?token=canary-5512'\n"
    )
    monkeypatch.setenv("HARNESS2_STORES__ZZ_VAULT__API_KEY", "canary-5512")

    code, out, err = _run(capsys, "plugins", "show", "zz-vault", *form)

    assert code == 0
    assert "canary-5512" not in out + err
    assert "(hidden)" in out
    assert "host.example" in out


@pytest.mark.usefixtures("zoo")
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("zz-vualt", "did you mean 'zz-vault'"),
        ("zz-twice", "zz-one:zz-twice"),
        ("zz-raises", "ValueError: bad day"),
        ("zz-exits", "tried to end the program"),
        ("zz-future", "plugin API 7"),
        ("zz-good", "it brings store.zz-vault"),
    ],
)
def test_show_of_what_cannot_be_shown_says_why(capsys: pytest.CaptureFixture[str], name: str, says: str) -> None:
    code, out, err = _run(capsys, "plugins", "show", name)
    assert (code, out) == (1, "")
    assert says in err


@pytest.mark.usefixtures("zoo")
def test_show_of_one_of_two_that_clash_is_by_distribution(capsys: pytest.CaptureFixture[str]) -> None:
    shown = _json(capsys, "plugins", "show", "zz-one:zz-twice")
    assert (shown["state"], shown["factory"]) == ("clash", "zz_one:Mode")


@pytest.mark.usefixtures("zoo")
def test_show_of_a_disabled_plugin_imports_it_not(capsys: pytest.CaptureFixture[str]) -> None:
    run(["plugins", "disable", "zz-raises"])
    capsys.readouterr()
    assert _json(capsys, "plugins", "show", "zz-raises")["state"] == "disabled"


@pytest.mark.usefixtures("zoo")
def test_disable_and_enable_work_on_a_broken_plugin(capsys: pytest.CaptureFixture[str], user: Path) -> None:
    code, out, _ = _run(capsys, "plugins", "disable", "zz-raises")
    assert code == 0
    assert "store 'zz-raises' of zz-raises 1.0" in out
    assert read_list(user) == ("zz-raises",)

    assert _json(capsys, "plugins", "disable", "zz-raises")["changed"] is False
    assert _run(capsys, "plugins", "enable", "zz-raises")[0] == 0
    assert read_list(user) == ()


@pytest.mark.usefixtures("zoo")
def test_enable_tells_when_something_else_keeps_it_off(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(["plugins", "disable", "zz-raises"])
    monkeypatch.setenv("HARNESS2_DISABLE_PLUGINS", "zz-raises")
    capsys.readouterr()
    assert "HARNESS2_DISABLE_PLUGINS" in _json(capsys, "plugins", "enable", "zz-raises")["still_off_by"][0]


@pytest.mark.usefixtures("zoo")
@pytest.mark.parametrize(
    "arguments", [["plugins", "disable", "zz-vualt"], ["--disable-plugin", "zz-vualt", "plugins", "list"]]
)
def test_switching_off_what_is_not_there_names_the_nearest(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    code, _, err = _run(capsys, *arguments)
    assert code == 1
    assert "'zz-vault'" in err


@pytest.fixture
def only_mine(monkeypatch: pytest.MonkeyPatch, distributions: Any) -> None:
    """The doctor examines what a test made, not what else this environment has."""
    monkeypatch.setattr("harness2_core.plugins.quick_scan.quick_scan", lambda path=None: scan(distributions.path))


@pytest.mark.process
@pytest.mark.usefixtures("zoo", "only_mine")
def test_the_doctor_finds_what_is_wrong_with_each(
    distributions: Any, source: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    prints = source("store", "zz-prints", "zz_prints:f", extra="print('buy our product')") + "\ndef f(): pass\n"
    slow = source("store", "zz-slow", "zz_slow:f", extra="import time; time.sleep(5)") + "\ndef f(): pass\n"
    distributions.add("zz-prints", {"store.zz-prints": "zz_prints"}, {"zz_prints.py": prints})
    distributions.add("zz-slow", {"store.zz-slow": "zz_slow"}, {"zz_slow.py": slow})
    missing = source("store", "zz-missing", "zz_missing:nowhere")
    distributions.add("zz-missing", {"store.zz-missing": "zz_missing"}, {"zz_missing.py": missing})
    odd = source("store", "zz-odd2", "zz_odd2:Settings", "zz_odd2:Settings") + SETTINGS.replace("\n    ", "\n")
    odd = odd.replace("dict[str, str]", "dict[str, int]")
    distributions.add("zz-odd2", {"store.zz-odd2": "zz_odd2"}, {"zz_odd2.py": odd})

    found = _json(capsys, "plugins", "doctor", "--limit-seconds", "120")
    said = {(item["distribution"].split()[0], item["level"]): item["what"] for item in found}

    assert ("zz-good", "ok") in said
    assert "ValueError: bad day" in said["zz-raises", "error"]
    assert "tried to end the program" in said["zz-exits", "error"]
    assert "plugin API 7" in said["zz-future", "error"]
    assert "no kind 'stoer'" in said["zz-odd", "error"]
    assert "requires harness2-core>=99" in said["zz-newer", "error"]
    assert "'zz_missing:nowhere' does not exist" in said["zz-missing", "error"]
    assert "buy our product" in said["zz-prints", "warning"]
    assert ("zz-prints", "ok") in said
    assert "takes 5." in said["zz-slow", "warning"]
    assert "Settings.made" in said["zz-odd2", "error"]
    assert "'zz_two:Mode' does not exist" in said["zz-two", "error"]
    assert any("more than once" in item["what"] for item in found if item["distribution"].startswith("zz-one"))


@pytest.mark.process
@pytest.mark.usefixtures("user", "only_mine")
def test_the_doctor_waits_no_longer_than_the_limit(distributions: Any, capsys: pytest.CaptureFixture[str]) -> None:
    import time

    hangs = "import time\nwhile True:\n    time.sleep(1000)\n"
    distributions.add("zz-hangs", {"store.zz-hangs": "zz_hangs"}, {"zz_hangs.py": hangs})
    started = time.monotonic()

    code, out, _ = _run(capsys, "plugins", "doctor", "--limit-seconds", "1")

    assert code == 1
    assert "takes longer than 1 s" in out
    assert "harness2 plugins disable store.zz-hangs" in out
    assert time.monotonic() - started < 100


@pytest.mark.process
@pytest.mark.usefixtures("user", "only_mine")
def test_a_disabled_plugin_is_not_examined_and_a_clean_bill_is_exit_code_0(
    distributions: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    distributions.add("zz-raises", {"store.zz-raises": "zz_raises"}, {"zz_raises.py": "raise ValueError"})
    distributions.add("zz-newer", {"store.zz-newer": "zz_newer"}, {}, requires=["harness2-core>=99"])
    assert _run(capsys, "plugins", "doctor")[0] == 1
    run(["plugins", "disable", "zz-raises"])
    assert _run(capsys, "plugins", "doctor")[0] == 1
    run(["plugins", "disable", "zz-newer"])
    assert _run(capsys, "plugins", "doctor")[0] == 0


@pytest.mark.process
def test_the_list_costs_little_more_than_the_command_line_itself() -> None:
    """Metadata only, and read by hand: no API, no value classes, no rules of versions."""
    import subprocess
    import sys

    program = (
        "import sys; from harness2_core.cli.main import run; code = run(['plugins', 'list']); "
        "print(code, *sorted(sys.modules), file=sys.stderr)"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stderr.split()
    assert said[0] == "0"
    heavy = ("attr", "cattrs", "jinja2", "packaging", "tomlkit", "yaml", "harness2_core.api", "harness2_core.sweep")
    assert not [name for name in said if name.startswith(heavy)]
