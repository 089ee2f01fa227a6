package kubeobj

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
	bytes, _ := weigh(js)
	return bytes
}

// weigh returns the weight, and how many items all lists have together.
func weigh(js []byte) (bytes int64, listed int) {
	var inside [256]int // what the elements of the brackets around weigh; weightObject within an object
	inside[0] = weightObject
	depth, sum, key := 0, weightText*len(js), []byte(nil)
	for i := 0; i < len(js); i++ {
		switch c := js[i]; c {
		case '{':
			sum += inside[depth&255]
			depth++
			inside[depth&255] = weightObject
		case '[':
			sum += weightObject
			depth++
			w := weightOf[string(key)]
			inside[depth&255] = max(w, weightElement)
			listed++
		case '}', ']':
			depth = max(depth-1, 0)
		case '"':
			sum += weightToken
			from := i + 1
			for i++; i < len(js) && js[i] != '"'; i++ {
				if js[i] == '\\' {
					i++
				}
			}
			key = js[from:min(i, len(js))]
		case ',':
			if inside[depth&255] != weightObject {
				listed++
			}
		case ':', ' ', '\t', '\r', '\n':
		default: // a number or a word: its first byte counts
			if last := js[max(i-1, 0)]; last == ',' || last == ':' || last == '[' || last <= ' ' {
				sum += weightToken
			}
		}
	}
	return int64(sum + weightItem*listed), listed
}
