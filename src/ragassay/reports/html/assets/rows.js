// Compares texts as people order them: a2 before a10.
const NATURAL = new Intl.Collator("en", { numeric: true });

// The query of an address that asks for these rows. What is asked for by default is left out; what
// else the page's address names (the reports that are compared) stays.
function queryOf({ words, filter, metric, deciding, slices, sort, down, first, size }) {
  const query = new URLSearchParams(location.search);
  const asked = { text: words.join(" "), filter, metric: metric === deciding ? "" : String(metric), sort: sort === "order" ? "" : sort, down, first, size: size === 50 ? "" : size };
  for (const [name, value] of Object.entries(asked)) {
    if (value) query.set(name, value); else query.delete(name);
  }
  query.delete("slice");
  for (const pair of slices) query.append("slice", JSON.stringify(pair));
  return String(query) && `?${query}`;
}

// The rows that stand in the file itself, and their details, which are unpacked when they are needed.
class EmbeddedRows {
  constructor(data) {
    this.data = data;
    this.comparison = data.kind === "comparison";
    this.total = data.id.length;
    this.haystack = data.id.map((id, row) => `${id}\n${data.query[row]}\n${data.tag[row]}`.toLowerCase());
    this.chunks = new Map();
    this.texts = null;
  }

  // The values of a slicing column.
  options(name) {
    return [...new Set(this.data.slices[name])].filter((value) => value !== null).sort(NATURAL.compare);
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
  async find(asked, working) {
    if (asked.words.length && !this.texts) this.texts = await this.everything(working);
    const { data } = this, rows = this.ordered(asked);
    const page = rows.slice(asked.first, asked.first + asked.size).map((row) => ({
      row, id: data.id[row], tag: data.tag[row], query: data.query[row], answer: data.answer[row],
      values: data.values.map((column) => column[row]),
      other: data.other?.map((column) => column[row]),
      reasons: data.reasons?.map((column) => column[row]),
      faults: this.faults(row),
    }));
    return { n: rows.length, rows: page };
  }

  // What is wrong with a row, in each run: the name of a class, or null.
  faults(row) {
    return (this.data.faulty || []).map((column) => column[row]);
  }

  ordered({ words, filter, slices, sort, down, metric }) {
    const chosen = slices.map(([name, value]) => [this.data.slices[name], value]);
    const wanted = words.map((word) => this.matching(word));
    const rows = [];
    for (let row = 0; row < this.total; row++) {
      if (wanted.every((holds) => holds(row)) && this.passes(filter, row, metric)
        && chosen.every(([column, value]) => column[row] === value)) rows.push(row);
    }
    // At first: samples that fail, or queries that became wrong, then those that became right.
    const moved = new Map(Object.values(this.data.moved || {}).flatMap((ids, at) => ids.map((id) => [id, at])));
    const place = (row) => this.comparison ? moved.get(this.data.id[row]) ?? 2 : Number((this.faults(row)[0] ?? null) === null);
    const keys = new Map(rows.map((row) => [row, this.key(sort, row, metric)]));
    const turn = down ? -1 : 1, named = ["id", "query", "answer"].includes(sort);
    return rows.sort((one, two) => {
      const apart = sort === "order" ? place(one) - place(two) : 0;
      if (apart) return apart;
      const x = keys.get(one), y = keys.get(two);
      if (x === null || y === null) return (x === null) - (y === null) || one - two;
      if (named) return turn * NATURAL.compare(x, y) || one - two;
      return x < y ? -turn : x > y ? turn : one - two;
    });
  }

  key(sort, row, metric) {
    const { data } = this;
    if (sort === "id" || sort === "query" || sort === "answer") return data[sort][row];
    if (sort === "a") return data.values[metric][row];
    if (sort === "b") return data.other[metric][row];
    if (sort === "order" && !this.comparison) return row;
    if (sort === "order" || sort === "diff") return this.difference(row, metric);
    if (sort.startsWith("d")) return this.difference(row, Number(sort.slice(1)));
    return data.values[Number(sort.slice(1))][row];
  }

  passes(filter, row, metric) {
    if (filter === "") return true;
    if (filter.startsWith("fault-")) {
      const [, run, fault] = filter.split("-");
      return this.faults(row)[run] === fault;
    }
    const diff = this.comparison ? this.difference(row, metric) : null;
    if (filter === "any") return this.comparison ? diff === null : this.data.values.some((column) => column[row] === null);
    if (filter === "fails") return this.faults(row)[0] !== null;
    if (filter === "a") return diff !== null && diff > 1e-12;
    if (filter === "b") return diff !== null && diff < -1e-12;
    if (filter in (this.data.moved || {})) return this.data.moved[filter].includes(this.data.id[row]);
    return this.data.values[Number(filter)][row] === null;
  }

  // Tells of a row whether it holds a word. Each long text is looked at once, in however many rows it is.
  matching(word) {
    const { pool, long, short } = this.texts;
    const held = pool.map((text) => text.includes(word));
    return (row) => this.haystack[row].includes(word) || short[row].includes(word) || long[row].some((text) => held[text]);
  }

  // All that a search looks at, but what stands in the table: the long texts in small letters, and
  // for each row the numbers of its long texts and its short ones, joined.
  async everything(working) {
    const long = Array.from({ length: this.total }, () => []), short = Array.from({ length: this.total }, () => []), pool = [];
    let done = 0;
    const n = this.data.pooled.length;
    for (let batch = 0; batch < n; batch++) {
      for (const text of await unpack(`t-${batch}`)) pool.push(text.toLowerCase());
      working(batch / n / 2);
    }
    const gather = (value, row) => {
      if (typeof value === "string") {
        if (value.startsWith("\u0000")) long[row].push(Number(value.slice(1)));
        else short[row].push(value);
      } else if (value && typeof value === "object") for (const one of Object.values(value)) gather(one, row);
    };
    for (let row = 0; row < this.total; row++) {
      for (const [run, positions] of this.data.detail[row].entries()) {
        for (const position of positions) {
          const { judge_answers, evidence, scores, ...texts } = await this.packedSample(run, position);
          gather(texts, row);
          for (const [, reason, explanation] of Object.values(scores || {})) gather([reason, explanation], row);
        }
      }
      short[row] = short[row].join("\n").toLowerCase();
      if (row * 20 / this.total > done) { done++; working(0.5 + row / this.total / 2); }
    }
    return { pool, long, short };
  }

  async chunk(id) {
    if (!this.chunks.has(id)) this.chunks.set(id, unpack(id));
    return this.chunks.get(id);
  }

  async packedSample(run, position) {
    const chunk = await this.chunk(`d${run}-${Math.floor(position / this.data.chunk)}`);
    return chunk[position % this.data.chunk];
  }

  // The samples behind a row, a list for each run.
  async samples(row) {
    return Promise.all(this.data.detail[row].map((positions, run) =>
      Promise.all(positions.map(async (position) => this.whole(await this.packedSample(run, position))))));
  }

  // A value with its long texts in place.
  async whole(value) {
    if (typeof value === "string" && value.startsWith("\u0000")) {
      const number = Number(value.slice(1)), { pooled } = this.data;
      const batch = pooled.findLastIndex((first) => first <= number);
      return (await this.chunk(`t-${batch}`))[number - pooled[batch]];
    }
    if (Array.isArray(value)) return Promise.all(value.map((one) => this.whole(one)));
    if (value && typeof value === "object") {
      return Object.fromEntries(await Promise.all(Object.entries(value).map(async ([name, one]) => [name, await this.whole(one)])));
    }
    return value;
  }

  // What names a row in the page's address, and the row of such a name.
  name(row) {
    return [this.data.id[row], this.data.tag[row]].filter(Boolean).join(" · ");
  }

  row(name) {
    this.named ||= new Map(this.data.id.map((_, row) => [this.name(row), row]));
    return this.named.get(name) ?? this.data.id.indexOf(name);
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

  async find(asked) {
    return this.read(this.data.served + queryOf(asked));
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
