package supply

import (
	"slices"
	"strconv"
	"strings"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/bound"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/parallel"
)

// common is what pools with the same options have in common within one decision, for pods that request the same
// resources. It is computed once for all of them, and for all plans that are compared, and nothing in it is written later.
type common struct {
	Free    [][]int64 // by instance type: what instances have for pods; nil where daemon pods alone are too much
	Whole   [][]int64 // likewise, with the cpu that sustained takes off; nil: the same
	Credits []*credit // by instance type; nil where none has any

	available bitset.Set                 // options, before anything is launched
	whole     parallel.Once[common]      // see Unleash
	priced    parallel.Once[bool]        // see AllPriced
	prices    parallel.Once[prices]      // where they are lasting
	valued    parallel.Known[valued]     // see SetYields
	fronts    parallel.Known[[]int]      // see newLot
	rooms     parallel.Known[roomsTable] // see RoomsAmong
	frontiers parallel.Known[bitset.Set] // see Frontier
	columns   parallel.Known[columns]    // see ColumnsOf
	choices   parallel.Known[Choices]    // see ChoicesOf
}

type columns = []bound.Column

// What is kept at most: of columns and frontiers, by set of options; of what options yield, by worth of resources; and
// of what is small, such as what a launch leaves open.
const largeMax, smallMax = 64, 1024

func (c *common) limitMemory() {
	c.columns.Most, c.frontiers.Most, c.valued.Most, c.rooms.Most = largeMax, largeMax, largeMax, largeMax
	c.fronts.Most, c.choices.Most = smallMax, smallMax
}

// commonOf returns what the pool has in common with others. Limits of the pool's own matter only by what they limit.
func (o *Ready) commonOf(p *feasibility.Pool, number int, d amount.Dims, l *limits) *common {
	key := []byte(strings.Join(d.Resources, "\x00") + "\x01" + strings.Join(d.Drivers, "\x00") + "\x01")
	if l != nil && l.shared {
		key = strconv.AppendInt(key, int64(number), 10)
	} else if l != nil {
		for _, e := range p.Limits.List() {
			key = append(append(key, e.Name...), 0)
		}
		if p.OnDemand.Any() {
			key = append(append(key, cluster.LimitOnDemand...), 0)
		}
	}
	return o.kept(number).common.Get(key, func() *common { return newCommon(p, d) })
}

func newCommon(p *feasibility.Pool, d amount.Dims) *common {
	c := &common{Free: make([][]int64, len(p.Kinds)), available: p.Available()}
	c.limitMemory()
	for k := range p.Kinds {
		if p.Kinds[k].Daemons.FitsIn(p.Kinds[k].Free.Add(p.Kinds[k].Daemons)) {
			c.Free[k] = d.Vector(p.Kinds[k].Free, p.InstanceTypeAt(k).Attachable)
		}
	}
	c.sustained(p)
	for i, o := range p.Options {
		if c.Free[o.Kind] == nil {
			c.available.Remove(i)
		}
	}
	return c
}

// sustained takes off the cpu that an instance type can only use for a while. Pods request what they use
// all the time; beyond what it can sustain, such an instance is throttled, or billed for more than its
// price. The cpu stays where that bill is known and the pool has no other instances. Of instance types
// that are a last resort, nothing is left.
func (c *common) sustained(p *feasibility.Pool) {
	others := c.offersSteady(p)
	for k := range c.Free {
		instanceType := p.InstanceTypeAt(k)
		if c.Free[k] == nil || !bursts(instanceType) && !instanceType.LastResort {
			continue
		}
		if c.recordCredit(p, k); !others && c.Credits != nil && c.Credits[k] != nil && !instanceType.LastResort {
			continue
		}
		if c.Whole == nil {
			c.Whole = slices.Clone(c.Free)
		}
		if instanceType.LastResort {
			c.Free[k] = make([]int64, len(c.Free[k]))
			continue
		}
		c.Free[k] = slices.Clone(c.Free[k])
		c.Free[k][amount.CPU] -= int64(instanceType.Capacity.CPU - instanceType.Sustained)
	}
}

// offersSteady reports whether an option is available whose instance type neither bursts nor is a last resort.
func (c *common) offersSteady(p *feasibility.Pool) bool {
	for i := c.available.Next(0); i >= 0; i = c.available.Next(i + 1) {
		instanceType := p.InstanceType(p.Options[i])
		if c.Free[p.Options[i].Kind] != nil && !bursts(instanceType) && !instanceType.LastResort {
			return true
		}
	}
	return false
}

// recordCredit records the credits of an instance type that has any.
func (c *common) recordCredit(p *feasibility.Pool, k int) {
	instanceType := p.InstanceTypeAt(k)
	if !bursts(instanceType) || instanceType.Surplus <= 0 {
		return
	}
	if c.Credits == nil {
		c.Credits = make([]*credit, len(c.Free))
	}
	c.Credits[k] = &credit{
		whole:   c.Free[k],
		lasting: c.Free[k][amount.CPU] - int64(instanceType.Capacity.CPU-instanceType.Sustained),
		price:   float64(instanceType.Surplus) / 1000,
	}
}

// unleashed returns what is common once instances may use the cpu that sustained took off.
func (c *common) unleashed() *common {
	return c.whole.Get(func() *common {
		out := &common{Free: c.Whole, Credits: c.Credits, available: c.available}
		out.limitMemory()
		return out
	})
}
