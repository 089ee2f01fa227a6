# Of structured/internal/incubating/pools_incubating.go: lets upstream's allocator go over pools and
# their slices in order. It goes over them as a map does, so that of several choices any may be its
# answer, and the one in order is one of these.
/^	"fmt"$/i\
	"sort"
/^	return result, nil$/i\
	sort.Slice(result, func(i, j int) bool { return result[i].PoolID.String() < result[j].PoolID.String() })\
	for _, p := range result {\
		sort.Slice(p.DeviceSlicesTargetingNode, func(i, j int) bool { return p.DeviceSlicesTargetingNode[i].Name < p.DeviceSlicesTargetingNode[j].Name })\
	}
