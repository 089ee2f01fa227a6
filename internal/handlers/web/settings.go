package web

import (
	"net/http"
	"strings"

	"berth/internal/access"
	"berth/internal/apiclient"
	"berth/internal/report"
)

// Setting is a setting in force and where it comes from, as server config print shows it.
type Setting struct{ Name, Value, From string }

// settingsView is what the server runs under.
type settingsView struct {
	// Ready is the answer of /readyz, a check a line.
	Ready    []string
	Settings []Setting
	// Kept reports that the settings are not shown: the caller is no admin of all clusters.
	Kept bool
	// Changed are the settings that are not the default.
	Changed []Setting
	Classes report.Classes
}

func loadSettings(v *visit) (string, any, error) {
	view := &settingsView{Settings: v.site.settings}
	if who := access.From(v.r.Context()); who == nil || !who.Grants.May(access.Administer, "", "") {
		view.Settings, view.Kept = nil, true
	}
	for _, s := range view.Settings {
		if s.From != "default" {
			view.Changed = append(view.Changed, s)
		}
	}
	req, err := v.request(http.MethodGet, "/readyz?verbose=true", http.NoBody)
	if err != nil {
		return "", nil, err
	}
	answer := apiclient.NewRecorder()
	v.site.api.ServeHTTP(answer, req)
	view.Ready = strings.Split(strings.TrimSpace(answer.Body.String()), "\n")
	if v.cluster == "" {
		return "Settings", view, nil
	}
	err = v.get(v.ofCluster([]string{"classes"}, "snapshot"), &view.Classes)
	if forbids(err) { // classes count pods of all namespaces
		err = nil
	}
	return "Settings", view, err
}
