"use strict";

// How far a report is, as the service tells it: at each change the page's own part is fetched anew.
(() => {
  const place = document.getElementById("progress");
  if (!place.dataset.events) return;
  const source = new EventSource(place.dataset.events);
  source.addEventListener("progress", async () => {
    const reply = await fetch(location, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    const now = page.getElementById("progress");
    if (now && source.readyState !== EventSource.CLOSED) place.replaceChildren(...now.childNodes);
  });
  for (const last of ["end", "gone"]) source.addEventListener(last, () => { source.close(); location.reload(); });
})();
