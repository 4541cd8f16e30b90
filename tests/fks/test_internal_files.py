"""States on disk: formats, order, damage, numbers that are not finite; and the metrics job with states."""

import json

import numpy as np
import pytest
from safetensors.numpy import save

from assay.errors import DataError
from assay.fks.internal import FactSelection
from assay.fks.internal_rows import StateQuery
from assay.fks.internal_run import run_internal
from assay.fks.lens_file import Lens, read_lens
from assay.fks.metric_settings import InternalSettings
from assay.fks.states import open_states, scan
from assay.records.jsonl import write_rows

FAMILIES = ("anchor", "paraphrase")


def write(folder, ids, states, shard_rows=5, dtype="F32", order=None, **header):
    """Write an artifact of states [n, layers, d] in the order of `ids`."""
    folder.mkdir(exist_ok=True)
    index = []
    for number, start in enumerate(range(0, len(ids), shard_rows)):
        part = states[start : start + shard_rows]
        name = f"hidden-{number:05d}.safetensors"
        meta = {"schema": "hidden-1", "model_id": "m", "top_state": "block_output", **header}
        meta["layers"] = list(range(3, 3 + states.shape[1]))
        meta["query_ids_sha256"] = str(number)
        if dtype == "BF16":
            raw = (part.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
            head = {"__metadata__": {"fks": json.dumps(meta)}, "h": {"dtype": "BF16", "shape": list(raw.shape)}}
            head["h"]["data_offsets"] = [0, raw.nbytes]
            text = json.dumps(head).encode()
            (folder / name).write_bytes(len(text).to_bytes(8, "little") + text + raw.tobytes())
        else:
            (folder / name).write_bytes(save({"h": part.astype(np.float32)}, {"fks": json.dumps(meta)}))
        index += [{"query_id": q, "shard": name, "row": k} for k, q in enumerate(ids[start : start + shard_rows])]
    write_rows(folder / "index.jsonl", index)
    return folder


def facts(n=6):
    return [f"f{i}" for i in range(n)]


def queries(n=6):
    return [
        StateQuery(f"{fact}-{family}-{k}", fact, "r", family) for fact in facts(n) for family in FAMILIES for k in "ab"
    ]


@pytest.fixture
def states():
    return np.random.default_rng(0).normal(size=(24, 2, 8)).astype(np.float32)


def run(folder, lens=None, **changes):
    chosen = [FactSelection((0, 1), np.ones(6, dtype=bool))]
    options = {"kts_geo_min_facts": 3} | changes
    return run_internal(folder, queries(), FAMILIES, facts(), chosen, InternalSettings(**options), lens)


def test_rows_are_found_whatever_the_order_of_the_file(tmp_path, states):
    ids = [query.query_id for query in queries()]
    mixed = np.random.default_rng(2).permutation(24)
    straight = write(tmp_path / "a", ids, states)
    shuffled = write(tmp_path / "b", [ids[i] for i in mixed], states[mixed], shard_rows=7)
    found = open_states(shuffled, ids)
    assert found.layers == (3, 4)
    assert np.array_equal(found.take(0, 24, 1), states[:, 1].astype(float))
    first, second = run(straight).results["raw"], run(shuffled).results["raw"]
    for one, two in zip(first, second, strict=True):
        assert one[0].iss["zca"].tobytes() == two[0].iss["zca"].tobytes()


def test_bfloat16_is_the_upper_half_of_float32(tmp_path, states):
    ids = [query.query_id for query in queries()]
    folder = write(tmp_path / "a", ids, states, dtype="BF16")
    expected = (states.view(np.uint32) & 0xFFFF0000).view(np.float32)
    assert np.array_equal(open_states(folder, ids).take(0, 24, 0), expected[:, 0].astype(float))


def test_torch_reads_the_same_numbers(tmp_path):
    import torch
    from safetensors.torch import save_file

    tensor = torch.randn(4, 2, 5, dtype=torch.float32).bfloat16()
    head = json.dumps({"layers": [0, 1]})
    save_file({"h": tensor}, tmp_path / "hidden-00000.safetensors", {"fks": head})
    write_rows(
        tmp_path / "index.jsonl",
        [{"query_id": str(i), "shard": "hidden-00000.safetensors", "row": i} for i in range(4)],
    )
    found = open_states(tmp_path, ["0", "1", "2", "3"])
    assert np.array_equal(found.take(0, 4, 1), tensor[:, 1].double().numpy())


@pytest.mark.parametrize("dtype", ["F32", "BF16"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_rows_that_are_not_finite_are_excluded_and_counted(tmp_path, states, bad, dtype):
    ids = [query.query_id for query in queries()]
    states[5, 1, 3] = bad
    states[7] = 0.0
    folder = write(tmp_path / "a", ids, states, dtype=dtype)
    finite, zero = scan(open_states(folder, ids))
    assert np.flatnonzero(~finite).tolist() == [5]
    assert np.flatnonzero(zero).tolist() == [7]
    result = run(folder)
    assert (result.report.n_rows, result.report.n_nonfinite, result.report.n_zero) == (24, 1, 1)
    assert not np.isnan(result.results["raw"][1][0].iss["none"]).any()


def test_memory_limit_changes_no_byte(tmp_path, states):
    folder = write(tmp_path / "a", [query.query_id for query in queries()], states)
    plain, streamed = run(folder), run(folder, memory_mib=0)
    for one, two in zip(plain.results["raw"], streamed.results["raw"], strict=True):
        assert one[0].iss["zca"].tobytes() == two[0].iss["zca"].tobytes()


def test_missing_states_are_refused(tmp_path, states):
    ids = [query.query_id for query in queries()]
    folder = write(tmp_path / "a", ids[:-1], states[:-1])
    with pytest.raises(DataError, match="1 of 24 queries have no states") as error:
        run(folder)
    assert error.value.row == ids[-1]


def test_mixed_revisions_are_refused(tmp_path, states):
    ids = [query.query_id for query in queries()]
    folder = write(tmp_path / "a", ids, states, revision="one")
    write(tmp_path / "b", ids, states, revision="two")
    (folder / "hidden-00002.safetensors").write_bytes((tmp_path / "b/hidden-00002.safetensors").read_bytes())
    with pytest.raises(DataError, match="shards differ") as error:
        run(folder)
    assert error.value.key == "revision"


@pytest.mark.parametrize("damage", [b"", b"12345678", b"\xff" * 64])
def test_damaged_shards_are_named(tmp_path, states, damage):
    folder = write(tmp_path / "a", [query.query_id for query in queries()], states)
    (folder / "hidden-00001.safetensors").write_bytes(damage)
    with pytest.raises(DataError, match="no shard of states") as error:
        run(folder)
    assert error.value.file.endswith("hidden-00001.safetensors")


def lens(jacobians, layers=(3, 4)):
    return Lens({"layers": list(layers), "n_prompts": 5}, jacobians.astype(np.float32))


def test_lens_files_round_trip_and_have_one_byte_form(tmp_path):
    made = lens(np.random.default_rng(0).normal(size=(2, 8, 8)))
    (tmp_path / "lens.safetensors").write_bytes(made.to_bytes())
    back = read_lens(tmp_path / "lens.safetensors")
    assert back.header == made.header
    assert np.array_equal(back.of(4), made.jacobians[1].astype(float))
    assert back.to_bytes() == made.to_bytes()


@pytest.mark.parametrize("header", [{}, [], {"layers": 3, "n_prompts": 5}, {"layers": [3, 4]}])
def test_a_lens_whose_header_lacks_something_is_refused(tmp_path, header):
    path = tmp_path / "lens.safetensors"
    path.write_bytes(Lens(header, np.zeros((2, 8, 8), dtype=np.float32)).to_bytes())
    with pytest.raises(DataError, match="lacks something") as error:
        read_lens(path)
    assert error.value.file == str(path)


def test_transport_needs_a_lens_that_fits(tmp_path, states):
    ids = [query.query_id for query in queries()]
    folder = write(tmp_path / "a", ids, states)
    jacobians = np.stack([np.random.default_rng(1).normal(size=(8, 8)), np.eye(8)])
    result = run(folder, lens(jacobians), transports=("raw", "jlens"))
    raw, moved = result.results["raw"], result.results["jlens"]
    assert not np.allclose(raw[0][0].iss["none"], moved[0][0].iss["none"])
    assert raw[1][0].iss["zca"].tobytes() == moved[1][0].iss["zca"].tobytes()
    with pytest.raises(DataError, match="needs a lens"):
        run(folder, transports=("jlens",))
    with pytest.raises(DataError, match="8 dimensions"):
        run(folder, lens(jacobians, layers=(1, 2)), transports=("jlens",))
    after_norm = write(tmp_path / "b", ids, states, top_state="hidden_states")
    with pytest.raises(DataError, match="block_output"):
        run(after_norm, lens(jacobians), transports=("jlens",))
