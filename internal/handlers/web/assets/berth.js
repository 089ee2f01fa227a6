// Keys, copying and reloading. Every page works without this file.
(function () {
  "use strict";
  var store = {
    get: function (name) { try { return localStorage.getItem(name); } catch (e) { return null; } },
    set: function (name, value) { try { localStorage.setItem(name, value); } catch (e) { /* it lasts for the page */ } }
  };

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

  // A page about the newest revision is fetched again when the cluster has a newer one, and one
  // about a job until that has ended.
  var body = document.body;
  var cluster = body.dataset.cluster;
  var job = "job" in body.dataset;
  if (!job && (!cluster || "fixed" in body.dataset || document.getElementById("play"))) return;
  var known = body.dataset.newest;
  function renew() {
    return fetch(location.href, { headers: { Accept: "text/html" } }).then(function (r) { return r.ok ? r.text() : null; }).then(function (text) {
      if (!text) return;
      var page = new DOMParser().parseFromString(text, "text/html");
      var open = Array.from(document.querySelectorAll("main details")).map(function (d) { return d.open; });
      var focus = document.activeElement && (document.activeElement.getAttribute("href") || document.activeElement.textContent);
      document.getElementById("main").replaceChildren.apply(document.getElementById("main"), page.getElementById("main").childNodes);
      document.getElementById("fresh").replaceWith(page.getElementById("fresh"));
      document.title = page.title;
      document.querySelectorAll("main details").forEach(function (d, i) { if (open[i]) d.open = true; });
      if (focus) {
        var again = Array.from(document.querySelectorAll("main a, main button")).find(function (a) { return (a.getAttribute("href") || a.textContent) === focus; });
        if (again) again.focus();
      }
      buttons();
      return page;
    });
  }
  function look() {
    if (document.hidden) return;
    if (job) {
      renew().then(function (page) { if (page && !("job" in page.body.dataset)) clearInterval(timer); }).catch(away);
      return;
    }
    fetch("/v1/clusters/" + encodeURIComponent(cluster)).then(function (r) { return r.ok ? r.json() : null; }).then(function (c) {
      if (!c) return;
      var newest = c.latest + " " + c.decisions;
      if (newest !== known) return renew().then(function (page) { if (page) known = newest; });
    }).catch(away);
  }
  function away() { /* the server does not answer: the page stays as it is */ }
  var timer = setInterval(look, job ? 1000 : 3000);
})();
