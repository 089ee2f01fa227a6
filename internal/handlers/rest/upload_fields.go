package rest

import (
	"fmt"
	"net/http"
	"regexp"

	"berth/internal/kube/object"
)

// maxUploadFields bounds the different unknown fields that an upload's answer counts by name; the
// others are counted together.
const maxUploadFields = 100

// uploadFields describes what becomes of the unknown fields of an upload, and counts them.
type uploadFields struct {
	posted
	counts map[string]int
}

// uploadFields begins an upload. Dumps come from clusters of other versions, so that Ignore is the
// default.
func (a *API) uploadFields(r *http.Request) (*uploadFields, error) {
	mode, err := fieldMode(r, fieldsIgnore)
	return &uploadFields{posted: posted{mode: mode}, counts: map[string]int{}}, err
}

var itemIndex = regexp.MustCompile(`\[\d+\]`)

// judge is object.Limits.Fields.
func (u *uploadFields) judge(kind, path string, list []object.UnknownField, total int) error {
	if u.mode == fieldsStrict {
		return u.refusal(path, list, total)
	}
	for _, f := range list {
		name := kind + "." + itemIndex.ReplaceAllString(f.Path, "[]")
		if _, there := u.counts[name]; !there && len(u.counts) >= maxUploadFields {
			name = "other"
		}
		u.counts[name]++
		if u.mode == fieldsWarn && len(u.warnings) < maxUploadFields {
			u.warnings = append(u.warnings, fmt.Sprintf("%s.%s: %s", path, f.Path, f.Message()))
		}
	}
	if n := total - len(list); n > 0 {
		u.counts["other"] += n
	}
	return nil
}
