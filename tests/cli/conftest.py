"""A small table of readable ads, a model of it, and a way to run the program inside the test."""

import pytest
from plug_puller import PlugPuller

from sparsemix.cli import main
from sparsemix.cli.demo import make_demo_ads

N_ADS = 1_500
OPTIONS = ["-k", "25", "--clutter", "--priming-rows", "600"]


class Program:
    """Runs command lines and collects what they print."""

    def __init__(self, capsys):
        self._capsys = capsys

    def __call__(self, *arguments):
        self._capsys.readouterr()
        code = main([str(each) for each in arguments])
        self.out, self.err = self._capsys.readouterr()
        return code


@pytest.fixture
def sparsemix(capsys):
    return Program(capsys)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Runs command lines in processes of their own, see `PlugPuller`."""
    puller = PlugPuller(tmp_path_factory.mktemp("printed"))
    yield puller
    puller.close()


@pytest.fixture(scope="session")
def ads():
    return make_demo_ads(N_ADS, random_state=3)


@pytest.fixture(scope="session")
def table(ads, tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "ads.csv"
    ads.write_csv(path)
    return path


@pytest.fixture(scope="session")
def model(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "ads.smx"
    assert main(["fit", str(table), "-o", str(path), *OPTIONS, "--quiet", "--json"]) == 0
    return path
