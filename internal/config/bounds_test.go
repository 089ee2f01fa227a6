package config

import (
	"fmt"
	"strings"
	"testing"

	"berth/internal/semantics"
)

func TestBounds(t *testing.T) {
	many := func(n int, item func(i int) string) string {
		list := make([]string, n)
		for i := range list {
			list[i] = item(i)
		}
		return strings.Join(list, ",")
	}
	head := `{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration",`
	for _, c := range []struct{ name, doc, field string }{
		{"profiles", head + `"profiles":[` + many(24_000, func(i int) string { return fmt.Sprintf(`{"schedulerName":"s%d"}`, i) }) + `]}`, "profiles"},
		{"plugins", head + `"profiles":[{"plugins":{"filter":{"enabled":[` + many(60_000, func(i int) string { return fmt.Sprintf(`{"name":"X%d"}`, i) }) + `]}}}]}`, "profiles[0].plugins.filter.enabled"},
		{"disabled", head + `"profiles":[{"plugins":{"multiPoint":{"disabled":[` + many(60_000, func(i int) string { return fmt.Sprintf(`{"name":"X%d"}`, i) }) + `]}}}]}`, "profiles[0].plugins.multiPoint.disabled"},
		{"pluginConfig", head + `"profiles":[{"pluginConfig":[` + many(30_000, func(i int) string { return fmt.Sprintf(`{"name":"X%d"}`, i) }) + `]}]}`, "profiles[0].pluginConfig"},
		{"a long name", head + `"profiles":[{"schedulerName":"` + strings.Repeat("s", 1<<20) + `"}]}`, "profiles[0].schedulerName"},
		{"extenders", head + `"extenders":[` + many(1000, func(i int) string { return `{"urlPrefix":"http://x"}` }) + `]}`, "extenders"},
	} {
		_, _, err := Parse([]byte(c.doc), semantics.Default())
		if err == nil || !strings.Contains(err.Error(), c.field) {
			t.Errorf("%s: %.300v", c.name, err)
		} else if len(err.Error()) > 4<<10 {
			t.Errorf("%s: the error has %d bytes", c.name, len(err.Error()))
		}
	}
}

func TestProblemsAreBounded(t *testing.T) {
	var list []string
	for i := range 190 {
		list = append(list, fmt.Sprintf(`{"name":"X%d"}`, i))
	}
	_, _, err := Parse([]byte(`{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[{"plugins":{"filter":{"enabled":[`+strings.Join(list, ",")+`]}}}]}`), semantics.Default())
	if err == nil || strings.Contains(err.Error(), "X150") || !strings.Contains(err.Error(), "more") {
		t.Errorf("%.600v", err)
	}
}
