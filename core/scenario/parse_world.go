package scenario

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

func (p *parser) newCatalogue(w []string) error {
	name, rest, err := named(w)
	if err != nil {
		return err
	}
	if p.catalogues[name] != nil {
		return fmt.Errorf("%s is there twice", name)
	}
	p.catalogue = &cluster.Catalogue{}
	p.catalogues[name] = p.catalogue
	p.enter(parent{})
	for i, word := range rest {
		if disk, found := strings.CutPrefix(word, "disk="); found {
			p.catalogue.Disk, err = readDollars(disk)
		} else if p.catalogue.Revision, err = strconv.ParseUint(word, 10, 64); i > 0 {
			err = fmt.Errorf("want a name, a revision and what the disks cost: disk=0.0022")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) kind(w []string) error {
	name, rest, err := named(w)
	if err != nil {
		return err
	}
	if p.catalogue == nil {
		return fmt.Errorf("want it below a catalogue")
	}
	k := cluster.InstanceType{Name: name}
	if k.Capacity, err = readAmounts(rest); err != nil {
		return err
	}
	k.Allocatable = k.Capacity
	k.Labels = instanceTypeLabels(&k)
	p.catalogue.InstanceTypes = append(p.catalogue.InstanceTypes, k)
	last := &p.catalogue.InstanceTypes[len(p.catalogue.InstanceTypes)-1]
	p.enter(parent{noun: "kind", instanceType: last, labels: &last.Labels, allocatable: &last.Allocatable,
		attachable: &last.Attachable})
	return nil
}

func (p *parser) lastResort(w []string) error {
	if p.parent.instanceType == nil || len(w) != 0 {
		return fmt.Errorf("want it alone below a kind")
	}
	p.parent.instanceType.LastResort = true
	return nil
}

func (p *parser) onRequest(w []string) error {
	if p.parent.instanceType == nil || len(w) == 0 {
		return fmt.Errorf("want names of resources below a kind")
	}
	for _, word := range w {
		name, err := unquote(word)
		if err != nil {
			return err
		}
		p.parent.instanceType.OnRequest = append(p.parent.instanceType.OnRequest, name)
	}
	slices.Sort(p.parent.instanceType.OnRequest)
	return nil
}

func (p *parser) sustained(w []string) (err error) {
	k := p.parent.instanceType
	if k == nil || len(w) < 1 || len(w) > 2 {
		return fmt.Errorf("want an amount of cpu below a kind, and what a core beyond it costs: surplus=0.05")
	}
	if k.Sustained, err = quantity.ParseCPU(w[0]); err != nil || len(w) == 1 {
		return err
	}
	return fields(w[1:], map[string]func(string) error{"surplus": money(&k.Surplus)})
}

func (p *parser) offering(w []string) error {
	k := p.parent.instanceType
	if k == nil || len(w) < 3 {
		return fmt.Errorf("want zone, option and price below a kind")
	}
	zone, err := unquote(w[0])
	if err != nil {
		return err
	}
	option, err := unquote(w[1])
	if err != nil {
		return err
	}
	o := cluster.Offering{Zone: zone, Option: cluster.Option(option), Available: true}
	for _, word := range w[2:] {
		key, value, isPair, err := pair(word)
		switch {
		case err != nil:
			return err
		case isPair && key == "stock":
			o.ReservedCapacities = append(o.ReservedCapacities, cluster.ReservedCapacity{Name: value})
		case isPair && key == "unless":
			name, is, _ := strings.Cut(value, "=")
			o.Unless = constraint.Label{Key: name, Value: is}
		case isPair && key == "why":
			o.Why = value
		case isPair && key == "left":
			if len(o.ReservedCapacities) == 0 {
				return fmt.Errorf("left: want it behind what so many are left of: stock=cr-1 left=2")
			}
			if o.ReservedCapacities[len(o.ReservedCapacities)-1].Left, err = strconv.ParseInt(value, 10, 64); err != nil {
				return fmt.Errorf("left: %w", err)
			}
		case isPair && key == "risk":
			if o.Risk, err = readShare(value); err != nil {
				return fmt.Errorf("risk %s: want interruptions in an hour, such as 0.02", value)
			}
		case word == "unpriced":
			o.Priced = false
		case word == "unavailable":
			o.Available = false
		case word == "doubtful":
			o.Doubtful = true
		default:
			o.Priced = w[2] != "unpriced"
			if o.Price, err = readDollars(word); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(o.ReservedCapacities, func(a, b cluster.ReservedCapacity) int { return cmp.Compare(a.Name, b.Name) })
	o.Labels = offeringLabels(&o)
	k.Offerings = append(k.Offerings, o)
	p.parent.labels = &k.Offerings[len(k.Offerings)-1].Labels
	return nil
}

func (p *parser) pool(w []string) error {
	if len(w) == 0 {
		return fmt.Errorf("want kind/name")
	}
	id, err := readPoolID(w[0])
	if err != nil {
		return err
	}
	pool := cluster.Pool{ID: id}
	for _, word := range w[1:] {
		key, value, _, err := pair(word)
		if err != nil {
			return err
		}
		if err := p.readPoolField(&pool, key, value); err != nil {
			return err
		}
	}
	p.out.Pools = append(p.out.Pools, pool)
	last := &p.out.Pools[len(p.out.Pools)-1]
	p.enter(parent{noun: "pool", pool: last, labels: &last.Labels, requirements: &last.Requirements,
		taints: &last.Taints, startup: &last.StartupTaints})
	return nil
}

func (p *parser) readPoolField(pool *cluster.Pool, key, value string) (err error) {
	switch key {
	case "weight":
		pool.Weight, err = strconv.Atoi(value)
	case "catalogue":
		if pool.Catalogue = p.catalogues[value]; pool.Catalogue == nil {
			err = fmt.Errorf("no catalogue %q above", value)
		}
	case "nodes":
		pool.Nodes, err = strconv.ParseInt(value, 10, 64)
	case "boot":
		pool.Boot, err = time.ParseDuration(value)
	case "machine-cost":
		pool.MachineCost, err = readDollars(value)
	case "not-ready":
		pool.NotReady = value
	default:
		err = fmt.Errorf("no field %q", key)
	}
	return err
}

func (p *parser) limit(w []string) error {
	if p.parent.pool == nil {
		return fmt.Errorf("want it below a pool")
	}
	l := &p.parent.pool.Limits
	for _, word := range w {
		key, value, _, err := pair(word)
		if err != nil {
			return err
		}
		if key == "nodes" {
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return fmt.Errorf("nodes %s: want a whole number", value)
			}
			l.Nodes = &n
			continue
		}
		n, err := quantity.ParseAmount(key, value)
		if err != nil {
			return err
		}
		l.Amounts = append(l.Amounts, quantity.Extended{Name: key, Amount: n})
	}
	return sortLimits(l.Amounts)
}

func (p *parser) usage(w []string) (err error) {
	if p.parent.pool == nil {
		return fmt.Errorf("want it below a pool")
	}
	p.parent.pool.Usage, err = readAmounts(w)
	return err
}

func (p *parser) policy(w []string) error {
	if p.parent.pool == nil {
		return fmt.Errorf("want it below a pool")
	}
	o := &p.parent.pool.Policy
	for _, word := range w {
		key, value, _, err := pair(word)
		if err != nil {
			return err
		}
		switch key {
		case "consolidate":
			o.Consolidate = cluster.Consolidation(value)
		case "after":
			o.After, err = time.ParseDuration(value)
		case "lead":
			o.Lead, err = time.ParseDuration(value)
		case "never":
			o.Never = true
		case "static":
			o.Static = true
		case "delete-first":
			o.DeleteFirst = true
		case "renew":
			o.Renew, err = time.ParseDuration(value)
		case "budgets-change":
			o.BudgetsChange, err = readTime(value)
		case "payback-off":
			o.Payback.Off = true
		case "pod-cost":
			o.Payback.PodDollars, err = readShare(value)
		case "least-share":
			o.Payback.LeastShare, err = readShare(value)
		default:
			err = fmt.Errorf("no field %q", key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// allow reads how many nodes may go for one reason, or for any.
func (p *parser) allow(w []string) error {
	most, rest, err := named(w)
	if err != nil {
		return err
	}
	if p.parent.pool == nil {
		return fmt.Errorf("want it below a pool")
	}
	var a cluster.Allowance
	if a.Most, err = strconv.ParseInt(most, 10, 64); err != nil {
		return fmt.Errorf("%s: want a number of nodes", most)
	}
	var reason string
	if err := fields(rest, map[string]func(string) error{"reason": into(&reason), "note": into(&a.Note), "closed": into(&a.Closed)}); err != nil {
		return err
	}
	o := &p.parent.pool.Policy
	switch plan.RemovalReason(reason) {
	case "":
		o.Empty, o.Drifted, o.Underutilized = a, a, a
	case plan.Empty:
		o.Empty = a
	case plan.Drifted:
		o.Drifted = a
	case plan.Underutilized:
		o.Underutilized = a
	default:
		return fmt.Errorf("no budget has the reason %q", reason)
	}
	return nil
}

// guard reads a PodDisruptionBudget.
func (p *parser) pdb(w []string) error {
	if len(w) == 0 {
		return fmt.Errorf("want namespace/name")
	}
	var g cluster.PodDisruptionBudget
	var err error
	if g.Namespace, g.Name, err = readSlashed(w[0]); err != nil {
		return err
	}
	err = fields(w[1:], map[string]func(string) error{
		"allows": func(v string) (err error) { g.Allowed, err = strconv.ParseInt(v, 10, 64); return err },
		"never":  yes(&g.Never), "why": func(v string) error { g.Why = v; return nil }, "unready-too": yes(&g.UnreadyToo)})
	p.out.PDBs = append(p.out.PDBs, g)
	return err
}

// breaker reads how many nodes of some pools may go.
func (p *parser) breaker(w []string) error {
	name, rest, err := named(w)
	if err != nil {
		return err
	}
	b := cluster.Breaker{Name: name}
	count := func(n *int64) func(string) error {
		return func(v string) (err error) { *n, err = strconv.ParseInt(v, 10, 64); return err }
	}
	err = fields(rest, map[string]func(string) error{"most": count(&b.Most), "gone": count(&b.Gone), "pool": func(v string) error {
		id, err := readPoolID(v)
		b.Pools = append(b.Pools, id)
		return err
	}})
	p.out.Breakers = append(p.out.Breakers, b)
	return err
}

// readShare reads a number, 0 or more, that need not be whole.
func readShare(text string) (float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 0 || math.IsInf(n, 0) || math.IsNaN(n) {
		return 0, fmt.Errorf("%s: want a number, 0 or more, such as 0.02", text)
	}
	return n, nil
}

// freeze reads why no node may be disturbed.
func (p *parser) freeze(w []string) error {
	if len(w) == 0 {
		return fmt.Errorf("want a reason")
	}
	var err error
	if p.out.Freeze, err = unquote(w[0]); err != nil {
		return err
	}
	rest := w[1:]
	if i := slices.Index(rest, "all"); i >= 0 {
		p.out.FreezeAll, rest = true, slices.Delete(slices.Clone(rest), i, i+1)
	}
	return fields(rest, map[string]func(string) error{"until": func(v string) (err error) { p.out.FreezeUntil, err = readTime(v); return err }})
}

func (p *parser) node(w []string) error {
	name, fields, err := named(w)
	if err != nil {
		return err
	}
	n := cluster.Node{Name: name}
	for _, word := range fields {
		key, value, _, err := pair(word)
		if err != nil {
			return err
		}
		if err := readNodeField(&n, key, value); err != nil {
			return err
		}
	}
	p.out.Nodes = append(p.out.Nodes, n)
	last := &p.out.Nodes[len(p.out.Nodes)-1]
	p.enter(parent{noun: "node", node: last, labels: &last.Labels, taints: &last.Taints, startup: &last.StartupTaints,
		allocatable: &last.Allocatable, capacity: &last.Capacity,
		attachable: &last.Attachable})
	return nil
}

func readNodeField(n *cluster.Node, key, value string) (err error) {
	switch key {
	case "claim":
		n.Claim = value
	case "pool":
		n.Pool, err = readPoolID(value)
	case "machine":
		n.MachineID = value
	case "price":
		n.Price, err = readDollars(value)
	case "created":
		n.CreatedAt, err = readTime(value)
	case "quiet-since":
		n.QuietSince, err = readTime(value)
	case "expires":
		n.ExpiresAt, err = readTime(value)
	case "drifted":
		n.Drifted = value
	case "drifted-at":
		n.DriftedAt, err = readTime(value)
	case "grace":
		n.HasGrace = true
	case "changed":
		n.ChangedAt, err = readTime(value)
	case "ready":
		n.Ready = true
	case "initialized":
		n.Initialized = true
	case "deleting":
		n.Deleting = true
	case "machine-ends":
		n.MachineEnds = true
	case "ends":
		n.EndsAt, err = readTime(value)
	case "do-not-disrupt":
		n.DoNotDisrupt = true
	case "do-not-consolidate":
		n.DoNotConsolidate = true
	case "rests":
		n.Rests = value
	case "controller":
		n.Controller = cluster.Replica(value)
		if n.Controller != cluster.OnlyReplica && n.Controller != cluster.OneReplica {
			err = fmt.Errorf("%q is no seat: want %s or %s", value, cluster.OnlyReplica, cluster.OneReplica)
		}
	default:
		err = fmt.Errorf("no field %q", key)
	}
	return err
}

func (p *parser) machine(w []string) error {
	claim, fields, err := named(w)
	if err != nil {
		return err
	}
	m := cluster.Machine{Claim: claim}
	for _, word := range fields {
		key, value, _, err := pair(word)
		if err != nil {
			return err
		}
		switch key {
		case "pool":
			m.Pool, err = readPoolID(value)
		case "created":
			m.CreatedAt, err = readTime(value)
		case "launched":
			m.Launched = true
		case "deleting":
			m.Deleting = true
		case "buying":
			m.Launching = true
		case "planned":
			m.Planned = true
		case "purpose-unknown":
			m.PurposeUnknown = true
		case "types-unknown":
			m.TypesUnknown = true
		case "replacement":
			m.Replacement = true
		default:
			err = fmt.Errorf("no field %q", key)
		}
		if err != nil {
			return err
		}
	}
	p.out.Machines = append(p.out.Machines, m)
	last := &p.out.Machines[len(p.out.Machines)-1]
	p.enter(parent{noun: "machine", machine: last, labels: &last.Labels, requirements: &last.Requirements,
		taints: &last.Taints, startup: &last.StartupTaints, allocatable: &last.Allocatable, capacity: &last.Capacity,
		attachable: &last.Attachable})
	return nil
}
