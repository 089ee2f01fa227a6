// selectors prints what the CEL library of a release makes of selectors of devices: whether they
// compile, what they answer on devices, their errors word for word, and what they cost:
//
//	go run ./cmd/selectors >../../internal/engine/devices/testdata/selectors-v1.36.json
//	go run -modfile releases/v1.37.mod -tags v1_37 ./cmd/selectors >…/selectors-v1.37.json
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

// Case is an expression with what became of it.
type Case struct {
	Expression string `json:"expression"`
	// Refused is why it does not compile.
	Refused string   `json:"refused,omitempty"`
	On      []Answer `json:"on,omitempty"`
}

// Answer is what an expression says of a device.
type Answer struct {
	Matches bool   `json:"matches,omitempty"`
	Error   string `json:"error,omitempty"`
	Cost    uint64 `json:"cost"`
}

// File has the devices, as their drivers describe them, and the expressions.
type File struct {
	Devices []resourcev1.Device `json:"devices"`
	Cases   []Case              `json:"cases"`
}

const driver = "gpu.example.com"

func devices() []resourcev1.Device {
	attributes := map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
		"model": {StringValue: new("a100-sxm4")}, "cores": {IntValue: new(int64(108))},
		"shared": {BoolValue: new(true)}, "version": {VersionValue: new("1.12.3")},
		"other.example.com/model": {StringValue: new("ü-" + strings.Repeat("long", 15))},
	}
	return []resourcev1.Device{
		{Name: "whole", Attributes: attributes, Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{
			"memory": {Value: resource.MustParse("40Gi")}, "other.example.com/lanes": {Value: resource.MustParse("16")},
		}, AllowMultipleAllocations: new(true)},
		{Name: "bare"},
		{Name: "list", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"model": {StringValues: []string{"a100-sxm4", "b"}},
		}},
	}
}

// written are expressions that touch each part of the libraries.
var written = []string{
	`true`, `1 == 1`, `1`, `"a"`, `null`, `dyn(1)`, `dyn(true)`, `[1]`, `{}`, ``, ` `, `(`, `true &&`, `device`, `unknown`, `device.nope`,
	`device.attributes`, `device.driver`, `device.driver == "gpu.example.com"`, `device.allowMultipleAllocations`,
	`device.attributes["gpu.example.com"].model`, `device.attributes["gpu.example.com"].shared`, `device.attributes["gpu.example.com"].missing`,
	`device.attributes["missing.example.com"].model == "x"`, `device.attributes["gpu.example.com"].missing == 1`,
	`has(device.attributes["gpu.example.com"].model)`, `"model" in device.attributes["gpu.example.com"]`, `"gpu.example.com" in device.attributes`,
	`device.attributes["gpu.example.com"].?model.orValue("") == "a100-sxm4"`, `device.attributes[?"gpu.example.com"].?model.hasValue()`,
	`device.attributes["gpu.example.com"].cores > 100 && device.attributes["gpu.example.com"].shared`,
	`device.attributes["gpu.example.com"].version.isGreaterThan(semver("1.2.0"))`, `device.attributes["gpu.example.com"].version.compareTo(semver("1.12.3")) == 0`,
	`semver("x").major() == 1`, `semver("v1.2", true).minor() == 2`, `isSemver("1.0.0")`, `device.attributes["gpu.example.com"].version.major() == 1`,
	`device.capacity["gpu.example.com"].memory.compareTo(quantity("20Gi")) >= 0`, `device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("39Gi"))`,
	`device.capacity["gpu.example.com"].memory.add(quantity("1Gi")).sub(1).asInteger() == 1`, `device.capacity["gpu.example.com"].memory == quantity("40Gi")`,
	`quantity("40Gi").add(quantity("1Gi")) == quantity("41Gi") && quantity("40Gi") == device.capacity["gpu.example.com"].memory`, `quantity("a").sign() == 1`, `isQuantity("1Ki")`,
	`device.attributes["gpu.example.com"].model.startsWith("a1")`, `device.attributes["gpu.example.com"].model.endsWith("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")`,
	`device.attributes["other.example.com"].model.startsWith("ü")`, `device.attributes["other.example.com"].model.endsWith("g")`,
	`device.attributes["gpu.example.com"].model.contains("100")`, `device.attributes["gpu.example.com"].model.matches("^a[0-9]+-.*$")`, `device.attributes["gpu.example.com"].model.matches("(")`,
	`matches(device.attributes["other.example.com"].model, "^(long)+$")`, `matches("a", "(")`, `"abc".matches(device.attributes["gpu.example.com"].model)`,
	`device.attributes["gpu.example.com"].model.split("-").size() == 2`, `device.attributes["gpu.example.com"].model.upperAscii() == "A100-SXM4"`, `device.attributes["gpu.example.com"].model.replace("a", "bb").indexOf("b") == 0`,
	`device.attributes["gpu.example.com"].model.substring(20) == ""`, `device.attributes["gpu.example.com"].model.charAt(2) == "0"`, `"%s-%d".format([device.driver, 3]) == "x"`, `"%q".format([1]) == ""`, `["a", "b"].join("-") == "a-b"`, `" x ".trim() == "x"`,
	`device.attributes["gpu.example.com"].model.find("[0-9]+") == "100"`, `device.attributes["gpu.example.com"].model.findAll("[0-9]").size() == 4`,
	`[1, 2, 3].sum() == 6 && [1, 2].isSorted() && [1, 2].max() == 2 && [2, 1].min() == 1 && [1, 2].indexOf(2) == 1`, `[].max() == 1`, `device.attributes["gpu.example.com"].cores in [1, 108]`,
	`[1, 2].exists(x, x == device.attributes["gpu.example.com"].cores)`, `[1, 2].all(x, x < 3)`, `[1, 2].map(x, x * 2).filter(x, x > 2).size() == 1`, `[1, 2].exists_one(x, x == 1)`,
	`device.attributes["gpu.example.com"].all(k, k != "")`, `device.attributes.all(d, d.contains("example"))`, `[0,1,2,3,4,5,6,7,8,9,10].map(a, [a, 1, 2, 3, 4, 5, 6, 7]).map(a, a.size()).includes(9)`, `"a".includes("a")`, `lists.nope(1)`,
	`device.attributes["gpu.example.com"].model.all(x, x == "b")`, `device.attributes["gpu.example.com"].model.exists(x, x == "b")`, `device.attributes["gpu.example.com"].model.includes("b")`, `[1, 2].includes(2)`, `"b" in device.attributes["gpu.example.com"].model`,
	`device.attributes["gpu.example.com"].model[0] == "a"`, `device.attributes["gpu.example.com"].model.size() == 9`, `size(device.attributes["gpu.example.com"]) == 4`,
	`device.attributes["gpu.example.com"].model == 1`, `device.attributes["gpu.example.com"].model > 1`, `device.attributes["gpu.example.com"].model + 1 == 2`, `!device.attributes["gpu.example.com"].model`, `device.attributes["gpu.example.com"].model ? true : false`,
	`device.attributes["gpu.example.com"].shared && 1 / 0 == 1`, `1 / 0 == 1 || device.attributes["gpu.example.com"].shared`, `9223372036854775807 + device.attributes["gpu.example.com"].cores == 1`, `int(device.attributes["gpu.example.com"].model) == 1`, `int("x") == 1`, `bool("x")`, `uint(1) == 1u`, `double("1.5") > 1.0`, `string(1) == "1"`, `type(1) == int`, `bytes("a") == b"a"`,
	`duration("1h") > duration("1m")`, `duration("x") > duration("1m")`, `timestamp("2026-01-01T00:00:00Z") < timestamp("2027-01-01T00:00:00Z")`, `timestamp("x").getFullYear() == 1`, `timestamp("2026-01-01T00:00:00Z").getHours("Mars/Base") == 1`,
	`cel.bind(a, device.attributes["gpu.example.com"], a.cores > 1 && a.shared)`, `ip("10.0.0.1").family() == 4`, `ip("x").family() == 4`, `cidr("10.0.0.0/8").containsIP("10.1.1.1")`, `url("https://a/b").getHost() == "a"`, `isURL("x")`, `format.dns1123Label().validate("A").hasValue()`, `sets.contains([1, 2], [2])`, `authorizer.group("").check("x").allowed()`, `optional.of(1).value() == 1`, `optional.none().value() == 1`, `{1: 2}[3] == 1`, `[1][3] == 1`, `[1, 2].transformList(i, v, i + v) == [1, 3]`, `{"a": 1}.all(k, v, v == 1)`, `base64.encode(b"a") == "YQ=="`, `math.greatest(1, 2) == 2`, `lists.range(3) == [0, 1, 2]`, `has(device.driver.x)`, `device.attributes[1].x == 1`, `device.attributes["a"]["b"]["c"] == 1`, `x.y.z`, `f()`, `device.driver.f()`, `"a" == 1`, `1 + "a" == 2`, `[1, "a"] == []`, `true ? 1 : "a"`,
	"'\\u00fc' == 'ü'", "\"a\nb\" == ''", `"a" "b"`, `'''a
b''' == "a\nb"`, `// c
true`, `true @`, `0x7fffffffffffffffff == 1`, `-9223372036854775808 < 0`, `9223372036854775808 == 1`,
	// As expensive as allowed, and more so.
	`[0,1,2,3,4,5,6,7,8,9].all(a, [0,1,2,3,4,5,6,7,8,9].all(b, [0,1,2,3,4,5,6,7,8,9].all(c, [0,1,2,3,4,5,6,7,8,9].all(d, [0,1,2,3,4,5,6,7,8,9].all(e, [0,1,2,3,4,5,6,7,8,9].all(f, a + b + c + d + e + f < 100))))))`,
	`[0,1,2,3,4,5,6,7,8,9].all(a, [0,1,2,3,4,5,6,7,8,9].all(b, [0,1,2,3,4,5,6,7,8,9].all(c, [0,1,2,3,4,5,6,7,8,9].all(d, device.driver.endsWith("m") && device.driver.matches("^gpu.*") && matches(device.driver, "^gpu.*")))))`,
}

// drawn returns an expression over the attributes.
func drawn(r *rand.Rand, depth int) string {
	one := func(list ...string) string { return list[r.IntN(len(list))] }
	text := func() string {
		return one(`device.driver`, `device.attributes["gpu.example.com"].model`, `device.attributes["other.example.com"].model`, `"abc"`, `string(device.attributes["gpu.example.com"].cores)`, `device.attributes["gpu.example.com"].?missing.orValue("x")`)
	}
	if depth > 0 && r.IntN(3) > 0 {
		a, b := drawn(r, depth-1), drawn(r, depth-1)
		switch r.IntN(6) {
		case 0:
			return "(" + a + " && " + b + ")"
		case 1:
			return "(" + a + " || " + b + ")"
		case 2:
			return "(" + a + " ? " + b + " : " + drawn(r, depth-1) + ")"
		case 3:
			return "!" + a
		case 4:
			return fmt.Sprintf("[%d, 2, 3].%s(x%d, %s || x%d > 1)", r.IntN(5), one("all", "exists", "exists_one"), depth, a, depth)
		}
		return "cel.bind(y" + fmt.Sprint(depth) + ", " + a + ", y" + fmt.Sprint(depth) + " == " + b + ")"
	}
	switch r.IntN(7) {
	case 0:
		return text() + one(".startsWith(", ".endsWith(", ".contains(", ".matches(") + text() + ")"
	case 1:
		return "matches(" + text() + ", " + text() + ")"
	case 2:
		return text() + one(" == ", " != ", " < ", " >= ") + text()
	case 3:
		return one(`device.attributes["gpu.example.com"].cores`, `7`, `size(`+text()+`)`) + one(" == ", " < ", " + 1 > ", " % 5 == ", " / 0 == ") + one("108", "9", "0")
	case 4:
		return text() + " in [" + text() + ", " + text() + "]"
	case 5:
		return `device.capacity["gpu.example.com"].memory` + one(".isGreaterThan(", ".isLessThan(") + `quantity("` + one("1Gi", "40Gi", "1Ti", "x") + `"))`
	}
	return text() + one(".upperAscii()", ".replace(\"a\", \"b\")", ".substring(1)", ".trim()") + " == " + text()
}

func main() {
	f := File{Devices: devices()}
	list := written
	r := rand.New(rand.NewPCG(1, 36))
	for range 200 {
		list = append(list, drawn(r, 3))
	}
	compile := dracel.NewCache(len(list), dracel.Features{EnableConsumableCapacity: true})
	for _, text := range list {
		c := Case{Expression: text}
		compiled := compile.GetOrCompile(text)
		if compiled.Error != nil {
			c.Refused = compiled.Error.Error()
			f.Cases = append(f.Cases, c)
			continue
		}
		for _, d := range f.Devices {
			ok, details, err := compiled.DeviceMatches(context.Background(), dracel.Device{
				Driver: driver, AllowMultipleAllocations: d.AllowMultipleAllocations, Attributes: d.Attributes, Capacity: d.Capacity,
			})
			a := Answer{Matches: ok}
			if err != nil {
				a.Error = err.Error()
			}
			if details != nil && details.ActualCost() != nil {
				a.Cost = *details.ActualCost()
			}
			c.On = append(c.On, a)
		}
		f.Cases = append(f.Cases, c)
	}
	e := json.NewEncoder(os.Stdout)
	e.SetEscapeHTML(false)
	if err := e.Encode(f); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
