"""What a hospital's committee needs to hear, in words that ask for no statistics; our own hospital first.

Here stands what the templates of its edition ask for.
"""

from dossier.report.chapters.committee.better import (
    better_if_the_same_for_all,
    than_the_other_model,
    than_the_same_for_all,
    the_same_for_everyone,
)
from dossier.report.chapters.committee.dangers import could_go_wrong, further_dangers, wrong_here
from dossier.report.chapters.committee.declared import care, changes, declarations
from dossier.report.chapters.committee.first_page import (
    answer,
    approving,
    hospitals,
    purpose,
    what_it_is,
    who_tested,
    works_here,
)
from dossier.report.chapters.committee.goals_met import goals
from dossier.report.chapters.committee.missed import differing_groups, groups, who_is_missed
from dossier.report.chapters.committee.numbers import accrual, by_class, by_site, ranges_are
from dossier.report.chapters.committee.people import labels_are_right, people_decide
from dossier.report.chapters.committee.percentages import are_right
from dossier.report.chapters.committee.places import alone
from dossier.report.chapters.committee.to_do import fullness, steps

__all__ = ["accrual", "alone", "answer", "approving", "are_right", "better_if_the_same_for_all", "by_class", "by_site"]
__all__ += ["care", "changes", "could_go_wrong", "declarations", "differing_groups", "further_dangers", "goals"]
__all__ += ["groups", "hospitals", "labels_are_right", "people_decide", "purpose", "ranges_are", "steps"]
__all__ += ["than_the_other_model", "than_the_same_for_all", "the_same_for_everyone", "what_it_is", "who_is_missed"]
__all__ += ["fullness", "who_tested", "works_here", "wrong_here"]
