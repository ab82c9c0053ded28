// The sorted differences of one metric, drawn as two areas, with the mean and its interval.
class Waterfall {
  constructor(browser) {
    this.browser = browser;
    this.place = document.getElementById("waterfall");
    this.readout = document.getElementById("readout");
    browser.onmetric = () => this.draw();
    this.draw();
  }

  draw() {
    const { browser } = this, { data } = browser, metric = data.metrics[browser.metric];
    const rows = data.id.map((_, row) => row).filter((row) => browser.source.difference(row, browser.metric) !== null);
    rows.sort((one, two) => browser.source.difference(one, browser.metric) - browser.source.difference(two, browser.metric));
    const values = rows.map((row) => browser.source.difference(row, browser.metric));
    if (!rows.length) { this.place.replaceChildren(h("p", {}, "No query is scored in both runs.")); return; }
    const width = 1000, height = 220, top = Math.max(...values, metric.highDiff ?? 0, 0), bottom = Math.min(...values, metric.lowDiff ?? 0, 0);
    const span = top - bottom || 1, y = (value) => 8 + (height - 16) * (top - value) / span, step = width / rows.length;
    const area = (keep) => {
      let path = `M0 ${y(0).toFixed(1)}`;
      values.forEach((value, at) => { const level = y(keep(value) ? value : 0).toFixed(1); path += `V${level}H${((at + 1) * step).toFixed(2)}`; });
      return `${path}V${y(0).toFixed(1)}Z`;
    };
    const make = (tag, attributes) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
      return element;
    };
    const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", class: "figure waterfall", role: "img",
      "aria-label": `Differences of ${rows.length} ${rows.length === 1 ? "query" : "queries"} in ${metric.name}, sorted; the table below lists them` });
    svg.append(make("path", { class: "area b", d: area((value) => value < 0) }), make("path", { class: "area a", d: area((value) => value > 0) }));
    if (metric.lowDiff !== null) svg.append(make("rect", { class: "band", x: 0, width, y: y(metric.highDiff), height: Math.max(1, y(metric.lowDiff) - y(metric.highDiff)) }));
    svg.append(make("line", { class: "zero", x1: 0, x2: width, y1: y(0), y2: y(0) }));
    if (metric.diff !== null) svg.append(make("line", { class: "mean-line", x1: 0, x2: width, y1: y(metric.diff), y2: y(metric.diff) }));
    const at = (event) => rows[Math.min(rows.length - 1, Math.max(0, Math.floor((event.offsetX / svg.clientWidth) * rows.length)))];
    const rest = `${rows.length.toLocaleString("en-US")} ${rows.length === 1 ? "query" : "queries"}, sorted by new − old. Line${metric.lowDiff === null ? "" : " and band"}: mean difference ${number(metric.diff, true)}${metric.lowDiff === null ? "" : " with its interval"}. Click to open a query.`;
    svg.addEventListener("pointermove", (event) => {
      const row = at(event);
      this.readout.textContent = `${visible(data.id[row])}: new ${number(data.values[browser.metric][row])}, old ${number(data.other[browser.metric][row])}, difference ${number(browser.source.difference(row, browser.metric), true)}`;
    });
    svg.addEventListener("pointerleave", () => { this.readout.textContent = rest; });
    svg.addEventListener("click", (event) => browser.visit(at(event)));
    this.readout.textContent = rest;
    this.place.replaceChildren(h("div", { class: "axis" }, h("span", {}, number(top, true)), h("span", {}, number(bottom, true))), svg, this.ids(rows));
  }

  // Below the bars: the id of each query, or of the first and the last.
  ids(rows) {
    const ends = rows.length > 12 ? [rows[0], rows.at(-1)] : rows, { data } = this.browser;
    return h("div", { class: ends === rows ? "ids" : "ids ends" }, ends.map((row) => h("span", { title: visible(data.id[row]) }, visible(data.id[row]))));
  }
}

// Tables that are wider than their place say so.
(() => {
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const box = target.closest(".scroll");
      box.toggleAttribute("data-wider", box.scrollWidth > box.clientWidth + 1);
    }
  });
  for (const box of document.querySelectorAll(".scroll")) for (const one of [box, box.querySelector("table")]) if (one) observer.observe(one);
})();

(async () => {
  const held = document.getElementById("rows")?.textContent;
  if (!held) return;  // a page without a list of samples
  let data;
  try {
    data = held.startsWith("{") ? JSON.parse(held) : await unpack("rows");  // a server's is not packed
  } catch (error) {
    document.getElementById("count").textContent = `This browser cannot unpack the list (${error.message}). The run folder has every score.`;
    return;
  }
  const browser = new Browser(data, data.served ? new ServedRows(data) : new EmbeddedRows(data));
  if (browser.comparison && data.metrics.length) new Waterfall(browser);
})();
