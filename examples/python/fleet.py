"""A fleet of three machines by berth.py: python3 fleet.py URL CLUSTER prints what came of it."""
import json, sys

from berth import Berth

fleet = Berth(sys.argv[1], sys.argv[2])


def pod(name, cpu, **spec):
    container = {"name": "c", "resources": {"requests": {"cpu": cpu}}}
    return {"metadata": {"name": name, "namespace": "default"},
            "spec": {"containers": [container], **spec}}


def machine(name):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
            "status": {"allocatable": {"cpu": "4", "pods": "10"}}}


urgent = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
          "metadata": {"name": "urgent"}, "value": 1000}
machines = [machine(f"m{i}") for i in range(3)]
state = {"apiVersion": "v1", "kind": "List", "items": machines + [urgent]}
fleet.call("POST", f"/v1/snapshots?cluster={fleet.cluster}", state)

placed = fleet.place(template=pod("web", "3"), count=3, bind=True, atomic=True)

stopped = []  # here a platform stops the process of the victim
train = fleet.preempt(pod("train", "3", priorityClassName="urgent"), stopped.append)

held = fleet.place(pods=[pod("job", "1")], hold="30s")
ended = fleet.call("POST", f"/v1/holds/{held['hold']['id']}/commit", {})

left = next(r["name"] for r in placed["results"] if r["name"] != stopped[0]["name"])
gone = fleet.remove({"kind": "Pod", "namespace": "default", "name": left})

counts = {}
for _, event, data in fleet.follow():
    counts[event] = counts.get(event, 0) + 1
    if event == "revision" and data["revision"] == gone["revision"]:
        break

print(json.dumps({
    "placed": placed["placed"], "stopped": len(stopped), "train": train["outcome"],
    "hold": ended["state"], "removed": len(gone["deleted"]), "decisions": counts["decision"],
    "placements": counts["placement"], "revisions": counts["revision"],
}))
