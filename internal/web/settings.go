package web

import (
	"net/http"
	"strings"

	"berth/internal/overview"
)

// Setting is a setting in force and where it comes from, as server config print shows it.
type Setting struct{ Name, Value, From string }

// settingsView is what the server runs under.
type settingsView struct {
	// Ready is the answer of /readyz, a check a line.
	Ready    []string
	Settings []Setting
	// Changed are the settings that are not the default.
	Changed []Setting
	Classes overview.Classes
}

func loadSettings(v *visit) (string, any, error) {
	view := &settingsView{Settings: v.site.settings}
	for _, s := range view.Settings {
		if s.From != "default" {
			view.Changed = append(view.Changed, s)
		}
	}
	req, err := v.request(http.MethodGet, "/readyz?verbose=true", http.NoBody)
	if err != nil {
		return "", nil, err
	}
	answer := &recorder{header: http.Header{}}
	v.site.api.ServeHTTP(answer, req)
	view.Ready = strings.Split(strings.TrimSpace(answer.body.String()), "\n")
	if v.cluster == "" {
		return "Settings", view, nil
	}
	return "Settings", view, v.get(v.ofCluster([]string{"classes"}, "snapshot"), &view.Classes)
}
