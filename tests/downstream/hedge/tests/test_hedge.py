from hedge_mode import Hedge

from harness2_core.testing import ModeContract


class TestHedge(ModeContract):
    factory = "hedge_mode:Hedge"


def test_a_cut_sees_what_was_grown_and_starts_from_it():
    plan = Hedge().plan(2)
    assert (plan.rollouts, plan.sessions) == (10, 8)
    stage = plan.stage("domcut2")
    assert (stage.start, stage.rollouts, stage.pool) == ("dom2", ("base2", "dom2"), ("dom2",))


def test_the_mission_is_shipped_and_versioned():
    assert Hedge().templates().version("cut") == "3"


def test_harness2_lists_it_under_name_and_token(run_harness2):
    rows = run_harness2("plugins", "list", "--json").json
    (row,) = [row for row in rows if row["name"] == "hedge"]
    assert (row["kind"], row["token"], row["state"]) == ("mode", "hdg", "ok")
    assert (row["distribution"], row["version"]) == ("hedge-mode", "1.2.0")


def test_harness2_describes_it(run_harness2):
    shown = run_harness2("plugins", "show", "hdg")
    assert shown.code == 0
    assert "cut back afterwards" in shown.out


def test_the_doctor_finds_nothing(run_harness2):
    assert run_harness2("plugins", "doctor", process=True).code == 0
