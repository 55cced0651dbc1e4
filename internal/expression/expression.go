// Package expression evaluates arithmetic over instance types, as kubelet settings may contain it. It
// is CEL over the properties of an instance type, such as "11 * max_pods + 255".
//
// It promises the same result for the same variables, either a finite amount of zero or more or an
// error, and bounded work. It does not know where the variables come from.
package expression

import (
	"fmt"
	"math"
	"strconv"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// Variables are what an expression may use of an instance type.
type Variables struct {
	InstanceType string // instance_type
	VCPUs        int64  // vcpus
	MemoryMiB    int64  // memory_mib
	DefaultENIs  int64  // default_enis
	IPsPerENI    int64  // ips_per_eni
	MaxPods      int64  // max_pods: what the node can run if nothing else is said
}

// Expression is a checked expression. It may be used by several goroutines.
type Expression struct {
	text    string
	program cel.Program
}

const (
	textMax = 1024
	costMax = 10_000
)

// Compile checks an expression: its form, its variables, and that its result
// is a number.
func Compile(text string) (*Expression, error) {
	if len(text) > textMax {
		return nil, fmt.Errorf("expression of %d letters is too long, use at most %d", len(text), textMax)
	}
	env, err := cel.NewEnv(
		cel.ClearMacros(), // no loops: an expression is arithmetic
		cel.Variable("instance_type", cel.StringType),
		cel.Variable("vcpus", cel.IntType),
		cel.Variable("memory_mib", cel.IntType),
		cel.Variable("default_enis", cel.IntType),
		cel.Variable("ips_per_eni", cel.IntType),
		cel.Variable("max_pods", cel.IntType),
		choice("min", func(a, b float64) bool { return a < b }),
		choice("max", func(a, b float64) bool { return a > b }),
	)
	if err != nil {
		return nil, fmt.Errorf("set up expressions: %w", err)
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, fmt.Errorf("expression %q: %w", text, issues.Err())
	}
	if t := ast.OutputType(); t != cel.IntType && t != cel.DoubleType {
		return nil, fmt.Errorf("expression %q: the result is a %s, it must be an int or a double", text, t)
	}
	program, err := env.Program(ast, cel.CostLimit(costMax))
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w", text, err)
	}
	return &Expression{text: text, program: program}, nil
}

// choice is a function of two numbers of one type that returns the preferred.
func choice(name string, prefer func(a, b float64) bool) cel.EnvOption {
	pick := cel.BinaryBinding(func(a, b ref.Val) ref.Val {
		if prefer(number(a), number(b)) {
			return a
		}
		return b
	})
	return cel.Function(name,
		cel.Overload(name+"_int", []*cel.Type{cel.IntType, cel.IntType}, cel.IntType, pick),
		cel.Overload(name+"_double", []*cel.Type{cel.DoubleType, cel.DoubleType}, cel.DoubleType, pick))
}

func number(v ref.Val) float64 {
	switch n := v.(type) {
	case types.Int:
		return float64(n)
	case types.Double:
		return float64(n)
	}
	return math.NaN()
}

// Evaluate returns the amount for one instance type.
func (e *Expression) Evaluate(v Variables) (float64, error) {
	out, _, err := e.program.Eval(map[string]any{
		"instance_type": v.InstanceType,
		"vcpus":         v.VCPUs,
		"memory_mib":    v.MemoryMiB,
		"default_enis":  v.DefaultENIs,
		"ips_per_eni":   v.IPsPerENI,
		"max_pods":      v.MaxPods,
	})
	if err != nil {
		return 0, fmt.Errorf("evaluate %q for %s: %w", e.text, v.InstanceType, err)
	}
	amount := number(out)
	if math.IsNaN(amount) || math.IsInf(amount, 0) || amount < 0 || amount > math.MaxInt32*1024 {
		return 0, fmt.Errorf("evaluate %q for %s: the result %v is no amount, use max(0, ...) or check for zero", e.text, v.InstanceType, out.Value())
	}
	return amount, nil
}

// Pods returns the result as a number of pods, rounded down.
func (e *Expression) Pods(v Variables) (int64, error) {
	amount, err := e.Evaluate(v)
	return int64(math.Floor(amount)), err
}

// Reserved returns the result as a quantity of a resource that a kubelet
// reserves: cpu in thousandths rounded up to 10, memory in MiB rounded up to
// 16, ephemeral-storage in GiB and pid in processes, both rounded up.
func (e *Expression) Reserved(resource string, v Variables) (string, error) {
	amount, err := e.Evaluate(v)
	if err != nil {
		return "", err
	}
	switch resource {
	case "cpu":
		return roundUp(amount, 10) + "m", nil
	case "memory":
		return roundUp(amount, 16) + "Mi", nil
	case "ephemeral-storage":
		return roundUp(amount, 1) + "Gi", nil
	case "pid":
		return roundUp(amount, 1), nil
	}
	return "", fmt.Errorf("resource %s cannot be reserved, use cpu, memory, ephemeral-storage or pid", resource)
}

func roundUp(amount, step float64) string {
	return strconv.FormatInt(int64(math.Ceil(amount/step)*step), 10)
}
