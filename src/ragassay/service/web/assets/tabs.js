"use strict";

// The parts of a report are tabs: the links to them choose the one that is shown. Without this
// script they are one page.
(() => {
  const bar = document.querySelector("header nav[aria-label=Sections]");
  const links = [...bar.querySelectorAll("a[href^='#']")];
  const part = (link) => document.getElementById(link.hash.slice(1))?.closest("section");
  const show = () => {
    const named = document.getElementById(location.hash.slice(1))?.closest("section");
    const sample = location.hash.startsWith("#sample=") ? links.find(({ hash }) => hash === "#browse") : null;
    const chosen = links.find((link) => part(link) === named) || sample || links[0];
    for (const link of links) {
      if (link === chosen) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
      part(link).classList.toggle("chosen", link === chosen);
    }
    const folded = part(chosen).querySelector(":scope > details");
    if (folded) folded.open = true;
    if (bar.getBoundingClientRect().top < 0) bar.scrollIntoView();
  };
  if (!links.length) return;
  for (const link of links) part(link).classList.add("part");
  addEventListener("hashchange", show);
  show();
})();
