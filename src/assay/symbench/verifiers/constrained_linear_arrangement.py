"""Constrained linear arrangement: deduce the opponent's cards from results."""

from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import RIGHT, Profile, Verdict, comma_items, loose_items, unreadable, wrong

GENERATES = {"A": "B", "B": "C", "C": "D", "D": "E", "E": "A"}
OVERCOMES = {"A": "C", "C": "E", "E": "B", "B": "D", "D": "A"}
STICK_BEATS = {"A": "B", "B": "C", "C": "D", "D": "A"}
ANIMALS = "ABCDEFGH"  # from the largest to the smallest
CARDS = {"elements": "ABCDE", "stick_game": "ABCD", "animal": ANIMALS}


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Check one letter a round.

    In two of the three games `upstream` wants the stored letter in rounds that were won or lost, and in the
    first it refuses a draw only for cards that the player's own card affects (deviation D13). `corrected`
    accepts every sequence without repeats that gives the results under the rule that the references were made
    with: see `result`.
    """
    letters = comma_items(answer) if profile == "upstream" else loose_items(answer)
    moves, results = sample.solution["player_moves"], sample.solution["results"]
    game = sample.solution["game_type"]
    if len(letters) != len(moves):
        return wrong(f"{len(letters)} letters, expected {len(moves)}")
    if profile == "upstream" and game != "animal":
        return _upstream(letters, sample)
    if any(letter not in CARDS[game] or len(letter) != 1 for letter in letters):
        return unreadable("a letter is no card of the game")
    if len(set(letters)) != len(letters):
        return wrong("a card is played twice")
    for turn, (player, opponent, want) in enumerate(zip(moves, letters, results, strict=True), 1):
        if want not in possible_results(game, player, opponent):
            return wrong(f"round {turn}: {player} against {opponent} is no {want}")
    return RIGHT


def possible_results(game: str, player: str, opponent: str) -> set[str]:
    """Return the player's results that the generator's rule allows.

    elements: the player's card loses to the card that it generates and wins over the card that it overcomes;
    what the opponent's card generates or overcomes does not count (one-sided). animal: both readings of Mouse
    against Elephant are allowed, as in the published references and verifier.
    """
    if game == "elements":
        if GENERATES[player] == opponent:
            return {"loss"}
        return {"win"} if OVERCOMES[player] == opponent else {"draw"}
    if game == "stick_game":
        if STICK_BEATS[player] == opponent:
            return {"win"}
        return {"loss"} if STICK_BEATS[opponent] == player else {"draw"}
    if player == opponent:
        return {"draw"}
    results = {"win" if ANIMALS.index(player) < ANIMALS.index(opponent) else "loss"}
    if (player, opponent) == ("H", "A"):
        results.add("win")
    if (player, opponent) == ("A", "H"):
        results.add("loss")
    return results


def symmetric_result(player: str, opponent: str) -> str | None:
    """Return the result of an elements round when both cards may act, None where the rules contradict."""
    loss = GENERATES[player] == opponent or OVERCOMES[opponent] == player
    win = OVERCOMES[player] == opponent or GENERATES[opponent] == player
    if loss and win:
        return None
    return "loss" if loss else "win" if win else "draw"


def _upstream(letters: list[str], sample: TaskRow) -> Verdict:
    rounds = zip(letters, *(sample.solution[key] for key in ("player_moves", "results", "solution")), strict=True)
    for turn, (letter, player, result, stored) in enumerate(rounds, 1):
        if result != "draw":
            if letter != stored:
                return wrong(f"round {turn}: {letter[:5]} is not the stored letter")
        elif sample.solution["game_type"] == "elements":
            if letter in (GENERATES[player], OVERCOMES[player]):
                return wrong(f"round {turn}: {player} affects {letter}, no draw")
        elif STICK_BEATS[player] == letter or STICK_BEATS.get(letter) == player:
            return wrong(f"round {turn}: one card beats the other, no draw")
    return RIGHT
