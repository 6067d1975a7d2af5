"use strict";
(() => {
  const details = JSON.parse(document.getElementById("details").textContent);
  const said = document.getElementById("said");

  // An element with attributes and children; text is always text, never markup.
  const make = (tag, attributes = {}, ...children) => {
    const inSvg = ["svg", "polyline", "circle"].includes(tag);
    const node = inSvg
      ? document.createElementNS("http://www.w3.org/2000/svg", tag)
      : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };

  // --- sorting: ascending, descending, as it was -----------------------------------------------

  const valueOf = (row, column) => {
    const cell = row.cells[column];
    if (!cell) return null;
    if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
    const text = cell.textContent.trim();
    return text === "" || text.startsWith("–") ? null : text;
  };

  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number"
      ? a - b
      : String(a).localeCompare(String(b), "en", { numeric: true });

  const sort = (table, column, direction) => {
    const body = table.tBodies[0];
    const rows = [...body.rows].filter((row) => !row.classList.contains("detail"));
    rows.forEach((row, place) => { row.place ??= place; });
    rows.sort((a, b) => {
      if (direction === "none") return a.place - b.place;
      const x = valueOf(a, column), y = valueOf(b, column);
      if (x === null || y === null) return (x === null) - (y === null) || a.place - b.place;
      return (direction === "ascending" ? 1 : -1) * compare(x, y) || a.place - b.place;
    });
    for (const row of rows) {
      body.append(row);
      if (row.detail) body.append(row.detail);
    }
    table.classList.toggle("sorted", direction !== "none");
    [...table.tHead.rows[0].cells].forEach((cell, place) => {
      if (cell.hasAttribute("aria-sort")) {
        cell.setAttribute("aria-sort", place === column ? direction : "none");
      }
    });
    const label = table.tHead.rows[0].cells[column].textContent;
    said.textContent = direction === "none" ? "In the original order" : `Sorted by ${label}, ${direction}`;
  };

  const next = (heading) => {
    // Numbers are looked at from the largest, words from A.
    const order = heading.classList.contains("number")
      ? ["none", "descending", "ascending"]
      : ["none", "ascending", "descending"];
    return order[(order.indexOf(heading.getAttribute("aria-sort")) + 1) % 3];
  };

  // --- details, made when they are asked for ---------------------------------------------------

  const isMissing = (value) => value === undefined || value === null;
  const measure = (value) => (isMissing(value) ? "–" : value.toFixed(3));
  const number = (value) => {
    if (isMissing(value)) return "–";
    const isSmall = value !== 0 && Math.abs(value) < 1e-3;
    return isSmall ? value.toExponential(2) : String(Number(value.toPrecision(4)));
  };

  const grid = (heads, rows) => {
    const head = make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)));
    const body = rows.map((cells) => make("tr", {}, ...cells.map((cell) => make("td", {}, cell))));
    return make("table", {}, make("thead", {}, head), make("tbody", {}, ...body));
  };

  const tuningCurve = (rungs) => {
    const losses = rungs.reduce((a, b) => (b.length > a.length ? b : a));
    const known = losses.filter((loss) => loss !== null);
    if (known.length < 2) return "–";
    const low = Math.min(...known), high = Math.max(...known);
    const x = (k) => 4 + (152 * k) / Math.max(1, losses.length - 1);
    const y = (loss) => 44 - (40 * (loss - low)) / (high - low || 1);
    let best = Infinity;
    const line = [];
    losses.forEach((loss, k) => {
      if (loss !== null) best = Math.min(best, loss);
      if (best < Infinity) line.push(`${x(k).toFixed(1)},${y(best).toFixed(1)}`);
    });
    const label = `Loss of ${losses.length} trials, from ${number(high)} to ${number(low)}`;
    const svg = make("svg", { viewBox: "0 0 160 48", role: "img", "aria-label": label });
    losses.forEach((loss, k) => {
      if (loss !== null) {
        svg.append(make("circle", { cx: x(k).toFixed(1), cy: y(loss).toFixed(1), r: 1.8, fill: "currentColor", opacity: 0.45 }));
      }
    });
    svg.append(make("polyline", { points: line.join(" "), fill: "none", stroke: "currentColor", "stroke-width": 1.5 }));
    const told = make("span", { title: label });
    told.append(svg);
    return told;
  };

  const jobs = (key) => {
    const found = details.jobs[key];
    if (!found) return [make("p", {}, "Not run.")];
    const measures = [...new Set(found.flatMap((job) => Object.keys(job.metrics ?? {})))];
    const heads = ["Fold", "State", ...measures.map((name) => details.metrics[name] ?? name),
      "Threshold", "Best hyperparameters", "Tuning", "CPU time", "Seed"];
    const rows = found.map((job) => {
      const params = Object.entries(job.params ?? {}).map(([name, value]) =>
        `${name} = ${typeof value === "number" ? number(value) : value}`);
      const best = make("div", { class: "params" }, params.join(", ") || "–");
      return [String(job.fold), job.state, ...measures.map((name) => measure(job.metrics?.[name])),
        number(job.threshold), best, job.losses ? tuningCurve(job.losses) : "–",
        `${number(job.seconds)} s`, String(job.seed)];
    });
    const shown = [grid(heads, rows)];
    for (const job of found) {
      if (job.reason) shown.push(make("p", {}, `Fold ${job.fold}, ${job.state}: ${job.reason}`));
    }
    for (const number of new Set(found.map((job) => job.environment))) {
      const environment = Object.entries(details.environments[number] ?? {});
      if (environment.length) {
        const text = environment.map(([name, value]) => `${name} ${value}`).join(", ");
        shown.push(make("p", { class: "note" }, `Environment: ${text}`));
      }
    }
    return shown;
  };

  const contest = (key) => {
    const rows = details.contests[key].map(([other, mean, low, high, effect, p, verdict]) => [
      other, measure(mean), low === null ? "–" : `${measure(low)} to ${measure(high)}`,
      number(effect), number(p), verdict,
    ]);
    return [grid(["The winner against", "Ahead by", "95 %", "Effect", "p, adjusted", ""], rows)];
  };

  const toggle = (button) => {
    const row = button.closest("tr");
    const open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    if (open) {
      row.detail.remove();
      row.detail = null;
      return;
    }
    const key = button.dataset.key;
    const content = Object.hasOwn(details.contests, key) ? contest(key) : jobs(key);
    row.detail = make("tr", { class: "detail" }, make("td", { colspan: row.cells.length }, ...content));
    row.after(row.detail);
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.classList.contains("more")) toggle(button);
    const heading = button.closest("th[aria-sort]");
    if (heading) sort(heading.closest("table"), heading.cellIndex, next(heading));
  });

  // --- light or dark: the system's, until someone chooses --------------------------------------

  const theme = document.getElementById("theme");
  const themes = ["auto", "light", "dark"];
  let current = "auto";
  try { current = localStorage.getItem("cschoice-theme") ?? "auto"; } catch { /* not allowed here */ }
  const show = () => {
    if (current === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = current;
    theme.textContent = `Theme: ${current}`;
  };
  theme.hidden = false;
  theme.addEventListener("click", () => {
    current = themes[(themes.indexOf(current) + 1) % themes.length];
    try { localStorage.setItem("cschoice-theme", current); } catch { /* not allowed here */ }
    show();
  });
  show();
})();
