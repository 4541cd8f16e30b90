"""Why an artifact is not current, as one line that tells the first thing that differs."""

import pytest

from assay.artifact.explain import first_difference, status
from assay.artifact.job import Job
from assay.artifact.recipe import Planned

OWN = {
    "stage": "labels",
    "item": "x",
    "version": 1,
    "function": "assay.toy.judge:judge",
    "config": {
        "threshold": 2,
        "prompt": {"anchor": "Answer the question with a short factual answer only.\nQ: {query}\nA:"},
    },
    "code": {"assay.toy.deep": "a" * 64, "assay.toy.judge": "b" * 64},
    "lock": {"models/m": "c" * 64},
    "libraries": {"numpy": "2.4.6"},
    "python": ["3.11", "14.0.0"],
}


def changed(*path: str, to: object) -> str | None:
    """Return the reason when one value, at any depth, is another; `...` takes it away."""
    import copy

    now = copy.deepcopy(OWN)
    place = now
    for name in path[:-1]:
        place = place[name]
    if to is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return first_difference(OWN, now)


@pytest.mark.parametrize(
    ("path", "to", "reason"),
    [
        (("config", "threshold"), 9, "config.threshold: 2 -> 9"),
        (("config", "more"), True, "config.more: nothing -> True"),
        (("config", "threshold"), ..., "config.threshold: 2 -> nothing"),
        (("code", "assay.toy.deep"), "d" * 64, "code: assay.toy.deep changed"),
        (("code", "assay.toy.new"), "d" * 64, "code: assay.toy.new is new"),
        (("code", "assay.toy.deep"), ..., "code: assay.toy.deep is no longer imported"),
        (("lock", "models/m"), "d" * 64, "lock.models/m: other digests in the lock"),
        (("libraries", "numpy"), "2.5.0", "libraries.numpy: 2.4.6 -> 2.5.0"),
        (("python",), ["3.12", "15.0.0"], "python: ['3.11', '14.0.0'] -> ['3.12', '15.0.0']"),
        (("function",), "assay.toy.judge:other", "function: assay.toy.judge:judge -> assay.toy.judge:other"),
        (("version",), 2, "version: 1 -> 2"),
    ],
)
def test_the_component_and_both_values_are_named(path, to, reason):
    assert changed(*path, to=to) == reason


def test_equal_recipes_differ_in_nothing():
    assert first_difference(OWN, dict(OWN)) is None


def test_what_people_change_first_is_told_first():
    now = OWN | {"code": {}, "config": OWN["config"] | {"threshold": 9}}
    assert first_difference(OWN, now) == "config.threshold: 2 -> 9"


def test_long_texts_are_shown_where_they_part_in_one_line():
    text = OWN["config"]["prompt"]["anchor"]
    reason = changed("config", "prompt", "anchor", to=text.replace("A:", "Reply:") + " " + "x" * 500)
    assert reason.startswith("config.prompt.anchor: …")
    before, _, after = reason.partition(" -> ")
    assert before.endswith(r"{query}\nA:")
    assert r"{query}\nReply: xxx" in after
    assert after.endswith("…")
    assert len(reason) < 180
    assert "\n" not in reason


def test_an_artifact_that_is_swept_away_while_it_is_looked_at_is_none(tmp_path, monkeypatch):
    planned = Planned(Job("labels", "x", "assay.toy.judge:judge"), OWN, "", "a" * 64, (), "bytes")
    monkeypatch.setattr("assay.artifact.explain.finished", lambda *_: [tmp_path / "gone"])
    assert status(tmp_path, planned).state == "missing"
