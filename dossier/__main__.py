"""The command `dossier`, and `python -m dossier`."""


def main() -> None:
    """Run the command line; first of all, modules of the current folder are shut out."""
    from dossier.command_line import safe_path

    safe_path.start_again()
    import sys

    sys.meta_path.insert(0, WithoutPandas())
    from dossier.command_line import cli

    cli.main()


class WithoutPandas:
    """Finds everything but pandas, which pyarrow imports with its first array: a quarter of a second for nobody."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Refuses pandas, and leaves every other module to the finders that follow."""
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name=name)


if __name__ == "__main__":
    main()
