"""The command `dossier`, and `python -m dossier`."""


def main() -> None:
    """Run the command line; first of all, modules of the current folder are shut out."""
    from dossier import safe_path

    safe_path.start_again()
    from dossier import cli

    cli.main()


if __name__ == "__main__":
    main()
