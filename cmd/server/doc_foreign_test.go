package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// foreign are the verbs of kubectl and helm that documents use, each with the flags that v1.36's
// kubectl and helm 3 have for it there; no cluster is needed to find a wrong one.
var foreign = map[string]map[string]string{
	"kubectl": {
		"apply": "-f -k --dry-run --server-side", "create secret generic": "--from-literal --from-file", "create token": "--audience --duration", "create clusterrolebinding": "--clusterrole --user",
		"wait": "--for --timeout", "rollout status": "--timeout", "rollout undo": "", "port-forward": "--address", "get": "-A -o -l -w --raw", "delete": "-f -k --ignore-not-found",
		"auth can-i": "--as", "logs": "--previous -f", "describe": "", "drain": "--ignore-daemonsets --delete-emptydir-data", "kustomize": "", "krew install": "--manifest", "berth": "*",
		"config get-contexts": "", "patch": "--type -p", "uncordon": "", "exec": "-c", "scale": "--replicas",
	},
	"helm": {"install": "--set -f", "upgrade": "--set -f --reuse-values", "rollback": ""},
}

// everywhere are the flags of all verbs.
var everywhere = []string{"-n", "--namespace", "--context", "--kubeconfig"}

// TestForeignCommands: lines of kubectl and helm in documents have verbs and flags that there are,
// files of the repository, values of the chart, and names of what the manifests make.
func TestForeignCommands(t *testing.T) {
	named, values := manifestNames(t), chartValues(t)
	found := 0
	for page, text := range pages(t) {
		var lines []string
		for _, block := range fenced.FindAllStringSubmatch(text, -1) {
			lines = append(lines, strings.Split(strings.ReplaceAll(block[2], "\\\n", " "), "\n")...)
		}
		for _, s := range span.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			lines = append(lines, s[1])
		}
		for _, line := range lines {
			line, _, _ = strings.Cut(line, " #")
			for _, part := range regexp.MustCompile(`\|\|?|&&?|;|\$\(|\)|>\s*\S+`).Split(line, -1) {
				words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(part), "$ "))
				if len(words) < 2 || foreign[words[0]] == nil || strings.Contains(part, "…") && words[0] == "helm" {
					continue
				}
				found++
				if err := foreignFault(words, named, values); err != nil {
					t.Errorf("%s: %s: %v", page, part, err)
				}
			}
		}
	}
	if found < 40 {
		t.Errorf("only %d lines", found)
	}
	for _, wrong := range []string{
		"kubectl aply -f deploy/base", "kubectl get pods --all", "kubectl apply -k deploy/bass", "helm install berth deploy/chart --set imge.repository=x", "kubectl -n berth rollout status deployment/bert",
	} {
		if foreignFault(strings.Fields(wrong), named, values) == nil {
			t.Errorf("%s passes", wrong)
		}
	}
}

// foreignFault returns what is wrong with a command.
func foreignFault(words []string, named, values map[string]bool) error {
	verbs := foreign[words[0]]
	var plain, flags []string
	inBerth := false
	for i := 1; i < len(words); i++ {
		flag, value, has := strings.Cut(words[i], "=")
		if !strings.HasPrefix(flag, "-") || flag == "-" {
			plain = append(plain, words[i])
			continue
		}
		flags = append(flags, flag)
		if slices.Contains([]string{"-n", "--namespace", "-f", "-k", "-o", "-l", "-p", "-c", "--set", "--audience", "--raw", "--as", "--for"}, flag) && !has && i+1 < len(words) {
			i++
			value = words[i]
		}
		switch {
		case flag == "-n" && value == "berth":
			inBerth = true
		case (flag == "-f" || flag == "-k") && strings.HasPrefix(value, "deploy/"):
			if _, err := os.Stat(filepath.Join("..", "..", value)); err != nil {
				return err
			}
		case flag == "--set":
			for _, set := range strings.Split(value, ",") {
				if key, _, _ := strings.Cut(set, "="); !values[key] {
					return fmt.Errorf("the chart has no value %s", key)
				}
			}
		}
	}
	verb := ""
	for n := min(3, len(plain)); n > 0 && verb == ""; n-- {
		if _, is := verbs[strings.Join(plain[:n], " ")]; is {
			verb = strings.Join(plain[:n], " ")
		}
	}
	if verb == "" {
		return fmt.Errorf("no verb of %s", strings.Join(plain, " "))
	}
	for _, flag := range flags {
		if verbs[verb] != "*" && !slices.Contains(strings.Fields(verbs[verb]), flag) && !slices.Contains(everywhere, flag) {
			return fmt.Errorf("%s has no %s", verb, flag)
		}
	}
	for _, word := range plain {
		if kind, name, is := strings.Cut(word, "/"); is && inBerth && slices.Contains([]string{"deployment", "job", "service"}, kind) && !placeholder.MatchString(name) && !named[kind+"/"+name] {
			return fmt.Errorf("no manifest makes %s", word)
		}
		if strings.HasPrefix(word, "deploy/") {
			if _, err := os.Stat(filepath.Join("..", "..", word)); err != nil {
				return err
			}
		}
	}
	return nil
}

// manifestNames are the objects of the rendered manifests, such as service/berth.
func manifestNames(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "deploy", "rendered", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	out := map[string]bool{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range strings.Split(string(raw), "\n---\n") {
			var o struct {
				Kind     string
				Metadata struct{ Name string }
			}
			if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			out[strings.ToLower(o.Kind)+"/"+o.Metadata.Name] = true
		}
	}
	return out
}

// chartValues are the chart's values, as --set names them.
func chartValues(t *testing.T) map[string]bool {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "deploy", "chart", "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := yaml.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		out[at] = true
		if m, is := v.(map[string]any); is {
			for k := range m {
				walk(strings.TrimPrefix(at+"."+k, "."), m[k])
			}
		}
	}
	walk("", all)
	return out
}
