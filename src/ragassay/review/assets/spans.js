// The document: its text with gold spans marked, and a selection as a place in it. Places count
// characters as Python does (code points); a browser counts UTF-16 units.
const Spans = (function () {
  "use strict";
  const TURNS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

  // What is shown has as many characters as the text, and none that turns its direction.
  function shown(text) { return String(text).replace(TURNS, "\ufffd"); }

  function points(text) { return Array.from(text); }

  // Fills an element with text nodes and marks; overlapping spans share a mark. What is only near
  // an answer has marks of its own kind.
  function draw(element, text, spans, chosen, near = []) {
    const all = points(shown(text));
    const cuts = new Set([0, all.length]);
    [...spans, ...near].forEach((one) => { cuts.add(one.start); cuts.add(one.end); });
    const places = [...cuts].filter((at) => at <= all.length).sort((a, b) => a - b);
    element.replaceChildren();
    for (let i = 0; i + 1 < places.length; i += 1) {
      const [start, end] = [places[i], places[i + 1]];
      const piece = all.slice(start, end).join("");
      const covers = (one) => one.start <= start && end <= one.end;
      const over = [...spans, ...near].filter(covers);
      if (!over.length) { element.append(piece); continue; }
      const mark = document.createElement("mark");
      mark.textContent = piece;
      mark.className = [over.includes(chosen) ? "chosen" : "", spans.some(covers) ? "" : "near"].filter(Boolean).join(" ");
      element.append(mark);
    }
  }

  // The selection within an element as a start and an end, without blanks at its ends.
  function selected(element) {
    const selection = document.getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    if (!element.contains(range.commonAncestorContainer)) return null;
    const before = document.createRange();
    before.selectNodeContents(element);
    before.setEnd(range.startContainer, range.startOffset);
    const text = points(range.toString());
    const all = points(before.toString()).length;
    const blank = (one) => /\s/.test(one);
    let [start, end] = [0, text.length];
    while (start < end && blank(text[start])) start += 1;
    while (end > start && blank(text[end - 1])) end -= 1;
    return end > start ? { start: all + start, end: all + end } : null;
  }

  return { shown, points, draw, selected };
})();
