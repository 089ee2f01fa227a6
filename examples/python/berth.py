"""A client of berth, in the standard library: place, preempt, remove, hold and follow.

    Berth("http://127.0.0.1:8080", "fleet").place(template=pod, count=3, bind=True, atomic=True)

Each call that writes has an Idempotency-Key, and is sent again under the same key where its answer
was lost: it is done once. What berth refuses raises Refused, with the fields at fault.
"""
import http.client, json, random, time, urllib.error, urllib.request, uuid

BROKEN = (OSError, ValueError, http.client.HTTPException)  # no answer, or half of one


class Refused(Exception):
    """An answer that is an error; problem has its status, detail, errors, conflict and so on."""

    def __init__(self, problem):
        fields = [f"{e['field']}: {e['message']}" for e in problem.get("errors", [])]
        super().__init__("\n".join([f"{problem['status']}: {problem['detail']}", *fields]))
        self.problem, self.passing = problem, problem["status"] == 429 or problem["status"] >= 500


class Berth:
    def __init__(self, url, cluster, token=None, tries=6, timeout=60):
        self.url, self.cluster, self.token = url.rstrip("/"), cluster, token
        self.newest, self.tries, self.timeout = cluster + "@latest", tries, timeout

    def open(self, method, path, body=None, headers=None):
        """Sends one request, and returns its answer to be read as it comes."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **(headers or {})}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        try:
            sent = urllib.request.Request(self.url + path, data, headers, method=method)
            return urllib.request.urlopen(sent, timeout=self.timeout)
        except urllib.error.HTTPError as e:
            text = e.read().decode(errors="replace")
            problem = json.loads(text) if "json" in e.headers.get("Content-Type", "") else {}
            problem |= {"status": e.code, "retry": float(e.headers.get("Retry-After", 0))}
            raise Refused({"detail": text, **problem}) from None

    def call(self, method, path, body=None, key=None):
        """Calls berth until it answers, and returns what it says; key names what is done once."""
        headers = {} if method == "GET" else {"Idempotency-Key": key or str(uuid.uuid4())}
        for left in range(self.tries - 1, -1, -1):
            wait = random.uniform(0.1, 0.2) * 2 ** (self.tries - left)
            try:
                with self.open(method, path, body, headers) as answer:
                    return json.load(answer)
            except Refused as e:
                if not (e.passing and left):
                    raise
                wait = max(wait, e.problem["retry"])
            except BROKEN:
                if not left:
                    raise
            time.sleep(wait)

    def place(self, key=None, **what):
        """Places pods=[…], or count= of template=, with bind=True, hold="30s", or neither (dry)."""
        return self.call("POST", "/v1/placements", {"snapshot": self.newest, **what}, key)

    def preempt(self, pod, evict, key=None):
        """Places one pod, once evict(victim) has stopped each of its victims, if it has any."""
        key = key or str(uuid.uuid4())
        result = self.place(key, pods=[pod], bind=True)["results"][0]
        if result["outcome"] != "Preempting":
            return result
        for victim in result["victims"]:
            evict(victim)
        name = lambda p: {"namespace": p["namespace"], "name": p["name"]}
        self.remove(*({"kind": "Pod", **name(v)} for v in result["victims"]), key=key + "-v")
        what = {"snapshot": self.newest, "podRef": name(result), "bind": True, "explain": "none"}
        return self.call("POST", "/v1/decisions", what, key + "-b")

    def remove(self, *objects, key=None):
        """Removes objects such as {"kind": "Pod", "namespace": "a", "name": "b"} or a lost Node."""
        return self.call("POST", f"/v1/snapshots/{self.newest}/changes", {"delete": objects}, key)

    def follow(self, after="0"):
        """Yields (id, event, data) of what happens behind an id, each once, whatever breaks."""
        while True:
            headers, event = {"Accept": "text/event-stream", "Last-Event-ID": after}, {}
            path = f"/v1/clusters/{self.cluster}/events"
            try:
                with self.open("GET", path, headers=headers) as stream:
                    for line in stream:
                        name, _, value = line.decode().rstrip("\n").partition(": ")
                        if name:
                            event[name] = value
                        elif "id" in event:  # a blank line ends an event
                            whole, after, event = event, event["id"], {}
                            if whole["event"] != "bookmark":
                                yield after, whole["event"], json.loads(whole["data"])
            except Refused as e:
                if not e.passing:
                    raise  # 410: these events are gone; read the state, go on at problem["newest"]
            except BROKEN:
                pass
            time.sleep(1)  # and goes on behind the last event
