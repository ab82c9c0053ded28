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

// The rows that stand in the file itself.
class EmbeddedRows {
  constructor(data) {
    this.data = data;
    this.comparison = data.kind === "comparison";
    this.total = data.id.length;
    this.haystack = data.id.map((id, row) => `${id}\n${data.query[row]}\n${data.tag[row]}`.toLowerCase());
    this.chunks = new Map();
  }

  // The values of a slicing column.
  options(name) {
    return [...new Set(this.data.slices[name])].filter((value) => value !== null)
      .sort(new Intl.Collator("en", { numeric: true }).compare);
  }

  // Whether a metric has a score in any row.
  scored(metric) {
    return this.data.values[metric].some((value) => value !== null);
  }

  difference(row, metric) {
    const a = this.data.values[metric][row], b = this.data.other[metric][row];
    return a === null || b === null ? null : a - b;
  }

  // The rows that pass, in order; a page of them, and how many there are.
  async find(asked) {
    const { data } = this, rows = this.ordered(asked);
    const page = rows.slice(asked.first, asked.first + asked.size).map((row) => ({
      row, id: data.id[row], tag: data.tag[row], query: data.query[row],
      values: data.values.map((column) => column[row]),
      other: data.other?.map((column) => column[row]),
      reasons: data.reasons?.map((column) => column[row]),
    }));
    return { n: rows.length, rows: page };
  }

  ordered({ words, filter, slices, sort, down, metric }) {
    const chosen = slices.map(([name, value]) => [this.data.slices[name], value]);
    const rows = [];
    for (let row = 0; row < this.total; row++) {
      if (words.every((word) => this.haystack[row].includes(word)) && this.passes(filter, row, metric)
        && chosen.every(([column, value]) => column[row] === value)) rows.push(row);
    }
    if (sort === "order" && !down) return rows;
    const keys = new Map(rows.map((row) => [row, this.key(sort, row, metric)]));
    const turn = down ? -1 : 1;
    return rows.sort((one, two) => {
      const x = keys.get(one), y = keys.get(two);
      if (x === null || y === null) return (x === null) - (y === null) || one - two;
      return x < y ? -turn : x > y ? turn : one - two;
    });
  }

  key(sort, row, metric) {
    const { data } = this;
    if (sort === "order") return row;
    if (sort === "query") return data.query[row].toLowerCase();
    if (sort === "a") return data.values[metric][row];
    if (sort === "b") return data.other[metric][row];
    if (sort === "diff") return this.difference(row, metric);
    return data.values[Number(sort.slice(1))][row];
  }

  passes(filter, row, metric) {
    if (filter === "") return true;
    const diff = this.comparison ? this.difference(row, metric) : null;
    if (filter === "any") return this.comparison ? diff === null : this.data.values.some((column) => column[row] === null);
    if (filter === "a") return diff !== null && diff > 1e-12;
    if (filter === "b") return diff !== null && diff < -1e-12;
    if (filter === "equal") return diff !== null && Math.abs(diff) <= 1e-12;
    return this.data.values[Number(filter)][row] === null;
  }

  // The samples behind a row, a list for each run. They are parsed when they are needed.
  async samples(row) {
    return this.data.detail[row].map((positions, run) => positions.map((position) => {
      const id = `d${run}-${Math.floor(position / this.data.chunk)}`;
      if (!this.chunks.has(id)) this.chunks.set(id, JSON.parse(document.getElementById(id).textContent));
      return this.chunks.get(id)[position % this.data.chunk];
    }));
  }
}

// The rows that a server has: it searches, filters and sorts.
class ServedRows {
  constructor(data) {
    this.data = data;
    this.comparison = false;
    this.total = data.total;
    this.served = data.served;
  }

  options(name) {
    return this.data.slices[name];
  }

  scored(metric) {
    return this.data.scored[metric];
  }

  async find({ words, filter, slices, sort, down, first, size }) {
    const query = new URLSearchParams({ text: words.join(" "), unscored: filter, sort, down: String(down), first: String(first), size: String(size) });
    for (const [name, value] of slices) query.append("slice", JSON.stringify([name, value]));
    return this.read(`${this.data.served}?${query}`);
  }

  async samples(row) {
    return [[await this.read(`${this.data.served}/${row}`)]];
  }

  async read(address) {
    const reply = await fetch(address);
    if (!reply.ok) throw new Error((await reply.json()).detail);
    return reply.json();
  }
}

// The list of samples (or of queries, for a comparison): search, filters, sorting and pages.
class Browser {
  constructor(data, source) {
    this.data = data;
    this.source = source;
    this.details = new Details(data);
    this.comparison = source.comparison;
    this.metric = 0;
    this.shown = new Set(data.metrics.keys());
    if (!this.comparison && data.metrics.length > 10) {
      // Columns without any score must not take the places of those that have some.
      const first = [...data.metrics.keys()].sort((one, two) => source.scored(two) - source.scored(one) || one - two);
      this.shown = new Set(first.slice(0, 8));
    }
    this.sort = this.comparison ? { key: "diff", down: false } : { key: "order", down: false };
    this.open = new Set();
    this.page = 0;
    this.asked = 0;
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
      select.append(...this.source.options(select.dataset.slice).map((value) => h("option", { value: "=" + value }, value)));
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
    const list = [{ key: "order", label: "id" }, { key: "query", label: "query" }];
    if (this.comparison) {
      list.push({ key: "a", label: "A", number: true, get: (entry) => entry.values[metric] });
      list.push({ key: "b", label: "B", number: true, get: (entry) => entry.other[metric] });
      list.push({ key: "diff", label: "A − B", number: true, sign: true, get: ({ row }) => this.source.difference(row, metric) });
      return list;
    }
    data.metrics.forEach((entry, at) => {
      if (this.shown.has(at)) {
        list.push({ key: "m" + at, label: entry.name, number: !entry.labels, metric: at, get: ({ values }) => values[at] });
      }
    });
    return list;
  }

  // What the page asks for, of all rows.
  wanted() {
    const size = Number(document.getElementById("size").value);
    return {
      words: document.getElementById("search").value.toLowerCase().split(/\s+/).filter(Boolean),
      filter: document.getElementById("filter").value,
      slices: [...document.querySelectorAll("select[data-slice]")].filter((select) => select.value)
        .map((select) => [select.dataset.slice, select.value.slice(1)]),
      sort: this.sort.key, down: this.sort.down, metric: this.metric, first: this.page * size, size,
    };
  }

  async update() {
    const asked = ++this.asked;
    const wanted = this.wanted();
    let found;
    try {
      found = await this.source.find(wanted);
    } catch (error) {
      if (asked === this.asked) document.getElementById("count").textContent = `The rows cannot be read: ${error.message}`;
      return;
    }
    if (asked !== this.asked) return;  // a younger question has its answer, or will have it
    const pages = Math.max(1, Math.ceil(found.n / wanted.size));
    if (this.page >= pages) { this.page = pages - 1; await this.update(); return; }
    this.draw(found, pages);
  }

  draw({ n, rows }, pages) {
    this.header();
    this.body.replaceChildren(...rows.flatMap((entry) => this.row(entry)));
    if (!rows.length) this.body.append(h("tr", {}, h("td", { colspan: this.columns().length }, "Nothing matches.")));
    const all = this.source.total, total = all.toLocaleString("en-US");
    const [one, many] = this.comparison ? ["query", "queries"] : ["sample", "samples"];
    const what = all === 1 ? one : many;
    document.getElementById("count").textContent = n === all ? `${total} ${what}` : `${n.toLocaleString("en-US")} of ${total} ${what}`;
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

  async sortBy(column) {
    const same = this.sort.key === column.key;
    this.sort = { key: column.key, down: same ? !this.sort.down : false };
    this.page = 0;
    await this.update();
    this.head.querySelector(`[data-key="${column.key}"] button`).focus();
  }

  async turn(step) {
    this.page += step;
    await this.update();
    document.getElementById("queries").scrollIntoView({ block: "start" });
  }

  row(entry) {
    const { row } = entry, id = `detail-${row}`, opened = this.open.has(row);
    const button = h("button", { type: "button", class: "expand", "aria-expanded": String(opened), "aria-controls": id,
      onclick: () => this.toggle(row) }, entry.id);
    const cells = this.columns().map((column) => {
      if (column.key === "order") return h("th", { scope: "row" }, button, entry.tag ? h("small", {}, entry.tag) : null);
      if (column.key === "query") return h("td", { class: "text" }, entry.query || "–");
      return this.cell(column, entry);
    });
    const line = h("tr", { "data-row": row, class: opened ? "opened" : null, onclick: (event) => this.clicked(event, row) }, cells);
    return opened ? [line, this.detail(row, id)] : [line];
  }

  cell(column, row) {
    const value = column.get(row);
    if (value === null) {
      const reason = row.reasons?.[column.metric];
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
    const place = h("td", { colspan: this.columns().length });
    const own = this.source.served ? h("p", { class: "own" }, h("a", { href: `${this.source.served}/${row}` }, "Open on a page of its own")) : "";
    this.source.samples(row).then((runs) => place.replaceChildren(own, this.details.render(runs)),
      (error) => place.replaceChildren(h("p", {}, `The details cannot be read: ${error.message}`)));
    return h("tr", { class: "detail", id }, place);
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
  async visit(row) {
    for (const select of document.querySelectorAll("#tools select")) select.value = "";
    document.getElementById("search").value = "";
    this.open.add(row);
    const wanted = this.wanted();
    this.page = Math.floor(this.source.ordered(wanted).indexOf(row) / wanted.size);
    await this.update();
    const button = this.body.querySelector(`tr[data-row="${row}"] .expand`);
    button.scrollIntoView({ block: "center" });
    button.focus();
  }
}
