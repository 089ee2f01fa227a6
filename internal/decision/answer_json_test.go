package decision

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"berth/internal/engine"
)

// fill sets a value at random: members are often left empty, and lists short.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		at := time.Unix(r.Int64N(4e9), r.Int64N(1e9))
		if v.Set(reflect.ValueOf(at.UTC())); r.IntN(3) == 0 {
			v.Set(reflect.ValueOf(at.In(time.FixedZone("x", 3600*r.IntN(5)))))
		}
		return
	}
	if r.IntN(4) == 0 || depth > 6 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		texts := []string{"node-1", "a \"quoted\" \\ text\n", "<extended-resources> & more", "größe\u2028", "\xff bad"}
		v.SetString(texts[r.IntN(len(texts))])
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(r.Int64N(2000) - 1000)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(r, v.Elem(), depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(4), 4))
		for i := range v.Len() {
			fill(r, v.Index(i), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(r, v.Field(i), depth+1)
			}
		}
	}
}

// TestAnswerJSON fails when a member of an answer is forgotten, or written in another order.
func TestAnswerJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		var a Answer
		fill(r, reflect.ValueOf(&a).Elem(), 0)
		want, err := json.Marshal(&a)
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Fatalf("the answer is\n%s\nwant\n%s", got, want)
		}
	}
}

// BenchmarkAnswerJSON is the answer of a bind.
func BenchmarkAnswerJSON(b *testing.B) {
	a := Answer{ID: "x", Cluster: "prod", Decision: engine.Decision{Outcome: engine.Scheduled, Message: "fits"}}
	for range 10 {
		v := engine.NodeVerdict{Name: "node-00001", Feasible: true, Score: new(int64(3))}
		for range 8 {
			v.Scores = append(v.Scores, engine.PluginScore{Plugin: "NodeResourcesFit", Raw: 17, Normalized: 17, Weight: 1, Weighted: 17})
		}
		a.Nodes = append(a.Nodes, v)
	}
	b.Run("own", func(b *testing.B) {
		var buf []byte
		for b.Loop() {
			buf, _ = a.AppendJSON(buf[:0])
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		for b.Loop() {
			_, _ = json.Marshal(&a)
		}
	})
}
