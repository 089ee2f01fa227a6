// The chosen theme is set before the page is drawn.
(function () {
  "use strict";
  try {
    var theme = localStorage.getItem("berth-theme");
    if (theme) document.documentElement.dataset.theme = theme;
  } catch (e) { /* without storage the system's theme stays */ }
})();
