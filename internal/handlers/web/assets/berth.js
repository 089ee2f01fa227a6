// Keys, copying and reloading. Every page works without this file.
(function () {
  "use strict";
  var store = {
    get: function (name) { try { return localStorage.getItem(name); } catch (e) { return null; } },
    set: function (name, value) { try { localStorage.setItem(name, value); } catch (e) { /* it lasts for the page */ } }
  };

  document.documentElement.classList.add("script");
  // Choosing a cluster shows it.
  document.addEventListener("change", function (e) {
    if (e.target.id === "cluster") e.target.form.requestSubmit();
    if (e.target.id === "keys") store.set("berth-keys", e.target.checked ? "on" : "off");
  });

  // A button copies each command, and one the page's address. Where the browser gives no clipboard,
  // which it does to secure addresses alone, the text is selected.
  function copier(after, text) {
    if (after.nextElementSibling && after.nextElementSibling.className === "copy-button") return;
    var button = document.createElement("button");
    button.type = "button";
    button.className = "copy-button";
    button.textContent = "Copy";
    button.addEventListener("click", function () {
      function select() { getSelection().selectAllChildren(after); }
      if (!navigator.clipboard) { select(); return; }
      navigator.clipboard.writeText(text()).then(function () {
        button.textContent = "Copied";
        setTimeout(function () { button.textContent = "Copy"; }, 1500);
      }, select);
    });
    after.after(button);
  }
  function buttons() {
    document.querySelectorAll("code.copy").forEach(function (code) { copier(code, function () { return code.textContent; }); });
    copier(document.getElementById("link"), function () { return location.href; });
  }
  buttons();
  document.addEventListener("berth:changed", buttons);

  // Keys. They can be turned off, as single keys get in the way of speech input.
  var help = document.getElementById("help");
  var box = document.getElementById("keys");
  box.checked = store.get("berth-keys") !== "off";
  function rows() { return Array.from(document.querySelectorAll("table.rows tbody a[href]")).filter(function (a, i, all) {
    return i === 0 || all[i - 1].closest("tr") !== a.closest("tr");
  }); }
  function move(step) {
    var list = rows();
    if (!list.length) return;
    var row = document.activeElement && document.activeElement.closest("tr");
    var at = list.findIndex(function (a) { return a.closest("tr") === row; });
    list[at < 0 ? (step > 0 ? 0 : list.length - 1) : Math.min(list.length - 1, Math.max(0, at + step))].focus();
  }
  document.addEventListener("keydown", function (e) {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.matches("input:not([type=checkbox]), select, textarea")) return;
    if (!box.checked && e.key !== "?") return;
    switch (e.key) {
      case "/": document.getElementById("find").focus(); break;
      case "j": move(1); break;
      case "k": move(-1); break;
      case "g": location.href = document.querySelector("a.name").href; break;
      case "t":
        var order = ["", "light", "dark"];
        var now = document.documentElement.dataset.theme || "";
        var next = order[(order.indexOf(now) + 1) % order.length];
        if (next) document.documentElement.dataset.theme = next; else delete document.documentElement.dataset.theme;
        store.set("berth-theme", next);
        break;
      case "?": if (help.open) help.close(); else help.showModal(); break;
      default: return;
    }
    e.preventDefault();
  });
})();
