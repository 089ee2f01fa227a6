package web

import (
	"bytes"
	"unicode"
)

// plain replaces in a page what a terminal would act on and what turns the direction of text, as
// the command line does: control and format characters, which names and messages of a cluster may
// hold. What a form's field holds is sent again as it is.
func plain(page []byte) []byte {
	if bytes.IndexFunc(page, turns) < 0 {
		return page
	}
	out := make([]byte, 0, len(page))
	for len(page) > 0 {
		text, field := page, []byte(nil)
		if at := bytes.Index(page, []byte("<textarea")); at >= 0 {
			text, field = page[:at], page[at:]
			if end := bytes.Index(field, []byte("</textarea>")); end >= 0 {
				field = field[:end]
			}
		}
		page = page[len(text)+len(field):]
		out = append(append(out, bytes.Map(func(r rune) rune {
			if turns(r) {
				return '?'
			}
			return r
		}, text)...), field...)
	}
	return out
}

func turns(r rune) bool {
	if r >= ' ' && r < 0x7f || r == '\n' || r == '\t' || r == '\r' {
		return false
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}
