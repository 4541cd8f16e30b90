"""From prompts to token ids: template or raw text, one BOS, and a length that fits."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from assay.canonical import digest
from assay.config.models import ModelEntry, PromptPolicy
from assay.errors import ConfigError, ModelError
from assay.model.chat import merge_system, plain_messages, transcript, with_tools_as_text
from assay.model.loading import decoder_config, first_words, load_tokenizer, prepare_process
from assay.records.rows import Message, PromptRow

# Some templates print today's date. A prompt must not change over night, so their clock stands still.
_DATE = "26 Jul 2024"
_CLOCK = "{% macro strftime_now(format) %}" + _DATE + "{% endmacro %}"


class Encoded(msgspec.Struct, frozen=True):
    """A prompt as the model sees it.

    Attributes
    ----------
    sha256 : str
        Digest of the token ids.
    n_whole : int
        Number of tokens before truncation.
    """

    token_ids: list[int]
    sha256: str
    n_whole: int

    @property
    def truncated(self) -> bool:
        """Whether tokens were dropped."""
        return len(self.token_ids) < self.n_whole


class Encoder:
    """Turns prompts into token ids for one model.

    Parameters
    ----------
    folder : Path
        The model folder.
    entry : ModelEntry
        Its chat default, context and policy for long prompts.
    """

    def __init__(self, folder: Path, entry: ModelEntry) -> None:
        prepare_process()
        self._entry = entry
        self._tokenizer = load_tokenizer(folder)
        self.context = _context(folder, entry)
        empty = self._tokenizer("")["input_ids"]
        self._bos: int | None = self._tokenizer.bos_token_id
        self._eos: int | None = self._tokenizer.eos_token_id
        self._adds_bos = bool(empty) and empty[0] == self._bos
        self._adds_eos = len(empty) > self._adds_bos and empty[-1] == self._eos

    def encode(
        self,
        prompts: Sequence[PromptRow],
        max_new_tokens: int,
        chat: bool | None = None,
        policy: PromptPolicy | None = None,
    ) -> list[Encoded]:
        """Return the token ids of prompts.

        Parameters
        ----------
        max_new_tokens : int
            Room that the context must leave.
        chat : bool, optional
            Whether to use the model's chat template; by default messages do if the registry says so, texts do not.
        policy : PromptPolicy, optional
            What happens to long prompts, instead of the registry's policy.

        Raises
        ------
        ModelError
            Naming the query: no template where one is asked for, a prompt without tokens, two BOS tokens, or, where
            the policy is `refuse`, a prompt that is too long.
        """
        rendered = [self._render(prompt, chat) for prompt in prompts]
        raw = [text for text, special in rendered if special]
        chats = [text for text, special in rendered if not special]
        ids = {True: iter(self._ids(raw, True)), False: iter(self._ids(chats, False))}
        whole = [self._checked(p, next(ids[special])) for p, (_, special) in zip(prompts, rendered, strict=True)]
        policy = policy or self._entry.prompts
        limit = longest_prompt(self._entry.name, self.context, max_new_tokens, policy)
        if limit is not None and policy.on_long == "refuse":
            self._refuse_long(prompts, whole, limit)
        return [self._cut(tokens, limit) for tokens in whole]

    def _ids(self, texts: list[str], special: bool) -> list[list[int]]:
        if not texts:
            return []
        found: list[list[int]] = self._tokenizer(texts, add_special_tokens=special, return_attention_mask=False)[
            "input_ids"
        ]
        return found

    def _render(self, prompt: PromptRow, chat: bool | None) -> tuple[str, bool]:
        """Return the text of a prompt, and whether the tokenizer adds its special tokens to it."""
        if chat is None:
            chat = prompt.messages is not None and self._entry.chat_template
        if not chat:
            if prompt.text is not None:
                return prompt.text, True
            return transcript(with_tools_as_text(prompt.messages or [], prompt.tools)), True
        if not self._tokenizer.chat_template:
            raise ModelError(
                f"{self._entry.name} has no chat template",
                row=prompt.query_id,
                remedy="ask without one (chat_template: false in the registry), or take an instruction-tuned model",
            )
        messages = [Message("user", prompt.text)] if prompt.messages is None else prompt.messages
        return self._templated(messages, prompt), False

    def _templated(self, messages: list[Message], prompt: PromptRow) -> str:
        tools = prompt.tools or None
        template = self._template(prompt, tools)
        if tools and not self._shows_tools(template, messages, tools):
            messages, tools = with_tools_as_text(messages, tools), None
            template = self._template(prompt, None)
        plain = plain_messages(messages, native_tools="tool" in template)
        # Some templates know no system role, others have the word tool in them and show no call or result.
        forms = [plain, merge_system(plain), plain_messages(messages, native_tools=False)]
        first: Exception | None = None
        for form in forms:
            try:
                return self._shown(template, form, tools)
            except Exception as error:  # noqa: BLE001 - a template is a program of the model's makers
                first = first or error
        raise ModelError(
            f"the chat template of {self._entry.name} does not take these messages: {first}", row=prompt.query_id
        ) from first

    def _shows_tools(self, template: str, messages: list[Message], tools: list[dict[str, Any]]) -> bool:
        """Return whether tools change what a template writes; one that fails says why when it is used."""
        if "tools" not in template:
            return False
        plain = plain_messages(messages, native_tools=True)
        try:
            return self._apply(template, plain, tools) != self._apply(template, plain, None)
        except Exception:  # noqa: BLE001
            return True

    def _shown(self, template: str, messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None) -> str:
        """Return messages as a template writes them, all of them: some pass over roles that they do not know."""
        text = self._apply(template, messages, tools)
        for at, message in enumerate(messages):
            if message["content"].strip() in text and "tool_calls" not in message:
                continue
            # Not there word for word, which may be the template's way to write it.
            calls = [_other_call(call) for call in message.get("tool_calls", ())]
            changed = message | ({"tool_calls": calls} if calls else {"content": message["content"] + "x"})
            if self._apply(template, [*messages[:at], changed, *messages[at + 1 :]], tools) == text:
                raise ValueError(f"it leaves out message {at + 1}, of the role {message['role']}")
        return text

    def _template(self, prompt: PromptRow, tools: list[dict[str, Any]] | None) -> str:
        """Return the template for a prompt with or without tools; some models have several, by name."""
        try:
            template: str = self._tokenizer.get_chat_template(tools=tools)
        except ValueError as error:
            raise ModelError(
                f"{self._entry.name} has chat templates, but none for this prompt: {first_words(error)}",
                row=prompt.query_id,
                expected="one with the name default",
                remedy="add it to the model folder and lock anew",
            ) from error
        return template

    def _apply(self, template: str, messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None) -> str:
        if "strftime_now" in template:
            template = _CLOCK + template
        text: str = self._tokenizer.apply_chat_template(
            messages,
            tools=tools,
            chat_template=template,
            tokenize=False,
            add_generation_prompt=True,
            date_string=_DATE,
        )
        return text

    def _checked(self, prompt: PromptRow, tokens: list[int]) -> list[int]:
        if self._adds_eos and tokens and tokens[-1] == self._eos:
            tokens = tokens[:-1]  # a prompt goes on
        leading = 0
        while leading < len(tokens) and tokens[leading] == self._bos:
            leading += 1
        if leading > 1:
            raise ModelError(
                f"the prompt begins with {leading} BOS tokens",
                row=prompt.query_id,
                expected="one, which the tokenizer or the template adds",
                remedy="take the BOS text out of the prompt or of the template",
            )
        if self._adds_bos and not leading and self._bos is not None:
            tokens = [self._bos, *tokens]  # templates forget it
        if not tokens:
            raise ModelError("the prompt has no tokens", row=prompt.query_id, expected="at least one")
        return tokens

    def _refuse_long(self, prompts: Sequence[PromptRow], whole: list[list[int]], limit: int) -> None:
        long = [(p, len(tokens)) for p, tokens in zip(prompts, whole, strict=True) if len(tokens) > limit]
        if long:
            prompt, length = long[0]
            raise ModelError(
                f"{len(long)} prompts are too long for {self._entry.name}, the first has {length} tokens",
                row=prompt.query_id,
                expected=f"at most {limit} tokens",
                remedy="shorten them, or set on_long: truncate",
            )

    def _cut(self, tokens: list[int], limit: int | None) -> Encoded:
        whole = len(tokens)
        if limit is not None and whole > limit:
            keep_bos = self._bos is not None and tokens[0] == self._bos and limit > 1
            tokens = [tokens[0], *tokens[whole - limit + 1 :]] if keep_bos else tokens[whole - limit :]
        return Encoded(tokens, digest("token-ids", tokens), whole)


def _other_call(call: dict[str, Any]) -> dict[str, Any]:
    function = call["function"]
    other = {"name": f"{function.get('name')}x", "arguments": {"x": function["arguments"]}}
    return call | {"function": function | other}


def longest_prompt(model: str, context: int | None, max_new_tokens: int, policy: PromptPolicy) -> int | None:
    """Return the most tokens that a prompt may have: the policy's, and what the context leaves for it.

    Raises
    ------
    ConfigError
        If the context leaves nothing.
    """
    limits = [policy.max_tokens]
    if context is not None:
        if context <= max_new_tokens:
            raise ConfigError(
                f"max_new_tokens is {max_new_tokens}, but the context of {model} has {context}", key="max_new_tokens"
            )
        limits.append(context - max_new_tokens)
    return min((limit for limit in limits if limit is not None), default=None)


def _context(folder: Path, entry: ModelEntry) -> int | None:
    """Return the longest sequence: the model's own, or less where the registry says so."""
    own = getattr(decoder_config(folder), "max_position_embeddings", None)
    return min((n for n in (own, entry.context) if n is not None), default=None)
