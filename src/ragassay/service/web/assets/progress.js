"use strict";

// How far a report is, as the service tells it.
(() => {
  const place = document.getElementById("progress"), bar = document.getElementById("bar");
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
    if (job.status === "completed" || job.status === "error") { source.close(); location.reload(); }
  };
  if (!place.dataset.ended) { source.addEventListener("progress", show); source.onmessage = show; } else source.close();
})();
