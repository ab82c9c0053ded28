// Runs before the page is painted, so that a chosen theme never flashes the other one first.
(function () {
  "use strict";
  var key = "ragassay-theme", root = document.documentElement;
  function stored() { try { return localStorage.getItem(key); } catch (_) { return null; } }
  function dark() {
    var chosen = root.dataset.theme;
    return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }
  var before = stored();
  if (before === "dark" || before === "light") root.dataset.theme = before;
  document.addEventListener("DOMContentLoaded", function () {
    var button = document.getElementById("theme");
    function label() { button.textContent = dark() ? "Light theme" : "Dark theme"; }
    button.addEventListener("click", function () {
      root.dataset.theme = dark() ? "light" : "dark";
      try { localStorage.setItem(key, root.dataset.theme); } catch (_) { /* file:// may refuse */ }
      label();
    });
    label();
  });
})();
