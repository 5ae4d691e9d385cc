"""Files that workers read: what is odd about some of them is told as in one process, or makes no difference."""

from importlib.metadata import PackageNotFoundError

import pytest
from cluster_cases import mixture, online, state

from sparsemix import ClusterError, DataError, ParameterError, read_table
from sparsemix.distributed import fit

NEW = {"online": lambda: online(priming_rows=20), "em": lambda: mixture(n_components=2)}
both = pytest.mark.parametrize("new", NEW.values(), ids=NEW)


def table(first_row, n_rows, header="ad,keyword", end=""):
    lines = [
        f"{row},w{word}{end}"
        for row in range(first_row, first_row + n_rows)
        for word in (row % 2, 2 + row % 5)
    ]
    return "\n".join([header, *lines, ""])


def folder_with(folder, *texts, ending="csv"):
    for number, text in enumerate(texts):
        (folder / f"{number}.{ending}").write_text(text)
    return folder


@both
def test_a_file_without_rows_makes_no_difference(client, tmp_path, new):
    (tmp_path / "some").mkdir()
    source = folder_with(tmp_path / "some", table(0, 40), table(40, 40))
    whole, model = new(), new()
    fit(whole, source, client=client)
    folder_with(tmp_path, table(0, 40), table(0, 0), table(40, 40))
    fit(model, tmp_path / "*.csv", client=client)
    assert state(model) == state(whole)


@both
def test_what_reading_drops_is_counted(client, tmp_path, new):
    source = folder_with(tmp_path, table(0, 40) + ",w1\n", table(40, 40) + "79,\n79,w1\n")
    report = fit(new(), source, client=client).report
    whole = read_table(source).report
    assert (report.n_records, report.n_empty_rows, report.n_empty_features, report.n_duplicates) == (
        163,
        1,
        1,
        1,
    )
    assert report.n_duplicates == whole.n_duplicates


@both
@pytest.mark.parametrize("kinds", ["abc", "aab"], ids=["in one file", "over all files"])
def test_more_labels_than_components_are_told(client, tmp_path, new, kinds):
    first = "\n".join(["ad,keyword,kind", *(f"{row},w{row % 3},{kinds[row % 3]}" for row in range(30)), ""])
    source = folder_with(tmp_path, first, table(30, 30, "ad,keyword,kind", ",c"))
    model = new().set_params(n_components=2)
    with pytest.raises(
        ParameterError, match="'n_components' of fit must be at least 3, for the files have as many"
    ):
        fit(model, source, client=client, label="kind")


def test_labels_where_the_number_of_components_is_found(client, tmp_path):
    source = folder_with(
        tmp_path, table(0, 40, "ad,keyword,kind", ",x"), table(40, 40, "ad,keyword,kind", ",y")
    )
    run = fit(online(n_components="auto", priming_rows=20), source, client=client, label="kind")
    assert run.label_names == ["x", "y"]


def test_em_goes_on_with_its_own_rows_only(client, tmp_path):
    def stop(_join):
        raise KeyboardInterrupt

    source, file = folder_with(tmp_path, table(0, 40)), tmp_path / "model.smx"
    options = {"client": client, "checkpoint": file}
    with pytest.raises(KeyboardInterrupt):
        fit(NEW["em"](), source / "*.csv", on_join=stop, **options)
    for text in (table(0, 41), table(0, 39) + "39,other\n"):
        (tmp_path / "0.csv").write_text(text)
        with pytest.raises(DataError, match="not those that the checkpoint has learnt 40 rows of"):
            fit(NEW["em"](), source / "*.csv", resume=True, **options)


def test_a_guess_that_one_process_refuses_is_refused(client, tmp_path):
    source = folder_with(tmp_path, "ad,keywords\n1,a b\n2,b c\n")
    with pytest.raises(ParameterError, match="its name is a plural and it holds text"):
        fit(online(), source, client=client)


def test_svmlight_files_are_one_table(client, tmp_path):
    source = folder_with(tmp_path, "0 1:1 2:1\n", "0 0:1 2:1\n", ending="svm")
    with pytest.raises(DataError, match=r"0\.svm and 1 more are svmlight files, .* Join them into one"):
        fit(online(), source, client=client)
    fit(mixture(n_components=1), tmp_path / "1.svm", client=client)


def test_ids_that_one_file_has_are_named_or_left_out(client, tmp_path):
    source = folder_with(
        tmp_path, '{"keywords": ["a", "b"]}\n', '{"keywords": ["a"], "ad_id": 7}\n', ending="jsonl"
    )
    with pytest.raises(DataError, match=r"1\.jsonl has a column 'ad_id' of row ids, which other files lack"):
        fit(mixture(n_components=1), source, client=client)


def test_a_file_that_goes_away_is_named(client, tmp_path):
    source = folder_with(tmp_path, *(table(first, 30) for first in range(0, 240, 30)))

    def remove(_join):
        (tmp_path / "7.csv").unlink(missing_ok=True)

    with pytest.raises(DataError, match=r"7\.csv does not exist"):
        fit(mixture(n_components=2, tol=0.0), source, client=client, on_join=remove)


def test_workers_in_another_folder_find_the_files(tmp_path, monkeypatch):
    folder_with(tmp_path, table(0, 40))
    monkeypatch.chdir(tmp_path)
    from sparsemix.distributed.sources import files_to_read

    [(file, _)] = files_to_read("0.csv", {}, "fit")
    assert file == tmp_path / "0.csv"
    with pytest.raises(TypeError, match=r"^fit\(\) got an unexpected keyword argument 'unknown'"):
        files_to_read("0.csv", {"unknown": 1}, "fit")


@pytest.mark.parametrize(
    ("theirs", "words"),
    [
        ("0.0.1", r"has sparsemix 0\.0\.1, but here"),
        (PackageNotFoundError("sparsemix"), "lacks sparsemix, but here"),
    ],
)
def test_workers_with_another_version_or_none_are_told(client, tmp_path, monkeypatch, theirs, words):
    monkeypatch.setattr(client, "run", lambda *_, **__: {"tcp://10.0.0.7:1234": theirs})
    with pytest.raises(ClusterError, match=words):
        fit(mixture(), folder_with(tmp_path, table(0, 40)), client=client)
