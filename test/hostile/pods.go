package main

import (
	"fmt"
	"strings"
)

// items writes n items of a JSON list or map; %d is an item's number.
func items(n int, format string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		if strings.Contains(format, "%d") {
			fmt.Fprintf(&b, strings.ReplaceAll(format, "%d", "%[1]d"), i)
		} else {
			b.WriteString(format)
		}
	}
	return b.String()
}

// podWith is a pod with more in its metadata, spec and status.
func podWith(meta, spec, status string) string {
	return `{"metadata":{"name":"p","namespace":"d","uid":"u"` + meta + `},"spec":{"containers":[{"name":"c"}]` + spec + `},"status":{` + status + `}}`
}

func nodeAffinity(terms string) string {
	return podWith("", `,"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[`+terms+`]}}}`, "")
}

// preferred is a pod that prefers nodes without a label of these values, one list a term.
func preferred(lists []string) string {
	var terms []string
	for _, values := range lists {
		terms = append(terms, `{"weight":1,"preference":{"matchExpressions":[{"key":"x","operator":"NotIn","values":[`+values+`]}]}}`)
	}
	return podWith("", `,"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[`+strings.Join(terms, ",")+`]}}`, "")
}

// ask puts a pod to all that take one, several times at once.
func ask(pod func() string) func(a *attack) {
	return func(a *attack) {
		p := pod()
		decide := `{"snapshot":"good@latest","dryRun":true,"explain":"full","pod":` + p + `}`
		call := `{"Pod":` + p + `,"Nodes":null,"NodeNames":["n0","n1"]}`
		a.times(24, func(i int) {
			switch i % 4 {
			case 0:
				a.send("POST", "/clusters/good/shadow/prioritize", call)
			case 1:
				a.send("POST", "/v1/pods/admission", `{"pod":`+p+`}`)
			default:
				a.send("POST", "/v1/decisions", decide)
			}
		})
	}
}

// pods have one list each that is as long as a body lets it be.
var pods = []vector{
	{"pod: labels", ask(func() string { return podWith(`,"labels":{`+items(70_000, `"k%d":"v"`)+`}`, "", "") })},
	{"pod: annotations", ask(func() string { return podWith(`,"annotations":{`+items(70_000, `"k%d":"v"`)+`}`, "", "") })},
	{"pod: owners", ask(func() string { return podWith(`,"ownerReferences":[`+items(250_000, `{}`)+`]`, "", "") })},
	{"pod: finalizers", ask(func() string { return podWith(`,"finalizers":[`+items(250_000, `"a/b"`)+`]`, "", "") })},
	{"pod: tolerations", ask(func() string { return podWith("", `,"tolerations":[`+items(250_000, `{}`)+`]`, "") })},
	{"pod: node affinity terms", ask(func() string { return nodeAffinity(items(90_000, `{"matchExpressions":[{}]}`)) })},
	{"pod: expressions", ask(func() string { return nodeAffinity(`{"matchExpressions":[` + items(250_000, `{}`) + `]}`) })},
	{"pod: values", ask(func() string {
		return nodeAffinity(`{"matchExpressions":[{"key":"a","operator":"In","values":[` + items(250_000, `"%d"`) + `]}]}`)
	})},
	{"pod: values that labels cannot have", ask(func() string {
		return preferred([]string{items(4900, `"`+random(200, 0)+`-%d"`)})
	})},
	{"pod: volumes", ask(func() string { return podWith("", `,"volumes":[`+items(250_000, `{}`)+`]`, "") })},
	{"pod: made claims", ask(func() string {
		return podWith("", `,"volumes":[`+items(40_000, `{"ephemeral":{"volumeClaimTemplate":{"spec":{}}}}`)+`]`, "")
	})},
	{"pod: init containers", ask(func() string { return podWith("", `,"initContainers":[`+items(250_000, `{}`)+`]`, "") })},
	{"pod: ports", ask(func() string { return podWith("", `,"initContainers":[{"ports":[`+items(250_000, `{}`)+`]}]`, "") })},
	{"pod: resource names", ask(func() string { return podWith("", `,"overhead":{`+items(100_000, `"a.b/%d":1`)+`}`, "") })},
	{"pod: resource claims", ask(func() string { return podWith("", `,"resourceClaims":[`+items(250_000, `{}`)+`]`, "") })},
	{"pod: matchLabelKeys", ask(func() string {
		return podWith("", `,"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"a","whenUnsatisfiable":"DoNotSchedule","labelSelector":{},"matchLabelKeys":[`+items(250_000, `"%d"`)+`]}]`, "")
	})},
	{"pod: spread constraints", ask(func() string {
		return podWith("", `,"topologySpreadConstraints":[`+items(140_000, `{"labelSelector":{}}`)+`]`, "")
	})},
	{"pod: pod affinity terms", ask(func() string {
		return podWith("", `,"affinity":{"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[`+items(60_000, `{"podAffinityTerm":{"labelSelector":{}}}`)+`]}}`, "")
	})},
	{"pod: gates", ask(func() string { return podWith("", `,"schedulingGates":[`+items(250_000, `{}`)+`]`, "") })},
	{"pod: conditions and statuses", ask(func() string {
		return podWith("", "", `"conditions":[`+items(120_000, `{}`)+`],"containerStatuses":[`+items(120_000, `{}`)+`]`)
	})},
	{"upload: containers of two bytes, gzip", func(a *attack) {
		body := zip(list([]string{items(20, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p%d"},"spec":{"containers":[`+items(1_300_000, `{}`)+`]}}`)}))
		a.times(2, func(i int) {
			a.send("POST", fmt.Sprintf("/v1/snapshots?cluster=thick%d", i), body, "Content-Encoding", "gzip")
		})
	}},
	{"upload: images, taints, conditions of nodes", func(a *attack) {
		node := func(spec, status string) string {
			return `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n%d"},"spec":{` + spec + `},"status":{` + status + `}}`
		}
		for i, one := range []string{
			node("", `"images":[`+items(1_000_000, `{}`)+`]`), node(`"taints":[`+items(1_000_000, `{}`)+`]`, ""), node("", `"conditions":[`+items(1_000_000, `{}`)+`]`),
		} {
			a.send("POST", fmt.Sprintf("/v1/snapshots?cluster=node%d", i), list([]string{items(8, one)}))
		}
	}},
	{"upload: YAML of 40 MiB in one document", func(a *attack) {
		body := "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  volumes:\n" + strings.Repeat("  - {}\n", 40<<20/7)
		a.times(2, func(i int) {
			a.send("POST", fmt.Sprintf("/v1/snapshots?cluster=yaml%d", i), body, "Content-Type", "application/yaml")
		})
	}},
	{"upload: zeros in gzip, many members", func(a *attack) {
		zeros := zip(strings.Repeat(" ", 60<<20))
		a.times(4, func(i int) {
			a.send("POST", fmt.Sprintf("/v1/snapshots?cluster=zeros%d", i), strings.Repeat(zeros, 20), "Content-Encoding", "gzip")
		})
	}},
}
