package object

import (
	"fmt"

	"berth/internal/jsonscan"
)

// pruner copies from one object, whose syntax the scanner has checked, what a
// trie keeps, without white space. What isn't kept is passed over as bytes: it
// is never decoded.
type pruner struct {
	src []byte
	i   int
	out []byte
}

// prune appends to dst what t keeps of src.
func prune(dst, src []byte, t *trie) ([]byte, error) {
	p := pruner{src: src, out: dst}
	err := p.value(t)
	return p.out, err
}

func (p *pruner) space() {
	for p.src[p.i] <= ' ' {
		p.i++
	}
}

func (p *pruner) value(t *trie) error {
	p.space()
	switch c := p.src[p.i]; {
	case (c == '{' || c == '[') && t.whole:
		p.copyRaw()
	case c == '{':
		return p.object(t)
	case c == '[':
		return p.array(t)
	default:
		p.copyScalar()
	}
	return nil
}

func (p *pruner) object(t *trie) error {
	p.i++
	p.out = append(p.out, '{')
	var seen uint64
	for {
		p.space()
		if p.src[p.i] == '}' {
			p.i++
			p.out = append(p.out, '}')
			return nil
		}
		if p.src[p.i] == ',' {
			p.i++
			p.space()
		}
		key := p.key()
		b := t.keys[string(key)]
		p.space()
		p.i++ // the colon
		if b == nil {
			p.skip()
			continue
		}
		if seen&b.bit != 0 {
			return &SyntaxError{Offset: -1, Msg: fmt.Sprintf("duplicate key %q", key)}
		}
		if seen != 0 {
			p.out = append(p.out, ',')
		}
		seen |= b.bit
		p.out = append(p.out, '"')
		p.out = append(p.out, key...) // allow-listed, so it needs no escaping
		p.out = append(p.out, '"', ':')
		if err := p.value(b.node); err != nil {
			return err
		}
	}
}

func (p *pruner) array(t *trie) error {
	p.i++
	p.out = append(p.out, '[')
	for {
		p.space()
		switch p.src[p.i] {
		case ']':
			p.i++
			p.out = append(p.out, ']')
			return nil
		case ',':
			p.i++
			p.out = append(p.out, ',')
		default:
			if err := p.value(t); err != nil {
				return err
			}
		}
	}
}

// key takes a key and returns it unescaped, so that \u006eame is name.
func (p *pruner) key() []byte {
	from := p.i
	p.i = jsonscan.ValueEnd(p.src, from)
	return jsonscan.Unquote(p.src[from:p.i])
}

// skip passes over a value.
func (p *pruner) skip() {
	p.space()
	p.i = jsonscan.ValueEnd(p.src, p.i)
}

// copyScalar copies a string, a number or a word.
func (p *pruner) copyScalar() {
	end := jsonscan.ValueEnd(p.src, p.i)
	p.out = append(p.out, p.src[p.i:end]...)
	p.i = end
}

// copyRaw copies an object or array whole, without its white space.
func (p *pruner) copyRaw() {
	for depth := 0; ; {
		kind, from, to := jsonscan.Token(p.src, p.i)
		p.out = append(p.out, p.src[from:to]...)
		p.i = to
		switch kind {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return
			}
		}
	}
}
