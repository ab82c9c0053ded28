// Finds the places of a text that have three or more words in a row with the answer in common.
class SharedWords {
  constructor(answer) {
    const words = this.words(answer).map(([word]) => word);
    this.runs = new Set(words.slice(2).map((_, at) => words.slice(at, at + 3).join(" ")));
    this.some = false;
  }

  words(text) {
    return [...text.matchAll(/[\p{L}\p{N}]+/gu)].map((match) => [match[0].toLowerCase(), match.index, match.index + match[0].length]);
  }

  marked(text) {
    const words = this.words(text), shared = new Set();
    for (let at = 0; at + 2 < words.length; at++) {
      if (this.runs.has(words.slice(at, at + 3).map(([word]) => word).join(" "))) [at, at + 1, at + 2].forEach((one) => shared.add(one));
    }
    const pieces = [];
    let done = 0;
    for (let at = 0; at < words.length; at++) {
      if (!shared.has(at)) continue;
      let last = at;
      while (shared.has(last + 1)) last++;
      pieces.push(text.slice(done, words[at][1]), h("mark", { class: "yes" }, text.slice(words[at][1], words[last][2])));
      done = words[last][2];
      at = last;
    }
    this.some ||= pieces.length > 0;
    return [pieces, text.slice(done)];
  }
}

// An element whose text is long scrolls in a box of its own, by the keyboard, too.
function boxed(element) {
  const text = element.textContent;
  if (text.length + 80 * text.split("\n").length > 4000) {
    element.classList.add("long");
    for (const [name, value] of Object.entries({ tabindex: "0", role: "region", "aria-label": "Long text, scrolls" })) element.setAttribute(name, value);
  }
  return element;
}

// What one row opens to: the conversation, the answer, what was retrieved, and every score with
// its reason, explanation and parts.
class Details {
  constructor(data) {
    this.data = data;
    this.lists = new WeakMap();
    this.retrieved = new WeakMap();
  }

  // Arguments: for each run, the samples of the row.
  render(runs) {
    const first = runs.flat()[0];
    if (!first) return h("p", {}, "No details were kept.");
    if (this.data.kind !== "comparison") {
      return h("div", { class: "opened-row" },
        h("div", { class: "columns-2" },
          h("div", {}, this.question(first), this.answer(first), this.references(first), this.labels(first)),
          this.scores([[first]])),
        this.passages(first), this.nuggets(first), this.evidence(first));
    }
    const sides = (content) => h("div", { class: "columns-2" }, runs.map((samples, run) => h("section", { class: "side" },
      h("h3", { class: run ? "b" : "a" }, `${SIDES[run]} · ${this.data.runs[run]}`),
      samples.length ? samples.map(content) : h("p", {}, "Not in this run."))));
    const judged = runs.flat().some((sample) => sample.nuggets || sample.judge_answers);
    return h("div", { class: "opened-row" }, this.question(first), this.references(first), this.labels(first),
      sides((sample, _, { length }) => [this.answer(sample, length > 1), this.passages(sample)]), this.scores(runs),
      judged ? sides((sample) => [this.nuggets(sample), this.evidence(sample)]) : null);
  }

  block(title, ...content) {
    return h("div", { class: "block" }, h("h4", {}, title), content);
  }

  text(text) {
    return boxed(h("p", { class: "text", dir: "auto" }, text.trim()));
  }

  question(sample) {
    const history = (sample.history || []).map(([speaker, text]) => boxed(h("p", { class: `turn ${speaker === "user" ? "user" : "agent"}` }, h("b", {}, speaker), " ", h("bdi", {}, text))));
    return [
      history.length ? this.block("Earlier turns", history) : null,
      this.block("Query", sample.query ? this.text(sample.query) : this.text("–")),
    ];
  }

  // The answers of the runs that a consistency's sample stands for.
  runs(sample) {
    return sample.runs.map(([repeat, answer, failure, passages]) => this.block(
      [`Answer, repeat ${repeat}`, passages === null ? null : `${passages} passage${passages === 1 ? "" : "s"}`].filter(Boolean).join(" · "),
      answer ? this.text(answer) : h("p", { class: "muted" }, failure ? ["none: ", h("bdi", {}, failure)] : answer === "" ? "empty" : "none recorded")));
  }

  answer(sample, several) {
    if (sample.runs) return this.runs(sample);
    const title = several ? `Answer, ${[sample.system, `repeat ${sample.repeat}`].filter(Boolean).join(" · ")}` : "Answer";
    if (sample.answer !== undefined) {
      return this.block(title, new AnswerText(sample, (rank) => this.reveal(sample, rank)).element());
    }
    return this.block(title, h("p", { class: "muted" }, sample.failure ? ["none: ", h("bdi", {}, sample.failure)] : "none recorded, or empty"));
  }

  references(sample) {
    const list = (title, texts) => texts ? this.block(title, texts.map((text) => this.text(text))) : null;
    return [list("References", sample.references), list("Known to be wrong", sample.negatives)];
  }

  labels(sample) {
    const entries = Object.entries(sample.labels || {});
    const short = entries.filter(([, value]) => value.length <= 80);
    const long = entries.filter(([, value]) => value.length > 80);
    return [
      short.length ? h("p", { class: "labels" }, short.map(([name, value]) => h("span", { class: "chip" }, `${name}: `, h("bdi", {}, value)))) : null,
      long.map(([name, value]) => h("details", { class: "block" }, h("summary", {}, name), h("pre", { dir: "auto" }, value))),
    ];
  }

  // What was retrieved. On a page of its own the chunks stand open, side by side, with the words
  // that the answer shares with them.
  passages(sample) {
    const found = sample.passages || [], alone = this.data.kind === "sample";
    const helpful = this.helpful(sample), answer = alone ? new SharedWords(sample.answer || "") : null;
    const list = found.map(([id, score, source, text, grade], at) => h("li", {}, h("details", { open: alone },
      h("summary", {},
        h("span", { class: "rank" }, String(at + 1)),
        id === null ? null : h("code", {}, id),
        grade === null ? null : h("span", { class: grade > 0 ? "chip good" : "chip" }, grade > 0 ? `gold, grade ${grade}` : `judged, grade ${grade}`),
        helpful.has(at + 1) ? h("span", { class: "chip good" }, "helps to answer") : null,
        score === null ? null : h("span", { class: "muted" }, `score ${number(score)}`),
        source === null || source === id ? null : h("span", { class: "muted" }, source),
        h("span", { class: "preview", dir: "auto" }, text)),
      text ? boxed(h("p", { class: "text", dir: "auto" }, answer ? answer.marked(text.trim()) : text.trim())) : h("p", { class: "muted" }, "no text recorded"))));
    this.retrieved.set(sample, list);
    const missed = sample.gold || [];
    const legend = answer?.some ? h("p", { class: "muted" }, "Underlined: three or more words in a row that the answer has, too.") : null;
    return [
      list.length ? this.block(`Retrieved passages (${list.length})`, legend, h("ol", { class: alone ? "passages beside" : "passages" }, list)) : null,
      missed.length ? this.block("Other gold passages", h("ul", { class: "gold" }, missed.map((gold) => h("li", {}, this.gold(gold))))) : null,
    ];
  }

  // Opens the passage of a rank and goes to it.
  reveal(sample, rank) {
    const list = this.retrieved.get(sample) || [];
    list.forEach((entry, at) => entry.classList.toggle("lit", at === rank - 1));
    const box = list[rank - 1].querySelector("details");
    box.open = true;
    box.scrollIntoView({ block: "center" });
    box.querySelector("summary").focus({ preventScroll: true });
  }

  // The ranks of the passages that a judge found to help.
  helpful(sample) {
    const parts = Object.values(sample.scores || {}).map(([, , , parts]) => parts).filter((parts) => typeof parts === "string" && parts.startsWith('{"chunks":'));
    return new Set(parts.flatMap((parts) => JSON.parse(parts).chunks));
  }

  // The answers behind the scores: what was asked, what came back, from whom and at what cost.
  evidence(sample) {
    const found = sample.judge_answers || [];
    if (!found.length) return null;
    const entries = found.map((one) => h("li", {}, this.judgeAnswer(one)));
    this.lists.set(sample, entries);
    return this.block(`Evidence (${found.length})`, h("ol", { class: "evidence" }, entries));
  }

  judgeAnswer(one) {
    const said = this.said(one);
    const votes = one.votes || [];
    const about = one.about ? h("span", { class: "about" }, "on ", h("bdi", {}, one.about)) : null;
    const line = [h("b", {}, one.question.replaceAll("_", " ")), " ", said, " ", h("span", { class: "chip" }, votes.length > 1 ? `${votes.length} votes` : one.model || one.judge), " ", about];
    const content = [
      one.tokens ? this.cost(one) : null,
      votes.length ? h("ul", { class: "votes" }, votes.map((vote) => h("li", {}, this.vote(vote)))) : null,
      this.sent(one),
    ];
    const spread = one.spread ? h("p", { class: "spread" }, one.spread) : null;
    return one.tokens || votes.length ? h("details", {}, h("summary", {}, line, spread), content) : line;
  }

  said(one) {
    return one.answer === undefined ? h("span", { class: "unscored" }, h("bdi", {}, one.failure)) : h("code", { dir: "auto" }, one.answer);
  }

  // What one member of a panel said. A prompt that all of them saw stands with the answer.
  vote(one) {
    const line = [h("span", { class: "chip" }, one.judge), " ", this.said(one)];
    const inner = (one.votes || []).map((vote) => h("li", {}, this.vote(vote)));
    if (!one.tokens && !inner.length) return line;
    return h("details", {}, h("summary", {}, line), one.tokens ? this.cost(one) : null,
      inner.length ? h("ul", { class: "votes" }, inner) : null, this.sent(one));
  }

  cost(one) {
    const [sent, received] = one.tokens;
    const price = one.cost === undefined ? "price not known" : one.cost > 0 && one.cost < 0.01 ? "under $0.01" : `$${one.cost.toFixed(2)}`;
    return h("p", { class: "muted" }, [one.model, `${sent} tokens in, ${received} out`, price].filter(Boolean).join(", "));
  }

  sent(one) {
    return [
      (one.messages || []).map(([role, text]) => [h("h5", {}, role), h("pre", { dir: "auto" }, text)]),
      one.tokens ? [h("h5", {}, "reply"), h("pre", { dir: "auto" }, one.reply || "")] : null,
    ];
  }

  // Which facts the answer holds: one table for all scores that are made of it.
  nuggets(sample) {
    const head = h("thead", {}, h("tr", {}, ["Nugget", "Importance", "In the answer"].map((title) => h("th", { scope: "col" }, title))));
    return (sample.nuggets || []).map((rows) => this.block(`Nuggets (${rows.length})`, h("table", { class: "scores nuggets" }, head.cloneNode(true),
      h("tbody", {}, rows.map(([nugget, label, held]) => h("tr", {}, h("td", { dir: "auto" }, nugget), h("td", {}, label),
        h("td", {}, h("span", { class: held === "support" ? "chip good" : "chip" }, held))))))));
  }

  // The numbers of the answers that a score rests on; each run of numbers leads to its first.
  links(sample, name) {
    const places = [...(sample.evidence?.[name] || [])].sort((one, two) => one - two);
    const runs = [];
    for (const place of places) {
      const last = runs.at(-1);
      if (last && place === last[1] + 1) last[1] = place;
      else runs.push([place, place]);
    }
    if (!runs.length) return null;
    return h("span", { class: "links" }, runs.map(([first, last]) => {
      const text = first === last ? `${first + 1}` : `${first + 1}–${last + 1}`;
      return h("button", { type: "button", title: "the judge's answers behind this score", onclick: () => this.show(sample, first, last) }, `[${text}]`);
    }));
  }

  show(sample, first, last) {
    const list = this.lists.get(sample) || [];
    list.forEach((entry, at) => entry.classList.toggle("lit", at >= first && at <= last));
    const entry = list[first];
    if (first === last) entry.querySelector("details")?.setAttribute("open", "");
    entry.scrollIntoView({ block: "center" });
    (entry.querySelector("summary") || entry).focus();
  }

  gold([id, grade, source, start, end, text]) {
    const place = source === null ? null : start === null ? source : `${source} [${start}, ${end})`;
    return [id === null ? null : h("code", {}, id), " ", place, ` grade ${grade} `, text ? h("bdi", { class: "muted" }, text) : null];
  }

  // One line a metric; for a comparison the values of both runs stand side by side.
  scores(runs) {
    const samples = runs.map((list) => list[0]).filter(Boolean);
    const names = [...new Set(samples.flatMap((sample) => Object.keys(sample.scores || {})))];
    if (!names.length) return null;
    const two = this.data.kind === "comparison";
    const head = h("tr", {}, h("th", { scope: "col" }, "Metric"), runs.map((_, run) => h("th", { scope: "col" }, two ? SIDES[run] : "Value")));
    const body = names.map((name) => h("tr", {}, h("th", { scope: "row" }, h("span", { class: "metric" }, breakable(name))),
      runs.map((list) => h("td", {}, list.map((sample) => this.score(sample, name))))));
    return h("div", { class: "block" }, h("h4", {}, "Scores"), h("table", { class: "scores" }, h("thead", {}, head), h("tbody", {}, body)));
  }

  score(sample, name) {
    const found = sample.scores?.[name];
    if (!found) return h("p", { class: "muted" }, "–");
    const [value, reason, explanation, parts] = found;
    const shown = value === null ? h("span", { class: "unscored" }, `unscored: ${reasonWords(reason)}`)
      : h("b", {}, typeof value === "number" ? number(value) : String(value));
    return h("div", { class: "score" }, shown, this.links(sample, name), explanation ? h("span", { class: "why", dir: "auto" }, explanation) : null,
      typeof parts === "number" ? null : parts === null ? h("span", { class: "muted" }, "parts are in scores.jsonl")
        : parts ? h("details", {}, h("summary", {}, "parts"), h("pre", {}, parts.length < 70 ? parts : JSON.stringify(JSON.parse(parts), null, 1))) : null);
  }
}
