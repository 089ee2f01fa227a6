package words

import (
	"net/url"
	"strings"
)

// hidden stands where something may be a secret.
const hidden = "xxxxx"

// Address writes a URL without what in it may be a secret: the user, who may be a token, the
// password, the query and what stands behind a #. Of a text in which the end of a password is not
// known it leaves the scheme.
func Address(text string) string {
	scheme, rest, is := strings.Cut(text, "://")
	if !is {
		if strings.ContainsAny(text, "@?") {
			return hidden
		}
		return text
	}
	u, err := url.Parse(text)
	if strings.Contains(rest, "@") && (err != nil || strings.ContainsAny(u.Path+u.Fragment+u.Host, "@") || strings.Count(rest, "@") > 1) || err != nil && strings.Contains(rest, "?") {
		return scheme + "://" + hidden
	}
	if err != nil || u.Host == "" || u.User == nil && u.RawQuery == "" && u.Fragment == "" {
		return text
	}
	if u.User != nil {
		u.User = url.User(hidden)
	}
	if u.RawQuery != "" {
		u.RawQuery = hidden
	}
	u.Fragment = ""
	return u.String()
}
