"""Large stages on another disk."""

import pytest

from assay.artifact.large import place_large_stages, workspace
from assay.artifact.store import install
from assay.errors import ConfigError


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def test_without_the_variable_nothing_is_linked(root, monkeypatch):
    monkeypatch.delenv("ASSAY_LARGE", raising=False)
    place_large_stages(root)
    assert list(root.iterdir()) == []
    assert workspace(root, "hidden") == root / ".work"


def test_large_stages_and_what_they_are_made_in_lie_on_the_other_disk(root, tmp_path, monkeypatch):
    disk = tmp_path / "disk"
    disk.mkdir()
    monkeypatch.setenv("ASSAY_LARGE", str(disk))
    place_large_stages(root)
    place_large_stages(root)
    work = workspace(root, "hidden") / "x"
    work.mkdir(parents=True)
    (work / "manifest.json").write_text("{}")
    install(work, root / "results/hidden/item/key", root)
    assert [path.name for path in disk.rglob("manifest.json")] == ["manifest.json"]
    assert (root / "results/hidden/item/key/manifest.json").is_file()
    assert workspace(root, "generations") == root / ".work"


def test_two_projects_of_one_name_share_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_LARGE", str(tmp_path))
    for parent in ("a", "b"):
        (tmp_path / parent / "p").mkdir(parents=True)
        place_large_stages(tmp_path / parent / "p")
    ends = {(tmp_path / parent / "p/results/hidden").resolve() for parent in ("a", "b")}
    assert len(ends) == 2


def test_artifacts_that_exist_already_stay_where_they_are(root, tmp_path, monkeypatch):
    (root / "results/hidden/item").mkdir(parents=True)
    (root / "results/lens").mkdir()
    monkeypatch.setenv("ASSAY_LARGE", str(tmp_path))
    place_large_stages(root)
    assert not (root / "results/hidden").is_symlink()
    assert workspace(root, "hidden") == root / ".work"
    assert (root / "results/lens").is_symlink()  # an empty folder gives way


def test_a_disk_that_cannot_be_written_is_named(root, tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_LARGE", "/proc")
    with pytest.raises(ConfigError, match=r"results/hidden, key 'ASSAY_LARGE': no link to /proc/.* can be made"):
        place_large_stages(root)
    disk = tmp_path / "disk"
    disk.mkdir()
    monkeypatch.setenv("ASSAY_LARGE", str(disk))
    place_large_stages(root)
    (root / "results/hidden").unlink()
    home = next(disk.iterdir())
    (home / "results/hidden").rmdir()
    (home / "results/hidden").write_text("in the way")
    with pytest.raises(ConfigError, match="File exists"):
        place_large_stages(root)


def test_a_disk_that_is_gone_is_named(root, tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_LARGE", str(tmp_path / "nowhere"))
    with pytest.raises(ConfigError, match="nowhere"):
        place_large_stages(root)
    monkeypatch.delenv("ASSAY_LARGE")
    (root / "results").mkdir()
    (root / "results/hidden").symlink_to(tmp_path / "unmounted")
    with pytest.raises(ConfigError, match="unmounted"):
        place_large_stages(root)
