// Says whether the page is live, keeps ages right, and brings what is new into the page without
// touching what somebody is in the middle of. Every page works without this file.
(function () {
  "use strict";
  var body = document.body, cluster = body.dataset.cluster, job = "job" in body.dataset;
  var fixed = "fixed" in body.dataset, list = body.dataset.list;
  var known = body.dataset.newest, decisions = Number(body.dataset.decisions);
  var live = document.getElementById("live"), news = document.getElementById("news");
  var made = document.querySelector("#fresh time");
  var ahead = made ? Date.parse(made.dateTime) - Date.now() : 0; // of the server's clock
  var seen = Date.now(), lost = 0, busy = false;

  // span writes a duration as the server does.
  function span(s) {
    s = Math.max(0, Math.floor(s));
    function two(large, unit, small, smaller) { return large + unit + (small && large < 10 ? small + smaller : ""); }
    if (s < 120) return s + "s";
    if (s < 3600) return two(Math.floor(s / 60), "m", s % 60, "s");
    if (s < 172800) return two(Math.floor(s / 3600), "h", Math.floor(s % 3600 / 60), "m");
    return two(Math.floor(s / 86400), "d", Math.floor(s % 86400 / 3600), "h");
  }
  function tick() {
    document.querySelectorAll("time.age").forEach(function (t) {
      var text = span((Date.now() + ahead - Date.parse(t.dateTime)) / 1000);
      if (t.textContent !== text) t.textContent = text;
    });
    if (!live || !(cluster || job)) return;
    var ago = span((Date.now() - seen) / 1000), kind, text;
    if (lost) { kind = "bad"; text = "disconnected for " + span((Date.now() - lost) / 1000) + ": nothing here is newer than that"; }
    else if (fixed) { kind = "off"; text = live.dataset.fixed; }
    else { kind = "ok"; text = "live, " + ago + " ago"; }
    if (live.className !== kind) live.className = kind;
    var word = live.querySelector("span");
    if (word.textContent !== text) word.textContent = text;
  }

  // changed reports whether somebody has typed into a form or is in it: such a form stays as it is.
  function changed(form) {
    return form.contains(document.activeElement) || Array.from(form.elements).some(function (e) {
      if (e.type === "checkbox" || e.type === "radio") return e.checked !== e.defaultChecked;
      if (e.options) return Array.from(e.options).some(function (o, i) { return o.selected !== o.defaultSelected && !(i === 0 && o.selected && !Array.from(e.options).some(function (d) { return d.defaultSelected; })); });
      return "defaultValue" in e && e.type !== "hidden" && e.value !== e.defaultValue;
    });
  }
  function key(n) {
    if (n.nodeType !== 1) return "#" + n.nodeType;
    var link = n.matches("tr, li") && n.querySelector("a[href]"), head = n.matches("section") && n.querySelector("h2");
    return n.tagName + " " + (n.id || link && link.getAttribute("href") || head && head.id || n.name || "");
  }
  // patch makes a part of the page like a newer one, and leaves alone what is the same.
  function patch(a, b) {
    if (a.isEqualNode(b)) return;
    if (a.nodeType !== 1) { a.data = b.data; return; }
    if (a.tagName === "FORM" && changed(a)) return;
    if (a.matches(".copy-button")) return;
    Array.from(b.attributes).forEach(function (x) { if (a.getAttribute(x.name) !== x.value) a.setAttribute(x.name, x.value); });
    Array.from(a.attributes).forEach(function (x) { if (!b.hasAttribute(x.name) && !(a.tagName === "DETAILS" && x.name === "open")) a.removeAttribute(x.name); });
    var old = Array.from(a.childNodes), at = a.firstChild;
    Array.from(b.childNodes).forEach(function (n) {
      var i = old.findIndex(function (o) { return key(o) === key(n); });
      var o = i < 0 ? document.importNode(n, true) : old.splice(i, 1)[0];
      if (o === at) at = at.nextSibling; else a.insertBefore(o, at);
      if (i >= 0) patch(o, n);
    });
    old.forEach(function (o) { if (!(o.nodeType === 1 && (o.matches(".copy-button") || o.contains(document.activeElement)))) o.remove(); });
  }
  function selecting() {
    var s = getSelection();
    return s && !s.isCollapsed && document.getElementById("main").contains(s.anchorNode);
  }
  function offer(text) { news.textContent = text + " – show"; news.hidden = false; }
  function renew() {
    return fetch(location.href, { headers: { Accept: "text/html" } }).then(function (r) { return r.ok ? r.text() : null; }).then(function (text) {
      if (!text) return;
      var page = new DOMParser().parseFromString(text, "text/html");
      patch(document.getElementById("main"), page.getElementById("main"));
      patch(document.getElementById("fresh"), page.getElementById("fresh"));
      var of = document.getElementById("of"), then = page.getElementById("of");
      if (of && then) patch(of, then);
      document.title = page.title;
      known = page.body.dataset.newest; decisions = Number(page.body.dataset.decisions);
      news.hidden = true;
      document.dispatchEvent(new Event("berth:changed"));
      tick();
      return page;
    });
  }
  function back() { seen = Date.now(); lost = 0; }
  function away() { lost = lost || seen; tick(); }
  function look() {
    if (document.hidden || busy) return;
    busy = true;
    (job ? renew().then(function (page) { if (page && !("job" in page.body.dataset)) { job = false; fixed = true; live.dataset.fixed = "ended"; } }) :
      fetch("/v1/clusters/" + encodeURIComponent(cluster)).then(function (r) { if (r.status >= 500) throw r; return r.ok ? r.json() : null; }).then(function (c) {
        if (!c || fixed) return;
        var fresh = c.decisions - decisions;
        if (list === "decisions") { if (fresh > 0) offer(fresh + " new decision" + (fresh === 1 ? "" : "s")); return; }
        if (c.latest === known && !(fresh && list === "both")) return;
        if ("still" in body.dataset) return offer(c.latest + " is newer");
        if (selecting()) return offer(c.latest + " is there");
        return renew();
      })).then(back).catch(away).finally(function () { busy = false; tick(); });
  }
  if (news) news.addEventListener("click", function (e) {
    if ("still" in body.dataset) return; // the link asks anew
    e.preventDefault();
    renew().catch(away);
  });
  setInterval(tick, 1000);
  tick();
  if (!job && !cluster) return;
  setInterval(look, job ? 1000 : 3000);
})();
