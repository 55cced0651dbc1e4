package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/daemok/daemok/core/constraint"
)

// hiding replaces the value of a label with the key.
type hiding = func(r *redactor, key, value string) string

type redactor struct {
	names map[string]map[string]string // by what is named: old name to new
	done  map[any]any                  // shapes and catalogues, which several refer to
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

// inOrder replaces names by new ones in the same order.
func (r *redactor) inOrder(what string, old []string) {
	slices.Sort(old)
	r.names[what] = map[string]string{}
	digits := len(strconv.Itoa(len(old)))
	for i, name := range old {
		r.names[what][name] = fmt.Sprintf("%s-%0*d", what, digits, i+1)
	}
}

func (r *redactor) namespace(name string) string { return r.name("namespace", name) }

// same keeps what says nothing about a user.
func same(_ *redactor, s string) string { return s }

func left(text string) string {
	if text == "" {
		return ""
	}
	return "redacted"
}

func (r *redactor) labels(l constraint.Labels, value hiding) constraint.Labels {
	var out constraint.Labels
	for _, x := range l {
		out = out.With(r.key(x.Key), value(r, x.Key, x.Value))
	}
	return out
}

func (r *redactor) requirement(q *constraint.Requirement, value hiding) {
	set := constraint.Anything()
	for _, t := range q.Set.Terms() {
		if t.Op == constraint.In || t.Op == constraint.NotIn {
			t.Values = mapped(t.Values, func(v string) string { return value(r, q.Key, v) })
		}
		part, err := constraint.NewSet(t.Op, t.Values...)
		if err != nil {
			panic("scenario: a set has terms that make no set: " + err.Error())
		}
		set = set.Intersect(part)
	}
	q.Key, q.Set = r.key(q.Key), set
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

// anyValue hides values under any key, for labels of pods: app.kubernetes.io/name says more about
// a user than any key of a node.
func (r *redactor) anyValue(_, value string) string { return r.name("value", value) }
