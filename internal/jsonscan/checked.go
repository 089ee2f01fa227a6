package jsonscan

// Token returns the kind of the token at or after an index and its bytes: a bracket, a comma or a
// colon is its own kind, a string is '"', a number or a word is '0'; 0 at the end. Nothing is
// checked: a string that does not end goes to the end of the text.
func Token(js []byte, i int) (kind byte, from, to int) {
	for i < len(js) && (js[i] == ' ' || js[i] == '\n' || js[i] == '\t' || js[i] == '\r') {
		i++
	}
	if i >= len(js) {
		return 0, i, i
	}
	switch c := js[i]; c {
	case '{', '}', '[', ']', ',', ':':
		return c, i, i + 1
	case '"':
		end := stringEnd(js, i)
		if end < 0 {
			end = len(js)
		}
		return c, i, end
	}
	return '0', i, scalarEnd(js, i)
}

// scalarEnd returns the index behind a number or a word.
func scalarEnd(js []byte, i int) int {
	for i++; i < len(js); i++ {
		switch js[i] {
		case ' ', '\n', '\t', '\r', ',', ':', '{', '}', '[', ']', '"':
			return i
		}
	}
	return i
}

// Members calls f for the members of the object at an index, each with its key and where its value
// begins, and returns the index behind the object; -1 where f returns false or the JSON has spaces
// or damage.
func Members(js []byte, at int, f func(key []byte, at int) bool) int {
	if at >= len(js) || js[at] != '{' {
		return -1
	}
	at++
	for at < len(js) && js[at] == '"' {
		end := stringEnd(js, at)
		if end < 0 || end+1 >= len(js) || js[end] != ':' {
			return -1
		}
		value := end + 1
		if !f(js[at+1:end-1], value) {
			return -1
		}
		if at = ValueEnd(js, value); at < 0 || at >= len(js) {
			return -1
		}
		if js[at] == ',' {
			at++
		}
	}
	if at < len(js) && js[at] == '}' {
		return at + 1
	}
	return -1
}

// Member returns the value of a member of an object that has no spaces; nil where there is none.
func Member(js []byte, name string) (value []byte) {
	Members(js, 0, func(key []byte, at int) bool {
		if string(key) != name {
			return true
		}
		if end := ValueEnd(js, at); end >= 0 {
			value = js[at:end]
		}
		return false
	})
	return value
}

// ValueEnd returns the index behind the JSON value that begins at an index; -1 if the value does
// not end. Its content is not checked.
func ValueEnd(js []byte, at int) int {
	if at >= len(js) {
		return -1
	}
	switch js[at] {
	case '"':
		return stringEnd(js, at)
	case '{', '[':
	default:
		for at < len(js) && js[at] > ' ' && js[at] != ',' && js[at] != '}' && js[at] != ']' {
			at++
		}
		return at
	}
	depth := 0
	for at < len(js) {
		switch js[at] {
		case '"':
			if at = stringEnd(js, at); at < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return at + 1
			}
		}
		at++
	}
	return -1
}

// stringEnd returns the index behind the string that begins at an index; -1 if it does not end.
func stringEnd(js []byte, at int) int {
	for i := PlainEnd(js, at+1); i < len(js); i = PlainEnd(js, i) {
		switch js[i] {
		case '"':
			return i + 1
		case '\\':
			i += 2
		default:
			i++ // a control character: what is not checked may hold one
		}
	}
	return -1
}
