"""A made-up but readable table of ads, for the command ``demo``."""

from sparsemix.cli.demo.ads import DemoAds, make_demo_ads
from sparsemix.cli.demo.topics import TOPICS

__all__ = ["TOPICS", "DemoAds", "make_demo_ads"]
