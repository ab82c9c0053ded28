"use strict";

// How far a report is, as the service tells it.
(() => {
  const place = document.getElementById("progress"), bar = document.getElementById("bar");
  if (!place.dataset.events) return;
  const source = new EventSource(place.dataset.events);
  const show = (event) => {
    const job = JSON.parse(event.data), { done, total, calls, cost } = job.progress;
    document.getElementById("state").textContent = job.status;
    bar.max = Math.max(total, 1);
    bar.value = done;
    const parts = [`${done.toLocaleString("en-US")} of ${total.toLocaleString("en-US")} records`];
    if (calls) parts.push(`${calls.toLocaleString("en-US")} requests`);
    if (cost !== null && calls) parts.push(`$${cost.toFixed(4)}`);
    document.getElementById("told").textContent = parts.join(", ");
  };
  source.addEventListener("progress", show);
  for (const last of ["end", "gone"]) source.addEventListener(last, () => { source.close(); location.reload(); });
})();
