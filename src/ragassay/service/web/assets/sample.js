"use strict";

// One record, or one sample of a report, on a page of its own.
(() => {
  const sample = JSON.parse(document.getElementById("details").textContent);
  const details = new Details({ kind: "sample" });
  document.getElementById("sample").replaceChildren(details.render([[sample]]));
})();
