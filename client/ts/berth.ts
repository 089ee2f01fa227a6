// A client of berth for Node 18 and later, and for browsers. Each call that writes has an
// Idempotency-Key, and is sent again under the same key where its answer was lost: it is done once.
import type {
  ChangeRequest, Decision, DecisionRequest, EventData, Fields, Hold, LedgerDeletion, Placement, PlacementRequest,
  PlacementResult, Problem, Queue, Snapshot, EngineVictim,
} from "./types.js";
import type * as types from "./types.js";
export type { types };

/** An answer that is an error; problem has status, detail, errors, conflict, newest and others. */
export class Refused extends Error {
  constructor(readonly status: number, readonly problem: Problem, readonly retryAfter = 0) {
    super([`${status}: ${problem.detail ?? ""}`, ...(problem.errors ?? []).map((e) => `${e.field}: ${e.message}`)].join("\n"));
  }
  /** Whether the same call may be answered later. */
  get passing(): boolean {
    return this.status === 429 || this.status >= 500;
  }
}

/** Something that happened; data says what about. */
export interface Event {
  id: string;
  event: "revision" | "decision" | "placement" | "wake" | (string & {});
  data: EventData;
}

export interface Options {
  token?: string;
  /** How often a call is sent; 6 if absent. */
  tries?: number;
}

/** A key that nothing else has; Node 18 has no crypto. */
const drawn = () => [Date.now(), ...Array.from({ length: 4 }, () => Math.random())].map((n) => n.toString(36).replace("0.", "")).join("");

const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

export class Berth {
  constructor(readonly url: string, readonly cluster: string, readonly options: Options = {}) {}

  private async open(method: string, path: string, body?: unknown, more: Record<string, string> = {}): Promise<Response> {
    const headers: Record<string, string> = { "Content-Type": "application/json", ...more };
    if (this.options.token) headers["Authorization"] = `Bearer ${this.options.token}`;
    const answer = await fetch(this.url.replace(/\/$/, "") + path, {
      method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (answer.ok) return answer;
    const detail = await answer.text();
    const json = (answer.headers.get("Content-Type") ?? "").includes("json");
    throw new Refused(answer.status, json ? JSON.parse(detail) : { detail }, Number(answer.headers.get("Retry-After") ?? 0));
  }

  /** Calls berth until it answers; key names what is done once. */
  async call<T>(method: string, path: string, body?: unknown, key: string = drawn()): Promise<T> {
    for (let left = (this.options.tries ?? 6) - 1, wait = 200; ; left--, wait = Math.min(2 * wait, 10_000)) {
      let ms = wait * (0.5 + Math.random() / 2);
      try {
        const answer = await this.open(method, path, body, method === "GET" ? {} : { "Idempotency-Key": key });
        return (await answer.json()) as T;
      } catch (e) {
        if (left <= 0 || (e instanceof Refused && !e.passing)) throw e;
        if (e instanceof Refused) ms = Math.max(ms, 1000 * e.retryAfter);
      }
      await pause(ms);
    }
  }

  /** Makes objects the whole state of the cluster. */
  upload(items: Fields[], key?: string): Promise<Snapshot> {
    return this.call("POST", `/v1/snapshots?cluster=${this.cluster}`, { apiVersion: "v1", kind: "List", items }, key);
  }

  change(request: ChangeRequest, key?: string): Promise<Snapshot> {
    return this.call("POST", `/v1/snapshots/${this.cluster}@latest/changes`, request, key);
  }

  remove(objects: LedgerDeletion[], key?: string): Promise<Snapshot> {
    return this.change({ delete: objects }, key);
  }

  decide(request: DecisionRequest, key?: string): Promise<Decision> {
    return this.call("POST", "/v1/decisions", { snapshot: `${this.cluster}@latest`, ...request }, key);
  }

  /** Places pods, or count copies of a template, with bind, with hold, or dry. */
  place(request: PlacementRequest, key?: string): Promise<Placement> {
    return this.call("POST", "/v1/placements", { snapshot: `${this.cluster}@latest`, ...request }, key);
  }

  /** Places one pod, once evict has stopped each of its victims, if it has any. */
  async preempt(
    pod: Fields, evict: (victim: EngineVictim) => Promise<void>, key: string = drawn(),
  ): Promise<PlacementResult | Decision> {
    const result = (await this.place({ pods: [pod], bind: true }, key)).results?.[0];
    if (!result || result.outcome !== "Preempting") return result ?? {};
    const name = (p: { namespace?: string; name?: string }) => ({ namespace: p.namespace ?? "default", name: p.name ?? "" });
    const victims = result.victims ?? [];
    for (const victim of victims) await evict(victim);
    await this.remove(victims.map((v) => ({ kind: "Pod", ...name(v) })), `${key}-v`);
    return this.decide({ podRef: name(result), bind: true, explain: "none" }, `${key}-b`);
  }

  endHold(id: string, end: "commit" | "release"): Promise<Hold> {
    return this.call("POST", `/v1/holds/${id}/${end}`, {});
  }

  queue(): Promise<Queue> {
    return this.call("GET", `/v1/clusters/${this.cluster}/queue`);
  }

  /** Yields what happens behind an id, each event once, whatever breaks. */
  async *follow(after = "0"): AsyncGenerator<Event, never> {
    for (;;) {
      try {
        const headers = { Accept: "text/event-stream", "Last-Event-ID": after };
        const answer = await this.open("GET", `/v1/clusters/${this.cluster}/events`, undefined, headers);
        for await (const event of whole(answer)) {
          after = event.id;
          if (event.event !== "bookmark") yield event;
        }
      } catch (e) {
        if (e instanceof Refused && !e.passing) throw e; // 410: read the state, go on at problem.newest
      }
      await pause(1000); // and goes on behind the last event
    }
  }
}

/** Yields the events of one stream that came whole. */
async function* whole(answer: Response): AsyncGenerator<Event, void> {
  const reader = answer.body!.getReader();
  const text = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const events = (rest + text.decode(value, { stream: true })).split("\n\n");
      rest = events.pop() ?? "";
      for (const lines of events) {
        const fields = Object.fromEntries(lines.split("\n").map((l) => [l.slice(0, l.indexOf(": ")), l.slice(l.indexOf(": ") + 2)]));
        if (fields["id"]) yield { id: fields["id"], event: fields["event"] ?? "", data: JSON.parse(fields["data"] ?? "{}") };
      }
    }
  } finally {
    await reader.cancel();
  }
}
