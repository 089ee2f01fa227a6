package play

import (
	"fmt"
	"strings"

	"berth/test/conformance/oracle"
)

// complete makes objects that a client could post from those that a test builds: it names what is
// nameless, distinguishes what has one name, and fills in what an API server requires and the
// plugin doesn't read. It returns the number of nodes.
func (q *question) complete(pod tree, list []tree) int {
	// Where containers are scored, one more makes another pod.
	bare := q.phase == scoring && countsContainers[q.calls[0].Plugin]
	if text(meta(pod), "name") == "" {
		meta(pod)["name"] = "incoming"
	}
	if text(meta(pod), "uid") == "" {
		meta(pod)["uid"] = "uid-incoming"
	}
	podSpec(pod, bare)
	namespaces(pod)
	references(pod)
	nodes := 0
	taken := map[oracle.Key]bool{keyOf(pod): true}
	uids := map[string]bool{text(meta(pod), "uid"): true}
	for i, o := range list {
		m := meta(o)
		namespaces(o)
		references(o)
		switch o["kind"] {
		case "Namespace":
			m["name"] = label(text(m, "name"))
		case "Node", "CSINode":
			if o["kind"] == "Node" {
				nodes++
			}
			m["name"] = nameOf(text(m, "name"))
		case "Pod":
			if text(m, "name") == "" {
				m["name"] = fmt.Sprintf("pod-%d", i)
			}
			podSpec(o, bare)
			for taken[keyOf(o)] {
				m["name"] = text(m, "name") + "-again"
			}
			taken[keyOf(o)] = true
			if uids[text(m, "uid")] {
				m["uid"] = fmt.Sprintf("uid-%d", i)
			}
			uids[text(m, "uid")] = true
			if spec, ok := o["spec"].(tree); ok {
				spec["nodeName"] = nameOf(text(spec, "nodeName"))
			}
		default:
			if text(m, "name") == "" {
				m["name"] = fmt.Sprintf("object-%d", i)
			}
			m["name"] = nameOf(text(m, "name"))
			if o["kind"] == "StorageClass" && text(o, "provisioner") == "" {
				o["provisioner"] = "kubernetes.io/no-provisioner" // the same to the scheduler as none
			}
		}
	}
	return nodes
}

// nameOf is the name of a node in the request: upstream's tests use names that no node may have,
// and none.
func nameOf(node string) string {
	if node == "" {
		return "node"
	}
	return unnameable.Replace(strings.ToLower(node))
}

var unnameable = strings.NewReplacer("_", "-", "/", "-")

// label makes a name one that a namespace may have.
func label(name string) string { return strings.ReplaceAll(nameOf(name), ".", "-") }

// namespaces renames the namespaces that an object and the affinities in it name.
func namespaces(v any) {
	switch t := v.(type) {
	case []any:
		for _, e := range t {
			namespaces(e)
		}
	case tree:
		for k, e := range t {
			switch list, ok := e.([]any); {
			case k == "namespace" && e != "":
				if s, ok := e.(string); ok {
					t[k] = label(s)
				}
			case k == "namespaces" && ok:
				for i := range list {
					if s, ok := list[i].(string); ok {
						list[i] = label(s)
					}
				}
			default:
				namespaces(e)
			}
		}
	}
}

// named are the fields that name other objects.
var named = map[string]bool{"claimName": true, "volumeName": true, "storageClassName": true, "resourceClaimName": true, "nodeName": true}

// references renames what an object's fields name, as the objects are renamed,
// and gives volumes names.
func references(v any) {
	switch t := v.(type) {
	case []any:
		for _, e := range t {
			references(e)
		}
	case tree:
		for k, e := range t {
			s, isText := e.(string)
			ref, isRef := e.(tree)
			list, isList := e.([]any)
			switch {
			case named[k] && isText && s != "":
				t[k] = nameOf(s)
			case k == "claimRef" && isRef:
				ref["name"] = nameOf(text(ref, "name"))
			case k == "volumes" && isList:
				for i, v := range list {
					if v, ok := v.(tree); ok {
						if cm, ok := v["configMap"].(tree); ok && text(cm, "name") == "" {
							cm["name"] = "config"
						}
						if s, ok := v["secret"].(tree); ok && text(s, "secretName") == "" {
							s["secretName"] = "secret"
						}
						if _, ephemeral := v["ephemeral"]; ephemeral && text(v, "name") != "" {
							v["name"] = label(text(v, "name")) // part of its claim's name
						} else {
							v["name"] = fmt.Sprintf("v%d", i)
						}
						references(v)
					}
				}
			default:
				references(e)
			}
		}
	}
}

// limited adds to a container limits for what may not be overcommitted, as an API
// server requests; the scheduler reads requests.
func limited(container tree) {
	resources, _ := container["resources"].(tree)
	requests, _ := resources["requests"].(tree)
	for name, n := range requests {
		if !strings.Contains(name, "/") && !strings.HasPrefix(name, "hugepages-") {
			continue
		}
		limits, ok := resources["limits"].(tree)
		if !ok {
			limits = tree{}
			resources["limits"] = limits
		}
		if limits[name] == nil {
			limits[name] = n
		}
	}
}

// countsContainers are the plugins whose scores count containers.
var countsContainers = map[string]bool{"NodeResourcesFit": true, "NodeResourcesBalancedAllocation": true, "ImageLocality": true}

// podSpec completes containers, ports and the names of nodes in a pod; bare ones
// stay without containers.
func podSpec(pod tree, bare bool) {
	m := meta(pod)
	m["name"] = strings.ReplaceAll(strings.ToLower(text(m, "name")), "_", "-")
	spec, ok := pod["spec"].(tree)
	if !ok {
		spec = tree{}
		pod["spec"] = spec
	}
	containers, _ := spec["containers"].([]any)
	if len(containers) == 0 && !bare {
		spec["containers"] = []any{tree{"name": "c", "image": "none"}}
	}
	used := map[string]bool{}
	for _, field := range []string{"containers", "initContainers"} {
		list, _ := spec[field].([]any)
		for i, c := range list {
			c, ok := c.(tree)
			if !ok {
				continue
			}
			if name := text(c, "name"); name == "" || used[name] {
				c["name"] = fmt.Sprintf("%.1s%d", field, i)
			}
			used[text(c, "name")] = true
			if text(c, "image") == "" {
				c["image"] = "none"
			}
			limited(c)
			ports, _ := c["ports"].([]any)
			for _, p := range ports {
				if p, ok := p.(tree); ok && (p["containerPort"] == nil || p["containerPort"] == 0.0) {
					p["containerPort"] = p["hostPort"]
				}
			}
		}
	}
	if status, ok := pod["status"].(tree); ok && text(status, "nominatedNodeName") != "" {
		status["nominatedNodeName"] = nameOf(text(status, "nominatedNodeName"))
	}
	nodeFields(spec["affinity"])
}

// nodeFields renames the nodes that an affinity names.
func nodeFields(v any) {
	switch t := v.(type) {
	case []any:
		for _, e := range t {
			nodeFields(e)
		}
	case tree:
		for k, e := range t {
			fields, ok := e.([]any)
			if k != "matchFields" || !ok {
				nodeFields(e)
				continue
			}
			for _, f := range fields {
				f, _ := f.(tree)
				values, _ := f["values"].([]any)
				for i := range values {
					if s, ok := values[i].(string); ok && s != "" {
						values[i] = nameOf(s)
					}
				}
			}
		}
	}
}
