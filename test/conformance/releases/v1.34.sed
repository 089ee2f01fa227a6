# Of structured/internal/experimental/pools_experimental.go: see v1.35.sed. v1.34 keeps slices with
# binding conditions behind others, and pools that have one.
/^	"fmt"$/a\
	"sort"
/^	pools := make(map\[PoolID\]\*Pool)$/i\
	slices = append([]*resourceapi.ResourceSlice(nil), slices...)\
	sort.Slice(slices, func(i, j int) bool { return slices[i].Name < slices[j].Name })
/^	if len(resultWithBindingConditions) != 0 {$/i\
	for _, list := range [][]*Pool{result, resultWithBindingConditions} {\
		sort.Slice(list, func(i, j int) bool { return list[i].PoolID.String() < list[j].PoolID.String() })\
	}
