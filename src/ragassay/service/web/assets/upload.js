"use strict";

// Sends a file, shows its columns and what they become, and stores the records.
(() => {
  const sending = document.getElementById("file"), storing = document.getElementById("import"), reading = document.getElementById("reading").elements;
  const fields = ["id", "query", "answer", "passages", "references", "timestamp", "history", "gold", "system", "repeat", "answerability",
    "passage_ids", "gold_ids", "negative_references", "query_run", "failure"];
  let upload, chosen = {}, looks = 0;

  sending.addEventListener("submit", async (event) => {
    event.preventDefault();
    tell(sending, null);
    const file = sending.elements.file.files[0], button = sending.querySelector("button");
    button.disabled = true;
    try {
      const address = `/api/v1/tasks/${sending.dataset.task}/uploads?${new URLSearchParams({ file_name: file.name })}`;
      upload = await call("POST", address, file, { "Content-Type": "application/octet-stream" });
      chosen = {};
      for (const field of reading) field.value = "";
      await look();
    } catch (error) {
      tell(sending, error);
    } finally {
      button.disabled = false;
    }
  });

  // How the file is read, as it is chosen.
  function asked() {
    return { columns: chosen, delimiter: reading.delimiter.value || null, zone: reading.zone.value.trim() || null };
  }

  async function look() {
    const number = ++looks;
    tell(storing, null);
    const found = await call("POST", `/api/v1/uploads/${upload.id}/preview`, asked());
    if (number !== looks) return;
    document.getElementById("look").hidden = false;
    document.getElementById("found").textContent = [
      `Format: ${found.format}`, `${found.columns.length} columns`,
      found.lacks_ids ? "no ids: each record gets an id from its content" : "", ...found.notes].filter(Boolean).join(" · ");
    const problem = document.getElementById("problem");
    problem.hidden = !found.problem;
    problem.textContent = found.problem || "";
    reading.delimiter.parentElement.hidden = found.format !== "csv";
    reading.zone.parentElement.hidden = !found.lacks_zone && !reading.zone.value;
    document.getElementById("confirm").hidden = !found.lacks_times;
    storing.querySelector("button").disabled = Boolean(found.problem);
    columns(found);
    const details = new Details({ kind: "sample" });
    document.getElementById("samples").replaceChildren(...found.samples.slice(0, 3).map((sample) => record(sample, details)));
  }

  function columns(found) {
    const table = document.querySelector(".mapping");
    const placed = new Map(Object.entries(found.placed).map(([name, column]) => [column, name]));
    const known = [...new Set([...fields, ...Object.keys(found.placed)])];
    table.tHead.replaceChildren(h("tr", {}, ["Column", "Field", "First values"].map((title) => h("th", { scope: "col" }, title))));
    table.tBodies[0].replaceChildren(...found.columns.map((column) => {
      const field = placed.get(column) || "";
      const select = h("select", { "aria-label": `Field of ${column}`, onchange: (event) => change(column, event.target.value) },
        h("option", { value: "" }, "metadata"), known.map((name) => h("option", { value: name, selected: name === field }, name)));
      const values = found.rows.map((row) => row[column]).filter((value) => value !== null && value !== undefined);
      return h("tr", {}, h("th", { scope: "row" }, column), h("td", {}, select), h("td", { class: "muted" }, values.slice(0, 3).join(" | ")));
    }));
  }

  function change(column, field) {
    chosen = Object.fromEntries(Object.entries(chosen).filter(([, one]) => one !== column));
    if (field) chosen[field] = column;
    look().catch((error) => tell(storing, error));
  }

  function record(sample, details) {
    const answer = typeof sample.answer === "string" ? sample.answer : sample.answer?.text;
    const shown = {
      ...sample, answer: answer || undefined, scores: {}, labels: {}, statements: undefined,
      history: (sample.history || []).map((turn) => [turn.speaker, turn.text]),
      passages: (sample.passages || []).map((one) => [one.id ?? null, one.score ?? null, one.document ?? null, one.text || "", null]),
      gold: undefined, runs: undefined, references: sample.references?.map((one) => one.text ?? one),
    };
    return h("section", { class: "panel" }, h("h3", {}, sample.id), details.render([[shown]]));
  }

  for (const field of reading) field.addEventListener("change", () => look().catch((error) => tell(storing, error)));
  reading.zone.form.addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("zones").append(...Intl.supportedValuesOf("timeZone").map((name) => h("option", { value: name })));

  storing.addEventListener("submit", async (event) => {
    event.preventDefault();
    tell(storing, null);
    const button = storing.querySelector("button");
    button.disabled = true;
    try {
      const body = { ...asked(), received_as_time: storing.elements.received_as_time.checked };
      await call("POST", `/api/v1/uploads/${upload.id}/import`, body);
      location.assign(`/tasks/${sending.dataset.task}/records`);
    } catch (error) {
      tell(storing, error);
      button.disabled = false;
    }
  });
  ready(sending);
})();
