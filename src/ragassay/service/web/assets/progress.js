"use strict";

// How far a report is: its job is looked at every second, and at each change the page's own part is
// fetched again. A service that is away is asked again.
(() => {
  const place = document.getElementById("progress");
  let last = "";
  const look = async () => {
    const reply = await fetch(place.dataset.job).catch(() => null);
    if (reply && reply.status < 500) {
      const job = await reply.text();
      if (!reply.ok || ["completed", "incomplete", "error"].includes(JSON.parse(job).status)) return location.reload();
      if (job !== last) {
        const page = await (await fetch(location, { headers: { Accept: "text/html" } })).text();
        const now = new DOMParser().parseFromString(page, "text/html").getElementById("progress");
        if (now) place.replaceChildren(...now.childNodes);
        last = job;
      }
    }
    setTimeout(look, 1000);
  };
  if (place.dataset.job) look();
})();
