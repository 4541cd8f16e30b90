import os
from pathlib import Path

import pytest

from assay.model.loading import LoadedModel, load, prepare_process

prepare_process()


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory) -> Path:
    from assay.model.tiny import build_tiny

    return build_tiny(tmp_path_factory.mktemp("models") / "tiny-0", seed=0)


@pytest.fixture(scope="session")
def tiny(tiny_folder) -> LoadedModel:
    model = load(tiny_folder)
    assert model.fallback is None
    return model


@pytest.fixture(scope="session")
def tiny_sequential(tiny_folder) -> LoadedModel:
    return load(tiny_folder, engine="sequential")


@pytest.fixture
def two_threads():
    """Run the test with two torch threads."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def fks_like_prompts() -> list[str]:
    """Prompts of many lengths and languages, as the fact benchmark asks them."""
    facts = [
        ("Austria", "Autriche", "Вена"),
        ("Japan", "Japon", "Токио"),
        ("Peru", "Pérou", "Лима"),
        ("Kenya", "Kenya", "Найроби"),
    ]
    patterns = [
        "Answer the question with a short factual answer only.\nQuestion: What is the capital of {0}?\nAnswer:",
        "{0} capital city\nAnswer:",
        "Country: {0}\nCapital:\nAnswer:",
        'Fill in the JSON: {{"country": "{0}", "capital": ""}}\nAnswer:',
        "The weather was fine all week and nobody expected the quiz. Which city is the capital of {0}?\nAnswer:",
        "Pays : {1}. Quelle ville en est la capitale ?\nAnswer:",
        "Столица какой страны — {2}?\nAnswer:",
        "{0}?",
        "{0} is a country. Its capital city, as everyone who paid attention at school knows, is the city of\nAnswer:",
        "True or false: the capital of {0} is Oslo.\nAnswer:",
    ]
    return [pattern.format(*fact) for fact in facts for pattern in patterns]


@pytest.fixture(scope="session")
def real_model_folder():
    """Return a function from the name of a real model to its folder; skips where it has not been fetched."""

    def find(name: str) -> Path:
        folder = Path(os.environ.get("ASSAY_TEST_MODELS", "no such folder")) / name
        if not (folder / "config.json").is_file():
            pytest.skip(f"{name} is not there: set ASSAY_TEST_MODELS to a folder of model folders")
        return folder

    return find
