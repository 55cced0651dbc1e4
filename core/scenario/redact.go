package scenario

import (
	"slices"
	"strconv"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// Redact returns a copy in which names are replaced, equal ones by equal ones:
// of namespaces, pods, owners, nodes, claims, machines, pools, daemons, volume
// claims and addresses, the keys and values of labels and taints that are not
// Kubernetes' or Karpenter's own, and all values of pods' labels, with the
// selectors that choose by them. Free text is left out. Amounts, prices, times,
// machine types, zones, ports and volume drivers stay, since they are what a
// report is about.
func Redact(s *cluster.Snapshot) *cluster.Snapshot {
	r := &redactor{names: map[string]map[string]string{}, shapes: map[*cluster.Shape]*cluster.Shape{},
		catalogues: map[*cluster.Catalogue]*cluster.Catalogue{}}
	out := &cluster.Snapshot{Revision: s.Revision, Now: s.Now, Repair: s.Repair}
	for _, x := range s.Shapes() {
		r.shapes[x] = r.shape(x)
	}
	out.Waiting, out.Expected = each(s.Waiting, r.pod), each(s.Expected, r.pod)
	out.Pools = each(s.Pools, r.pool)
	out.Nodes = each(s.Nodes, r.node)
	out.Machines = each(s.Machines, r.machine)
	out.Daemons = each(s.Daemons, func(d cluster.Daemon) cluster.Daemon {
		return cluster.Daemon{Namespace: r.name("namespace", d.Namespace), Name: r.name("daemon", d.Name), Shape: r.shapes[d.Shape]}
	})
	out.PDBs = each(s.PDBs, func(g cluster.PodDisruptionBudget) cluster.PodDisruptionBudget {
		g.Namespace, g.Name, g.Why = r.name("namespace", g.Namespace), r.name("pdb", g.Name), left(g.Why)
		return g
	})
	out.Breakers = each(s.Breakers, func(b cluster.Breaker) cluster.Breaker {
		b.Name, b.Pools = r.name("breaker", b.Name), each(b.Pools, r.poolID)
		return b
	})
	out.Freeze, out.FreezeUntil, out.FreezeAll = left(s.Freeze), s.FreezeUntil, s.FreezeAll
	out.Sort()
	return out
}

type redactor struct {
	names      map[string]map[string]string // by what is named: old name to new
	shapes     map[*cluster.Shape]*cluster.Shape
	catalogues map[*cluster.Catalogue]*cluster.Catalogue
}

// name replaces a name; the empty one stays.
func (r *redactor) name(what, old string) string {
	if old == "" {
		return ""
	}
	if r.names[what] == nil {
		r.names[what] = map[string]string{}
	}
	if _, known := r.names[what][old]; !known {
		r.names[what][old] = what + "-" + strconv.Itoa(len(r.names[what])+1)
	}
	return r.names[what][old]
}

func (r *redactor) shape(s *cluster.Shape) *cluster.Shape {
	out := *s
	out.Namespace = r.name("namespace", s.Namespace)
	out.Tolerations = each(s.Tolerations, func(t constraint.Toleration) constraint.Toleration {
		t.Key, t.Value = r.key(t.Key), r.value(t.Key, t.Value)
		return t
	})
	out.NodeTerms = each(s.NodeTerms, r.requirements)
	r.rules(&out)
	return &out
}

func (r *redactor) pod(p cluster.Pod) cluster.Pod {
	p.Namespace, p.Name = r.name("namespace", p.Namespace), r.name("pod", p.Name)
	p.UID, p.Node = r.name("uid", p.UID), r.name("node", p.Node)
	if kind, name, found := strings.Cut(p.Owner, "/"); found {
		p.Owner = kind + "/" + r.name("owner", name)
	} else {
		p.Owner = r.name("owner", p.Owner)
	}
	if p.LastOf != "" {
		p.LastOf = r.name("service", p.LastOf)
	}
	if p.PDBs != "" {
		p.PDBs = strings.Join(each(strings.Split(p.PDBs, ","), func(name string) string { return r.name("pdb", name) }), ",")
	}
	p.Shape = r.shapes[p.Shape]
	return p
}

func (r *redactor) poolID(id cluster.PoolID) cluster.PoolID {
	return cluster.PoolID{Kind: id.Kind, Name: r.name("pool", id.Name)}
}

func (r *redactor) pool(p cluster.Pool) cluster.Pool {
	p.ID = r.poolID(p.ID)
	p.Labels, p.Requirements, p.Floor.Size = r.labels(p.Labels), r.requirements(p.Requirements), r.requirements(p.Floor.Size)
	p.Taints, p.StartupTaints = each(p.Taints, r.taint), each(p.StartupTaints, r.taint)
	p.Catalogue = r.catalogue(p.Catalogue)
	p.NotReady = left(p.NotReady)
	for _, a := range []*cluster.Allowance{&p.Policy.Empty, &p.Policy.Drifted, &p.Policy.Underutilized} {
		a.Note, a.Closed = left(a.Note), left(a.Closed)
	}
	return p
}

func left(text string) string {
	if text == "" {
		return ""
	}
	return "redacted"
}

func (r *redactor) catalogue(c *cluster.Catalogue) *cluster.Catalogue {
	if c == nil {
		return nil
	}
	if out, known := r.catalogues[c]; known {
		return out
	}
	out := &cluster.Catalogue{Revision: c.Revision, Disk: c.Disk, InstanceTypes: each(c.InstanceTypes, func(k cluster.InstanceType) cluster.InstanceType {
		k.Labels = r.labels(k.Labels)
		k.Offerings = each(k.Offerings, func(o cluster.Offering) cluster.Offering {
			o.ReservedCapacities = each(o.ReservedCapacities, func(s cluster.ReservedCapacity) cluster.ReservedCapacity { s.Name = r.name("stock", s.Name); return s })
			o.Labels = r.labels(o.Labels)
			if o.Unless.Key != "" {
				o.Unless = r.labels(constraint.Labels{o.Unless})[0]
			}
			return o
		})
		return k
	})}
	r.catalogues[c] = out
	return out
}

func (r *redactor) node(n cluster.Node) cluster.Node {
	n.Name, n.Claim, n.MachineID = r.name("node", n.Name), r.name("claim", n.Claim), r.name("machine", n.MachineID)
	n.Pool = r.poolID(n.Pool)
	n.Labels = r.labels(n.Labels)
	n.Taints, n.StartupTaints = each(n.Taints, r.taint), each(n.StartupTaints, r.taint)
	n.Pods, n.LaunchedFor = each(n.Pods, r.pod), each(n.LaunchedFor, r.pod)
	return n
}

func (r *redactor) machine(m cluster.Machine) cluster.Machine {
	m.Claim, m.Pool = r.name("claim", m.Claim), r.poolID(m.Pool)
	m.Labels, m.Requirements = r.labels(m.Labels), r.requirements(m.Requirements)
	m.Taints, m.StartupTaints = each(m.Taints, r.taint), each(m.StartupTaints, r.taint)
	m.LaunchedFor = each(m.LaunchedFor, r.pod)
	return m
}

func (r *redactor) taint(t constraint.Taint) constraint.Taint {
	return constraint.Taint{Key: r.key(t.Key), Value: r.value(t.Key, t.Value), Effect: t.Effect}
}

func (r *redactor) labels(l constraint.Labels) constraint.Labels {
	var out constraint.Labels
	for _, x := range l {
		out = out.With(r.key(x.Key), r.value(x.Key, x.Value))
	}
	return out
}

func (r *redactor) requirements(list constraint.Requirements) constraint.Requirements {
	return r.renamed(list, r.value)
}

func (r *redactor) renamed(list constraint.Requirements, rename func(key, value string) string) constraint.Requirements {
	var out constraint.Requirements
	for _, q := range list {
		set := constraint.Anything()
		for _, t := range q.Set.Terms() {
			if t.Op == constraint.In || t.Op == constraint.NotIn {
				t.Values = each(t.Values, func(v string) string { return rename(q.Key, v) })
			}
			part, err := constraint.NewSet(t.Op, t.Values...)
			if err != nil {
				panic("scenario: a set has terms that make no set: " + err.Error())
			}
			set = set.Intersect(part)
		}
		out = out.And(constraint.Requirement{Key: r.key(q.Key), Set: set, MinValues: q.MinValues})
	}
	return out
}

// public lists the ends of domains whose labels say nothing about a user.
var public = []string{"kubernetes.io", "k8s.io", "karpenter.sh", "karpenter.k8s.aws", "k8s.aws", "amazonaws.com"}

func isPublic(key string) bool {
	domain, _, found := strings.Cut(key, "/")
	return found && slices.ContainsFunc(public, func(end string) bool {
		return domain == end || strings.HasSuffix(domain, "."+end)
	})
}

func (r *redactor) key(key string) string {
	if isPublic(key) || strings.HasPrefix(key, "metadata.name") {
		return key
	}
	return r.name("label", key)
}

// valueNames tells which names stand in the values of labels that are public.
var valueNames = map[string]string{
	"karpenter.sh/nodepool":          "pool",
	"karpenter.sh/provisioner-name":  "pool",
	"karpenter.k8s.aws/ec2nodeclass": "class",
	"kubernetes.io/hostname":         "node",
	"eks.amazonaws.com/nodegroup":    "nodegroup",
	"alpha.eksctl.io/cluster-name":   "cluster",
}

func (r *redactor) value(key, value string) string {
	switch what := valueNames[key]; {
	case strings.HasPrefix(key, "metadata.name"):
		return r.name("node", value)
	case what != "":
		return r.name(what, value)
	case isPublic(key):
		return value
	}
	if _, err := strconv.ParseInt(value, 10, 64); err == nil {
		return value // numbers are amounts, and bounds refer to them
	}
	return r.name("value", value)
}

// each maps a list, and nil to nil.
func each[T, U any](list []T, f func(T) U) []U {
	if list == nil {
		return nil
	}
	out := make([]U, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}
