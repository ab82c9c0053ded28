// What both parts of the page share: elements, requests, messages, progress, filters, keys; one thing
// at a time.
const Page = (function () {
  "use strict";
  const $ = (id) => document.getElementById(id);
  let busy = false;

  function el(tag, text, attributes) {
    const made = document.createElement(tag);
    if (text) made.textContent = Spans.shown(text);
    Object.entries(attributes || {}).forEach(([name, value]) => {
      if (name === "onclick" || name === "oninput") made[name] = value; else made.setAttribute(name, value);
    });
    return made;
  }

  async function ask(path, body) {
    const sent = body === undefined ? {} : {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
    };
    let answer;
    try { answer = await fetch(path, sent); } catch (_) {
      throw Object.assign(new Error("The program does not answer. Is it still running? Your changes are kept on this page."), { body: {} });
    }
    const read = await answer.json();
    if (!answer.ok) throw Object.assign(new Error(read.detail || "The request failed."), { status: answer.status, body: read });
    return read;
  }

  function say(text, ...more) {
    $("alert").className = "warning";
    $("alert").replaceChildren(...(text ? [el("p", text)] : []), ...more);
    $("alert").hidden = !text;
  }

  // What was done is no warning.
  function tell(text) { say(text); $("alert").className = "panel"; }

  // One thing at a time: a key that comes while an item is on its way is not meant for that item.
  async function alone(work) {
    if (busy) return;
    busy = true;
    try { await work(); } catch (error) { say(error.message); } finally { busy = false; }
  }

  function progress(made, things, done, piece) {
    $("bar").hidden = false;
    $("bar").max = Math.max(made.total, 1);
    $("bar").value = made.done;
    $("progress").textContent = `${made.done} of ${made.total} ${things} are ${done}, ${made.mine} by you. ` +
      `${made.left} ${made.left === 1 ? piece + " is" : piece + "s are"} missing.`;
  }

  // A choice among all and some values; what was chosen stays where it is still there.
  function options(select, values) {
    const before = select.value;
    select.replaceChildren(el("option", "all", { value: "" }), ...values.map((one) => el("option", one, { value: one })));
    if (values.includes(before)) select.value = before;
  }

  // A key counts where its button does: what cannot be done now looks like that, too.
  const button = (key) => document.querySelector(`.actions [data-key="${key}"]`);
  const isUsable = (key) => !(button(key) && button(key).disabled);
  function usable(test) {
    document.querySelectorAll(".actions [data-key]").forEach((one) => { one.disabled = one.dataset.key !== "?" && !test(one.dataset.key); });
    document.querySelectorAll("header select").forEach((one) => { one.disabled = !name.value.trim(); });
  }

  // Both parts of the page know who reviews.
  const name = $("reviewer");
  if (!name.value) name.value = sessionStorage.getItem("reviewer") || "";
  name.addEventListener("change", () => sessionStorage.setItem("reviewer", name.value.trim()));
  const who = () => name.value.trim();
  const named = () => "reviewer=" + encodeURIComponent(who());

  // Whether there is a name; else asks for it.
  function hasName(pieces) {
    if (!who()) { say(`Write your name above, then press Enter: it is kept with each of your ${pieces}.`); name.focus(); }
    return Boolean(who());
  }

  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  const isOpen = (entry) => entry.state === "todo" || entry.state === "disagreement";

  // Whether an entry is among those that "Show" names; undefined where that names none of these.
  const shows = (entry) => ({ all: true, todo: isOpen(entry), mine: entry.mine, disagreement: entry.state === "disagreement" }[$("show").value]);

  const help = () => { $("help").hidden = !$("help").hidden; if (!$("help").hidden) scrollTo(0, 0); };

  // What is shown one at a time: all things, those that the filters choose, and which one is open.
  // A part of the page says how it loads (`load`), chooses and opens them, and what it calls them.
  const list = { entries: [], queue: [], at: 0 };
  let part = null, begun = 0;
  const pathOf = (entry) => (entry.calibration ? "calibration/" : "golden/") + entry.key;
  const here = () => list.queue[list.at];
  const seconds = () => (Date.now() - begun) / 1000;

  async function open() {
    $("place").textContent = list.queue.length ? `${list.at + 1} of ${list.queue.length}` : "";
    document.body.dataset[part.mark] = "";
    $(part.beside).hidden = !list.queue.length;
    if (!list.queue.length) {
      part.clear();
      usable(part.usable);
      $("item").replaceChildren(el("p", `Nothing to ${part.verb} here. Choose another filter above, or undo your last ${part.piece} with u.`));
      return;
    }
    await part.open(here());
    begun = Date.now();
    document.body.dataset[part.mark] = pathOf(here());
    $("item").focus({ preventScroll: true });
  }

  // After a decision: the list as it is now, in the order that is on the screen.
  async function refresh() {
    await part.load();
    const there = new Map(list.entries.map((one) => [pathOf(one), one]));
    list.queue = list.queue.map((one) => there.get(pathOf(one)) || one);
    return there;
  }

  async function filter() { list.queue = part.chosen(list.entries); list.at = 0; await open(); }

  async function start() {
    usable(part.usable);
    if (!hasName(part.piece + "s")) return;
    say("");
    await part.load();
    await filter();
  }

  async function move(by) {
    if (!list.queue.length) return;
    list.at = (list.at + by + list.queue.length) % list.queue.length;
    say("");
    await open();
  }

  // Listens to keys, their buttons, the name and the filters. What `first` makes of a key comes before
  // its entry in `keys`; it gets the event, and whether the key is alone and is no text.
  function listen(own, keys, first) {
    part = own;
    const all = { ...keys, n: () => alone(() => move(1)), p: () => alone(() => move(-1)), u: () => alone(part.undo), "?": help };
    document.addEventListener("keydown", (event) => {
      const isPlain = !event.target.closest("input, textarea, select") && !event.ctrlKey && !event.metaKey && !event.altKey;
      if (event.key === "Escape" && !$("help").hidden) { $("help").hidden = true; return; }
      if (first(event, isPlain) || !isPlain || !(event.key in all) || !isUsable(event.key)) return;
      event.preventDefault();
      all[event.key]();
    });
    document.querySelectorAll(".actions [data-key]").forEach((one) => one.addEventListener("click", () => all[one.dataset.key]()));
    name.addEventListener("change", () => alone(start));
    part.filters.forEach((id) => $(id).addEventListener("change", (event) => { event.target.blur(); alone(async () => { say(""); await filter(); }); }));
    alone(start);
  }

  return { $, el, ask, say, tell, alone, progress, options, usable, who, named, same, isOpen, shows, list, pathOf, here, seconds, open, refresh, filter, start, listen, isBusy: () => busy };
})();
