"""The commands, one file each: parse, call the library, print."""

from sparsemix.cli.commands import (
    assign,
    clusters,
    compare,
    ctr,
    demo,
    fit,
    mailbox,
    profile,
    report,
    reproduce,
    score,
    suggest,
    update,
)

ALL = (
    ("demo", demo.demo, demo.EXAMPLES),
    ("profile", profile.profile, profile.EXAMPLES),
    ("fit", fit.fit, fit.EXAMPLES),
    ("clusters", clusters.clusters, clusters.EXAMPLES),
    ("suggest", suggest.suggest, suggest.EXAMPLES),
    ("assign", assign.assign, assign.EXAMPLES),
    ("update", update.update, update.EXAMPLES),
    ("score", score.score, score.EXAMPLES),
    ("report", report.report, report.EXAMPLES),
    ("compare", compare.compare, compare.EXAMPLES),
    ("mailbox", mailbox.mailbox, mailbox.EXAMPLES),
    ("ctr", ctr.ctr, ctr.EXAMPLES),
    ("reproduce", reproduce.reproduce, reproduce.EXAMPLES),
)
"""Name, function and examples of every command, in the order of the help page."""
