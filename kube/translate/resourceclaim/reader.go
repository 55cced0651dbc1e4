// Package resourceclaim converts devices of dynamic resource allocation (DRA), and what ResourceClaims request of
// them, to values of core/device.
//
// It promises to read ResourceSlices, DeviceClasses and ResourceClaims as kube-scheduler's allocator does, and to
// evaluate each selector once for each device. Requests for administrators, which need no device to be free, count
// for nothing. It decides nothing.
package resourceclaim

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/dynamic-resource-allocation/cel"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/device"
	"github.com/daemok/daemok/core/quantity"
)

// Reader reads claims and devices, and knows the selectors of all claims that it has read. It is not safe for
// concurrent use. Build it with NewReader.
type Reader struct {
	Classes map[string]*resourcev1.DeviceClass // by name; belongs to the caller

	compiled  *cel.Cache
	selectors []selector
	numbers   map[string]int // of selectors, by what they say
	names     []string       // of selectors, by number
	known     map[*resourcev1.ResourceSlice]known
	failing   bool // a selector could not be evaluated for some device
}

// known is the devices of a slice, and of how many selectors they say whether they meet them.
type known struct {
	devices   []device.Device
	selectors int
}

// selector is what a request asks of a device: all expressions of its class and of itself.
type selector struct{ expressions []string }

// compiledMost is how many compiled expressions are kept.
const compiledMost = 1000

// NewReader returns a reader that has read nothing.
func NewReader() *Reader {
	features := cel.Features{EnableConsumableCapacity: true}
	return &Reader{Classes: map[string]*resourcev1.DeviceClass{}, compiled: cel.NewCache(compiledMost, features),
		numbers: map[string]int{}, known: map[*resourcev1.ResourceSlice]known{}}
}

// selectorsMost is how many selectors are kept: those of claims that are gone count too.
const selectorsMost = 2000

// Renew forgets all selectors if there are many, and reports whether it did: all claims have to be read again.
func (r *Reader) Renew() bool {
	if len(r.selectors) <= selectorsMost {
		return false
	}
	r.selectors, r.names, r.failing = nil, nil, false
	clear(r.numbers)
	clear(r.known)
	return true
}

// Forget drops what is remembered of a slice that is not read any more.
func (r *Reader) Forget(s *resourcev1.ResourceSlice) { delete(r.known, s) }

// devices reads the devices of a slice. They must not be written.
func (r *Reader) devices(s *resourcev1.ResourceSlice) []device.Device {
	k, seen := r.known[s]
	if !seen || k.selectors < len(r.selectors) {
		k = known{make([]device.Device, len(s.Spec.Devices)), len(r.selectors)}
		for i := range s.Spec.Devices {
			k.devices[i] = r.device(s.Spec.Driver, s.Spec.Pool.Name, &s.Spec.Devices[i])
		}
		r.known[s] = k
	}
	return k.devices
}

// Names are the names of all selectors read so far, by number. They must not be written.
func (r *Reader) Names() []string { return r.names }

// Serving is the number of the selector of the DeviceClass that serves an extended resource by its extendedResourceName:
// of several the newest, then the first by name, as for kube-scheduler.
func (r *Reader) Serving(resource string) (number int, served bool) {
	var by *resourcev1.DeviceClass
	for _, name := range slices.Sorted(maps.Keys(r.Classes)) {
		c := r.Classes[name]
		if c.Spec.ExtendedResourceName == nil || *c.Spec.ExtendedResourceName != resource {
			continue
		}
		if by == nil || c.CreationTimestamp.After(by.CreationTimestamp.Time) {
			by = c
		}
	}
	if by == nil {
		return 0, false
	}
	number, err := r.selector(by, nil)
	return number, err == nil
}

// MetByShared are the selectors read so far that any shared device of the slices meets.
func (r *Reader) MetByShared(all map[string]*resourcev1.ResourceSlice) bitset.Set {
	out := bitset.New(len(r.selectors))
	for _, s := range all {
		is := func(d resourcev1.Device) bool {
			return d.AllowMultipleAllocations != nil && *d.AllowMultipleAllocations
		}
		if !slices.ContainsFunc(s.Spec.Devices, is) {
			continue
		}
		for _, d := range r.devices(s) {
			if d.Shared {
				out.Or(d.Meets)
			}
		}
	}
	return out
}

// Claim reads what a claim requests. An error says what is missing or wrong, and what to do.
func (r *Reader) Claim(spec *resourcev1.ResourceClaimSpec) (out device.Claim, err error) {
	if least := leastDevices(spec); least > device.DevicesMax {
		return device.Claim{}, fmt.Errorf("it requests %d devices, and kube-scheduler allocates at most %d for one "+
			"claim; divide it into several claims", least, device.DevicesMax)
	}
	for i := range spec.Devices.Requests {
		of := &spec.Devices.Requests[i]
		request := device.Request{Name: of.Name}
		switch {
		case of.Exactly != nil:
			if of.Exactly.AdminAccess != nil && *of.Exactly.AdminAccess {
				continue
			}
			e := of.Exactly
			err = r.add(&request, asked{class: e.DeviceClassName, selectors: e.Selectors, mode: e.AllocationMode,
				count: e.Count, tolerations: e.Tolerations, capacity: e.Capacity})
		case len(of.FirstAvailable) > 0:
			for j := range of.FirstAvailable {
				s := &of.FirstAvailable[j]
				if err == nil {
					err = r.add(&request, asked{name: s.Name, class: s.DeviceClassName, selectors: s.Selectors,
						mode: s.AllocationMode, count: s.Count, tolerations: s.Tolerations, capacity: s.Capacity})
				}
			}
		default:
			err = fmt.Errorf("request %s is of a form that this version does not know", of.Name)
		}
		if err != nil {
			return device.Claim{}, err
		}
		out.Requests = append(out.Requests, request)
	}
	for i := range spec.Devices.Constraints {
		of := &spec.Devices.Constraints[i]
		c := device.Constraint{Requests: of.Requests}
		switch {
		case of.MatchAttribute != nil:
			c.Attribute = string(*of.MatchAttribute)
		case of.DistinctAttribute != nil:
			c.Attribute, c.Distinct = string(*of.DistinctAttribute), true
		default:
			return device.Claim{}, fmt.Errorf("constraint %d is of a form that this version does not know", i)
		}
		out.Constraints = append(out.Constraints, c)
	}
	return out, nil
}

// leastDevices is how many devices a claim has at least: those of requests for administrators count too, and of
// requests for all devices none.
func leastDevices(spec *resourcev1.ResourceClaimSpec) (n int64) {
	counted := func(mode resourcev1.DeviceAllocationMode, count int64) int64 {
		if mode == resourcev1.DeviceAllocationModeAll {
			return 0
		}
		return max(1, count)
	}
	for i := range spec.Devices.Requests {
		r := &spec.Devices.Requests[i]
		least := int64(0)
		if r.Exactly != nil {
			least = counted(r.Exactly.AllocationMode, r.Exactly.Count)
		}
		for j := range r.FirstAvailable {
			s := &r.FirstAvailable[j]
			if count := counted(s.AllocationMode, s.Count); j == 0 || count < least {
				least = count
			}
		}
		n = min(n, math.MaxInt64-least) + least
	}
	return n
}

// asked is what a request, or a subrequest, asks for.
type asked struct {
	name, class string
	selectors   []resourcev1.DeviceSelector
	mode        resourcev1.DeviceAllocationMode
	count       int64
	tolerations []resourcev1.DeviceToleration
	capacity    *resourcev1.CapacityRequirements
}

func (r *Reader) add(to *device.Request, a asked) error {
	class := r.Classes[a.class]
	if class == nil {
		return fmt.Errorf("DeviceClass %s does not exist; create it, or name another class", a.class)
	}
	number, err := r.selector(class, a.selectors)
	if err != nil {
		return err
	}
	ask := device.Ask{Name: a.name, Selector: number, Count: max(1, a.count)}
	switch a.mode {
	case "", resourcev1.DeviceAllocationModeExactCount:
	case resourcev1.DeviceAllocationModeAll:
		ask.Count = 0
	default:
		return fmt.Errorf("allocation mode %s is one that this version does not know", a.mode)
	}
	for _, t := range a.tolerations {
		ask.Tolerations = append(ask.Tolerations, constraint.Toleration{Key: t.Key, Value: t.Value,
			Exists: t.Operator == resourcev1.DeviceTolerationOpExists, Effect: constraint.Effect(t.Effect)})
	}
	if a.capacity != nil {
		for name, amount := range a.capacity.Requests {
			ask.Capacity = append(ask.Capacity, quantity.Extended{Name: string(name), Amount: amount.Value()})
		}
		slices.SortFunc(ask.Capacity, byName)
	}
	to.Alternatives = append(to.Alternatives, ask)
	return nil
}

func byName(a, b quantity.Extended) int { return strings.Compare(a.Name, b.Name) }

// selector is the number of the selector that a class and a request make.
func (r *Reader) selector(class *resourcev1.DeviceClass, own []resourcev1.DeviceSelector) (int, error) {
	var s selector
	for i, e := range slices.Concat(class.Spec.Selectors, own) {
		of := "the request"
		if i < len(class.Spec.Selectors) {
			of = "DeviceClass " + class.Name
		}
		if e.CEL == nil {
			return 0, fmt.Errorf("a selector of %s is of a form that this version does not know", of)
		}
		if c := r.compiled.GetOrCompile(e.CEL.Expression); c.Error != nil {
			return 0, fmt.Errorf("a selector of %s cannot be read: %s", of, c.Error.Detail)
		}
		s.expressions = append(s.expressions, e.CEL.Expression)
	}
	key := class.Name + "\x00" + strings.Join(s.expressions, "\x00")
	number, known := r.numbers[key]
	if !known {
		number = len(r.selectors)
		r.numbers[key] = number
		r.selectors = append(r.selectors, s)
		r.names = append(r.names, nameOf(class.Name, s.expressions[len(class.Spec.Selectors):]))
	}
	return number, nil
}

// nameMost is how long the text of a request's own selectors may be in a name.
const nameMost = 160

// nameOf is how a selector is called: by its class, and by the request's own expressions.
func nameOf(class string, own []string) string {
	if len(own) == 0 {
		return class
	}
	text := strings.Join(strings.Fields(strings.Join(own, " && ")), " ")
	if len(text) > nameMost {
		h := fnv.New32a()
		h.Write([]byte(text))
		text = fmt.Sprintf("%s… #%08x", strings.ToValidUTF8(text[:nameMost], ""), h.Sum32())
	}
	return class + "[" + text + "]"
}

// Fails reports whether a selector could not be evaluated for some device that was read.
func (r *Reader) Fails() bool { return r.failing }

// device reads a device as far as the selectors read so far go. A selector that cannot be evaluated is not met.
func (r *Reader) device(driver, pool string, d *resourcev1.Device) device.Device {
	out := device.Device{Driver: driver, Pool: pool, Name: d.Name, Meets: bitset.New(len(r.selectors)),
		Fails: bitset.New(len(r.selectors)), Shared: d.AllowMultipleAllocations != nil && *d.AllowMultipleAllocations}
	in := cel.Device{Driver: driver, AllowMultipleAllocations: d.AllowMultipleAllocations,
		Attributes: d.Attributes, Capacity: d.Capacity}
	met, failed := map[string]bool{}, map[string]bool{}
	for i := range r.selectors {
		meets := true
		for _, e := range r.selectors[i].expressions {
			yes, known := met[e]
			if !known {
				yes, failed[e] = r.meets(e, in)
				met[e] = yes
			}
			if failed[e] {
				out.Fails.Add(i)
				r.failing = true
			}
			if meets = meets && yes; !meets {
				break
			}
		}
		if meets {
			out.Meets.Add(i)
		}
	}
	for name, value := range d.Attributes {
		a := device.Attribute{Name: qualified(string(name), driver), Value: valueOf(value)}
		out.Attributes = append(out.Attributes, a)
	}
	slices.SortFunc(out.Attributes, func(a, b device.Attribute) int { return strings.Compare(a.Name, b.Name) })
	for name, c := range d.Capacity {
		has := device.Capacity{Name: string(name), Amount: c.Value.Value(), Policy: policyOf(c.RequestPolicy)}
		out.Capacity = append(out.Capacity, has)
	}
	slices.SortFunc(out.Capacity, func(a, b device.Capacity) int { return strings.Compare(a.Name, b.Name) })
	for _, t := range d.Taints {
		if t.Effect != resourcev1.DeviceTaintEffectNone {
			taint := constraint.Taint{Key: t.Key, Value: t.Value, Effect: constraint.Effect(t.Effect)}
			out.Taints = append(out.Taints, taint)
		}
	}
	for _, of := range d.ConsumesCounters {
		for name, c := range of.Counters {
			counter := counterName(driver, pool, of.CounterSet, name)
			out.Consumes = append(out.Consumes, quantity.Extended{Name: counter, Amount: c.Value.Value()})
		}
	}
	slices.SortFunc(out.Consumes, byName)
	return out
}

func (r *Reader) meets(expression string, d cel.Device) (yes, failed bool) {
	c := r.compiled.GetOrCompile(expression)
	if c.Error != nil {
		return false, true
	}
	yes, _, err := c.DeviceMatches(context.Background(), d)
	return err == nil && yes, err != nil
}

func counterName(driver, pool, set, counter string) string {
	return driver + "/" + pool + "/" + set + "/" + counter
}

// qualified is the name of an attribute with its domain, which is the driver where the name has none.
func qualified(name, driver string) string {
	if strings.Contains(name, "/") {
		return name
	}
	return driver + "/" + name
}

// valueOf is equal for equal values of one type.
func valueOf(a resourcev1.DeviceAttribute) string {
	switch {
	case a.IntValue != nil:
		return fmt.Sprint("int ", *a.IntValue)
	case a.BoolValue != nil:
		return fmt.Sprint("bool ", *a.BoolValue)
	case a.StringValue != nil:
		return "string " + *a.StringValue
	case a.VersionValue != nil:
		return "version " + *a.VersionValue
	}
	return ""
}

func policyOf(p *resourcev1.CapacityRequestPolicy) (out device.Policy) {
	if p == nil {
		return out
	}
	amount := func(q *resource.Quantity) int64 {
		if q == nil {
			return 0
		}
		return q.Value()
	}
	out.Default = amount(p.Default)
	for i := range p.ValidValues {
		out.Values = append(out.Values, p.ValidValues[i].Value())
	}
	slices.Sort(out.Values)
	if v := p.ValidRange; v != nil {
		out.Min, out.Max, out.Step = amount(v.Min), amount(v.Max), amount(v.Step)
	}
	return out
}
