"""The code part of a recipe: what is in a closure, and which edits change its digest."""

from pathlib import Path

import pytest

from assay.artifact.code import Source
from assay.errors import ConfigError

FILES = {
    "__init__.py": '"""Package."""\n',
    "a/__init__.py": "",
    "a/top.py": "import json\nfrom assay.a import mid\n\n\ndef run():\n    from assay.b.late import f\n    return f, mid\n",  # noqa: E501
    "a/mid.py": "from .deep import value\n",
    "a/deep.py": "value = 1\n",
    "a/registry.py": 'NAMES = {"x": "assay.b.named:verify", "y": "assay.nowhere.at"}\nWORDS = "words.json"\n',
    "a/data/words.json": '["one"]\n',
    "a/typing_only.py": "import typing\nif typing.TYPE_CHECKING:\n    from assay.b import named\nelse:\n    import assay.a.deep\n",  # noqa: E501
    "b/__init__.py": "",
    "b/late.py": "f = 1\n",
    "b/named.py": "def verify(): ...\n",
    "b/other.py": "",
}


@pytest.fixture
def src(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "assay" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_closure_holds_imports_at_any_depth_inside_functions_and_parents(src):
    assert list(Source(src).closure("assay.a.top")) == [
        "assay", "assay.a", "assay.a.deep", "assay.a.mid", "assay.a.top", "assay.b", "assay.b.late",
    ]  # fmt: skip


def test_a_module_or_data_file_that_is_only_named_counts(src):
    found = Source(src).closure("assay.a.registry")
    assert "assay.b.named" in found
    assert "file:assay/a/data/words.json" in found
    before = found["file:assay/a/data/words.json"]
    (src / "assay/a/data/words.json").write_text('["two"]\n')
    assert Source(src).closure("assay.a.registry")["file:assay/a/data/words.json"] != before


def test_imports_for_type_checkers_do_not_count(src):
    found = Source(src).closure("assay.a.typing_only")
    assert "assay.b.named" not in found
    assert "assay.a.deep" in found


@pytest.mark.parametrize(
    "text",
    [
        "# a remark\nvalue = 1\n",
        '"""A docstring."""\n\n\nvalue = (\n    1\n)\n',
        "value = 1  # why\n",
        '"""Doc."""\nvalue = 1\n"""Text about the value."""\n',
    ],
)
def test_comments_docstrings_and_layout_have_no_meaning(src, text):
    before = Source(src).closure("assay.a.top")
    (src / "assay/a/deep.py").write_text(text)
    assert Source(src).closure("assay.a.top") == before


@pytest.mark.parametrize(
    "text", ["value = 2\n", "value = 1.0\n", "value = '1'\n", "value = 1\nmore = 1\n", "value = True\n"]
)
def test_everything_else_has(src, text):
    before = Source(src).closure("assay.a.top")
    (src / "assay/a/deep.py").write_text(text)
    after = Source(src).closure("assay.a.top")
    assert {name for name in after if after[name] != before[name]} == {"assay.a.deep"}


def test_the_cache_never_hides_a_change(src, tmp_path):
    cache = tmp_path / "cache.json"
    first = Source(src, cache)
    before = first.closure("assay.a.top")
    first.save()
    assert cache.is_file()
    assert Source(src, cache).closure("assay.a.top") == before
    (src / "assay/a/deep.py").write_text("value = 2\n")
    assert Source(src, cache).closure("assay.a.top") == Source(src).closure("assay.a.top") != before
    cache.write_text("{spoiled")
    assert Source(src, cache).closure("assay.a.top") == Source(src).closure("assay.a.top")


def test_a_root_that_does_not_exist_is_an_error(src):
    with pytest.raises(ModuleNotFoundError):
        Source(src).closure("assay.a.absent")


@pytest.mark.parametrize(("code", "words"), [(b"a = 1\ndef (\n", "row 2: this is no Python"), (b"a = \0", "no Python")])
def test_code_that_is_being_written_is_named(code, words, src):
    file = src / "assay/a/deep.py"
    file.write_bytes(code)
    with pytest.raises(ConfigError, match=words) as caught:
        Source(src).closure("assay.a.top")
    assert caught.value.file == str(file)
