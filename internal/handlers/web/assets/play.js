// The form's state stands in the link's fragment, which browsers send to no server. Without this
// file the form works, and its state is in no link.
(function () {
  "use strict";
  var form = document.getElementById("play");
  if (!form || !window.CompressionStream) return;
  var names = ["objects", "pod", "config"];
  function text(stream) { return new Response(stream).arrayBuffer(); }
  async function pack() {
    var state = JSON.stringify(names.map(function (n) { return form.elements[n].value; }));
    var bytes = new Uint8Array(await text(new Blob([state]).stream().pipeThrough(new CompressionStream("deflate-raw"))));
    var out = "";
    bytes.forEach(function (b) { out += String.fromCharCode(b); });
    return btoa(out).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  }
  async function unpack(fragment) {
    var raw = atob(fragment.replace(/-/g, "+").replace(/_/g, "/"));
    var bytes = Uint8Array.from(raw, function (c) { return c.charCodeAt(0); });
    var state = JSON.parse(new TextDecoder().decode(await text(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")))));
    names.forEach(function (n, i) { form.elements[n].value = state[i]; });
  }
  async function decide() {
    var answer = await fetch("/play", { method: "POST", body: new URLSearchParams(new FormData(form)) });
    var page = new DOMParser().parseFromString(await answer.text(), "text/html");
    ["answer", "why"].forEach(function (id) {
      var now = document.getElementById(id), then = page.getElementById(id);
      if (then) now.replaceChildren.apply(now, then.childNodes); else now.replaceChildren.apply(now, page.getElementById("main").childNodes);
    });
    history.replaceState(null, "", "/play#" + await pack());
    document.dispatchEvent(new Event("berth:changed"));
  }
  form.addEventListener("submit", function (e) { e.preventDefault(); decide(); });
  var share = document.getElementById("share");
  share.hidden = false;
  share.addEventListener("click", async function () {
    history.replaceState(null, "", "/play#" + await pack());
    var shared = document.getElementById("shared");
    try {
      await navigator.clipboard.writeText(location.href);
      shared.textContent = "Copied: the link holds the cluster and the pod.";
    } catch (e) {
      shared.textContent = "The address of this page is the link.";
    }
  });
  if (location.hash.length > 1) unpack(location.hash.slice(1)).then(decide, function () {
    document.getElementById("shared").textContent = "The link is damaged: this is the first example.";
  });
})();
