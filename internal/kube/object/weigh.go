package object

import (
	"berth/internal/jsonscan"
)

// What parts of a JSON text take at most once they are decoded into Kubernetes' types or ours, in
// bytes. What growing slices and maps leave behind is in it: that is up to five times an element's
// size.
const (
	weightText    = 3   // of a byte: the text itself, and copies of its strings
	weightToken   = 160 // a string, a number, an entry of a map
	weightObject  = 384 // what a pointer or a map refers to
	weightElement = 512 // an element of a list that is an object
	weightItem    = 256 // any other item of a list, and what validation may have to say of it
)

// weightOf are the elements of lists that are larger than those of others.
var weightOf = map[string]int{
	"containers": 2304, "initContainers": 2304, "ephemeralContainers": 2304, "volumeClaimTemplates": 2560,
	"volumes": 1536, "containerStatuses": 1280, "initContainerStatuses": 1280, "ephemeralContainerStatuses": 1280,
}

// Weight bounds from above what decoding a JSON text takes, in bytes. The text need not be
// well-formed.
func Weight(js []byte) int64 {
	weight, _ := weigh(js)
	return weight
}

// weigh returns the weight, and how many items all lists have together.
func weigh(js []byte) (weight int64, listed int) {
	var inside [256]int // what the elements of the brackets around weigh; weightObject within an object
	inside[0] = weightObject
	depth, sum, key := 0, weightText*len(js), []byte(nil)
	for i := 0; ; {
		kind, from, to := jsonscan.Token(js, i)
		i = to
		switch kind {
		case 0:
			return int64(sum + weightItem*listed), listed
		case '{':
			sum += inside[depth&255]
			depth++
			inside[depth&255] = weightObject
		case '[':
			sum += weightObject
			depth++
			inside[depth&255] = max(weightOf[string(key)], weightElement)
			listed++
		case '}', ']':
			depth = max(depth-1, 0)
		case '"':
			sum += weightToken
			key = js[from+1 : max(from+1, to-1)]
		case ',':
			if inside[depth&255] != weightObject {
				listed++
			}
		case '0': // a number or a word
			sum += weightToken
		}
	}
}
