"""`for_all` itself: every case is tried, all that fail are told, and none sees what another left."""

import sys

import pytest

from tests.for_all import for_all


def test_all_broken_cases_are_told_in_one_failure():
    tried = []

    @for_all(("number", "square"), [(1, 1), (2, 5), (3, 9), (4, 17)])
    def rule(number, square):
        tried.append(number)
        assert number * number == square

    with pytest.raises(AssertionError, match="2 of 4 cases") as failed:
        rule()
    assert tried == [1, 2, 3, 4]
    assert "\nnumber=2, square=5: AssertionError" in str(failed.value)
    assert "\nnumber=4, square=17: AssertionError" in str(failed.value)


def test_any_error_breaks_a_case_and_a_forced_failure_too():
    def rule(word):
        pytest.fail("forced") if word == "b" else {}[word]

    with pytest.raises(AssertionError, match="2 of 2 cases") as failed:
        for_all("word", "ab")(rule)()
    assert "\nword='a': KeyError: 'a'\nword='b': Failed: forced" in str(failed.value)


def test_a_skipped_case_is_left_out_and_all_of_them_skip_the_test():
    def rule(number):
        if number < 3:
            pytest.skip("no such report")

    for_all("number", [1, 2, 3])(rule)()
    with pytest.raises(pytest.skip.Exception):
        for_all("number", [1, 2])(rule)()


def test_a_rule_over_no_case_is_refused():
    with pytest.raises(AssertionError, match="holds nothing"):
        for_all("number", [])


def test_rules_over_pairs_may_stand_on_each_other():
    seen = []
    for_all("left", [1, 2])(for_all("right", "ab")(lambda left, right: seen.append((left, right))))()
    assert seen == [(1, "a"), (1, "b"), (2, "a"), (2, "b")]


def test_the_parts_of_a_sampled_rule_try_every_case_once():
    tried = []

    @for_all("number", range(7), sampled=3)
    def rule(number):
        tried.append(number)

    sampled, parted = rule.pytestmark
    assert (parted.args, sampled.args) == (("part", range(3)), (3,))
    rule(part=0)
    assert tried == [0, 3, 6]
    for part in parted.args[1][1:]:
        rule(part=part)
    assert sorted(tried) == [*range(7)]


def test_a_sampled_rule_names_what_broke_in_its_part():
    @for_all("number", range(4), sampled=2)
    def rule(number):
        assert number != 3

    rule(part=0)
    with pytest.raises(AssertionError, match="1 of 2 cases:\nnumber=3: AssertionError"):
        rule(part=1)


def test_a_rule_is_not_sampled_into_more_parts_than_it_has_cases():
    with pytest.raises(AssertionError, match="holds nothing"):
        for_all("number", [1, 2], sampled=3)(lambda number: number)


LEFT = {"value": 0}


@for_all("number", [1, 2, 3, 4], sampled=2)
def test_each_part_has_folders_of_its_own(tmp_path, number):
    assert not [*tmp_path.iterdir()]
    (tmp_path / "file").touch()


@for_all("number", [1, 2, 3])
def test_each_case_has_a_folder_and_patches_of_its_own(tmp_path, monkeypatch, number):
    assert not [*tmp_path.iterdir()]
    assert LEFT["value"] == 0
    (tmp_path / "file").touch()
    monkeypatch.setitem(LEFT, "value", number)


@for_all("number", [1, 2])
async def test_a_rule_may_wait(number):
    assert number


def test_cases_are_named_by_their_ids():
    def rule(number):
        assert not number

    for ids in (["first"], {"first": 1}, lambda _: "first"):
        with pytest.raises(AssertionError, match="\nfirst: AssertionError"):
            for_all("number", [1], ids=ids)(rule)()


@pytest.fixture
def shelf(tmp_path):
    """A folder that a test fills, and what it holds at the end."""
    LEFT["open"] = LEFT.get("open", 0) + 1
    yield [tmp_path]
    LEFT["open"] -= 1


@pytest.fixture(autouse=True)
def swept():
    yield
    LEFT.pop("swept", None)


@pytest.fixture
def shelves(shelf, request):
    return {"test": request.node.name, "of": shelf}


@for_all("number", [1, 2, 3])
def test_each_case_has_fixtures_of_its_own_made_and_ended_with_it(shelves, shelf, tmp_path, capsys, number):
    assert shelves == {"test": "test_each_case_has_fixtures_of_its_own_made_and_ended_with_it", "of": [tmp_path]}
    assert shelves["of"] is shelf
    assert LEFT["open"] == 2  # pytest's own, and that of this case
    shelf.append(number)
    sys.stdout.write(f"{number}\n")
    assert capsys.readouterr().out == f"{number}\n"
    sys.stdout.write("left over")


@for_all("number", [1, 2])
def test_what_every_test_gets_unasked_every_case_gets_too(number):
    assert "swept" not in LEFT
    LEFT["swept"] = number


@pytest.fixture(params=[1])
def counted(request):
    return [request.param]


@for_all("number", [1, 2])
def test_a_fixture_with_parameters_is_shared_by_the_cases(counted, number):
    counted.append(number)
    assert counted == [1, 1, 2][: number + 1]
