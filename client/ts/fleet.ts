// A fleet of three machines: node dist/fleet.js URL CLUSTER prints what came of it.
import { Berth, type types } from "./berth.js";

declare const process: { argv: string[]; exit(code: number): never };

// A pod as typed libraries have it, an interface, fits where an object is wanted.
interface Pod {
  metadata: { name: string; namespace: string };
  spec: { priorityClassName?: string; containers: Array<{ name: string; resources: { requests: Record<string, string> } }> };
}

const pod = (name: string, cpu: string, more: Partial<Pod["spec"]> = {}): Pod => ({
  metadata: { name, namespace: "default" },
  spec: { containers: [{ name: "c", resources: { requests: { cpu } } }], ...more },
});

const machine = (name: string) => ({
  apiVersion: "v1", kind: "Node", metadata: { name }, status: { allocatable: { cpu: "4", pods: "10" } },
});

async function main(url: string, cluster: string) {
  const fleet = new Berth(url, cluster);
  const urgent = { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name: "urgent" }, value: 1000 };
  await fleet.upload([machine("m0"), machine("m1"), machine("m2"), urgent]);

  const web = await fleet.place({ template: pod("web", "3"), count: 3, bind: true, atomic: true });

  const stopped: types.EngineVictim[] = []; // here a platform stops the victim's process
  const train = await fleet.preempt(pod("train", "3", { priorityClassName: "urgent" }), async (v) => void stopped.push(v));

  const job = await fleet.place({ pods: [pod("job", "1")], hold: "30s" });
  const held = await fleet.endHold(job.hold?.id ?? "", "commit");

  const left = web.results?.find((r) => r.name !== stopped[0]?.name)?.name ?? "";
  const gone = await fleet.remove([{ kind: "Pod", namespace: "default", name: left }]);

  const counts: Record<string, number> = {};
  for await (const { event, data } of fleet.follow()) {
    counts[event] = (counts[event] ?? 0) + 1;
    if (event === "revision" && data.revision === gone.revision) break;
  }
  console.log(JSON.stringify({
    placed: web.placed, stopped: stopped.length, train: train.outcome, hold: held.state, removed: gone.deleted?.length,
    decisions: counts["decision"], placements: counts["placement"], revisions: counts["revision"],
  }));
}

main(process.argv[2] ?? "", process.argv[3] ?? "").catch((e) => {
  console.error(e);
  process.exit(1);
});
