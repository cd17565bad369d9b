"""`--set NAME=VALUE` is made from the option dataclasses: their fields, types and docstrings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest
from fault_codes import refused

from freefloat.cli import settings
from freefloat.errors import FreefloatError
from freefloat.records.option_record import CheckedOptions
from freefloat.records.values import Count, Positive


@dataclass(frozen=True)
class Inner(CheckedOptions):
    """Options inside of options."""


@dataclass(frozen=True)
class MadeUp(CheckedOptions):
    """Options of a test.

    Attributes:
        rounds: How often [1]; a whole
            number.
        shape: Of the window.
    """

    rounds: Count = 3
    shape: Literal["hann", "box"] = "hann"
    size: Positive = 1.0
    """How large [m]."""

    stretches: tuple[float, ...] | None = None
    is_robust: bool = False
    inner: Inner = Inner()  # nothing that a command line could say


@pytest.fixture(autouse=True)
def made_up(monkeypatch):
    group = settings.OptionGroup("made", f"{__name__}:MadeUp")
    monkeypatch.setitem(settings.GROUPS, "dance", (group,))


def test_fields_are_found_with_type_default_and_text():
    found = {one.name: (one.type, one.default, one.text) for one in settings.settings_of("dance")}
    assert found == {
        "rounds": ("whole number", 3, "How often [1]; a whole number."),
        "shape": ("hann or box", "hann", "Of the window."),
        "size": ("number", 1.0, "How large [m]."),
        "stretches": ("numbers or none", None, ""),
        "is_robust": ("true or false", False, ""),
    }


def test_values_have_the_types_of_the_fields():
    texts = ["rounds=5", "made.shape=box", "size=2e-3", "stretches=4, 8", "is_robust=true"]
    (made,) = settings.parse_settings("dance", texts).values()
    assert MadeUp(**made) == MadeUp(5, "box", 2e-3, (4.0, 8.0), True)
    assert settings.parse_settings("dance", ["stretches=none"]) == {"made": {"stretches": None}}


def test_every_fault_is_told_at_once():
    texts = ["round=5", "rounds=2.5", "shape=oval", "size=0", "size", "stretches=4,x", "inner=3",
             "rounds=4"]  # fmt: skip
    with pytest.raises(FreefloatError) as caught:
        settings.parse_settings("dance", texts)
    codes = ["name.unknown", "value.type", "value.choice", "value.range", "option.form",
             "value.type", "name.unknown", "name.duplicate"]  # fmt: skip
    assert list(caught.value.codes) == codes
    assert "'rounds'" in caught.value.faults[0].remedy


def test_a_name_of_two_groups_is_written_with_its_group(monkeypatch):
    groups = [settings.OptionGroup(word, f"{__name__}:MadeUp") for word in ("one", "two")]
    monkeypatch.setitem(settings.GROUPS, "dance", tuple(groups))
    with refused(FreefloatError, "name.ambiguous"):
        settings.parse_settings("dance", ["rounds=5"])
    found = settings.parse_settings("dance", ["two.rounds=5"])
    assert found == {"one": {}, "two": {"rounds": 5}}


@pytest.mark.parametrize("verb", sorted(settings.GROUPS))
def test_help_lists_every_option_of_every_verb_that_has_some(verb, command):
    shown = command(verb, "--set", "help")
    assert shown.code == 0 and max(map(len, shown.out.splitlines())) <= 80
    told = command(verb, "--set", "help", "--json").json
    assert {one["name"] for one in told["settings"]} >= {s.name for s in settings.settings_of(verb)}
    assert all(one["name"] in shown.out for one in told["settings"])
    for group in settings.GROUPS[verb]:  # a flag that is no field would hide nothing
        fields = settings._defaults(group.options)
        assert set(group.flags) <= set(fields)
    assert "--set" in command(verb, "--help").out


def test_a_wrong_setting_is_bad_input_before_anything_is_read(command):
    ended = command("telemetry", "nowhere.csv", "--set", "gab=5", "--json")
    assert ended.code == 2 and "name.unknown" in ended.error_codes
    ended = command("telemetry", "nowhere.csv", "--set", "gap=-5", "--json")
    assert ended.code == 2 and "value.range" in ended.error_codes


@pytest.mark.parametrize("verb", sorted(settings.GROUPS))
@pytest.mark.parametrize("value", ["nan", "inf", "-1"])
def test_numbers_that_cannot_be_are_refused_for_every_option(verb, value):
    numbers = [s for s in settings.settings_of(verb) if s.type in ("number", "whole number")]
    for setting in numbers:
        is_type = setting.type == "whole number" and value != "-1"
        with refused(FreefloatError, "value.type" if is_type else "value.range"):
            settings.parse_settings(verb, [f"{setting.group}.{setting.name}={value}"])


def test_zero_is_refused_where_the_default_is_positive():
    for texts in (["step=0"], ["horizons=0,2"], ["rounds=0"]):
        verb = "dance" if texts == ["rounds=0"] else "identify"
        with refused(FreefloatError, "value.range"):
            settings.parse_settings(verb, texts)
    assert settings.parse_settings("identify", ["linear.seed=0"])["linear"] == {"seed": 0}


def test_python_and_the_command_line_refuse_the_same_values():
    for verb, groups in settings.GROUPS.items():
        for group in groups:
            if not issubclass(group.options, CheckedOptions):
                continue  # a NamedTuple of kernels, checked by the options that hold it
            for setting in (s for s in settings.settings_of(verb) if s.group == group.word):
                with pytest.raises(FreefloatError) as by_hand:
                    group.options(**{setting.name: object()})
                assert by_hand.value.faults[0].place == f"{group.options.__name__}.{setting.name}"


def test_settings_of_another_method_are_refused(command):
    arguments = ("identify", "planar-capture", "nowhere.csv", "--set", "search.step=0.01", "--json")
    ended = command(*arguments, "--method", "momentum")
    assert ended.code == 2 and ended.error_codes[1:] == ["option.conflict"]
