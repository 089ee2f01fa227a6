package handlers

import "berth/internal/jsonscan"

// quickDecision reads the usual request: JSON without spaces around its members, each of which is
// there once and is one that most requests have. ok is false for any other request, which
// decodeStrict reads or refuses. The pod is a part of the body.
func quickDecision(body []byte, b jsonBounds) (req DecisionRequest, ok bool) {
	var s jsonscan.Scanner
	s.Reset(body, jsonscan.Limits{Depth: b.depth, Tokens: b.tokens})
	if s.Skip() != nil {
		return req, false
	}
	end := jsonscan.Members(body, 0, func(key []byte, at int) bool {
		to := jsonscan.ValueEnd(body, at)
		if to <= at {
			return false
		}
		value := body[at:to]
		switch string(key) {
		case "snapshot":
			return quickText(&req.Snapshot, value)
		case "profile":
			return quickText(&req.Profile, value)
		case "explain":
			return quickText(&req.Explain, value)
		case "dryRun":
			return quickFlag(&req.DryRun, value)
		case "bind":
			return quickFlag(&req.Bind, value)
		case "suggest":
			return quickFlag(&req.Suggest, value)
		case "pod":
			if value[0] != '{' || req.Pod != nil {
				return false
			}
			req.Pod = value
			return true
		}
		return false
	})
	return req, end == len(body)
}

// quickText sets a field that is empty to a text of printable ASCII.
func quickText(into *string, value []byte) bool {
	if *into != "" || len(value) < 2 || value[0] != '"' {
		return false
	}
	text := value[1 : len(value)-1]
	for _, c := range text {
		if c < ' ' || c > '~' || c == '\\' {
			return false
		}
	}
	*into = string(text)
	return true
}

// quickFlag sets a field that is not set. What is not true is rare.
func quickFlag(into *bool, value []byte) bool {
	was := *into
	*into = true
	return !was && string(value) == "true"
}
