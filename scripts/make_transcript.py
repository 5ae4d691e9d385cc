"""Run the main job on real tables of ads and write what it prints to docs/transcript.md.

    SPARSEMIX_DATA=path/to/data python scripts/make_transcript.py

The folder holds `farm_ads/ads.parquet`, `snapchat_ads_2020/ads_keywords.parquet` and
`kddcup12_clicks/ads_keywords.parquet`; none of it is copied into the page but what the commands print.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "transcript.md"
WIDTH = "110"

INTRODUCTION = """# The main job on real ads

What `scripts/make_transcript.py` printed: three public tables of ads, read, clustered in one pass and put to work.
Words in the farm ads are stems, as published. Seeds are fixed, so that the same version prints the same.
"""

CHAPTERS = {
    "Farm ads: 4,142 ads and the words of their text": [
        "sparsemix profile farm_ads/ads.parquet",
        "sparsemix fit farm_ads/ads.parquet -o farm.smx -k 40",
        "sparsemix clusters farm.smx -n 8",
        "sparsemix suggest farm.smx --keyword horse --keyword supplement",
        "sparsemix suggest farm.smx --keyword horse --keyword feed --reject supplement -n 5",
        "sparsemix suggest farm.smx --ad 12 --input farm_ads/ads.parquet -n 8",
        "sparsemix assign farm.smx farm_ads/ads.parquet -o farm.csv",
        "sparsemix score farm.smx farm_ads/ads.parquet",
    ],
    "Political ads: 883 ads and the interests they aim at": [
        "sparsemix profile snapchat_ads_2020/ads_keywords.parquet",
        "sparsemix fit snapchat_ads_2020/ads_keywords.parquet -o political.smx -k 25",
        "sparsemix clusters political.smx --by lift -n 5",
        "sparsemix suggest political.smx --keyword 'Outdoor & Nature Enthusiasts' -n 6",
    ],
    "Sponsored search: 19,228 ads and numbered keywords": [
        "sparsemix profile kddcup12_clicks/ads_keywords.parquet",
        "sparsemix fit kddcup12_clicks/ads_keywords.parquet -o search.smx -k 100 --min-rows-per-feature 2",
        "sparsemix suggest search.smx --keyword 15 -n 5",
    ],
}


def run(command: str, folder: str) -> str:
    """Run a command in `folder` and return what it prints, messages included."""
    environment = {**os.environ, "COLUMNS": WIDTH, "TERM": "dumb", "NO_COLOR": "1"}
    done = subprocess.run(
        command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{command}\n{done.stdout}{done.stderr}")
    lines = (done.stderr + done.stdout).rstrip().splitlines()
    return "\n".join(line.rstrip() for line in lines)


def main() -> None:
    """Write the page."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    data = os.environ.get("SPARSEMIX_DATA")
    if not data:
        sys.exit("Say where the tables are: SPARSEMIX_DATA=path/to/data python scripts/make_transcript.py")
    parts = [INTRODUCTION]
    with tempfile.TemporaryDirectory() as folder:
        for source in Path(data).resolve().iterdir():
            (Path(folder) / source.name).symlink_to(source)
        for title, commands in CHAPTERS.items():
            parts.append(f"## {title}\n")
            parts += [f"```console\n$ {command}\n{run(command, folder)}\n```\n" for command in commands]
    PAGE.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
