// Questions about answers, one at a time; what the fields are follows from the question.
(function () {
  "use strict";
  const { $, el, ask, say, tell, alone, progress, options, usable, who, named, same, isOpen, shows, list, pathOf, here, open, refresh, filter, start } = Page;
  let question = null, answer = {}, row = 0;
  const kept = new Map();

  const word = (value) => ({ true: "yes", false: "no" }[String(value)] || String(value).replaceAll("_", " "));

  const isUsable = (key) => who() && (key === "u" || question);

  const wanted = (one) => shows(one) && (!$("kind").value || one.kind === $("kind").value);

  async function load() {
    const answer = await ask("/labels?" + named());
    list.entries = answer.entries;
    progress(answer.progress, "questions", "answered", "label");
    options($("kind"), [...new Set(list.entries.map((one) => one.kind))]);
  }

  async function openQuestion(entry) {
    question = await ask(`/labels/${pathOf(entry)}?${named()}`);
    usable(isUsable);
    const plain = needed().length === 1 ? needed()[0].name : null;
    let given = question.given === "cannot tell" ? null : question.given;
    if (given !== null && plain && (typeof given !== "object" || Array.isArray(given))) given = { [plain]: given };
    answer = structuredClone(kept.get(pathOf(entry)) || given || {});
    row = 0;
    draw();
    scrollTo(0, 0);
  }

  // ---- the question

  function draw() {
    const box = $("item");
    box.className = "edit";
    const labels = el("p", "", { class: "labels" });
    labels.append(el("span", question.title, { class: "chip" }), el("span", question.sample, { class: "chip" }));
    if (question.given !== null) labels.append(el("span", question.given === "cannot tell" ? "you could not tell" : "labelled by you", { class: "chip" }));
    if (here().state === "disagreement") labels.append(el("span", "people disagree", { class: "chip" }));
    box.replaceChildren(labels);
    question.texts.forEach((part) => box.append(el("h2", title(part.title)), ...part.texts.map((one) => el("p", one, { class: "text", dir: "auto" }))));
    if (question.others.length) {
      const made = el("ul", "", { class: "answers", id: "others" });
      made.append(...question.others.map((one) => el("li", `${one.reviewer}: ${one.answer.replaceAll("\n", ", ").replaceAll("_", " ")}`)));
      box.append(el("h2", "What people said; your label settles it"), made);
    }
    box.append(el("h1", question.ask, { id: "ask" }));
    [...needed(), ...question.fields.filter((one) => one.optional)].forEach((field) => box.append(...drawn(field)));
    $("beside").hidden = !question.beside.length;
    $("beside").replaceChildren(...question.beside.flatMap((part) => part.texts.map((one, n) => {
      const made = el("section");
      made.append(el("h2", title(part.title) + (part.texts.length > 1 ? ` ${n + 1}` : "")), el("p", one, { class: "text", dir: "auto" }));
      return made;
    })));
  }

  const needed = () => question.fields.filter((one) => !one.optional);
  const title = (name) => name[0].toUpperCase() + name.slice(1);
  const keyFor = (field, n) => (field.values.every((one) => Number.isInteger(one) && one >= 0 && one < 10) ? field.values[n] : n + 1);

  function choice(field, value, set) {
    const made = el("div", "", { class: "choices", role: "group", "aria-label": field.title });
    field.values.forEach((one, n) => {
      const button = el("button", "", { type: "button", "aria-pressed": String(same(value, one)), onclick: () => set(one) });
      const key = keyFor(field, n), meaning = field.meanings[String(one)];
      button.title = meaning || "";
      if (key < 10) button.append(el("kbd", String(key)));
      button.append(el("b", word(one)), el("span", meaning || ""));
      made.append(button);
    });
    return made;
  }

  function drawn(field) {
    const head = field.optional || needed().length > 1 ? [el("h2", title(field.title) + (field.optional ? " (may stay empty)" : ""))] : [];
    if (field.form === "choice") return [...head, choice(field, answer[field.name], (one) => chose(field, one))];
    if (field.form === "choices") {
      const given = answer[field.name] = answer[field.name] || field.items.map(() => null);
      const rows = field.items.map((text, n) => {
        const made = el("div", "", { class: "row-item" + (n === row ? " now" : "") });
        made.append(el("p", text, { class: "text", dir: "auto" }), choice(field, given[n], (one) => { row = n; chose(field, one); }));
        return made;
      });
      const legend = field.values.filter((one) => field.meanings[String(one)]).map((one) => `${word(one)}: ${field.meanings[String(one)]}`).join("; ");
      return [...head, ...(legend ? [el("p", legend + ".", { class: "muted" })] : []), ...rows];
    }
    if (field.form === "number") {
      const made = el("input", "", { type: "number", step: "1", "aria-label": field.title, oninput: (event) => { keep(field, event.target.value === "" ? undefined : Number(event.target.value)); } });
      if (field.low !== null) made.min = field.low;
      if (field.high !== null) made.max = field.high;
      if (answer[field.name] !== undefined) made.value = answer[field.name];
      return [...head, made];
    }
    const isList = field.form !== "text";
    const made = el("textarea", "", { dir: "auto", rows: isList ? "6" : "2", "aria-label": field.title, oninput: (event) => { keep(field, read(field, event.target.value)); } });
    const value = answer[field.name];
    made.value = isList ? (value || []).join(field.form === "numbers" ? ", " : "\n") : value || "";
    return [...head, made];
  }

  function read(field, text) {
    if (field.form === "text") return text;
    if (field.form === "texts") return text.split("\n").map((one) => one.trim()).filter(Boolean);
    return text.split(/[\s,;]+/).filter(Boolean).map(Number);
  }

  function keep(field, value) {
    if (value === undefined) delete answer[field.name]; else answer[field.name] = value;
    kept.set(pathOf(here()), answer);
  }

  function chose(field, value) {
    if (Page.isBusy()) return;
    say("");
    if (field.form === "choice") {
      keep(field, value);
      if (needed().length === 1) { alone(() => save(whole())); return; }
    } else {
      answer[field.name][row] = value;
      keep(field, answer[field.name]);
      const open = answer[field.name].indexOf(null);
      if (open >= 0) row = open; else if (row + 1 < field.items.length) row += 1;
    }
    draw();
  }

  // ---- labels

  function whole() {
    const found = {};
    question.fields.forEach((field) => {
      const value = answer[field.name];
      if (field.form === "choices" && value.includes(null)) throw new Error(`${value.filter((one) => one === null).length} of ${value.length} have no value yet.`);
      const empty = value === undefined || value === null;
      if (empty && (field.form === "texts" || field.form === "numbers")) found[field.name] = [];
      else if (!empty && !(field.optional && value === "")) found[field.name] = value;
      else if (!field.optional) throw new Error(`${title(field.title)} has no value yet.`);
    });
    return found;
  }

  async function save(given) {
    if (!question) return;
    if (!who()) { await start(); return; }
    const entry = here();
    await ask("/labels", {
      key: entry.key, reviewer: who(), answer: given, seconds: Page.seconds(),
      final: question.others.length > 0,
    });
    kept.delete(pathOf(entry));
    // What follows from this answer is asked next.
    const before = new Set(list.queue.map(pathOf)), there = await refresh();
    const fresh = list.entries.filter((one) => wanted(one) && !before.has(pathOf(one)));
    list.queue.splice(list.at + 1, 0, ...fresh);
    const isLeft = (one) => there.has(pathOf(one)) && ($("show").value !== "todo" || isOpen(one));
    const next = list.queue.slice(list.at + 1).find(isLeft);
    list.queue = list.queue.filter((one, n) => n <= list.at || isLeft(one));
    if (next) { list.at = list.queue.indexOf(next); await open(); } else await filter();
    tell("");
  }

  async function undo() {
    if (!who()) { await start(); return; }
    const last = await ask("/labels/undo", { reviewer: who() }), there = await refresh();
    list.queue = list.queue.filter((one) => there.has(pathOf(one)));
    const key = pathOf(last), place = list.queue.findIndex((one) => pathOf(one) === key);
    kept.delete(key);
    if (place >= 0) list.at = place; else if (there.has(key)) { list.at = Math.min(list.at, list.queue.length); list.queue.splice(list.at, 0, there.get(key)); }
    if (list.at >= list.queue.length) await filter(); else await open();
    tell("Your last label is undone.");
  }

  const KEYS = {
    Enter: () => alone(() => save(whole())), x: () => alone(() => save(null)),
  };

  function first(event, isPlain) {
    if (event.key === "Enter" && event.ctrlKey && question) { event.preventDefault(); KEYS.Enter(); return true; }
    const field = event.target.closest("input, textarea, select");
    if (event.key === "Escape" && field) { field.blur(); return true; }
    if (!isPlain) return true;
    if (event.key === "Enter" && event.target.closest("button, a")) return true;
    if (!/^[0-9]$/.test(event.key) || !question) return false;
    const asked = question.fields.find((one) => one.values && (one.form === "choices" || answer[one.name] === undefined)) || question.fields.find((one) => one.values);
    const n = asked ? asked.values.findIndex((_, at) => keyFor(asked, at) === Number(event.key)) : -1;
    if (n >= 0) { event.preventDefault(); chose(asked, asked.values[n]); }
    return true;
  }

  // Enter after a click saves, and does not click again.
  document.querySelectorAll(".actions [data-key]").forEach((one) => one.addEventListener("click", () => one.blur()));
  Page.listen({
    piece: "label", verb: "label", mark: "question", beside: "beside", filters: ["show", "kind"],
    usable: isUsable, load, chosen: (entries) => entries.filter(wanted), open: openQuestion, undo,
    clear: () => { question = null; },
  }, KEYS, first);
})();
