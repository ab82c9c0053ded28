"use strict";

const SIDES = ["new", "old"];  // the runs of a comparison

// Text whose control characters (but tabs and line ends) can be seen, written as in JSON.
function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (found) => "\\u" + found.charCodeAt(0).toString(16).padStart(4, "0"));
}

// Builds an element. Text always becomes a text node: nothing from the data is parsed as HTML.
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  const held = children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== "");
  element.append(...held.map((child) => typeof child === "string" ? visible(child) : child));
  return element;
}

// The pieces of a metric's name, between which it may break.
const pieces = (name) => name.split(/(?<=[.,=_/ ])|(?=[@(])/);

function breakable(name) {
  return pieces(name).flatMap((piece) => [piece, h("wbr")]);
}

function number(value, sign) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  const whole = size >= 10 && Number.isInteger(value);
  const digits = whole ? 0 : size < 10 ? 4 : size < 100 ? 3 : size < 10000 ? 2 : 1;
  const text = value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  if (Number(text.replaceAll(",", "")) === 0) return text.replace("-", "");
  return sign && value > 0 ? "+" + text : text;
}

// Why there is no score, in the words of the other reports.
const reasonWords = (reason) => reason === "nothing_retrieved" ? "no usable passage" : reason.replaceAll("_", " ");
