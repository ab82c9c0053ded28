"use strict";

// Forms that ask the REST interface: data-call is the method and the address, data-then where the
// browser goes afterwards ({id} is taken from the reply). A field's name is its place in the JSON.
function setIn(object, path, value) {
  const names = path.split("."), last = names.pop();
  let inner = object;
  for (const name of names) inner = inner[name] ??= {};
  inner[last] = value;
}

function getIn(object, path) {
  return path.split(".").reduce((inner, name) => inner?.[name], object);
}

// The value of a field; undefined where it says nothing.
function said(input) {
  if (input.type === "checkbox") return input.checked;
  const text = input.value.trim();
  if (input.dataset.as === "list") return text ? text.split(",").map((one) => one.trim()).filter(Boolean) : undefined;
  if (input.dataset.as === "lines") return text ? text.split("\n").map((one) => one.trim()).filter(Boolean) : undefined;
  // A time that nobody changed keeps its fraction of a second.
  if (input.dataset.as === "time") return input.value === input.defaultValue && input.dataset.seconds ? Number(input.dataset.seconds) : text ? `${text}Z` : undefined;
  return text === "" ? undefined : text;
}

// What a form sends: its fields, and what it keeps without showing it.
function bodyOf(form) {
  const body = JSON.parse(form.dataset.kept || "{}");
  for (const input of form.elements) {
    if (!input.name || input.type === "file") continue;
    if (input.dataset.as === "choice") {
      const chosen = getIn(body, input.name) || [];
      setIn(body, input.name, input.checked ? [...chosen, input.value] : chosen);
      continue;
    }
    const value = said(input);
    if (value !== undefined) setIn(body, input.name, value);
  }
  return body;
}

// Asks the service. An error's message is the sentence that the service says.
async function call(method, address, body, headers) {
  const sent = body instanceof Blob || body === undefined ? body : JSON.stringify(body);
  const reply = await fetch(address, { method, body: sent, headers: { Accept: "application/json", ...(sent && !(body instanceof Blob) ? { "Content-Type": "application/json" } : {}), ...headers } });
  const text = await reply.text();
  const found = text ? JSON.parse(text) : {};
  if (reply.status === 401) location.assign(`/login?then=${encodeURIComponent(location.pathname)}`);
  if (!reply.ok) throw Object.assign(new Error(found.detail || reply.statusText), { field: found.field });
  return found;
}

function tell(form, error) {
  form.querySelector("[role=alert]").textContent = error ? error.message : "";
  for (const input of form.elements) {
    const names = error?.field && input.name && (input.name === error.field || input.name.endsWith(`.${error.field}`));
    if (names) { input.setAttribute("aria-invalid", "true"); input.focus(); } else input.removeAttribute?.("aria-invalid");
  }
}

function go(form, found) {
  location.assign(form.dataset.then.replace(/\{([\w.]+)\}/g, (_, path) => encodeURIComponent(getIn(found, path))));
}

async function submitted(event) {
  const form = event.currentTarget;
  event.preventDefault();
  tell(form, null);
  const buttons = [...form.querySelectorAll("button")];
  buttons.forEach((button) => { button.disabled = true; });
  try {
    let found;
    if (form.dataset.file) {
      const query = new URLSearchParams(bodyOf(form));
      found = await call("POST", `${form.dataset.file}?${query}`, form.elements.file.files[0], { "Content-Type": "application/octet-stream" });
    } else {
      const [method, address] = form.dataset.call.split(" ");
      found = await call(method, address, bodyOf(form));
    }
    go(form, found);
    if (form.dataset.then === location.pathname) location.reload();
  } catch (error) {
    tell(form, error);
  } finally {
    buttons.forEach((button) => { button.disabled = false; });
  }
}

// A form is sent by its script alone: its button waits for that.
function ready(form) {
  for (const button of form.querySelectorAll("button[disabled]")) button.disabled = false;
}

for (const form of document.querySelectorAll("form[data-call], form[data-file]")) {
  form.addEventListener("submit", submitted);
  ready(form);
}

// Whose token this browser has; where none is needed nobody signs out.
async function showWho() {
  const form = document.getElementById("who");
  const reply = await fetch("/api/v1/whoami", { headers: { Accept: "application/json" } });
  const { name, scope } = reply.ok ? await reply.json() : {};
  if (!name) return;
  form.querySelector("output").textContent = scope === "read" ? `${name} (may read)` : name;
  form.hidden = false;
}
showWho();

// The times of a form of a new report: the interval of all records.
for (const input of document.querySelectorAll("input[data-seconds]")) {
  input.defaultValue = new Date(Number(input.dataset.seconds) * 1000).toISOString().replace(/\.?0*Z$/, "");
}

// A preview in sentences.
function linesOf({ n_records, n_looked_at, metrics, lacking, absent, judge, calls, held, cost, seconds, budget, notes }) {
  const text = (value) => value.toLocaleString("en-US", { maximumFractionDigits: 4 });
  const dollars = (value) => value > 0 && value < 0.01 ? "under $0.01" : `$${value.toFixed(2)}`;
  const span = ({ low, high }, said = text) => said(low) === said(high) ? said(low) : `${said(low)} to ${said(high)}`;
  const of = n_looked_at < n_records ? `the first ${text(n_looked_at)} records` : `${text(n_looked_at)} records`;
  const why = new Map();
  for (const [name, n] of Object.entries(metrics)) {
    const told = [...Object.entries(lacking[name] || {}).map(([what, count]) => `${what} (${text(count)})`), absent[name]].filter(Boolean).join("; ");
    if (told) why.set(told, [...(why.get(told) || []), `${name} ${text(n)}`]);
  }
  return [
    `${text(n_records)} records, ${Object.keys(metrics).length} metrics.`,
    ...[...why].map(([told, names]) => `Records with a score, of ${of}: ${names.join(", ")}. Reason: ${told}.`),
    judge ? `${judge} is asked: ${calls ? span(calls) : "?"} requests${held && held.high ? `; ${span(held)} more are paid already` : ""}.` : "No judge is called.",
    cost ? `Cost: ${span(cost, dollars)}.` : calls && calls.high ? "Cost: no price is known." : "",
    seconds && seconds.high ? `Time of the requests: ${span({ low: Math.ceil(seconds.low), high: Math.ceil(seconds.high) })} s.` : "",
    budget ? `Budget: ${budget}.` : "",
    ...notes,
  ].filter(Boolean);
}

// What a report would take, before it is started.
for (const button of document.querySelectorAll("button.preview")) {
  button.addEventListener("click", async () => {
    const form = button.form, place = document.getElementById("preview");
    tell(form, null);
    button.disabled = true;
    try {
      const { name, ...asked } = bodyOf(form);
      const found = await call("POST", form.dataset.preview, asked);
      place.replaceChildren(...linesOf(found).map((line) => Object.assign(document.createElement("p"), { textContent: line })));
      place.hidden = false;
    } catch (error) {
      place.hidden = true;
      tell(form, error);
    } finally {
      button.disabled = false;
    }
  });
}
