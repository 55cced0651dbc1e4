package quantity

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Names of the resources that have a field of their own in Resources.
const (
	NameCPU              = "cpu"
	NameMemory           = "memory"
	NameEphemeralStorage = "ephemeral-storage"
	NamePods             = "pods"
)

// Extended is an amount of one further resource: nvidia.com/gpu in pieces,
// hugepages-2Mi in bytes.
type Extended struct {
	Name   string
	Amount int64
}

// Resources is an amount of every resource. The zero value is nothing at all.
// Sums and products saturate, see Most.
// Extended is sorted by name and holds no zero amounts; it is shared between
// copies and never written after construction.
type Resources struct {
	CPU              MilliCPU
	Memory           Bytes
	EphemeralStorage Bytes
	Pods             int64
	Extended         []Extended
}

// Get returns the amount of one resource by its Kubernetes name, in the
// resource's own unit: thousandths of a core for cpu, bytes for memory and
// storage, pieces for the rest. What is not there is zero.
func (r Resources) Get(name string) int64 {
	switch name {
	case NameCPU:
		return int64(r.CPU)
	case NameMemory:
		return int64(r.Memory)
	case NameEphemeralStorage:
		return int64(r.EphemeralStorage)
	case NamePods:
		return r.Pods
	}
	i, found := slices.BinarySearchFunc(r.Extended, name, func(e Extended, n string) int { return cmp.Compare(e.Name, n) })
	if !found {
		return 0
	}
	return r.Extended[i].Amount
}

// With returns a copy in which the named resource has the given amount.
func (r Resources) With(name string, amount int64) Resources {
	switch name {
	case NameCPU:
		r.CPU = MilliCPU(amount)
	case NameMemory:
		r.Memory = Bytes(amount)
	case NameEphemeralStorage:
		r.EphemeralStorage = Bytes(amount)
	case NamePods:
		r.Pods = amount
	default:
		r.Extended = combine(without(r.Extended, name), []Extended{{name, amount}}, Sum)
	}
	return r
}

// Names lists the resources that are not zero: cpu, memory,
// ephemeral-storage, pods, then the extended ones by name.
func (r Resources) Names() []string {
	var names []string
	for _, name := range []string{NameCPU, NameMemory, NameEphemeralStorage, NamePods} {
		if r.Get(name) != 0 {
			names = append(names, name)
		}
	}
	for _, e := range r.Extended {
		names = append(names, e.Name)
	}
	return names
}

// Add returns r + s.
func (r Resources) Add(s Resources) Resources { return r.zip(s, Sum) }

// Sub returns r - s; amounts may become negative.
func (r Resources) Sub(s Resources) Resources { return r.zip(s, Difference) }

// Max returns the larger of each amount.
func (r Resources) Max(s Resources) Resources {
	return r.zip(s, func(a, b int64) int64 { return max(a, b) })
}

// Min returns the smaller of each amount.
func (r Resources) Min(s Resources) Resources {
	return r.zip(s, func(a, b int64) int64 { return min(a, b) })
}

// ClampNegative returns r with every amount below zero raised to zero.
func (r Resources) ClampNegative() Resources { return r.Max(Resources{}) }

// Times returns n * r.
func (r Resources) Times(n int64) Resources {
	return r.zip(Resources{}, func(a, _ int64) int64 { return Product(a, n) })
}

// FitsIn reports whether r <= free for every resource that r asks for. A
// resource that r does not ask for may be negative in free.
func (r Resources) FitsIn(free Resources) bool {
	if r.CPU > free.CPU && r.CPU > 0 || r.Memory > free.Memory && r.Memory > 0 ||
		r.EphemeralStorage > free.EphemeralStorage && r.EphemeralStorage > 0 || r.Pods > free.Pods && r.Pods > 0 {
		return false
	}
	for _, e := range r.Extended {
		if e.Amount > 0 && e.Amount > free.Get(e.Name) {
			return false
		}
	}
	return true
}

// IsZero reports whether every amount is zero.
func (r Resources) IsZero() bool {
	return r.CPU == 0 && r.Memory == 0 && r.EphemeralStorage == 0 && r.Pods == 0 && len(r.Extended) == 0
}

// Equal reports whether all amounts are the same.
func (r Resources) Equal(s Resources) bool {
	return r.CPU == s.CPU && r.Memory == s.Memory && r.EphemeralStorage == s.EphemeralStorage &&
		r.Pods == s.Pods && slices.Equal(r.Extended, s.Extended)
}

// String prints the non-zero amounts, in the order of Names:
// "cpu=2 memory=8Gi pods=29 nvidia.com/gpu=1".
func (r Resources) String() string {
	var words []string
	for _, name := range r.Names() {
		words = append(words, name+"="+FormatAmount(name, r.Get(name)))
	}
	return strings.Join(words, " ")
}

// FormatAmount prints an amount of the named resource with its unit.
func FormatAmount(name string, amount int64) string {
	switch {
	case name == NameCPU:
		return MilliCPU(amount).String()
	case IsBytes(name):
		return Bytes(amount).String()
	}
	return strconv.FormatInt(amount, 10)
}

// ParseAmount reads what FormatAmount prints. More than can be counted is Most.
func ParseAmount(name, text string) (int64, error) {
	switch {
	case name == NameCPU:
		c, err := ParseCPU(text)
		return int64(c), err
	case IsBytes(name):
		b, err := ParseBytes(text)
		return int64(b), err
	}
	n, err := parseInt(text)
	if err != nil {
		return 0, fmt.Errorf("parse %s %q: want a whole number", name, text)
	}
	return n, nil
}

// IsBytes reports whether the named resource is measured in bytes.
func IsBytes(name string) bool {
	return name == NameMemory || name == NameEphemeralStorage || strings.HasPrefix(name, "hugepages-")
}

func (r Resources) zip(s Resources, f func(a, b int64) int64) Resources {
	r.CPU = MilliCPU(f(int64(r.CPU), int64(s.CPU)))
	r.Memory = Bytes(f(int64(r.Memory), int64(s.Memory)))
	r.EphemeralStorage = Bytes(f(int64(r.EphemeralStorage), int64(s.EphemeralStorage)))
	r.Pods = f(r.Pods, s.Pods)
	if len(r.Extended) > 0 || len(s.Extended) > 0 {
		r.Extended = combine(r.Extended, s.Extended, f)
	}
	return r
}

func without(list []Extended, name string) []Extended {
	return slices.DeleteFunc(slices.Clone(list), func(e Extended) bool { return e.Name == name })
}

// combine merges two lists sorted by name, dropping zero results.
func combine(a, b []Extended, f func(a, b int64) int64) []Extended {
	out := make([]Extended, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		var next Extended
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Name < b[0].Name:
			next = Extended{a[0].Name, f(a[0].Amount, 0)}
			a = a[1:]
		case len(a) == 0 || b[0].Name < a[0].Name:
			next = Extended{b[0].Name, f(0, b[0].Amount)}
			b = b[1:]
		default:
			next = Extended{a[0].Name, f(a[0].Amount, b[0].Amount)}
			a, b = a[1:], b[1:]
		}
		if next.Amount != 0 {
			out = append(out, next)
		}
	}
	return out
}
