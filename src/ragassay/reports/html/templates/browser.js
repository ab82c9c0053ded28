"use strict";

// Text whose control characters (but tabs and line ends) can be seen, written as in JSON.
function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (found) => "\\u" + found.charCodeAt(0).toString(16).padStart(4, "0"));
}

// Builds an element. Text always becomes a text node: nothing from the data is parsed as HTML.
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  const held = children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== "");
  element.append(...held.map((child) => typeof child === "string" ? visible(child) : child));
  return element;
}

// A metric's name that may break after its punctuation.
function breakable(name) {
  return name.split(/(?<=[@.(,=_/])/).flatMap((piece) => [piece, h("wbr")]);
}

function number(value, sign) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  const whole = size >= 10 && Number.isInteger(value);
  const digits = whole ? 0 : size < 10 ? 4 : size < 100 ? 3 : size < 10000 ? 2 : 1;
  const text = value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  if (Number(text.replaceAll(",", "")) === 0) return text.replace("-", "");
  return sign && value > 0 ? "+" + text : text;
}

// The list of samples (or of queries, for a comparison): search, filters, sorting and pages.
class Browser {
  constructor(data, details) {
    this.data = data;
    this.details = details;
    this.comparison = data.kind === "comparison";
    this.metric = 0;
    this.shown = new Set(data.metrics.keys());
    if (!this.comparison && data.metrics.length > 10) {
      // Columns without any score must not take the places of those that have some.
      const scored = (at) => data.values[at].some((value) => value !== null);
      const first = [...data.metrics.keys()].sort((one, two) => scored(two) - scored(one) || one - two);
      this.shown = new Set(first.slice(0, 8));
    }
    this.sort = this.comparison ? { key: "diff", down: false } : { key: "order", down: false };
    this.open = new Set();
    this.page = 0;
    this.haystack = data.id.map((id, row) => `${id}\n${data.query[row]}\n${data.tag[row]}`.toLowerCase());
    this.body = document.querySelector("#queries tbody");
    this.head = document.querySelector("#queries thead tr");
    this.controls();
    this.update();
  }

  controls() {
    const on = (id, type, action) => document.getElementById(id)?.addEventListener(type, action);
    const again = () => { this.page = 0; this.update(); };
    let waiting;
    on("search", "input", () => { clearTimeout(waiting); waiting = setTimeout(again, 120); });
    on("tools", "submit", (event) => event.preventDefault());
    on("filter", "change", again);
    on("size", "change", again);
    on("previous", "click", () => this.turn(-1));
    on("next", "click", () => this.turn(1));
    on("metric", "change", (event) => { this.metric = Number(event.target.value); again(); this.onmetric?.(); });
    for (const select of document.querySelectorAll("select[data-slice]")) {
      const found = [...new Set(this.data.slices[select.dataset.slice])].filter((value) => value !== null)
        .sort(new Intl.Collator("en", { numeric: true }).compare);
      select.append(...found.map((value) => h("option", { value: "=" + value }, value)));
      select.addEventListener("change", again);
    }
    const columns = document.getElementById("columns");
    columns?.append(...this.data.metrics.map((metric, at) => h("label", {},
      h("input", { type: "checkbox", checked: this.shown.has(at), onchange: (event) => {
        if (event.target.checked) this.shown.add(at); else this.shown.delete(at);
        this.update();
      } }), " ", metric.name)));
  }

  columns() {
    const { data, metric } = this;
    const list = [
      { key: "order", label: "id", get: (row) => row, show: (row) => data.id[row] },
      { key: "query", label: "query", get: (row) => data.query[row].toLowerCase() },
    ];
    if (this.comparison) {
      list.push({ key: "a", label: "A", number: true, get: (row) => data.values[metric][row] });
      list.push({ key: "b", label: "B", number: true, get: (row) => data.other[metric][row] });
      list.push({ key: "diff", label: "A − B", number: true, sign: true, get: (row) => this.difference(row) });
      return list;
    }
    data.metrics.forEach((entry, at) => {
      if (this.shown.has(at)) {
        list.push({ key: "m" + at, label: entry.name, number: !entry.labels, metric: at, get: (row) => data.values[at][row] });
      }
    });
    return list;
  }

  difference(row) {
    const a = this.data.values[this.metric][row], b = this.data.other[this.metric][row];
    return a === null || b === null ? null : a - b;
  }

  unscored(row) {
    const { values, other } = this.data;
    if (this.comparison) return this.difference(row) === null;
    return values.some((column) => column[row] === null);
  }

  passes(filter, row) {
    if (filter === "") return true;
    if (filter === "any") return this.unscored(row);
    const diff = this.comparison ? this.difference(row) : null;
    if (filter === "a") return diff !== null && diff > 1e-12;
    if (filter === "b") return diff !== null && diff < -1e-12;
    if (filter === "equal") return diff !== null && Math.abs(diff) <= 1e-12;
    return this.data.values[Number(filter)][row] === null;
  }

  rows() {
    const words = document.getElementById("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const filter = document.getElementById("filter").value;
    const slices = [...document.querySelectorAll("select[data-slice]")].filter((select) => select.value)
      .map((select) => [this.data.slices[select.dataset.slice], select.value.slice(1)]);
    const rows = [];
    for (let row = 0; row < this.data.id.length; row++) {
      if (words.every((word) => this.haystack[row].includes(word)) && this.passes(filter, row)
        && slices.every(([column, value]) => column[row] === value)) rows.push(row);
    }
    const column = this.columns().find((one) => one.key === this.sort.key);
    if (column && (column.key !== "order" || this.sort.down)) {
      const keys = new Map(rows.map((row) => [row, column.get(row)]));
      const turn = this.sort.down ? -1 : 1;
      rows.sort((one, two) => {
        const x = keys.get(one), y = keys.get(two);
        if (x === null || y === null) return (x === null) - (y === null) || one - two;
        return x < y ? -turn : x > y ? turn : one - two;
      });
    }
    return rows;
  }

  update() {
    this.found = this.rows();
    this.draw();
  }

  draw() {
    const rows = this.found;
    const size = Number(document.getElementById("size").value);
    const pages = Math.max(1, Math.ceil(rows.length / size));
    this.page = Math.min(this.page, pages - 1);
    const first = this.page * size;
    this.header();
    this.body.replaceChildren(...rows.slice(first, first + size).flatMap((row) => this.row(row)));
    if (!rows.length) this.body.append(h("tr", {}, h("td", { colspan: this.columns().length }, "Nothing matches.")));
    const total = this.data.id.length.toLocaleString("en-US"), n = rows.length.toLocaleString("en-US");
    const [one, many] = this.comparison ? ["query", "queries"] : ["sample", "samples"];
    const what = this.data.id.length === 1 ? one : many;
    document.getElementById("count").textContent = rows.length === this.data.id.length ? `${total} ${what}` : `${n} of ${total} ${what}`;
    document.getElementById("page").textContent = `Page ${this.page + 1} of ${pages}`;
    document.getElementById("previous").disabled = this.page === 0;
    document.getElementById("next").disabled = this.page === pages - 1;
  }

  header() {
    this.head.replaceChildren(...this.columns().map((column) => {
      const sorted = this.sort.key === column.key;
      const order = sorted ? (this.sort.down ? "descending" : "ascending") : "none";
      const mark = sorted ? (this.sort.down ? " ▼" : " ▲") : "";
      return h("th", { scope: "col", "aria-sort": order, class: column.number ? "n" : null, "data-key": column.key },
        h("button", { type: "button", onclick: () => this.sortBy(column) }, breakable(column.label), h("span", { "aria-hidden": "true" }, mark)));
    }));
  }

  sortBy(column) {
    const same = this.sort.key === column.key;
    this.sort = { key: column.key, down: same ? !this.sort.down : false };
    this.page = 0;
    this.update();
    this.head.querySelector(`[data-key="${column.key}"] button`).focus();
  }

  turn(step) {
    this.page += step;
    this.draw();
    document.getElementById("queries").scrollIntoView({ block: "start" });
  }

  row(row) {
    const { data } = this;
    const id = `detail-${row}`;
    const opened = this.open.has(row);
    const button = h("button", { type: "button", class: "expand", "aria-expanded": String(opened), "aria-controls": id,
      onclick: () => this.toggle(row) }, data.id[row]);
    const cells = this.columns().map((column) => {
      if (column.key === "order") return h("th", { scope: "row" }, button, data.tag[row] ? h("small", {}, data.tag[row]) : null);
      if (column.key === "query") return h("td", { class: "text" }, data.query[row] || "–");
      return this.cell(column, row);
    });
    const line = h("tr", { "data-row": row, class: opened ? "opened" : null, onclick: (event) => this.clicked(event, row) }, cells);
    return opened ? [line, this.detail(row, id)] : [line];
  }

  cell(column, row) {
    const value = column.get(row);
    if (value === null) {
      const reason = this.data.reasons?.[column.metric]?.[row];
      return h("td", { class: "n unscored" }, reason ? reason.replaceAll("_", " ") : "–");
    }
    if (typeof value === "string") return h("td", {}, value);
    const shown = h("span", {}, number(value, column.sign));
    const entry = column.metric === undefined ? null : this.data.metrics[column.metric];
    if (entry && entry.low !== null && entry.high !== null && entry.high > entry.low) {
      shown.className = "level";
      shown.style.setProperty("--level", `${(100 * (value - entry.low) / (entry.high - entry.low)).toFixed(1)}%`);
    }
    if (column.key === "diff" && Math.abs(value) > 1e-12) shown.className = value > 0 ? "a" : "b";
    return h("td", { class: "n", title: value }, shown);
  }

  detail(row, id) {
    return h("tr", { class: "detail", id }, h("td", { colspan: this.columns().length }, this.details.render(row)));
  }

  // A click anywhere in a row opens it, unless it selected text or met something with a job of its own.
  clicked(event, row) {
    if (!event.target.closest("a, button") && getSelection().isCollapsed) this.toggle(row);
  }

  toggle(row) {
    const line = this.body.querySelector(`tr[data-row="${row}"]`);
    const button = line.querySelector(".expand");
    const opened = !this.open.has(row);
    if (opened) { this.open.add(row); line.after(this.detail(row, `detail-${row}`)); }
    else { this.open.delete(row); line.nextElementSibling.remove(); }
    line.classList.toggle("opened", opened);
    button.setAttribute("aria-expanded", String(opened));
  }

  // Opens a row wherever it stands, with all filters taken back.
  visit(row) {
    for (const select of document.querySelectorAll("#tools select")) select.value = "";
    document.getElementById("search").value = "";
    this.open.add(row);
    this.page = Math.floor(this.rows().indexOf(row) / Number(document.getElementById("size").value));
    this.update();
    const button = this.body.querySelector(`tr[data-row="${row}"] .expand`);
    button.scrollIntoView({ block: "center" });
    button.focus();
  }
}
