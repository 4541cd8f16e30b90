"""Which facts stay under a cap."""

from hypothesis import given
from hypothesis import strategies as st

from assay.fks.selection import choose
from assay.fks.sources import Named, SourceFact, absorb_duplicates


def fact(number, obj="o", weight=0.0, records=()):
    subject = Named(key=f"s{number}", names={"en": f"s{number}"})
    target = Named(key=obj, names={"en": obj})
    return SourceFact(relation="r", subject=subject, object=target, weight=weight, records=records)


def keys(facts):
    return [one.subject.key for one in facts]


@given(st.permutations(range(30)), st.integers(1, 30))
def test_a_sample_does_not_depend_on_the_order_of_the_table(order, cap):
    table = [fact(i) for i in range(30)]
    shuffled = [table[i] for i in order]
    assert set(keys(choose(shuffled, cap, "all"))) == set(keys(choose(table, cap, "all")))


@given(st.integers(1, 29))
def test_a_larger_cap_keeps_what_a_smaller_one_kept(cap):
    table = [fact(i) for i in range(30)]
    assert set(keys(choose(table, cap, "all"))) <= set(keys(choose(table, cap + 1, "all")))


def test_chosen_facts_stay_in_the_order_of_the_table():
    table = [fact(i) for i in range(30)]
    chosen = keys(choose(table, 7, "all"))
    assert chosen == [key for key in keys(table) if key in chosen]


def test_one_more_fact_displaces_at_most_one():
    table = [fact(i) for i in range(30)]
    before, after = set(keys(choose(table, 10, "all"))), set(keys(choose([*table, fact(99)], 10, "all")))
    assert len(before - after) <= 1


def test_no_cap_keeps_everything():
    table = [fact(i) for i in range(5)]
    assert choose(table, None, "all") == table
    assert choose(table, 5, "well_known") == table


def test_well_known_takes_the_largest_weights():
    table = [fact(i, obj=f"o{i}", weight=float(i)) for i in range(10)]
    assert keys(choose(table, 3, "well_known")) == ["s7", "s8", "s9"]


def test_well_known_gives_one_object_at_most_half_of_the_places():
    table = [fact(i, obj="same" if i > 5 else f"o{i}", weight=float(i)) for i in range(12)]
    chosen = choose(table, 4, "well_known")
    assert [one.object.key for one in chosen].count("same") == 2
    assert keys(chosen) == ["s4", "s5", "s10", "s11"]


def test_well_known_fills_up_where_there_is_no_other_object():
    table = [fact(i, weight=float(i)) for i in range(6)]
    assert keys(choose(table, 4, "well_known")) == ["s2", "s3", "s4", "s5"]


def test_duplicates_are_one_fact_with_all_its_records():
    rows = [fact(1, records=("a",)), fact(2, records=("b",)), fact(1, records=("c",)), fact(1, records=("a",))]
    absorbed = list(absorb_duplicates(rows))
    assert keys(absorbed) == ["s1", "s2"]
    assert absorbed[0].records == ("a", "c")
