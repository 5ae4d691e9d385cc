"""Numbers and nouns in sentences."""


def kind_of(model: object) -> str:
    """Return the class of a model with its article.

    Examples
    --------
    >>> from sparsemix import ClickRateModel, OnlineBernoulliMixture
    >>> kind_of(OnlineBernoulliMixture()), kind_of(ClickRateModel())
    ('an OnlineBernoulliMixture', 'a ClickRateModel')
    """
    name = type(model).__name__
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


def counted(number: float, noun: str) -> str:
    """Return a number with its noun, in the plural unless it is one.

    Parameters
    ----------
    number : int or float
        Floats are rounded to whole numbers.
    noun : str
        In the singular; its plural has an "s" more.

    Returns
    -------
    str

    Examples
    --------
    >>> counted(1, "row"), counted(1500, "row"), counted(0, "pair")
    ('1 row', '1,500 rows', '0 pairs')
    """
    shown = f"{number:,.0f}"
    return f"{shown} {noun if shown == '1' else f'{noun}s'}"
