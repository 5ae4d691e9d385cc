"""The guide to reading data runs and shows what it prints."""

import contextlib
import io
import re
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "data.md"
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def test_every_block_prints_what_the_page_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = BLOCK.findall(GUIDE.read_text("utf-8"))
    assert len(blocks) == 7
    for code, shown in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(GUIDE), "exec"), names)
        assert printed.getvalue() == shown, code
