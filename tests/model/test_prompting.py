"""From prompts to token ids: long ones, chats, tools, templates of every kind, and what is no prompt."""

import shutil

import pytest
from model_helpers import ask, entry, texts

from assay.config.models import PromptPolicy
from assay.errors import ConfigError, ModelError
from assay.model.answers import KIND
from assay.model.engine import Decoding
from assay.model.store import RowStore
from assay.records.rows import Message, PromptRow


def test_a_prompt_that_is_too_long_is_refused_before_anything_runs(folder, cache):
    prompts = [*texts(3), PromptRow.of_text("long", "x" * 300)]
    with pytest.raises(ModelError, match=r"row long.*too long.*at most 200 tokens.*truncate"):
        ask(folder, entry(), cache, prompts, policy=PromptPolicy(max_tokens=200))
    with RowStore(folder) as store:
        assert store.count(KIND) == 0


def test_the_context_limits_prompt_and_answer_together(folder, cache):
    small = entry(context=64)
    ask(folder, small, cache, [PromptRow.of_text("fits", "x" * 56)])
    with pytest.raises(ModelError, match="at most 56 tokens"):
        ask(folder, small, cache, [PromptRow.of_text("long", "x" * 57)])
    with pytest.raises(ConfigError, match="max_new_tokens"):
        ask(folder, small, cache, texts(1), Decoding(max_new_tokens=64))


def test_truncation_drops_from_the_left_and_is_counted(folder, cache):
    policy = PromptPolicy(max_tokens=10, on_long="truncate")
    long = PromptRow.of_text("long", "y" * 50 + "0123456789")
    (row, short), facts = ask(folder, entry(), cache, [long, PromptRow.of_text("s", "0123456789")], policy=policy)
    assert (row.truncated, row.n_prompt_tokens) == (True, 10)
    assert not short.truncated
    assert row.prompt_ids_sha256 == short.prompt_ids_sha256
    assert row.text == short.text
    assert facts["truncated"] == 1
    assert facts["made"] == 1


def test_a_chat_goes_through_the_template_and_a_text_does_not(folder, cache):
    chat = PromptRow.of_messages("chat", [Message("user", "Hi")])
    rendered = PromptRow.of_text("text", "[user] Hi\n[assistant] ")
    plain = PromptRow.of_text("plain", "User: Hi\n\nAssistant:")
    (one, two), _ = ask(folder, entry(), cache, [chat, rendered])
    assert one.prompt_ids_sha256 == two.prompt_ids_sha256
    (three, four), _ = ask(folder, entry(), cache, [chat, plain], chat=False)
    assert three.prompt_ids_sha256 == four.prompt_ids_sha256
    (five,), _ = ask(folder, entry(chat_template=False), cache, [chat])
    assert five.prompt_ids_sha256 == four.prompt_ids_sha256


@pytest.fixture
def other_tokenizer(tiny_folder, tmp_path):
    """Return a function that makes a tiny model with another template, or a tokenizer that adds BOS and EOS."""

    def make(template=None, post=None):
        from tokenizers import processors
        from transformers import AutoTokenizer

        folder = tmp_path / f"other-{len(list(tmp_path.iterdir()))}"
        shutil.copytree(tiny_folder, folder)
        tokenizer = AutoTokenizer.from_pretrained(folder)
        tokenizer.chat_template = template
        if post:
            tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
                single=post, special_tokens=[("<bos>", 1), ("<eos>", 2)]
            )
        (folder / "chat_template.jinja").unlink()
        tokenizer.save_pretrained(folder)
        return entry({"kind": "folder", "path": str(folder)}, "other")

    return make


def test_no_template_where_one_is_asked_for_is_an_error(folder, cache, other_tokenizer):
    chat = PromptRow.of_messages("q7", [Message("user", "Hi")])
    with pytest.raises(ModelError, match=r"row q7.*no chat template"):
        ask(folder, other_tokenizer(), cache, [chat])
    with pytest.raises(ModelError, match="no chat template"):
        ask(folder, other_tokenizer(), cache, texts(1), chat=True)
    assert ask(folder, other_tokenizer(), cache, [chat], chat=False)


@pytest.mark.parametrize("post", ["<bos> $A", "<bos> $A <eos>"])
def test_a_prompt_has_one_bos_and_no_eos(folder, cache, other_tokenizer, post):
    from assay.model.prompting import Encoder

    without, within = "{{ messages[0]['content'] }}", "<bos>{{ messages[0]['content'] }}"
    chat = PromptRow.of_messages("c", [Message("user", "Hi")])
    for template in (without, within):
        model = other_tokenizer(template, post)
        encoder = Encoder(model.source.path, model)
        for prompt in (chat, PromptRow.of_text("t", "Hi")):
            ids = encoder.encode([prompt], 8)[0].token_ids
            assert ids[0] == 1
            assert ids.count(1) == 1
            assert ids[-1] != 2
        (cut,) = encoder.encode(
            [PromptRow.of_text("t", "x" * 50)], 8, policy=PromptPolicy(max_tokens=5, on_long="truncate")
        )
        assert cut.token_ids[0] == 1
        assert len(cut.token_ids) == 5
        with pytest.raises(ModelError, match="2 BOS tokens"):
            encoder.encode([PromptRow.of_text("t", "<bos>Hi")], 8)


@pytest.mark.parametrize(
    "template",
    [
        "{% if",
        "{{ raise_exception('no') }}",
        "{% for i in range(10 ** 9) %}{% endfor %}",
        "{{ 1 / 0 }}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    ],
)
def test_a_template_that_fails_is_an_error_of_its_row(folder, cache, other_tokenizer, template):
    chat = PromptRow.of_messages("c", [Message("user", "Hi")])
    with pytest.raises(ModelError, match=r"row c: the chat template of other does not take these messages: .+"):
        ask(folder, other_tokenizer(template), cache, [chat])


def test_a_template_that_knows_no_system_role_gets_it_merged(folder, cache, other_tokenizer):
    from assay.model.prompting import Encoder

    template = (
        "{% for m in messages %}{% if m['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}"
        "{{ m['content'] }}|{% endfor %}"
    )
    model = other_tokenizer(template)
    encoder = Encoder(model.source.path, model)
    chat = PromptRow.of_messages("c", [Message("system", "Be brief."), Message("user", "Hi")])
    (encoded,) = encoder.encode([chat], 8)
    assert encoder._tokenizer.decode(encoded.token_ids) == "Be brief.\n\nHi|"


TOOLS = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {}}}}]


def test_tools_go_through_a_template_that_knows_them_and_else_into_the_system_message(other_tokenizer):
    from assay.model.prompting import Encoder

    call = {"id": "1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    messages = [
        Message("user", "Hi"),
        Message("assistant", None, tool_calls=[call]),
        Message("tool", "3", tool_call_id="1", name="add"),
    ]
    prompt = PromptRow.of_messages("c", messages, TOOLS)

    def rendered(template):
        model = other_tokenizer(template)
        encoder = Encoder(model.source.path, model)
        return encoder._tokenizer.decode(encoder.encode([prompt], 8)[0].token_ids)

    native = (
        "{% for t in tools %}{{ t.function.name }};{% endfor %}{% for m in messages %}{{ m.role }}:{{ m.content }}"
        "{% for c in m.tool_calls %}{{ c.function.arguments | tojson }}{% endfor %};{% endfor %}"
    )
    assert rendered(native) == 'add;user:Hi;assistant:{"a": 1};tool:3;'
    text = rendered("{% for m in messages %}{{ m.role }}:{{ m.content }};{% endfor %}")
    assert text.startswith("system:You can call the functions below.")
    assert '{"name": "add", "parameters"' in text
    assert '<tool_call>\n{"arguments":{"a":1},"name":"add"}\n</tool_call>' in text
    assert "user:Result of add:\n3;" in text


PASSES_OVER = (
    "{{% for m in messages %}}{{% if m.role in {roles} %}}{{{{ m.role }}}}:{{{{ m.content }}}};{{% endif %}}"
    "{{% endfor %}}"
)


@pytest.mark.parametrize("role", ["developer", "banana"])
def test_a_message_that_a_template_passes_over_is_an_error_of_its_row(folder, cache, other_tokenizer, role):
    chat = PromptRow.of_messages("c", [Message(role, "Be brief."), Message("user", "Hi")])
    model = other_tokenizer(PASSES_OVER.format(roles=["user", "assistant"]))
    with pytest.raises(ModelError, match=rf"row c: the chat template of other.*leaves out message 1.*{role}"):
        ask(folder, model, cache, [chat])


def test_what_a_template_passes_over_is_told_in_another_way_where_there_is_one(other_tokenizer):
    from assay.model.prompting import Encoder

    # It names tools and shows none of them, no call, no result and no system message.
    model = other_tokenizer("{# no tools #}" + PASSES_OVER.format(roles=["user", "assistant"]))
    encoder = Encoder(model.source.path, model)
    call = {"id": "1", "type": "function", "function": {"name": "add", "arguments": "{}"}}

    def rendered(messages, tools=None):
        ids = encoder.encode([PromptRow.of_messages("c", messages, tools)], 8)[0].token_ids
        return encoder._tokenizer.decode(ids)

    assert rendered([Message("system", "Be brief."), Message("user", "Hi")]) == "user:Be brief.\n\nHi;"
    told = rendered([Message("user", "Hi")], TOOLS)
    assert told.startswith("user:You can call the functions below.")
    assert told.endswith("\n\nHi;")
    turns = [Message("user", "Hi"), Message("assistant", None, tool_calls=[call]), Message("tool", "3", name="add")]
    assert rendered(turns).endswith('"name":"add"}\n</tool_call>;user:Result of add:\n3;')


def test_a_template_with_the_date_gives_the_same_prompt_every_day(other_tokenizer):
    from assay.model.prompting import Encoder

    model = other_tokenizer("{{ strftime_now('%d %b %Y') }} {{ messages[0]['content'] }}")
    encoder = Encoder(model.source.path, model)
    chat = PromptRow.of_messages("c", [Message("user", "Hi")])
    assert encoder._tokenizer.decode(encoder.encode([chat], 8)[0].token_ids) == "26 Jul 2024 Hi"


def test_an_unknown_architecture_is_explained(folder, cache, tiny_folder, tmp_path):
    mine = tmp_path / "mine"
    shutil.copytree(tiny_folder, mine)
    config = mine / "config.json"
    config.write_text(config.read_text().replace('"llama"', '"llamapaca"').replace("LlamaFor", "LlamapacaFor"))
    with pytest.raises(ModelError, match="llamapaca"):
        ask(folder, entry({"kind": "folder", "path": str(mine)}, "mine"), cache, texts(1))


def test_an_empty_prompt_is_an_error_of_its_row(folder, cache):
    with pytest.raises(ModelError, match=r"row empty.*no tokens"):
        ask(folder, entry(), cache, [PromptRow.of_text("empty", "")])


@pytest.mark.parametrize(
    "prompt", [PromptRow.of_text("half", "a\ud800"), PromptRow.of_messages("half", [Message("user", "\udfff")])]
)
def test_a_prompt_that_utf8_cannot_hold_is_an_error_of_its_row(folder, cache, prompt):
    with pytest.raises(ModelError, match=r"row half: the prompt holds a half character, '\\ud"):
        ask(folder, entry(), cache, [*texts(2), prompt])


@pytest.mark.parametrize("more", [{}, {"text": "Hi", "messages": [Message("user", "Hi")]}])
def test_a_prompt_without_text_and_messages_or_with_both_is_an_error_of_its_row(folder, cache, more):
    with pytest.raises(ModelError, match=r"row q3.*either a text or messages"):
        ask(folder, entry(), cache, [*texts(3), PromptRow(query_id="q3", prompt_sha256="0" * 64, **more)])
