const MOST_PRINTED = 1000;

// The list of samples (or of queries, for a comparison): search, filters, sorting and pages.
class Browser {
  constructor(data, source) {
    this.data = data;
    this.source = source;
    this.details = new Details(data);
    this.comparison = source.comparison;
    // The score that decides whether a sample fails comes first; few have room beside the answers.
    this.order = [...data.metrics.keys()];
    if (!this.comparison) this.order.sort((one, two) => (two === data.deciding) - (one === data.deciding));
    this.shown = new Set(this.comparison ? [] : this.order.filter((at) => source.scored(at)).slice(0, 3));
    this.sort = { key: "order", down: false };
    this.open = new Set();
    this.page = 0;
    this.asked = 0;
    this.body = document.querySelector("#queries tbody");
    this.head = document.querySelector("#queries thead tr");
    this.controls();
    this.restore(new URLSearchParams(location.search));
    if (source.row) {
      addEventListener("hashchange", () => this.follow());
      addEventListener("beforeprint", () => this.spread());
      addEventListener("afterprint", () => this.gather());
    }
    this.ready = this.update().then(() => this.follow());
  }

  // Goes to the sample that the page's address names.
  async follow() {
    const name = new URLSearchParams(location.hash.slice(1)).get("sample");
    const row = name === null || !this.source.row ? -1 : this.source.row(name);
    if (row >= 0) await this.visit(row);
    else if (name !== null && this.source.row) document.getElementById("count").textContent = `No sample is called ${name}.`;
  }

  // Sets the controls as the query of the page's address says it.
  restore(given) {
    const choose = (select, value) => { if ([...select?.options || []].some((option) => option.value === value)) select.value = value; };
    document.getElementById("search").value = given.get("text");
    for (const name of ["filter", "metric", "size"]) choose(document.getElementById(name), given.get(name));
    const slices = new Map(given.getAll("slice").map(JSON.parse));
    for (const select of document.querySelectorAll("select[data-slice]")) choose(select, "=" + slices.get(select.dataset.slice));
    this.metric = Number(document.getElementById("metric")?.value ?? this.data.deciding);
    this.sort = { key: given.get("sort") || "order", down: given.get("down") === "true" };
    this.page = Math.floor(Number(given.get("first")) / this.wanted().size);
  }

  // Lets the page's address name what is shown, where the browser allows it: not in a frame, say.
  remember(address) {
    try {
      history.replaceState(null, "", address);
    } catch (error) {
      if (error.name !== "SecurityError") throw error;
    }
  }

  address(row) {
    return "#" + new URLSearchParams({ sample: this.source.name(row) });
  }

  controls() {
    const on = (id, type, action) => document.getElementById(id)?.addEventListener(type, action);
    const again = () => { this.page = 0; this.update(); };
    let waiting;
    on("search", "input", () => { this.busy(true); clearTimeout(waiting); waiting = setTimeout(again, 120); });
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
    for (const link of document.querySelectorAll("a[data-filter]")) {
      link.addEventListener("click", () => { document.getElementById("filter").value = link.dataset.filter; again(); });
    }
    const columns = document.getElementById("columns");
    columns?.append(...this.order.map((at) => h("label", {},
      h("input", { type: "checkbox", checked: this.shown.has(at), onchange: (event) => {
        if (event.target.checked) this.shown.add(at); else this.shown.delete(at);
        this.update();
      } }), " ", this.data.metrics[at].name)));
  }

  columns() {
    const { data, metric } = this;
    const list = [{ key: "id", label: "id" }, { key: "query", label: "question" }];
    if (this.comparison) {
      list.push({ key: "a", label: "new", number: true, get: (entry) => entry.values[metric] });
      list.push({ key: "b", label: "old", number: true, get: (entry) => entry.other[metric] });
      list.push({ key: "diff", label: "difference", number: true, sign: true, get: ({ row }) => this.source.difference(row, metric) });
      for (const at of data.metrics.keys()) {
        if (this.shown.has(at)) list.push({ key: "d" + at, label: `difference, ${data.metrics[at].name}`, number: true, sign: true, get: ({ row }) => this.source.difference(row, at) });
      }
      return list;
    }
    list.push({ key: "answer", label: "answer" });
    for (const at of this.order.filter((one) => this.shown.has(one))) {
      const { name, labels } = data.metrics[at];
      list.push({ key: "m" + at, label: name, number: !labels, metric: at, get: ({ values }) => values[at] });
    }
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
      sort: this.sort.key, down: this.sort.down, metric: this.metric, deciding: this.data.deciding, first: this.page * size, size,
    };
  }

  busy(is) {
    document.getElementById("queries").setAttribute("aria-busy", String(is));
  }

  async update() {
    const asked = ++this.asked;
    this.busy(true);
    const wanted = this.wanted();
    let found;
    try {
      found = await this.source.find(wanted, (share) => {
        document.getElementById("count").textContent = `reading all texts, ${Math.round(100 * share)} %`;
      });
    } catch (error) {
      if (asked === this.asked) document.getElementById("count").textContent = `The rows cannot be read: ${error.message}`;
      return;
    }
    if (asked !== this.asked) return;  // a younger question has its answer, or will have it
    const pages = Math.max(1, Math.ceil(found.n / wanted.size));
    if (this.page >= pages) { this.page = pages - 1; await this.update(); return; }
    this.draw(found, pages);
    this.busy(false);
    this.remember(location.pathname + queryOf(wanted) + location.hash);
  }

  draw({ n, rows }, pages) {
    this.header();
    this.body.replaceChildren(...rows.flatMap((entry) => this.row(entry)));
    if (!rows.length) this.body.append(h("tr", {}, h("td", { colspan: this.columns().length }, "Nothing matches.")));
    const all = this.source.total, total = all.toLocaleString("en-US");
    const [one, many] = this.comparison ? ["query", "queries"] : ["sample", "samples"];
    const what = all === 1 ? one : many;
    document.getElementById("count").textContent = n === all ? `${total} ${what}` : `${n.toLocaleString("en-US")} of ${total} ${what}`;
    const first = this.page * this.wanted().size;
    document.getElementById("page").textContent = `Page ${this.page + 1} of ${pages}` + (pages > 1 ? `, rows ${first + 1} to ${first + rows.length} of ${n}` : "");
    document.getElementById("previous").disabled = this.page === 0;
    document.getElementById("next").disabled = this.page === pages - 1;
  }

  // For print, the rows of all pages, up to a limit, around those that are shown.
  async spread() {
    const { n, rows } = await this.source.find({ ...this.wanted(), first: 0, size: MOST_PRINTED });
    const shown = new Set([...this.body.querySelectorAll("[data-row]")].map((line) => Number(line.dataset.row)));
    const at = rows.findIndex(({ row }) => shown.has(row));
    const lines = (some) => some.filter(({ row }) => !shown.has(row)).flatMap((entry) => this.row(entry));
    const before = lines(rows.slice(0, Math.max(0, at))), after = lines(rows.slice(Math.max(0, at)));
    const place = document.getElementById("page");
    this.added = [...before, ...after];
    this.said = place.textContent;
    this.body.prepend(...before);
    this.body.append(...after);
    place.textContent = rows.length < n ? `Rows 1 to ${rows.length} of ${n}` : "";
  }

  // What `spread` added goes after printing.
  gather() {
    for (const line of this.added || []) line.remove();
    document.getElementById("page").textContent = this.said;
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
    // Ascending, descending, then as at first.
    const same = this.sort.key === column.key;
    if (same && this.sort.down) this.sort = { key: "order", down: false };
    else this.sort = { key: column.key, down: same && !this.sort.down };
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
      if (column.key === "id") return h("th", { scope: "row" }, button, entry.tag ? h("small", {}, entry.tag) : null, this.faults(entry));
      if (!column.get) return h("td", { class: "text", dir: "auto" }, h("div", {}, entry[column.key] || "–"));
      return this.cell(column, entry);
    });
    const line = h("tr", { "data-row": row, class: opened ? "opened" : null, onclick: (event) => this.clicked(event, row) }, cells);
    return opened ? [line, this.detail(row, id)] : [line];
  }

  // What is wrong with a row's samples; for a comparison in the new and in the old run.
  faults({ faults }) {
    return (faults || []).map((at, run) => at === null ? null
      : h("small", { class: "fault" }, this.comparison ? [h("b", { class: run ? "b" : "a" }, SIDES[run]), " "] : null, this.data.faults[at].title));
  }

  cell(column, row) {
    const value = column.get(row), name = pieces(column.label).join("\u200b");
    if (value === null) {
      const reason = row.reasons?.[column.metric];
      return h("td", { class: "n unscored", "data-name": name }, reason ? reasonWords(reason) : "–");
    }
    if (typeof value === "string") return h("td", { "data-name": name }, value);
    const shown = h("span", {}, number(value, column.sign));
    const entry = column.metric === undefined ? null : this.data.metrics[column.metric];
    if (entry && entry.low !== null && entry.high !== null && entry.high > entry.low) {
      shown.className = "level";
      shown.style.setProperty("--level", `${(100 * (value - entry.low) / (entry.high - entry.low)).toFixed(1)}%`);
    }
    if (column.sign && Math.abs(value) > 1e-12) shown.className = value > 0 ? "a" : "b";
    return h("td", { class: "n", title: value, "data-name": name }, shown);
  }

  detail(row, id) {
    const place = h("td", { colspan: this.columns().length });
    const own = this.source.served ? h("p", { class: "own" }, h("a", { href: `${this.source.served}/${row}${queryOf({ ...this.wanted(), first: 0 })}` }, "Open on a page of its own")) : this.about(row);
    this.source.samples(row).then((runs) => place.replaceChildren(own, this.details.render(runs)),
      (error) => place.replaceChildren(h("p", {}, `The details cannot be read: ${error.message}`)));
    return h("tr", { class: "detail", id }, place);
  }

  // What is wrong with the row's samples in a sentence, and the link to the row.
  about(row) {
    const said = this.source.faults(row).map((at, run) => at === null ? null : [
      h("span", { class: "chip fault" }, this.comparison ? `${SIDES[run]}: ` : "", this.data.faults[at].title), " ", this.comparison ? "" : `${this.data.faults[at].says} `]);
    return h("p", { class: "own" }, said, h("a", { href: this.address(row), class: "permalink" }, "Link to this row"));
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
    if (this.source.row) this.remember(opened ? this.address(row) : location.pathname + location.search);
  }

  // Opens a row wherever it stands. Search and filters are taken back where they leave it out.
  async visit(row) {
    await this.update();  // a search has read all texts then
    if (!this.source.ordered(this.wanted()).includes(row)) {
      for (const select of document.querySelectorAll("#tools select")) select.value = "";
      document.getElementById("search").value = "";
    }
    this.open.add(row);
    if (this.source.row) this.remember(this.address(row));
    const wanted = this.wanted();
    this.page = Math.floor(this.source.ordered(wanted).indexOf(row) / wanted.size);
    await this.update();
    const button = this.body.querySelector(`tr[data-row="${row}"] .expand`);
    button.focus({ preventScroll: true });
    button.scrollIntoView({ block: "start" });
  }
}
