// An answer's text, once: its pieces coloured by how far they are supported, its citations as links.
class AnswerText {
  // Arguments: the sample; what to do with a citation that is followed.
  constructor(sample, follow) {
    this.text = sample.answer || "";
    this.passages = sample.passages || [];
    this.sets = (sample.pieces || []).map(({ of, list }) => ({ of, list }));
    this.follow = follow;
    this.links = this.placedLinks(sample.cited);
    this.unplaced = (sample.cited || []).filter(([start]) => start === null);
  }

  element() {
    const flow = h("p", { class: "text answer", dir: "auto" }), note = h("p", { class: "muted piece-note", "aria-live": "polite" });
    const draw = (set) => { flow.replaceChildren(...this.coloured(set, note)); note.replaceChildren(); };
    const choices = this.sets.map((set, at) => h("label", {},
      h("input", { type: "radio", name: `colours-${AnswerText.made}`, checked: at === 0, onchange: () => draw(set) }), " ", this.counted(set)));
    AnswerText.made += 1;
    draw(this.sets[0]);
    return [
      this.sets.length > 1 ? h("div", { class: "colours", role: "radiogroup", "aria-label": "Colours" }, choices)
        : this.sets.length ? h("p", { class: "colours" }, this.counted(this.sets[0])) : null,
      boxed(flow), note,
      this.unplaced.length ? h("ul", { class: "reworded" }, this.unplaced.map(([, text, ids]) => h("li", {}, h("bdi", {}, text), " ", ids.map((id) => this.citation(`[${this.label(id)}]`, id))))) : null,
      this.reworded(),
    ];
  }

  // How many pieces are supported, and by which metrics this was looked at.
  counted({ of, list }) {
    const held = list.filter(([, , , support]) => support === "yes").length;
    return [h("b", {}, `${held} of ${list.length}`), ` supported `, h("span", { class: "muted" }, of.join(", "))];
  }

  // Pieces that do not stand in the answer word for word.
  reworded() {
    const found = this.sets.flatMap(({ of, list }) => list.filter(([, start]) => start === null).map((piece) => [of, piece]));
    if (!found.length) return null;
    return h("details", { class: "reworded" }, h("summary", {}, `${found.length} piece${found.length === 1 ? "" : "s"} not word for word in the answer`),
      h("ul", {}, found.map(([of, [text, , , held, by]]) => h("li", {}, h("span", { class: `mark ${held}` }, AnswerText.words[held]), " ", h("bdi", {}, text), " ",
        h("span", { class: "muted" }, [by, of.join(", ")].filter(Boolean).join(" · "))))));
  }

  coloured(set, note) {
    const placed = (set?.list || []).filter(([, start, end]) => start !== null && end <= this.text.length).sort((one, two) => one[1] - two[1]);
    const found = [];
    let at = 0;
    for (const [, start, end, held, by] of placed) {
      if (start < at) continue;  // overlaps an earlier piece
      const said = [AnswerText.words[held], by].filter(Boolean).join(" · ");
      const tell = () => note.replaceChildren(h("b", {}, AnswerText.words[held]), by ? ` · ${by}` : "");
      found.push(this.flow(at, start), h("mark", { class: held, title: said, onclick: tell }, this.flow(start, end)));
      at = end;
    }
    found.push(this.flow(at, this.text.length, true));
    return found.flat(Infinity).filter((one) => one !== "").map((one) => typeof one === "string" ? visible(one) : one);
  }

  // The text between two places, its citations as links. One at the very end belongs to what follows,
  // unless this is the last piece.
  flow(from, to, last = false) {
    const pieces = [];
    let at = from;
    for (const { start, end, node } of this.links) {
      if (start < at || end > to || (start === to && !last)) continue;
      pieces.push(this.text.slice(at, start), node());
      at = end;
    }
    return [...pieces, this.text.slice(at, to)];
  }

  // Where the citations stand: in place of the marks after each statement, else at its end.
  placedLinks(cited) {
    const links = [], brackets = /\[[^[\]]{1,80}\]/g;
    const stand = (cited || []).filter(([start, end]) => start !== null && end <= this.text.length);
    stand.forEach(([, end, ids], at) => {
      if (!ids.length) return;
      const gap = this.text.slice(end, stand[at + 1]?.[0] ?? this.text.length);
      const marks = [...gap.matchAll(brackets)];
      if (marks.length === ids.length) {
        marks.forEach((mark, k) => links.push({ start: end + mark.index, end: end + mark.index + mark[0].length, node: () => this.citation(mark[0], ids[k]) }));
      } else if (marks.length === 1) {
        const start = end + marks[0].index;
        links.push({ start, end: start + marks[0][0].length, node: () => h("span", {}, ids.map((id) => this.citation(`[${this.label(id)}]`, id))) });
      } else {
        const place = end + (/^[.!?]/.test(gap) ? 1 : 0);
        links.push({ start: place, end: place, node: () => h("span", {}, ids.map((id) => this.citation(`[${this.label(id)}]`, id))) });
      }
    });
    if (!stand.length) {
      for (const mark of this.text.matchAll(/\[(\d{1,3})\]/g)) {
        const rank = Number(mark[1]);
        if (rank >= 1 && rank <= this.passages.length) links.push({ start: mark.index, end: mark.index + mark[0].length, node: () => this.citation(mark[0], null, rank) });
      }
    }
    return links.sort((one, two) => one.start - two.start || one.end - two.end);
  }

  // The rank of a passage, else its id.
  label(id) {
    return String(this.rank(id) || id);
  }

  rank(id) {
    return this.passages.findIndex(([one]) => one === id) + 1 || (/^\d{1,3}$/.test(id) && !this.passages.some(([one]) => one !== null) ? Number(id) : 0);
  }

  citation(text, id, rank = this.rank(id)) {
    if (!rank || rank > this.passages.length) return h("span", { class: "cite lost", title: "cites a passage that was not retrieved" }, text);
    return h("button", { type: "button", class: "cite", title: `passage ${rank}${id === null ? "" : `, ${id}`}`, onclick: () => this.follow(rank) }, text);
  }
}
AnswerText.made = 0;
AnswerText.words = { yes: "supported", partly: "partly supported", no: "not supported" };
