package devices

import (
	"fmt"
	"math"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
	resourcev1 "k8s.io/api/resource/v1"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	dracel "k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/utils/lru"
)

// Expressions compiles CEL selectors and keeps the latest of them. It is safe for concurrent use.
// Expressions that do not compile are not kept.
type Expressions struct {
	compile func(expression string) dracel.CompilationResult
	lists   bool
}

// maxExpressions is how many compiled expressions are kept; upstream keeps ten.
const maxExpressions = 1024

var features = dracel.Features{EnableConsumableCapacity: true}

// NewExpressions makes the cache of one profile's plugin. lists reports whether selectors know
// attributes that are lists (semantics.Release.ListAttributes).
func NewExpressions(lists bool) *Expressions {
	if lists {
		return &Expressions{dracel.NewCache(maxExpressions, features).GetOrCompile, true}
	}
	kept := lru.New(maxExpressions)
	return &Expressions{compile: func(expression string) dracel.CompilationResult {
		if c, ok := kept.Get(expression); ok {
			return c.(dracel.CompilationResult)
		}
		c := compileOld(expression)
		if c.Error == nil {
			kept.Add(expression, c)
		}
		return c
	}}
}

// old is what a release makes of an expression whose selectors do not know lists. The library
// declares attributes for them where it judges new expressions alone, but for a function that those
// releases knew all the same.
var old = sync.OnceValue(func() dracel.CompilationResult {
	as := environment.NewExpressions
	c := dracel.GetCompiler(features).CompileCELExpression("true",
		dracel.Options{EnvType: &as, DisableCostEstimation: true})
	env, err := c.Environment.Extend(cel.Function("includes", cel.MemberOverload(overloadIncludes,
		[]*cel.Type{cel.DynType, cel.DynType}, cel.BoolType, cel.BinaryBinding(includes))))
	if err != nil {
		panic(fmt.Errorf("environment of selectors: %w", err))
	}
	c.Environment = env
	return c
})

// compileOld compiles an expression as those releases do
// (dynamic-resource-allocation/cel/compile.go CompileCELExpression).
func compileOld(expression string) dracel.CompilationResult {
	c := old()
	c.Expression = expression
	refused := func(format string, args ...any) dracel.CompilationResult {
		c.Error = &apiservercel.Error{Type: apiservercel.ErrorTypeInvalid, Detail: fmt.Sprintf(format, args...)}
		return c
	}
	ast, issues := c.Environment.Compile(expression)
	if issues != nil {
		return refused("compilation failed: %s", issues.String())
	}
	if c.OutputType = ast.OutputType(); c.OutputType != cel.BoolType && c.OutputType != cel.AnyType {
		return refused("must evaluate to %s or the unknown type, not %s", cel.BoolType, c.OutputType)
	}
	var err error
	if c.Program, err = c.Environment.Program(ast, oldCosts...); err != nil {
		return refused("program instantiation failed: %v", err)
	}
	return c
}

const overloadIncludes = "dra_includes_dyn_dyn"

// includes is true of a list that has a value, and of that value itself
// (dynamic-resource-allocation v0.36 cel/compile.go includesFunc).
func includes(target, value ref.Val) ref.Val {
	list, ok := target.(traits.Lister)
	if !ok {
		return types.Bool(target.Equal(value) == types.True)
	}
	const most = resourcev1.ResourceSliceMaxAttributeValuesPerDevice
	n := 0
	for it := list.Iterator(); it.HasNext() == types.True; n++ {
		if n >= most {
			return types.NewErr("'includes' function cannot be applied to lists longer than %d values", most)
		}
		if it.Next().Equal(value) == types.True {
			return types.True
		}
	}
	return types.False
}

// oldCosts are the options of a program with what functions cost in those releases (cel-go v0.26
// interpreter/runtimecost.go costCall), and the bounds that every selector has.
var oldCosts = []cel.ProgramOption{
	cel.CostLimit(resourcev1.CELSelectorExpressionMaxCost),
	cel.InterruptCheckFrequency(celconfig.CheckFrequency),
	cel.CostTrackerOptions(
		interpreter.OverloadCostTracker(overloads.StartsWithString, oldCostOfAffix),
		interpreter.OverloadCostTracker(overloads.EndsWithString, oldCostOfAffix),
		interpreter.OverloadCostTracker(overloads.Matches, costsOne),
		interpreter.OverloadCostTracker(overloadIncludes, costsOne),
	),
}

func costsOne([]ref.Val, ref.Val) *uint64 { return new(uint64(1)) }

// oldCostOfAffix is by the length of the text, not of its beginning or end.
func oldCostOfAffix(args []ref.Val, _ ref.Val) *uint64 {
	size := 1.0
	if text, ok := args[0].(traits.Sizer); ok {
		size = float64(text.Size().Value().(int64))
	}
	return new(uint64(math.Ceil(size * common.StringTraversalCostFactor)))
}

// attributes returns what selectors see of a device's attributes: lists are none where they are not
// known.
func (e *Expressions) attributes(all map[resourcev1.QualifiedName]resourcev1.DeviceAttribute,
) map[resourcev1.QualifiedName]resourcev1.DeviceAttribute {
	if e.lists {
		return all
	}
	for _, a := range all {
		if a.IntValues == nil && a.BoolValues == nil && a.StringValues == nil && a.VersionValues == nil {
			continue
		}
		seen := make(map[resourcev1.QualifiedName]resourcev1.DeviceAttribute, len(all))
		for name, a := range all {
			a.IntValues, a.BoolValues, a.StringValues, a.VersionValues = nil, nil, nil, nil
			seen[name] = a
		}
		return seen
	}
	return all
}
