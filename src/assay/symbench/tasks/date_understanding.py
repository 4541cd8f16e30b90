"""Date understanding: work out a date and choose its option (BIG-Bench Hard kind)."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any, Self

from pydantic import Field, model_validator

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import counted, marked

_MONTHS = "January February March April May June July August September October November December"
MONTHS = _MONTHS.split()
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
LETTERS = "ABCDEF"
# Names do not decide the answer; they set the scene.
PEOPLE = ("Ada", "Bela", "Carla", "Daniel", "Elif", "Femi", "Grace", "Hugo", "Ines", "Jonas", "Kofi", "Lena")
EVENTS = ("an exam", "a concert", "a flight", "a wedding", "a job interview", "a football match", "a move")


class DateUnderstandingConfig(Parameters):
    """How far the sought date lies from the given one."""

    hops: int = Field(ge=1, le=8)
    """Shifts by days, weeks, months or years between the given date and the sought one."""
    longest: int = Field(default=40, ge=2, le=400)
    """Largest shift in days; weeks go to a quarter of it, months to 11, years to 9."""
    first_year: int = Field(default=1900, ge=1600, le=2400)
    """Earliest year of the given date."""
    last_year: int = Field(default=2099, ge=1600, le=2400)
    """Latest year of the given date."""

    @model_validator(mode="after")
    def _years_are_ordered(self) -> Self:
        if self.first_year > self.last_year:
            raise ValueError(f"first_year {self.first_year} is after last_year {self.last_year}")
        return self

    def space(self) -> int:
        """Return the number of given dates, shifts and options."""
        return int(365 * (self.last_year - self.first_year + 1) * (4 * self.longest) ** self.hops * 30**5)


LEVELS = (
    DateUnderstandingConfig(hops=1),
    DateUnderstandingConfig(hops=2),
    DateUnderstandingConfig(hops=3, longest=90),
    DateUnderstandingConfig(hops=4, longest=300),
)


def generate(draws: Draws, config: DateUnderstandingConfig) -> Draft:
    """Walk from a given date over the shifts; the options are near misses of the right date."""
    while True:
        # Days up to 28 exist in every month, so that shifts by months and years have one meaning.
        day = date(draws.integer(config.first_year, config.last_year), draws.integer(1, 12), draws.integer(1, 28))
        story = [_given(draws, day)]
        for index in range(config.hops):
            unit = draws.choice(("day", "week", "month", "year") if day.day <= 28 else ("day", "week"))
            limit = {"day": config.longest, "week": max(1, config.longest // 4), "month": 11, "year": 9}[unit]
            count, sign = draws.integer(1, limit), draws.choice((1, -1))
            day = shifted(day, unit, sign * count)
            amount, side = counted(count, unit), "after" if sign > 0 else "before"
            story.append(_told(draws, amount, side, first=index == 0))
        options = _options(draws, day)
        if options is not None:
            break
    lines = "\n".join(f"({letter}) {option:%m/%d/%Y}" for letter, option in zip(LETTERS, options, strict=True))
    solution = {
        "input": f"{' '.join(story)} What is the date of that last event in MM/DD/YYYY?\nOptions:\n{lines}",
        "target": f"({LETTERS[options.index(day)]})",
    }
    return Draft(question=render(solution), solution=solution, reference=solution["target"])


def _given(draws: Draws, day: date) -> str:
    texts = (
        f"Today is {MONTHS[day.month - 1]} {day.day}, {day.year}.",
        f"Today, a {WEEKDAYS[day.weekday()]}, is {day:%m/%d/%Y} (month first).",
        f"Yesterday was {_long(day - timedelta(days=1))}.",
        f"Tomorrow is {_long(day + timedelta(days=1))}.",
        f"The day after tomorrow is {_long(day + timedelta(days=2))}.",
    )
    return draws.choice(texts)


def _long(day: date) -> str:
    return f"{MONTHS[day.month - 1]} {day.day}, {day.year}"


def _told(draws: Draws, amount: str, side: str, *, first: bool) -> str:
    person, event = draws.choice(PEOPLE), draws.choice(EVENTS)
    origin = "today" if first else "the event named before"
    return draws.choice(
        (
            f"{person} has {event} exactly {amount} {side} {origin}.",
            f"Exactly {amount} {side} {origin} there is {event} for {person}.",
        )
    )


def shifted(day: date, unit: str, count: int) -> date:
    """Return the date that lies a number of days, weeks, months or years away."""
    if unit in ("day", "week"):
        return day + timedelta(days=count * (7 if unit == "week" else 1))
    months = day.year * 12 + day.month - 1 + count * (12 if unit == "year" else 1)
    return day.replace(year=months // 12, month=months % 12 + 1)


def _options(draws: Draws, day: date) -> list[date] | None:
    """Return six different dates in random order, the right one among them."""
    near = [day + timedelta(days=count) for count in (-31, -30, -7, -2, -1, 1, 2, 7, 30, 31, 365, -365)]
    if day.day <= 12 and day.day != day.month:
        near.append(date(day.year, day.day, day.month))
    near += [shifted(day, "month", count) for count in (-1, 1, 12, -12) if day.day <= 28]
    others = [other for other in dict.fromkeys(near) if other != day]
    return draws.shuffled([day, *draws.sample(others, len(LETTERS) - 1)])


def render(solution: Mapping[str, Any]) -> str:
    """Return the question with the request for the marker."""
    return f"{solution['input']}\n\n" + marked("the letter of the right option in brackets", "(X)")
