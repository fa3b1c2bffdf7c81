"""What a hospital's committee needs to hear, in words that ask for no statistics; our own site first.

Here stands what the templates of its edition ask for.
"""

from dossier.findings.committee.answers import (
    against_all_and_none,
    against_rival,
    better_without,
    everywhere,
    risks_are_right,
    uncertain,
)
from dossier.findings.committee.dangers import MOST_DANGERS, could_go_wrong, further_dangers
from dossier.findings.committee.declared import care, changes, declarations
from dossier.findings.committee.first_page import (
    band,
    finding,
    not_for,
    numbers,
    purpose,
    tested,
    what_it_is,
    who_tested,
)
from dossier.findings.committee.goals_met import goals
from dossier.findings.committee.patient_groups import differing_groups, groups
from dossier.findings.committee.place_by_place import accrual, by_class, by_site
from dossier.findings.committee.words import glossary

__all__ = [
    "MOST_DANGERS",
    "accrual",
    "against_all_and_none",
    "against_rival",
    "band",
    "better_without",
    "by_class",
    "by_site",
    "care",
    "changes",
    "could_go_wrong",
    "declarations",
    "differing_groups",
    "everywhere",
    "finding",
    "further_dangers",
    "glossary",
    "goals",
    "groups",
    "not_for",
    "numbers",
    "purpose",
    "risks_are_right",
    "tested",
    "uncertain",
    "what_it_is",
    "who_tested",
]
