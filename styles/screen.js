"use strict";
// What a reader may do with the page; without it everything is there to be read.
(() => {
  const rows = (table) => [...table.tBodies].flatMap((body) => [...body.rows]);
  const text = (cell) => cell.textContent.replace(/\s+/g, " ").trim();

  // ---- the threshold that each row is at, where a table has several; a group of one threshold goes as one
  const tables = [...document.querySelectorAll("main table")];
  const at = (row) => {
    const keys = [...row.querySelectorAll("td[data-key]")].map((cell) => cell.dataset.key.match(/ threshold=(\S+)/)?.[1]);
    return new Set(keys).size === 1 ? keys[0] : undefined;
  };
  for (const table of tables) {
    const marked = [...table.tBodies].flatMap((body) => {
      const own = [...body.rows].filter(at);
      const one = body.querySelector(".group") && new Set(own.map(at)).size === 1;
      return one ? [[body, at(own[0])]] : own.map((row) => [row, at(row)]);
    });
    if (new Set(marked.map((each) => each[1])).size > 1) for (const [each, place] of marked) each.dataset.at = place;
  }

  // ---- what is chosen: its committee edition, its rows, its marks; what is of no single hospital or threshold stays
  const chosen = { site: document.getElementById("hospital"), at: document.getElementById("threshold") };
  const choice = (kind) => chosen[kind]?.value ?? "";
  const follow = () => {
    for (const table of tables) {
      const has = [...table.querySelectorAll("[data-at]")].some((each) => each.dataset.at === choice("at"));
      for (const each of table.querySelectorAll("tbody, tbody tr")) {
        // A row that heads a group goes with all that stands below it.
        const head = each.tagName === "TBODY" ? each.querySelector(".group[data-site]") : each.matches(".group") ? null : each;
        const other = choice("site") !== "" && head?.dataset.site !== undefined && head.dataset.site !== choice("site");
        each.hidden = other || (has && each.dataset.at !== undefined && each.dataset.at !== choice("at"));
      }
    }
    for (const each of document.querySelectorAll("g[data-site]"))
      each.classList.toggle("other", choice("site") !== "" && each.dataset.site !== choice("site"));
    for (const each of document.querySelectorAll("[data-for]"))
      each.hidden = !each.dataset.for.split(" ").includes(String(chosen.site.selectedIndex));
    const said = Object.values(chosen).filter((list) => list?.value);
    document.getElementById("followed").textContent = said
      .map((list) => list.dataset.says.replace("{}", () => list.selectedOptions[0].textContent)).join(" ");
  };
  for (const list of Object.values(chosen)) list?.addEventListener("change", follow);
  const tools = document.getElementById("tools");
  if (tools) {
    tools.hidden = false;
    follow();
  }

  // ---- tables: sorted by a column within each group, and as CSV
  const across = (row) => {
    const cells = [];
    for (const cell of row.cells) for (let at = 0; at < cell.colSpan; at += 1) cells.push(at === 0 ? cell : null);
    return cells;
  };
  const value = (cell) => {
    const said = cell ? text(cell).replace(/\u2212/g, "-").replace(/[,%<>\u2264\u2265]/g, "") : "";
    const number = /^\s*-?\d/.test(said) ? parseFloat(said) : NaN;
    return { said, number, none: said === "" || cell.classList.contains("absent") };
  };
  const compare = (one, other) => {
    if (one.none || other.none) return one.none - other.none;
    if (!Number.isNaN(one.number) && !Number.isNaN(other.number)) return one.number - other.number;
    return one.said.localeCompare(other.said, "en");
  };
  const sort = (table, head, column) => {
    const way = { ascending: "descending", descending: "none" }[head.getAttribute("aria-sort")] ?? "ascending";
    for (const each of table.querySelectorAll("th[aria-sort]")) each.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", way);
    const sign = way === "descending" ? -1 : 1;
    for (const body of table.tBodies) {
      const free = [...body.rows].filter((row) => !row.matches(".group, .total"));
      const total = [...body.rows].filter((row) => row.matches(".total"));
      const keyed = free.map((row) => ({ row, place: Number(row.dataset.place), key: value(across(row)[column]) }));
      keyed.sort((one, other) => {
        if (way === "none") return one.place - other.place;
        const gap = one.key.none || other.key.none;
        return compare(one.key, other.key) * (gap ? 1 : sign) || one.place - other.place;
      });
      body.append(...keyed.map((each) => each.row), ...total);
    }
  };
  const quoted = (said) => {
    // A number is one for a program too; what a spreadsheet would take as a formula stays a text.
    if (/^\u2212?[\d,]*\.?\d+$/.test(said)) return `"${said.replace("\u2212", "-").replace(/,/g, "")}"`;
    const safe = /^[=+@\t\r-]/.test(said) ? `'${said}` : said;
    return `"${safe.replace(/"/g, '""')}"`;
  };
  const csv = (table) => {
    const head = table.tHead ? table.tHead.rows[table.tHead.rows.length - 1] : null;
    const over = table.tHead && table.tHead.rows.length > 1 ? across(table.tHead.rows[0]) : [];
    let above = "";
    const names = (head ? across(head) : []).map((cell, at, all) => {
      if (over[at]) above = text(over[at]);
      const own = cell ? text(cell) : `${text(all[at - 1])}, interval`;
      return above ? `${above}: ${own}` : own;
    });
    const lines = head ? [["Group", ...names]] : [];
    let group = "";
    for (const row of rows(table)) {
      if (row.hidden || row.parentElement.hidden) continue;
      if (row.classList.contains("group")) group = text(row.cells[0]);
      else lines.push([group, ...across(row).map((cell) => (cell ? text(cell) : ""))]);
    }
    return `\ufeff${lines.map((line) => line.map(quoted).join(",")).join("\r\n")}\r\n`;
  };
  for (const table of tables) {
    const region = table.parentElement;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "csv";
    button.textContent = "Download CSV";
    button.setAttribute("aria-label", `Download CSV: ${region.getAttribute("aria-label")}`);
    button.addEventListener("click", () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([csv(table)], { type: "text/csv" }));
      link.download = `${(table.id || region.parentElement.id || "table").replace(/[^\w-]/g, "")}.csv`;
      link.click();
      URL.revokeObjectURL(link.href);
    });
    region.after(button);
    const body = rows(table).filter((row) => !row.matches(".group, .total"));
    // Where a row has two labels it is two rows beside each other.
    const single = body.every((row) => row.querySelectorAll("th").length === 1);
    if (!table.tHead || body.length < 3 || !single) continue;
    body.forEach((row, place) => { row.dataset.place = place; });
    across(table.tHead.rows[table.tHead.rows.length - 1]).forEach((head, column) => {
      if (!head || head.tagName !== "TH" || head.children.length) return;
      const sorter = document.createElement("button");
      sorter.type = "button";
      sorter.append(...head.childNodes);
      head.append(sorter);
      head.setAttribute("aria-sort", "none");
      sorter.addEventListener("click", () => sort(table, head, column));
    });
  }

  // ---- numbers: what stands behind one, at the pointer, with the keys, and in what is copied
  const more = document.getElementById("more");
  const behind = (cell) => `${text(cell)}; ${cell.dataset.more}; results.json: ${cell.dataset.key}`;
  const show = (cell) => {
    more.hidden = !cell;
    more.textContent = cell ? behind(cell) : "";
  };
  const numbered = (event) => (event.target instanceof Element ? event.target.closest("td[data-key]") : null);
  document.addEventListener("mouseover", (event) => show(numbered(event) ?? numbered({ target: document.activeElement })));
  document.addEventListener("focusin", (event) => show(numbered(event)));
  for (const table of tables) {
    const first = table.querySelector("td[data-key]");
    if (!first) continue;
    for (const cell of table.querySelectorAll("td[data-key]")) cell.tabIndex = -1;
    first.tabIndex = 0;
    table.addEventListener("keydown", (event) => {
      const cell = numbered(event);
      if (!cell) return;
      if (event.key === "Escape") show(null);
      const shown = [...table.querySelectorAll("td[data-key]")].filter((each) => each.offsetParent);
      const column = [...shown].filter((each) => across(each.parentElement).indexOf(each) === across(cell.parentElement).indexOf(cell));
      const step = { ArrowRight: [shown, 1], ArrowLeft: [shown, -1], ArrowDown: [column, 1], ArrowUp: [column, -1] }[event.key];
      const next = step && step[0][step[0].indexOf(cell) + step[1]];
      if (!step) return;
      event.preventDefault();
      if (!next) return;
      cell.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  }
  document.addEventListener("copy", (event) => {
    const picked = document.getSelection();
    const cell = numbered({ target: document.activeElement });
    const within = picked.isCollapsed ? cell : numbered({ target: picked.anchorNode.parentElement });
    if (!within || (!picked.isCollapsed && !within.contains(picked.focusNode))) return;
    event.clipboardData.setData("text/plain", behind(within));
    event.preventDefault();
  });
})();
