package rules

import (
	"strings"

	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/semantics"
)

// The sizes between which an image counts: below 23 MiB a container it adds nothing, above 1000 MiB
// nothing more.
const (
	minImageBytes = 23 << 20
	maxImageBytes = 1000 << 20
)

// ImageLocality prefers nodes that hold the pod's images already. Larger images count more, and so
// do images that more nodes hold (plugins/imagelocality).
type ImageLocality struct {
	volumesScore, volumesRaiseTop bool
}

var (
	_ engine.Scorer[engine.NoState] = ImageLocality{}
	_ engine.Local                  = ImageLocality{}
)

// imageLocalityDescriptor is the rule's entry in the registry.
var imageLocalityDescriptor = Descriptor{
	Plugin: "ImageLocality", Phases: []string{phaseScore}, Weight: 1,
	Judges: "How much of the pod's images the node has already, scaled by how many nodes have them.", Upstream: "imagelocality/image_locality.go",
	build: func(_ *Args, r *semantics.Release) (*engine.Plugin, error) {
		return engine.Adapt[engine.NoState](ImageLocality{r.ImageVolumesScore, r.ImageVolumesRaiseTop}), nil
	},
}

// Name is the plugin's name.
func (ImageLocality) Name() string { return "ImageLocality" }

// Locality returns NodesOnly: the score depends on the images of nodes and on how many nodes hold
// one.
func (ImageLocality) Locality(_ *engine.Query) engine.Locality { return engine.NodesOnly }

// Score adds up image sizes, scaled by the share of nodes that have them.
func (l ImageLocality) Score(q *engine.Query, _ engine.NoState, feasible state.Bits, out *engine.Scores) error {
	type held struct {
		rows  []int32
		scale int64
	}
	spec := &q.Pod.Spec
	var images []held
	add := func(name string) {
		rows, size := q.Nodes.Image(normalizedImage(name))
		if rows == nil {
			return
		}
		spread := float64(len(rows)) / float64(q.Nodes.Count())
		images = append(images, held{rows, int64(float64(size) * spread)})
	}
	for i := range spec.InitContainers {
		add(spec.InitContainers[i].Image)
	}
	for i := range spec.Containers {
		add(spec.Containers[i].Image)
	}
	counted := len(spec.InitContainers) + len(spec.Containers)
	for i := range spec.Volumes {
		im := spec.Volumes[i].Image
		if im == nil {
			continue
		}
		if l.volumesScore {
			add(im.Reference)
		}
		if l.volumesRaiseTop {
			counted++
		}
	}
	most := int64(maxImageBytes) * int64(counted)
	points := func(sum int64) int64 {
		if sum < minImageBytes {
			sum = minImageBytes
		} else if sum > most {
			sum = most
		}
		return engine.MaxScore * (sum - minImageBytes) / (most - minImageBytes)
	}
	if len(images) == 0 {
		n := points(0)
		out.Uniform(n, n)
		return nil
	}
	clear(out.Raw)
	for k := range images {
		for _, row := range images[k].rows {
			out.Raw[row] += images[k].scale
		}
	}
	for row := range feasible.All() {
		if sum := out.Raw[row]; sum != 0 { // few nodes hold an image, and the others get 0
			out.Raw[row] = points(sum)
		}
	}
	out.Same()
	return nil
}

// normalizedImage appends the tag latest to an image without a tag.
func normalizedImage(name string) string {
	if strings.LastIndex(name, ":") <= strings.LastIndex(name, "/") {
		return name + ":latest"
	}
	return name
}
