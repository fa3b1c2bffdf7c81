"""Frames -> the datasets of a release and their parquet files, alike for the same rows of whichever library."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow
import pyarrow.compute as compute
import pyarrow.parquet

from dossier.core.errors import DataError, Fault
from dossier.core.faults.locations import Argument, Cell, File
from dossier.reading import cells, subgroups
from dossier.reading.declared import keys_of
from dossier.reading.faults import not_a_choice

if TYPE_CHECKING:
    import pandas

Frame = Any
"""A frame of a library that hands out Arrow's columns (`__arrow_c_stream__`), columns in a dict, or records."""
FRAME = "frame"
ALONE = "data"
"""The dataset of a frame that is given alone."""
BESIDE = ("development", "internal")
"""The arguments that are frames of the hospital that made the model, and the names and the roles of their datasets."""
DESIGN = ("cluster", "weights", "strata")
FILES = ("file", "labels", "confidence", "complexity")
"""The keys of release.toml that name a table."""


def is_frame(value: Any) -> bool:
    """Whether it is rows under named columns: of a library that hands out Arrow's columns, a dict or records."""
    if isinstance(value, Mapping):
        return bool(value) and all(isinstance(name, str) and _is_column(column) for name, column in value.items())
    return _is_records(value) or (hasattr(type(value), "__arrow_c_stream__") and hasattr(value, "columns"))


def _is_records(value: Any) -> bool:
    return isinstance(getattr(getattr(value, "dtype", None), "names", None), tuple)


def _is_column(value: Any) -> bool:
    dimensions = getattr(value, "ndim", 1)
    is_rows = isinstance(value, str | bytes | Mapping | set) or hasattr(value, "columns") or _is_records(value)
    return hasattr(value, "__len__") and not is_rows and dimensions == 1


def shown(file: str) -> str:
    """What a file of a frame is called by who has given the frame."""
    name = file.removesuffix(".parquet")
    if name == file or name in (*BESIDE, "readers"):
        return name
    return FRAME if name == ALONE else f"{FRAME} {name}"


# ---- frames as datasets ---------------------------------------------------------------------------------------------


def datasets(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A [[dataset]] of each frame, which stands in the place of its file."""
    frame, predictors = given[FRAME], list(given.get("predictors", ()))
    of_development = given.get("development") is not None
    alone = {"site_column": given.get("site"), **{key: given.get(key) for key in DESIGN}}
    # The other columns are no predictors unless somebody says so: a frame holds whatever its maker left in it.
    alone |= {"predictors": None if of_development else predictors}
    found = []
    for name, site, rows in [(ALONE, None, frame)] if is_frame(frame) else _hospitals(frame):
        found.append({"name": name, "role": "external", "file": rows, "site": None if given.get("site") else site})
        found[-1] |= alone
    for role in BESIDE:
        rows = given.get(role)
        if rows is not None:
            held = set(_names(rows)) if role == "internal" else set()
            design = {key: given.get(key) for key in DESIGN if given.get(key) in held}
            named = {"predictors": predictors or None} if role == "development" else design
            found.append({"name": role, "role": role, "file": rows, **named})
    return found


def _hospitals(frames: Mapping[Any, Any]) -> Iterator[tuple[str, str | None, Any]]:
    """The name of the dataset of each hospital, that of the hospital where it is another, and its rows."""
    taken = {ALONE, "readers", *BESIDE}
    for hospital, rows in frames.items():
        said = str(hospital).strip()
        stem = re.sub(r"[^\w.-]+", "-", said).strip("-.") or "hospital"
        names = (stem if number == 1 else f"{stem}-{number}" for number in range(1, len(frames) + len(taken) + 2))
        name = next(each for each in names if each not in taken)
        taken.add(name)
        yield name, None if name == said else said, rows


def add(found: Sequence[dict[str, Any]], table: Mapping[str, Any]) -> None:
    """Add what is declared of every hospital, or of a frame by its name."""
    names = [name for dataset in found for name in (dataset.get("site"), dataset["name"]) if name]
    given = [each.get("site") or each["name"] for each in found if each["name"] != ALONE]
    for name, keys in table.items():
        if given and isinstance(keys, Mapping) and name not in {*names, *keys_of(("dataset",))}:
            raise not_a_choice(Argument("dataset"), "the frame", name, given)
    of_frames = {name: keys for name, keys in table.items() if isinstance(keys, Mapping) and name in names}
    of_hospitals = {key: value for key, value in table.items() if key not in of_frames}
    for dataset in found:
        own = of_frames.get(dataset.get("site") or dataset["name"], of_frames.get(dataset["name"], {}))
        dataset |= {**(of_hospitals if dataset["role"] == "external" else {}), **own}


def subgroup(found: Sequence[Mapping[str, Any]], asked: str | Mapping[str, Any]) -> dict[str, Any]:
    """A [[subgroup]]; of a column whose categories are texts or intervals with these, in the order that they have."""
    declared: dict[str, Any] = {"column": asked} if isinstance(asked, str) else dict(asked)
    frames = [dataset["file"] for dataset in found if dataset["role"] == "external"]
    each = [_categories(frame, declared.get("column")) for frame in frames]
    known = list(dict.fromkeys(text for categories in each if categories for text in categories))
    if all(each) and len(known) <= subgroups.MOST_TEXTS and not {"levels", "cuts"} & declared.keys():
        declared["levels"] = {text: text for text in known if text.strip()} or None
    return declared


def _categories(frame: Any, name: Any) -> list[str] | None:
    """The categories of a column that occur in it, in their order; None where it has no texts as such."""
    import pandas

    if not isinstance(name, str) or name not in _names(frame):
        return None
    if isinstance(frame, pandas.DataFrame | Mapping):
        column = frame[name]
        if isinstance(column, pandas.DataFrame) or not isinstance(
            getattr(column, "dtype", None), pandas.CategoricalDtype
        ):
            return None
        known = pandas.Series(column).cat.remove_unused_categories().cat.categories
        is_named = isinstance(known.dtype, pandas.IntervalDtype) or pandas.api.types.is_string_dtype(known)
        return [str(category) for category in known] if is_named else None
    column = _arrow(frame).column(name).unify_dictionaries()
    if not pyarrow.types.is_dictionary(column.type) or not column.type.ordered or not column.chunks:
        return None
    texts, used = cells.whole(pyarrow.chunked_array([_plain(column.chunk(0).dictionary)])), set()
    for chunk in column.chunks:
        used |= set(compute.unique(chunk.indices).to_pylist())
    is_named = pyarrow.types.is_string(texts.type) or pyarrow.types.is_large_string(texts.type)
    return [text for place, text in enumerate(texts.to_pylist()) if place in used] if is_named else None


# ---- frames as files ------------------------------------------------------------------------------------------------


def written(declared: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Tables of release.toml with the names of parquet files in the place of frames, and what is in these files."""
    files: dict[str, bytes] = {}
    faults: list[Fault] = []

    def file(frame: Any, name: str) -> str:
        names = (f"{name}{'' if number == 1 else f'-{number}'}.parquet" for number in range(1, len(files) + 2))
        found = next(each for each in names if each not in files)
        files[found] = b""
        try:
            # The rows as a parquet file in plain cells, which are the same whichever kind of frame they were given in.
            place = shown(found)
            table = pyarrow.table({name: _whole(name, column, place) for name, column in _columns(frame, place)})
            sink = pyarrow.BufferOutputStream()
            pyarrow.parquet.write_table(table, sink)
            files[found] = bytes(sink.getvalue())
        except DataError as error:
            faults.extend(error.faults)
        return found

    def without(value: Any, name: str, key: str = "") -> Any:
        if not isinstance(value, Mapping | list | tuple) and is_frame(value):
            return file(value, name)
        if key in FILES and is_frame(value):
            return file(value, name)
        if isinstance(value, Mapping):
            own = value["name"] if name == "dataset" and "name" in value else name
            return {
                each: without(part, own if each == "file" or own != "readers" else f"readers-{each}", each)
                for each, part in value.items()
            }
        return [without(part, name) for part in value] if isinstance(value, list | tuple) else value

    tables = {
        name: without(table, "readers" if name == "reader_study" else name, name) for name, table in declared.items()
    }
    DataError.raise_for(faults)
    return tables, files


def _whole(name: str, column: Any, place: str) -> Any:
    cells.refuse_invalid(name, column, place)
    found = cells.whole(column if isinstance(column, pyarrow.ChunkedArray) else pyarrow.chunked_array([column]))
    return found.cast(pyarrow.string()) if pyarrow.types.is_large_string(found.type) else found


def _names(frame: Any) -> list[str]:
    """The names of the columns of a frame."""
    if isinstance(frame, Mapping):
        return list(frame)
    if _is_records(frame):
        return list(frame.dtype.names)
    if isinstance(frame, pyarrow.Table | pyarrow.RecordBatch):
        return list(frame.schema.names)
    return list(map(str, frame.columns))


def _arrow(frame: Any) -> Any:
    return frame if isinstance(frame, pyarrow.Table) else pyarrow.table(frame)


def _columns(frame: Any, place: str) -> list[tuple[str, Any]]:
    """The columns as Arrow's, with their names; a DataError says of which two have one name, and which none holds."""
    import pandas

    names = _names(frame)
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    faults = [Fault("columns_of_one_name", File(place), number=names.count(name), name=name) for name in twice]
    DataError.raise_for(faults)
    if isinstance(frame, pandas.DataFrame):
        columns = [_cells(frame.iloc[:, k]) for k in range(len(names))]
    elif isinstance(frame, Mapping) or _is_records(frame):
        columns = [_cells(frame[name]) for name in names]
    else:
        columns = list(map(_plain, _arrow(frame).select(names).columns))
    for name, column in zip(names, columns, strict=True):
        if column is None:
            faults.append(Fault("column_of_several_kinds", Cell(place, name), column=name))
        elif len(column) != len(columns[0] or ()) and columns[0] is not None:
            at, first = Cell(place, name), len(columns[0])
            fault = Fault("column_of_other_length", at, column=name, rows=len(column), other=names[0], other_rows=first)
            faults.append(fault)
    DataError.raise_for(faults)
    return list(zip(names, columns, strict=True))


def _cells(column: Any) -> Any:
    """A column as Arrow's; values that it has no kind for, such as intervals, as texts; None where of several kinds."""
    import pandas

    if not isinstance(column, pandas.Series):
        if hasattr(column, "__arrow_c_stream__") or hasattr(column, "__arrow_c_array__"):
            return _plain(pyarrow.chunked_array([column] if isinstance(column, pyarrow.Array) else column))
        column = pandas.Series(column)
    if isinstance(column.dtype, pandas.SparseDtype):
        column = pandas.Series(column.to_numpy())
    try:
        found = pyarrow.array(column, from_pandas=True)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError):
        return None if len(set(map(type, column.dropna()))) > 1 else _texts(column)
    return _plain(found)


def _plain(column: Any) -> Any:
    """Cells of Arrow's own kinds: those that pandas adds, of intervals and periods, as texts, for nobody reads them."""
    if isinstance(column, pyarrow.ChunkedArray):
        return pyarrow.chunked_array(map(_plain, column.chunks)) if column.chunks else column
    if pyarrow.types.is_dictionary(column.type) and isinstance(column.type.value_type, pyarrow.ExtensionType):
        return pyarrow.DictionaryArray.from_arrays(column.indices, _plain(column.dictionary)).dictionary_decode()
    return _texts(column.to_pandas()) if isinstance(column.type, pyarrow.ExtensionType) else column


def _texts(values: pandas.Series) -> pyarrow.Array:
    texts = [None if gap else str(value) for value, gap in zip(values, values.isna(), strict=True)]
    return pyarrow.array(texts, pyarrow.string())
