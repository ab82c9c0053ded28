(function () {
  "use strict";
  const { $, el, ask, say, tell, alone, progress, options, usable, who, named, same, shows, list, pathOf, here, open, refresh, filter, start } = Page;
  const TEXTS = ["query", "references", "negative_references", "gold", "answerability", "type", "complexity", "style", "language", "source", "tags", "metadata"];
  const ANSWERABILITY = ["", "answerable", "partial", "unanswerable", "conversational", "underspecified"];
  const WORDS = ["type", "complexity", "style", "language", "source"];
  const KINDS = ["", "inaccurate", "incomplete", "off-style"];
  const drafts = new Map();
  const texts = new Map();
  let item = null, reviews = [], draft = null, editing = "", names = [], shownDocument = "", chosen = null;

  const kindOf = (entry) => (entry.calibration ? "calibration" : "golden");

  function fieldsOf(one) {
    const found = {};
    TEXTS.forEach((name) => { found[name] = structuredClone(one[name]); });
    return found;
  }
  const changed = () => TEXTS.filter((name) => !same(draft[name], item[name]));

  const isUsable = (key) => who() && (key === "u" || (item && !(key === "t" && here().calibration)));

  // ---- the list

  function wanted(entry) {
    // What "Show" names beside the states is a status.
    return (shows(entry) ?? (entry.status === $("show").value && !entry.calibration)) &&
      (!$("type").value || entry.type === $("type").value) && (!$("tag").value || entry.tags.includes($("tag").value));
  }

  function choose(entries) {
    const first = entries.filter((one) => one.calibration && one.state === "todo");
    return [...($("show").value === "todo" ? first : []), ...entries.filter((one) => wanted(one) && !first.includes(one))];
  }

  async function load() {
    const where = $("where").value.split(";").map((one) => one.trim()).filter(Boolean);
    const answer = await ask("/items?" + [named(), ...where.map((one) => "where=" + encodeURIComponent(one))].join("&"));
    list.entries = answer.entries;
    progress(answer.progress, "items", "reviewed", "review");
    options($("type"), [...new Set(list.entries.map((one) => one.type).filter(Boolean))].sort());
    options($("tag"), [...new Set(list.entries.flatMap((one) => one.tags))].sort());
  }

  // ---- one item

  async function openItem(entry) {
    editing = ""; chosen = null;
    const answer = await ask(`/items/${kindOf(entry)}/${encodeURIComponent(entry.key)}?${named()}`);
    item = answer.item; reviews = answer.reviews;
    usable(isUsable);
    const before = drafts.get(pathOf(entry));
    const kept = before && TEXTS.some((name) => !same(before.fields[name], before.item[name])) ? before : null;
    draft = kept ? kept.fields : fieldsOf(item);
    if (kept) item = kept.item; else drafts.set(pathOf(entry), { fields: draft, item });
    names = await documents(entry);
    draw();
    const first = [...(draft.gold || []), ...item.nearly][0];
    await openDocument((first && first.document) || names[0]);
  }

  async function documents(entry) {
    const path = "/documents/" + kindOf(entry);
    if (!texts.has(path)) texts.set(path, await ask(path));
    return texts.get(path);
  }

  function listed(title, values, kind, line) {
    if (!values.length) return [];
    const made = el("ul", "", { class: "answers " + kind });
    made.append(...values.map(line));
    return [el("h2", title), made];
  }

  function draw() {
    const box = $("item"), entry = here();
    box.replaceChildren();
    box.className = editing ? "edit" : "";
    const labels = el("p", "", { class: "labels" });
    [...new Set([entry.calibration ? "calibration" : item.status, draft.type, draft.complexity, draft.style, draft.language, draft.answerability, draft.source, item.origin === "human" ? "" : item.origin, item.reviewer && "by " + item.reviewer, entry.state === "waiting" ? "waits for another reviewer" : "", entry.state === "disagreement" ? "reviewers disagree" : "", ...(draft.tags || [])])]
      .filter(Boolean).forEach((one) => labels.append(el("span", one, { class: "chip" })));
    box.append(labels);
    if (item.history.length) {
      box.append(el("h2", "Earlier turns"));
      item.history.forEach((one) => {
        const line = el("p", "", { class: "turn " + one.speaker, dir: "auto" });
        // The direction is that of the text: what is in bdi does not count.
        line.append(el("bdi", one.speaker + ":"), " " + Spans.shown(one.text));
        box.append(line);
      });
    }
    if (editing) { drawForm(box); return; }
    box.append(el("h1", draft.query, { class: "text", id: "query", dir: "auto" }));
    box.append(...listed("References: right answers", draft.references, "", (one) => el("li", one, { dir: "auto" })));
    box.append(...listed("Negative references: wrong answers", draft.negative_references, "wrong", (one) => {
      const line = el("li", one.text, { dir: "auto" });
      const words = [one.kind, one.by && "by " + one.by].filter(Boolean).join(", ");
      if (words) line.append(el("small", words));
      return line;
    }));
    if (draft.gold === null) box.append(el("h2", "Gold spans"), el("p", "Nobody judged which places answer this query.", { class: "muted" }));
    else if (!draft.gold.length) box.append(el("h2", "Gold spans"), el("p", "None: no place answers this query.", { class: "muted" }));
    else box.append(...listed("Gold spans", draft.gold, "spans", drawSpan));
    if (item.nearly.length) {
      const { query, answer } = item.provenance.nearly;
      box.append(...listed("Almost answers it (check that it does not)", item.nearly, "spans near", drawNear));
      if (query) box.append(el("p", `It answers: ${query}` + (answer ? ` – ${answer}` : ""), { class: "muted", id: "nearly" }));
    }
    box.append(...listed("Gold without a place (mark it in the document)", item.unplaced, "unplaced", (one) => {
      const line = el("li", one.text || one.document || one.id || "", { dir: "auto" });
      if (one.reason) line.append(el("small", one.reason));
      return line;
    }));
    if (changed().length) box.append(el("p", "Changed and not saved: " + changed().join(", ") + ". Accept (a) saves.", { class: "warning", id: "dirty" }));
    if (reviews.length) box.append(...listed("Reviews", reviews, "", (one) => {
      const line = el("li", `${one.reviewer}: ${one.decision}`);
      Object.entries(one.changes).forEach(([name, pair]) => line.append(el("small", `${name}: ${plain(pair[1])}`)));
      return line;
    }));
    if (Object.keys(draft.metadata).length) box.append(folded("Metadata", draft.metadata));
    if (Object.keys(item.provenance).length) box.append(folded("Provenance", item.provenance));
  }

  // What is not needed for a decision: shown when it is opened.
  function folded(title, values) {
    const made = el("details", "", { class: "provenance" }), listed = el("dl");
    Object.entries(values).forEach(([name, value]) => listed.append(el("dt", name), el("dd", typeof value === "string" ? value : JSON.stringify(value))));
    made.append(el("summary", title), listed);
    return made;
  }

  function opener(one) {
    return el("button", one.text, { type: "button", dir: "auto", title: `${one.document} ${one.start}-${one.end}`, onclick: () => { chosen = one; openDocument(one.document); } });
  }

  function drawNear(one) {
    const line = el("li");
    line.append(opener(one));
    return line;
  }

  function drawSpan(one) {
    const line = el("li");
    line.append(opener(one));
    line.append(el("button", "Remove", { type: "button", "aria-label": "Remove the span: " + one.text, onclick: () => { draft.gold = draft.gold.filter((other) => other !== one); draw(); drawDocument(); } }));
    return line;
  }

  function plain(value) {
    if (Array.isArray(value)) return value.map((one) => one.text || one).join(" | ") || "none";
    if (value !== null && typeof value === "object" && !value.text) return JSON.stringify(value);
    return value === null ? "none" : String(value.text || value);
  }

  function drawForm(box) {
    const area = (value, set) => { const made = el("textarea", "", { dir: "auto", rows: "1", oninput: (event) => set(event.target.value) }); made.value = value; return made; };
    const choice = (values, value, set) => { const made = el("select", "", { oninput: (event) => set(event.target.value) }); [...new Set([...values, value || ""])].forEach((one) => made.append(el("option", one || "–", { value: one }))); made.value = value || ""; return made; };
    const label = (text, field) => { const made = el("label", text); made.append(field); return made; };
    const rows = (title, name, fresh, build) => {
      box.append(el("h2", title));
      draft[name].forEach((value, n) => {
        const row = build(value, n);
        row.append(el("button", "Remove", { type: "button", onclick: () => { draft[name].splice(n, 1); draw(); } }));
        box.append(row);
      });
      box.append(el("button", "Add", { type: "button", "aria-label": "Add: " + title, onclick: () => { draft[name].push(fresh()); draw(); } }));
    };
    if (editing === "tags") {
      // An imported tag may hold a comma: it must not become two.
      const [mark, named] = draft.tags.some((one) => one.includes(",")) ? [";", "semicolon"] : [",", "comma"];
      const field = el("input", "", { id: "tags", autocomplete: "off", oninput: (event) => { draft.tags = event.target.value.split(mark).map((one) => one.trim()).filter(Boolean); } });
      field.value = draft.tags.join(mark + " ");
      box.append(el("h1", draft.query, { class: "text", dir: "auto" }), label(`Tags: a ${named} ends one and begins the next; Enter keeps them`, field));
      field.focus();
      return;
    }
    box.append(label("Query", area(draft.query, (value) => { draft.query = value; })));
    rows("References", "references", () => "", (value, n) => { const row = el("div", "", { class: "row" }); row.append(area(value, (now) => { draft.references[n] = now; })); return row; });
    rows("Negative references", "negative_references", () => ({ text: "", kind: null, by: "" }), (value) => {
      const row = el("div", "", { class: "row kinded" });
      row.append(area(value.text, (now) => { value.text = now; }), choice(KINDS, value.kind, (now) => { value.kind = now || null; }));
      return row;
    });
    box.append(label("Answerability", choice(ANSWERABILITY, draft.answerability, (now) => { draft.answerability = now || null; })));
    const short = el("div", "", { class: "row short" });
    WORDS.forEach((name) => {
      const field = el("input", "", { name, list: "known-" + name, autocomplete: "off", oninput: (event) => { draft[name] = event.target.value.trim(); } });
      const known = el("datalist", "", { id: "known-" + name });
      known.append(...[...new Set(list.entries.map((one) => one[name]).filter(Boolean))].sort().map((one) => el("option", "", { value: one })));
      field.value = draft[name];
      short.append(label(name[0].toUpperCase() + name.slice(1), field), known);
    });
    box.append(short);
    box.append(el("h2", "Metadata"));
    const pairs = Object.entries(draft.metadata), kept = () => { draft.metadata = Object.fromEntries(pairs.filter(([name]) => name.trim())); };
    pairs.forEach((pair, n) => {
      const row = el("div", "", { class: "row kinded" }), isText = typeof pair[1] === "string";
      const input = (value, label, set) => { const made = el("input", "", { "aria-label": label, autocomplete: "off", oninput: (event) => { set(event.target.value); kept(); } }); made.value = value; return made; };
      // A value that is no text stays one of its kind, where it is written as such.
      const read = (text) => { if (isText) return text; try { return JSON.parse(text); } catch { return text; } };
      row.append(input(pair[0], "Name of metadata", (now) => { pair[0] = now; }), input(isText ? pair[1] : JSON.stringify(pair[1]), "Value of " + pair[0], (now) => { pair[1] = read(now); }));
      row.append(el("button", "Remove", { type: "button", "aria-label": "Remove the metadata " + pair[0], onclick: () => { pairs.splice(n, 1); kept(); draw(); } }));
      box.append(row);
    });
    box.append(el("button", "Add", { type: "button", "aria-label": "Add: Metadata", onclick: () => { let name = "name"; while (name in draft.metadata) name += "'"; draft.metadata[name] = ""; draw(); } }));
    const done = el("p");
    done.append(el("button", "Save and accept", { type: "button", class: "main", onclick: () => KEYS.a() }), " ", el("button", "Back", { type: "button", onclick: leave }));
    box.append(done);
    box.querySelector("textarea").focus();
  }

  function leave() { editing = ""; draw(); $("item").focus({ preventScroll: true }); }

  // ---- the document

  async function openDocument(name) {
    const kind = kindOf(here()), path = `/documents/${kind}/${name}`;
    const known = names.includes(name) ? names : [name, ...names];
    $("documents").replaceChildren(...known.map((one) => el("option", one, { value: one })));
    $("documents").value = name;
    if (!texts.has(path)) {
      try {
        texts.set(path, await ask(`/documents/${kind}/${name.split("/").map(encodeURIComponent).join("/")}`));
      } catch (error) { say(error.message); texts.set(path, { text: "", headings: [] }); }
    }
    shownDocument = name;
    drawDocument(true);
  }

  function drawDocument(moves) {
    const { text, headings } = texts.get(`/documents/${kindOf(here())}/${shownDocument}`) || { text: "", headings: [] };
    const all = Spans.points(text), own = (draft.gold || []).filter((one) => one.document === shownDocument);
    const matches = (one) => all.slice(one.start, one.end).join("") === one.text;
    const there = own.filter(matches), near = item.nearly.filter((one) => one.document === shownDocument && matches(one));
    Spans.draw($("text"), text, there, chosen, near);
    const first = there.includes(chosen) || near.includes(chosen) ? chosen : [...there, ...near][0];
    const above = first && headings.filter((one) => one.start <= first.start).pop();
    $("section").textContent = above ? "Section: " + Spans.shown(above.title) : "";
    if (there.length < own.length) say("The text of a gold span is no longer in its place: the document changed. Run 'ragassay golden anchor', or remove the span and mark it again.");
    const mark = $("text").querySelector("mark.chosen") || $("text").querySelector("mark");
    if (moves) $("text").scrollTop = mark ? mark.offsetTop - $("text").offsetTop - 60 : 0;
    $("add").disabled = true;
  }

  function addSpan() {
    const place = Spans.selected($("text"));
    if (!place || !draft) return;
    const text = Spans.points(texts.get(`/documents/${kindOf(here())}/${shownDocument}`).text).slice(place.start, place.end).join("");
    const made = { document: shownDocument, ...place, text, before: "", after: "", grade: 1 };
    draft.gold = [...(draft.gold || []).filter((one) => !(one.document === made.document && one.start === made.start && one.end === made.end)), made]
      .sort((a, b) => (a.document === b.document ? a.start - b.start : a.document < b.document ? -1 : 1));
    document.getSelection().removeAllRanges();
    if (editing) editing = "";
    draw();
    drawDocument();
  }

  // ---- decisions

  function sent() {
    const found = {};
    changed().forEach((name) => {
      found[name] = name === "gold" && draft.gold ? draft.gold.map(({ document, start, end, grade }) => ({ document, start, end, grade })) : draft[name];
    });
    return found;
  }

  async function decide(decision) {
    if (!item) return;
    if (!who()) { await start(); return; }
    const entry = here(), key = pathOf(entry);
    const fields = decision === "tag" ? { tags: draft.tags } : sent();
    try {
      const answer = await ask("/items", {
        key: entry.key, reviewer: who(), decision, version: item.version, fields,
        seconds: Page.seconds(), calibration: entry.calibration,
      });
      const left = decision === "tag" ? { ...draft } : null;
      drafts.delete(key);
      await refresh();
      const done = { accept: "accepted", edit: "accepted with changes", reject: "rejected", tag: "tagged" }[answer.decision];
      let note = `${entry.key}: ${done}` + (answer.applied ? "." : ". Another reviewer decides, too.");
      if (answer.right !== null) note = `${entry.key}: ${answer.right ? "as known" : "known answer"}: ${answer.known}.`;
      if (decision === "tag") {
        await open();
        TEXTS.forEach((name) => { if (name !== "tags") draft[name] = left[name]; });
        draw();
      } else if (list.at + 1 < list.queue.length) { list.at += 1; await open(); } else await filter();
      tell(note);
    } catch (error) {
      if (error.status === 409 && error.body.item) conflict(error, decision); else throw error;
    }
  }

  function conflict(error, decision) {
    const theirs = error.body.item;
    // What this person left alone is taken as it is now.
    const mine = Object.fromEntries(TEXTS.map((name) => [name, same(draft[name], item[name]) ? theirs[name] : draft[name]]));
    const table = el("div", "", { class: "both" });
    table.append(el("b", ""), el("b", "In the folder now"), el("b", "Yours"));
    TEXTS.filter((name) => !same(theirs[name], mine[name])).forEach((name) => table.append(el("span", name), el("span", plain(theirs[name])), el("span", plain(mine[name]))));
    table.append(el("span", "status"), el("span", theirs.status + (theirs.reviewer ? " by " + theirs.reviewer : "")), el("span", decision));
    const key = pathOf(here());
    say(error.message, table,
      el("button", "Take theirs", { type: "button", onclick: () => alone(() => { drafts.delete(key); say(""); return open(); }) }),
      el("button", "Keep mine", { type: "button", onclick: () => { Object.assign(draft, structuredClone(mine)); item = theirs; drafts.set(key, { fields: draft, item }); alone(() => decide(decision)); } }));
    $("alert").scrollIntoView({ block: "center" });
  }

  async function undo() {
    const answer = await ask("/items/undo", { reviewer: who() });
    const entry = (await refresh()).get(pathOf(answer)) || { ...answer, state: "todo", tags: [] };
    drafts.delete(pathOf(entry));
    const place = list.queue.findIndex((one) => pathOf(one) === pathOf(entry));
    if (place >= 0) list.at = place; else list.queue.splice(list.at, 0, entry);
    await open();
    tell(`${entry.key}: your review is undone.`);
  }

  const KEYS = {
    a: () => alone(() => decide("accept")), r: () => alone(() => decide("reject")),
    s: () => { if (!Page.isBusy()) addSpan(); },
    e: () => { if (draft && !Page.isBusy()) { editing = "all"; draw(); } },
    t: () => { if (draft && !Page.isBusy() && !here().calibration) { editing = "tags"; draw(); } },
  };

  function first(event) {
    if (event.key === "Escape" && editing) { leave(); return true; }
    if (event.key === "Enter" && event.ctrlKey && editing === "all") { event.preventDefault(); KEYS.a(); return true; }
    if (event.key === "Enter" && event.target.id === "tags") { event.preventDefault(); alone(() => decide("tag")); return true; }
    return false;
  }

  document.addEventListener("selectionchange", () => { $("add").disabled = !Spans.selected($("text")); });
  // A click on the button must not lose the selection.
  $("add").addEventListener("mousedown", (event) => event.preventDefault());
  $("add").addEventListener("click", addSpan);
  $("documents").addEventListener("change", () => openDocument($("documents").value));
  $("where").addEventListener("change", () => alone(start));
  Page.listen({
    piece: "review", verb: "show", mark: "item", beside: "document", filters: ["show", "type", "tag"],
    usable: isUsable, load, chosen: choose, open: openItem, undo, clear: () => { item = draft = null; },
  }, KEYS, first);
})();
