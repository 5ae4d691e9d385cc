"""The guide of the command line shows what its commands print."""

from pathlib import Path

import guide_commands

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "command_line.md"


def test_the_commands_of_the_guide_print_what_it_shows():
    ran = []
    for found, shown, code in guide_commands.in_order(GUIDE.read_text("utf-8")):
        ran.append(found["command"].split()[1])
        assert code == (2 if "error: " in found["output"] else 0), shown
        assert guide_commands.same_but_for_rounding(shown, found["output"]), (
            f"'{found['command']}' prints\n{shown}\nbut {GUIDE.name} shows\n{found['output']}\n"
            f"'just pages' writes it anew"
        )
    assert set(ran) == {
        "profile",
        "fit",
        "clusters",
        "suggest",
        "assign",
        "update",
        "score",
        "report",
        "compare",
        "ctr",
    }


def test_rounding_and_seconds_are_forgiven_and_words_are_not():
    same = guide_commands.same_but_for_rounding
    assert same("online, k=3  -1.01  0.3  -", "online, k=3  -1.02  9.7  -")
    assert not same("online, k=3  -1.01  0.3  -", "online, k=3  -2.01  0.3  -")
    assert not same("12 ads", "12 rows")
