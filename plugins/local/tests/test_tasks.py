"""The tasks adapter: folders as people make them, and as they should not be."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from harness2_local.python_substrate import SURFACE
from harness2_local.settings import TasksSettings
from harness2_local.tasks import TaskFolders

from harness2_core.api import Adapter, ConfigError, Surface
from harness2_core.testing.adapter_contract import AdapterContract
from harness2_core.testing.hostile_inputs import HOSTILE_INPUTS

SOLVE = "scripts/solve.py"


def put(root: Path, path: str, text: str = "x\n") -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two domains, three tasks, a base harness, and files that are nobody's business."""
    root = tmp_path / "My tasks-2"
    for task in ("pets/cats", "pets/dogs", "birds/owls"):
        put(root, f"{task}/instruction.md", f"Count the {task}.\n")
        put(root, f"{task}/inputs/list.txt", f"{task}\n")
        put(root, f"{task}/inputs/deep/.hidden", "1\n")
        put(root, f"{task}/checks/check_count.py", "print()\n")
        put(root, f"{task}/task.toml", 'expects = ["count.txt"]\nlimit_seconds = 9\n')
    put(root, f"base/{SOLVE}", "print('hello')\n")
    put(root, "pets/playbook.toml", "")
    put(root, "README.md")
    put(root, ".git/HEAD")
    return root


@pytest.fixture
def bench(root: Path) -> TaskFolders:
    return TaskFolders(TasksSettings(root))


class TestContract(AdapterContract):
    @pytest.fixture
    def adapter(self, bench: TaskFolders) -> Adapter:
        return bench

    @pytest.fixture
    def surface(self) -> Surface:
        return SURFACE

    @pytest.fixture
    def inputs_of(self, root: Path) -> tuple[str, Path]:
        return "pets/cats", root / "pets/cats/inputs"


def test_ids_are_domain_and_task(bench: TaskFolders) -> None:
    assert bench.tasks("all") == ("birds/owls", "pets/cats", "pets/dogs")


def test_a_task_brings_its_inputs_and_nothing_else(bench: TaskFolders) -> None:
    task = bench.task("pets/cats")
    assert task.domain == "pets"
    assert task.prompt == "Count the pets/cats.\n"
    assert list(task.files) == ["inputs/deep/.hidden", "inputs/list.txt"]
    assert (task.expects, task.limit_seconds) == (("count.txt",), 9)


def test_the_bench_is_named_after_the_folder_unless_told(bench: TaskFolders, root: Path) -> None:
    assert bench.spec.name == "my_tasks_2"
    assert TaskFolders(TasksSettings(root, "zoo")).spec.name == "zoo"


def test_checks_are_the_grader_side(bench: TaskFolders, root: Path) -> None:
    assert bench.grader_side("pets/cats") == {"check_count.py": root / "pets/cats/checks/check_count.py"}


def test_a_task_may_do_without_inputs_checks_and_settings(bench: TaskFolders, root: Path) -> None:
    put(root, "pets/fish/instruction.md")
    assert dict(bench.task("pets/fish").files) == {}
    assert dict(bench.grader_side("pets/fish")) == {}


def test_a_base_folder_of_the_surface_wins(bench: TaskFolders, root: Path) -> None:
    assert _base(bench)[SOLVE] == "print('hello')\n"
    put(root, f"base-python/{SOLVE}", "print('other')\n")
    assert _base(bench)[SOLVE] == "print('other')\n"
    assert bench.tasks("all") == ("birds/owls", "pets/cats", "pets/dogs")


def test_a_base_that_is_wrong_is_told_with_its_place(bench: TaskFolders, root: Path) -> None:
    put(root, "base-python/elsewhere.txt")
    with pytest.raises(ConfigError, match=r"base-python.*elsewhere\.txt"):
        bench.base_tree(SURFACE)


def test_a_base_for_another_agent_is_told_with_the_folder_for_this_one(bench: TaskFolders, root: Path) -> None:
    put(root, "base/elsewhere.txt")
    with pytest.raises(ConfigError) as told:
        bench.base_tree(SURFACE)
    assert str(root / "base-python") in told.value.remedy


def test_without_a_base_folder_the_substrates_own_is_meant(bench: TaskFolders, root: Path) -> None:
    (root / f"base/{SOLVE}").unlink()
    (root / "base/scripts").rmdir()
    (root / "base").rmdir()
    assert bench.base_tree(SURFACE) is None


def _base(bench: TaskFolders) -> Mapping[str, str]:
    tree = bench.base_tree(SURFACE)
    assert tree is not None
    return tree.files


def test_words_and_splits_come_from_the_bench_file(bench: TaskFolders, root: Path) -> None:
    put(
        root,
        "bench.toml",
        'network = "open"\n[words]\nwork = "Animals are counted."\n[domains.birds]\nwork = "Birds are counted."\n'
        '[splits]\ntrain = ["pets/dogs", "birds/owls"]\n',
    )
    assert (bench.spec.words.work, bench.spec.network) == ("Animals are counted.", "open")
    assert bench.words("birds/owls").work == "Birds are counted."
    assert bench.words("pets/cats").work == "Animals are counted."
    assert bench.tasks("train") == ("birds/owls", "pets/dogs")


@pytest.mark.parametrize(
    ("file", "text", "named", "remedy"),
    [
        ("bench.toml", "[words]\nwrok = 'x'\n", "unknown key 'wrok'", "work"),
        ("bench.toml", "word = 'x'\n", "unknown key 'word'", "words"),
        ("bench.toml", "[words]\nwork = 'the benchmark'\n", "'benchmark'", "work"),
        ("bench.toml", "[words]\nwork = 3\n", "work is 3", "text"),
        ("bench.toml", "[splits]\ntrain = ['pets/cat']\n", "no task 'pets/cat'", "pets/cats"),
        ("bench.toml", "= 3", "not valid TOML", "mend"),
        ("pets/cats/task.toml", "expect = []\n", "unknown key 'expect'", "expects"),
        ("pets/cats/task.toml", "expects = 'a'\n", "expects is 'a'", "list"),
        ("pets/cats/task.toml", "expects = ['../a']\n", "'../a' climbs out", "below output"),
        ("pets/cats/task.toml", "limit_seconds = -1\n", "limit_seconds is -1", "whole seconds"),
        ("pets/cats/task.toml", "limit_seconds = true\n", "limit_seconds is True", "whole seconds"),
        ("pets/cats/instruction.md", " \n", "instruction.md is blank", "write"),
    ],
)
def test_preflight_names_file_key_and_way_out(
    bench: TaskFolders, root: Path, file: str, text: str, named: str, remedy: str
) -> None:
    put(root, file, text)
    (problem,) = bench.preflight()
    assert file.rpartition("/")[2] in problem
    assert named in problem
    assert remedy in problem


def test_an_unknown_task_is_told_with_near_ones(bench: TaskFolders) -> None:
    with pytest.raises(ConfigError, match="pets/cats"):
        bench.task("pets/cat")


def test_a_folder_without_tasks_is_an_error_that_says_how_to_begin(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"<domain>/<task>/instruction\.md"):
        TaskFolders(TasksSettings(tmp_path)).tasks("all")
    with pytest.raises(ConfigError, match="no folder of tasks"):
        TaskFolders(TasksSettings(tmp_path / "absent")).tasks("all")


def test_a_task_folder_without_instruction_is_named(bench: TaskFolders, root: Path) -> None:
    put(root, "pets/draft/inputs/list.txt")
    with pytest.raises(ConfigError, match=r"pets/draft has no instruction\.md"):
        bench.tasks("all")


def test_version_control_and_droppings_are_left_out(bench: TaskFolders, root: Path) -> None:
    put(root, "pets/cats/inputs/.git/logs/HEAD", "the solution\n")
    put(root, "pets/cats/inputs/.DS_Store")
    put(root, "pets/cats/inputs/__pycache__/a.pyc")
    assert list(bench.task("pets/cats").files) == ["inputs/deep/.hidden", "inputs/list.txt"]


def test_a_link_to_a_file_of_the_inputs_is_that_file(bench: TaskFolders, root: Path) -> None:
    (root / "pets/cats/inputs/same.txt").symlink_to("list.txt")
    files = bench.task("pets/cats").files
    assert files["inputs/same.txt"].read_text() == "pets/cats\n"
    assert not files["inputs/same.txt"].is_symlink()


@pytest.mark.parametrize("how", HOSTILE_INPUTS)
def test_an_odd_input_is_refused_by_name_and_spoils_no_other_task(bench: TaskFolders, root: Path, how: str) -> None:
    HOSTILE_INPUTS[how](root / "pets/cats/inputs", root / "pets/cats/checks/check_count.py")
    with pytest.raises(ConfigError, match="odd"):
        bench.task("pets/cats")
    assert len(bench.preflight()) == 1
    bench.task("pets/dogs")


@pytest.mark.parametrize("part", ["inputs", "checks"])
def test_folders_of_a_task_are_no_links(bench: TaskFolders, root: Path, part: str, tmp_path: Path) -> None:
    folder = root / "pets/cats" / part
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")
    with pytest.raises(ConfigError, match=f"{part}' is a link"):
        bench.task("pets/cats")


@pytest.mark.parametrize("path", ["zoo", "pets/zebras"])
def test_domains_and_tasks_are_no_links(bench: TaskFolders, root: Path, path: str) -> None:
    (root / path).symlink_to(root / "birds")
    with pytest.raises(ConfigError, match="is a link to a folder"):
        bench.tasks("all")


def test_an_instruction_is_no_link_and_is_text(bench: TaskFolders, root: Path) -> None:
    instruction = root / "pets/cats/instruction.md"
    instruction.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="not UTF-8"):
        bench.task("pets/cats")
    instruction.unlink()
    instruction.symlink_to("checks/check_count.py")
    with pytest.raises(ConfigError, match="is a link"):
        bench.task("pets/cats")


def test_the_root_itself_may_be_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "zoo").symlink_to(root)
    bench = TaskFolders(TasksSettings(tmp_path / "zoo"))
    assert bench.preflight() == ()
    assert bench.spec.name == "zoo"
