# Hands rows and arguments to the command dossier, and reads back what it found; nothing is computed here.

validate <- function(data, outcome = NULL, risk, site = NULL, thresholds = NULL, subgroups = NULL, development = NULL,
                     internal = NULL, readers = NULL, predictors = NULL, rival = NULL, time = NULL, event = NULL,
                     at = NULL, unit = NULL, cluster = NULL, weights = NULL, strata = NULL, positive = NULL,
                     censored = NULL, competing = NULL, scale = NULL,
                     classes = NULL, model = NULL, version = NULL, date = NULL, owner = NULL, level = NULL, seed = NULL,
                     previous = NULL, ...) {
  given <- list(
    frame = data, outcome = outcome, risk = risk, site = site, thresholds = as_list(thresholds),
    subgroups = as_list(subgroups), development = development, internal = internal, readers = readers,
    predictors = as_list(predictors), rival = rival, time = time, event = event, at = at, unit = unit,
    cluster = cluster, weights = weights, strata = strata, positive = positive, censored = censored,
    competing = as_list(competing), scale = scale, classes = as_list(classes),
    model = model, version = version, date = date, owner = owner, level = level, seed = seed,
    previous = previous, ...
  )
  given <- given[!vapply(given, is.null, NA)]
  folder <- tempfile("dossier-")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  tables <- new.env()
  tables$written <- 0L
  written <- mapply(function(value, name) as_argument(value, name, folder, tables), given, names(given),
                    SIMPLIFY = FALSE)
  # jsonlite writes fifteen digits of a number, of which seventeen say which one it is.
  text <- jsonlite::toJSON(written, auto_unbox = TRUE, digits = NA, null = "null", json_verbatim = TRUE)
  write_text(text, file.path(folder, "arguments.json"))
  out <- file.path(folder, "found")
  run("validate", file.path(folder, "arguments.json"), "--out", out)
  results <- file.path(out, "results.json")
  structure(
    list(
      estimates = read_table(file.path(out, "estimates.csv")),
      claims = read_table(file.path(out, "claims.csv")),
      verdict = readLines(file.path(out, "verdict.txt"), warn = FALSE),
      results = readBin(results, "raw", file.size(results))
    ),
    class = "dossier_validation"
  )
}

save_dossier <- function(x, folder, edition = "all", page = "a4", local_site = NULL) {
  stopifnot(inherits(x, "dossier_validation"))
  file <- tempfile(fileext = ".json")
  on.exit(unlink(file))
  writeBin(x$results, file)
  ours <- if (is.null(local_site)) character() else c("--local-site", local_site)
  invisible(run("print", file, "--out", folder, "--edition", edition, "--page", page, "--quiet", ours))
}

print.dossier_validation <- function(x, ...) {
  asked <- unique(x$claims[x$claims$scope == "overall", c("question", "state")])
  cat("What the numbers say to each question (x$claims has every hospital and group):\n")
  cat(paste0("  ", format(asked$question), "  ", asked$state, "\n"), sep = "")
  cat("The declared criteria together (x$verdict):", x$verdict, "\n")
  cat(nrow(x$estimates), "estimates in x$estimates; save_dossier(x, \"folder\") prints the dossier.\n")
  invisible(x)
}

# ---- arguments and rows as files ------------------------------------------------------------------------------------

as_list <- function(value) if (is.null(value) || is.list(value)) value else as.list(value)

as_argument <- function(value, name, folder, tables) {
  if (is.data.frame(value)) {
    tables$written <- tables$written + 1L
    return(as_table(value, name, folder, paste0("rows-", tables$written, ".csv")))
  }
  if (inherits(value, "Date")) return(format(value, "%Y-%m-%d"))
  if (is.factor(value)) value <- as.character(value)
  if (is.list(value)) {
    parts <- lapply(seq_along(value), function(i) as_argument(value[[i]], name, folder, tables))
    names(parts) <- names(value)
    return(if (length(parts) == 0) list() else parts)
  }
  if (is.double(value)) {
    numbers <- vapply(value, function(one) if (is.finite(one)) sprintf("%.17g", one) else "null", "")
    text <- if (length(numbers) == 1) numbers else paste0("[", paste(numbers, collapse = ", "), "]")
    return(structure(text, class = "json"))
  }
  value
}

as_table <- function(rows, name, folder, file) {
  if (anyDuplicated(names(rows)) > 0) {
    twice <- names(rows)[anyDuplicated(names(rows))]
    fail(sprintf("Two columns of %s are called %s. Rename one.", name, twice))
  }
  cells <- list()
  columns <- list()
  for (column in names(rows)) {
    written <- as_column(rows[[column]], column, name)
    cells[[column]] <- written$cells
    columns[[column]] <- written$type
  }
  head <- paste(quoted(names(rows)), collapse = ",")
  lines <- if (length(cells) == 0) character() else do.call(paste, c(unname(cells), sep = ","))
  write_text(paste0(c(head, lines), "\n", collapse = ""), file.path(folder, file))
  list(table = file, columns = columns)
}

# The cells of a column, empty where one is missing, and the type that it has in Arrow; of a factor its levels.
as_column <- function(values, column, name) {
  missing <- is.na(values)
  if (is.list(values) || !is.null(dim(values)) || inherits(values, "difftime") || is.complex(values)) {
    fail(sprintf(
      "Column %s of %s is of class %s. Give numbers, text, factors, logical values or dates, as as.numeric() makes them.",
      column, name, class(values)[1]
    ))
  }
  if (is.factor(values)) {
    written <- list(cells = quoted(as.character(values)), type = as.list(enc2utf8(levels(values))))
  } else if (inherits(values, "Date")) {
    written <- list(cells = format(values, "%Y-%m-%d"), type = "date32")
  } else if (inherits(values, "POSIXt")) {
    written <- list(cells = format(as.POSIXct(values), "%Y-%m-%d %H:%M:%OS6", tz = "UTC"), type = "timestamp[us]")
  } else if (inherits(values, "integer64")) {
    written <- list(cells = as.character(values), type = "int64")
  } else {
    # What a package has added to a vector, such as labels, is not in its values.
    plain <- unclass(values)
    written <- switch(typeof(plain),
      logical = list(cells = ifelse(plain, "true", "false"), type = "bool"),
      integer = list(cells = sprintf("%d", plain), type = "int32"),
      double = list(cells = sprintf("%.17g", plain), type = "double"),
      list(cells = quoted(as.character(plain)), type = "string")
    )
  }
  written$cells[missing] <- ""
  written
}

quoted <- function(text) paste0("\"", gsub("\"", "\"\"", enc2utf8(text), fixed = TRUE), "\"")

write_text <- function(text, file) writeBin(charToRaw(enc2utf8(text)), file)

# Cells as text but for those of numbers, as what a column holds by chance, such as only T and F, says nothing of its type.
read_table <- function(file) {
  found <- utils::read.csv(file, check.names = FALSE, na.strings = "", encoding = "UTF-8", colClasses = "character")
  numbers <- c("threshold", "level", "value", "low", "high", "se", "n", "events", "harm", "at_least", "at_most",
               "looks", "p_adjusted", "needs_n")
  for (column in intersect(numbers, names(found))) found[[column]] <- utils::type.convert(found[[column]], as.is = TRUE)
  tibble::as_tibble(found)
}

# ---- the command ----------------------------------------------------------------------------------------------------

fail <- function(message) {
  stop(structure(class = c("dossier_error", "error", "condition"), list(message = message, call = NULL)))
}

run <- function(...) {
  program <- getOption("dossier.program", unname(Sys.which("dossier")))
  if (!nzchar(program)) {
    fail("There is no command dossier on the PATH. Install it, or say where it is: options(dossier.program = \"...\").")
  }
  said <- tempfile()
  on.exit(unlink(said))
  # R puts its own libraries before those of every program that it starts.
  searched <- Sys.getenv("LD_LIBRARY_PATH", NA)
  if (!is.na(searched)) {
    Sys.unsetenv("LD_LIBRARY_PATH")
    on.exit(Sys.setenv(LD_LIBRARY_PATH = searched), add = TRUE)
  }
  lines <- suppressWarnings(system2(program, shQuote(c(...)), stdout = TRUE, stderr = said))
  if (!is.null(attr(lines, "status"))) {
    fail(paste(c("dossier refused:", readLines(said, encoding = "UTF-8")), collapse = "\n"))
  }
  lines
}
