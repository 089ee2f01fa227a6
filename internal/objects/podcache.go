package objects

// PodCache decodes pods in canonical form.
type PodCache struct{}

// NewPodCache makes one.
func NewPodCache() *PodCache { return &PodCache{} }

// Decode is FromCanonical for pods.
func (c *PodCache) Decode(js []byte) (Object, error) { return FromCanonical("Pod", js) }
