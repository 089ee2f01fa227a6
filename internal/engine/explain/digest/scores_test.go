package digest_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"berth/internal/engine"
	"berth/internal/engine/explain/digest"
	"berth/internal/engine/rules"
	"berth/test/enginetest"
)

// naiveColumn writes the scores of the feasible nodes, one after the other.
func naiveColumn(r *engine.Result, score func(row int) int64) []byte {
	var scores []int64
	blocks := make([]byte, (r.Nodes().Count()+63)/64*64)
	feasible := make([]bool, len(blocks))
	for at, row := range r.Nodes().Order() {
		if r.Feasible.Has(int(row)) {
			scores = append(scores, score(int(row)))
			blocks[at], feasible[at] = byte(score(int(row))), true
		}
	}
	least, most := slices.Min(scores), slices.Max(scores)
	var b []byte
	switch {
	case least == most:
		return binary.AppendVarint([]byte{'u'}, least)
	case least >= 0 && most <= math.MaxUint8:
		b = []byte{'b'}
		for from := 0; from < len(blocks); from += 64 {
			if slices.Contains(feasible[from:from+64], true) {
				b = append(b, blocks[from:from+64]...)
			}
		}
	case most-least >= 0 && most-least <= math.MaxUint16:
		b = binary.AppendVarint([]byte{'s'}, least)
		for _, score := range scores {
			b = binary.LittleEndian.AppendUint16(b, uint16(score-least))
		}
	default:
		b = []byte{'w'}
		for _, score := range scores {
			b = binary.LittleEndian.AppendUint64(b, uint64(score))
		}
	}
	return b
}

// naivePairs writes scores in the third form.
func naivePairs(r *engine.Result, s *engine.Scores) []byte {
	type pair struct{ raw, norm int64 }
	var list []pair
	var same, indexes []byte
	bytewise := true
	order := r.Nodes().Order()
	for block := range slices.Chunk(order, 64) {
		raws, at := make([]byte, 64), make([]byte, 64)
		some := false
		for i, row := range block {
			if !r.Feasible.Has(int(row)) {
				continue
			}
			some = true
			raw, norm := s.At(int(row))
			bytewise = bytewise && raw == norm && raw >= 0 && raw <= math.MaxUint8
			k := slices.Index(list, pair{raw, norm})
			if k < 0 {
				k, list = len(list), append(list, pair{raw, norm})
			}
			raws[i], at[i] = byte(raw), byte(k)
		}
		if some {
			same, indexes = append(same, raws...), append(indexes, at...)
		}
	}
	hashed := func(list []byte) (out []byte) {
		if len(list) <= 2048 {
			return list
		}
		for block := range slices.Chunk(list, 2048) {
			sum := sha256.Sum256(block)
			out = append(out, sum[:]...)
		}
		return out
	}
	appendPair := func(b []byte, p pair) []byte { return binary.AppendVarint(binary.AppendVarint(b, p.raw), p.norm) }
	switch {
	case len(list) == 1:
		return appendPair([]byte{'u'}, list[0])
	case bytewise:
		return append([]byte{'b'}, hashed(same)...)
	case len(list) > 256:
		return append([]byte{'w'}, hashed(naiveScores(r, s))...)
	}
	b := binary.AppendUvarint([]byte{'d'}, uint64(len(list)))
	for _, p := range list {
		b = appendPair(b, p)
	}
	return append(b, hashed(indexes)...)
}

func naiveScores(r *engine.Result, s *engine.Scores) []byte {
	raw := naiveColumn(r, func(row int) int64 { raw, _ := s.At(row); return raw })
	norm := naiveColumn(r, func(row int) int64 { _, norm := s.At(row); return norm })
	if bytes.Equal(raw, norm) {
		norm = []byte{'='}
	}
	return slices.Concat(raw, norm)
}

// randomScores draws scores of one value and of many, small and large, with anything in rows that
// are not feasible.
func randomScores(r *rand.Rand, res *engine.Result) *engine.Scores {
	n := (res.Nodes().Len() + 63) &^ 63
	values := []func() int64{
		func() int64 { return 7 },
		func() int64 { return r.Int64N(101) },
		func() int64 { return r.Int64N(256) },
		func() int64 { return r.Int64N(300) - 20 },
		func() int64 { return 1000 + r.Int64N(60_000) },
		func() int64 { return 100_000 },
		func() int64 { return int64(r.Uint64()) },
	}
	column := func() []int64 {
		value, out := values[r.IntN(len(values))], make([]int64, n)
		for row := range out {
			if out[row] = int64(r.Uint64()); row < res.Nodes().Len() && res.Feasible.Has(row) {
				out[row] = value()
			}
		}
		return out
	}
	s := &engine.Scores{Raw: column(), Norm: column()}
	switch r.IntN(4) {
	case 0:
		s.Same()
	case 1:
		most := []int64{1, 50, 255, 400}[r.IntN(4)]
		for row := range res.Feasible.All() {
			s.Raw[row] = r.Int64N(most + 1)
		}
		engine.NormalizeByMax(res.Feasible, s, r.IntN(2) == 0)
	}
	return s
}

// TestScoresHaveOneForm compares the encodings of scores, however they are held, with naive ones.
// The nodes are in order of their names and not; all of them are feasible, most, or some.
func TestScoresHaveOneForm(t *testing.T) {
	t.Parallel()
	columns, pairs := map[byte]int{}, map[byte]int{}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 8))
		nodes := 60 + r.IntN(200)
		if seed%10 > 6 {
			nodes += 2000 // more than a block of bytes
		}
		objects := enginetest.Large(enginetest.Size{Nodes: nodes, Pods: 10, Apps: 5})
		if seed%2 == 1 {
			r.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
		}
		q := enginetest.Questions()[0]
		p, err := rules.Build(q.Spec)
		if err != nil {
			t.Fatal(err)
		}
		res, err := engine.Decide(enginetest.Fresh(t, objects...), q.Pod, p, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for row := range res.Nodes().Len() {
			if row > 0 && r.IntN(10) < int(seed%4) {
				res.Feasible.Clear(row)
			}
		}
		rows := digest.InNameOrder(res, res.Feasible)
		for range 20 {
			s := randomScores(r, res)
			want, got := naiveScores(res, s), digest.AppendScores(nil, res, rows, s)
			if !bytes.Equal(want, got) {
				t.Fatalf("seed %d: encoded as %x, want %x", seed, got, want)
			}
			columns[got[0]]++
			want = naivePairs(res, s)
			if got = digest.AppendPairs([]byte("before"), res, rows, s); string(got) != "before"+string(want) {
				t.Fatalf("seed %d: encoded as %x, want %x", seed, got, want)
			}
			pairs[want[0]]++
		}
		res.Release()
	}
	for _, form := range []byte("ubsw") {
		if columns[form] < 100 {
			t.Errorf("form %c was compared only %d times", form, columns[form])
		}
	}
	for _, form := range []byte("ubdw") {
		if pairs[form] < 100 {
			t.Errorf("form %c of pairs was compared only %d times", form, pairs[form])
		}
	}
}
