"""Pictures: one file a chapter, matplotlib only. They never compute a statistic."""

from contextlib import chdir

from dossier.core.material import styles

# While it is imported, matplotlib reads the matplotlibrc of the current folder, which may be that of a release.
with chdir(styles()):
    import matplotlib  # noqa: F401
