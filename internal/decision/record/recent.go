package record

import lru "github.com/hashicorp/golang-lru/v2"

// maxRecent bounds the pods whose last answers are remembered.
const maxRecent = 8192

// podUID identifies a pod. Several pods may have had one name, one after the other.
type podUID struct{ cluster, uid string }

// recent remembers the last value of each pod. What it drops is read from the records.
type recent[V any] struct{ *lru.Cache[podUID, V] }

func newRecent[V any](pods int) recent[V] {
	c, err := lru.New[podUID, V](pods)
	if err != nil {
		panic(err) // of a size below one
	}
	return recent[V]{c}
}

func (r recent[V]) note(k podUID, v V) {
	if k.uid != "" {
		r.Add(k, v)
	}
}
