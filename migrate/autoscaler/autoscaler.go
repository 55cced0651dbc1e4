// Package autoscaler converts the node groups of a Cluster Autoscaler to NodePools and classes, and
// says how to empty the groups.
//
// It promises that an API server and the controller accept what it makes, that the selectors match
// exactly the subnets and security groups of the launch templates, and that nothing is lost silently.
// It takes values and returns values: it knows no cluster and no cloud.
package autoscaler

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/cloud/nodegroup"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/migrate/convert"
)

// Result is what groups came to.
type Result struct {
	YAML   string          // classes, then pools
	Report []convert.Entry // on the Cluster Autoscaler, then on each group
	Plan   string          // how the groups are emptied: comments and commands
}

// Refused counts the findings for which something was not made.
func (r *Result) Refused() int {
	n := 0
	for _, e := range r.Report {
		for _, f := range e.Findings {
			if f.Weight == convert.Refuses {
				n++
			}
		}
	}
	return n
}

// entry is the report on one thing as it grows.
type entry struct{ convert.Entry }

func (e *entry) note(w convert.Weight, field, format string, args ...any) {
	e.Findings = append(e.Findings, convert.Finding{Weight: w, At: e.At, Field: field, Text: fmt.Sprintf(format, args...)})
}

func (e *entry) refused() bool {
	return slices.ContainsFunc(e.Findings, func(f convert.Finding) bool { return f.Weight == convert.Refuses })
}

// keeps reports whether the group is to stay as it is.
func (s *Settings) keeps(g nodegroup.Group) bool {
	return slices.Contains(s.Kept, g.Name) || g.Managed != "" && slices.Contains(s.Kept, g.Managed)
}

// checkKept is an error where one that is to be kept is no group.
func (s *Settings) checkKept(groups []nodegroup.Group) error {
	var known []string
	for _, g := range groups {
		known = append(known, cmp.Or(g.Managed, g.Name))
	}
	for _, name := range s.Kept {
		is := func(g nodegroup.Group) bool { return g.Name == name || g.Managed == name }
		if !slices.ContainsFunc(groups, is) {
			return fmt.Errorf("--keep %s: the Cluster Autoscaler scales no group of that name; it scales %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// Convert turns groups, but those that are kept, and holds what it makes to the rules.
func Convert(s *Settings, groups []nodegroup.Group, converter *convert.Converter) (*Result, error) {
	if err := s.checkKept(groups); err != nil {
		return nil, err
	}
	called := path.Join(s.Namespace, s.Name)
	about := &entry{convert.Entry{Object: "Deployment " + called, At: called, Made: []string{}}}
	s.report(about)
	entries := []*entry{about}
	taken := map[string]bool{}
	var objects []client.Object
	var emptied []replaced
	for _, g := range groups {
		e := &entry{convert.Entry{Object: "group " + g.Name, At: g.Name, Made: []string{}}}
		entries = append(entries, e)
		if s.keeps(g) {
			e.note(convert.Changes, "--keep", "it stays as it is, with %d nodes, which nothing scales from then on", g.Desired)
			continue
		}
		name := nameOf(g)
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s-%d", nameOf(g), n)
		}
		taken[name] = true
		class, pool := s.class(e, g, name), s.pool(e, g, name)
		if e.refused() {
			continue
		}
		wrong, err := held(converter, class, pool)
		if err != nil {
			return nil, err
		}
		for _, f := range wrong {
			e.note(convert.Refuses, f.Field, "%s", f.Text)
		}
		if e.refused() {
			continue
		}
		e.Made = append(e.Made, "EC2NodeClass "+name, "NodePool "+name)
		objects = append(objects, class, pool)
		emptied = append(emptied, replaced{g, name})
	}
	slices.SortStableFunc(objects, func(a, b client.Object) int {
		return cmp.Or(cmp.Compare(a.GetObjectKind().GroupVersionKind().Kind, b.GetObjectKind().GroupVersionKind().Kind), cmp.Compare(a.GetName(), b.GetName()))
	})
	text, err := manifests(objects)
	r := &Result{YAML: text, Plan: s.plan(emptied)}
	for _, e := range entries {
		r.Report = append(r.Report, e.Entry)
	}
	return r, err
}

// held are the findings of the checks that would refuse what was made.
func held(converter *convert.Converter, objects ...client.Object) ([]convert.Finding, error) {
	text, err := manifests(objects)
	if err != nil {
		return nil, err
	}
	documents, err := convert.Read([]convert.Source{{Name: "made", Data: []byte(text), Verbatim: true}})
	if err != nil {
		return nil, err
	}
	var out []convert.Finding
	for _, e := range converter.Convert(documents, convert.Options{}).Report {
		for _, f := range e.Findings {
			if f.Weight == convert.Refuses {
				out = append(out, f)
			}
		}
	}
	return out, nil
}

func manifests(objects []client.Object) (string, error) {
	text := ""
	for _, o := range objects {
		document, err := convert.Clean(o)
		if err != nil {
			return "", err
		}
		data, err := yaml.Marshal(document)
		if err != nil {
			return "", err
		}
		if text != "" {
			text += "---\n"
		}
		text += string(data)
	}
	return text, nil
}

// report says what becomes of every flag.
func (s *Settings) report(e *entry) {
	for _, name := range s.order {
		if slices.Contains(ofTheProgram, name) {
			continue
		}
		m, known := meanings[name]
		if !known {
			m = meaning{convert.Loses, "is not known here: see whether the NodePools do without it"}
		}
		if name == "expander" && s.last(name, "") == "priority" {
			m.text = "the ConfigMap cluster-autoscaler-priority-expander has no counterpart: set spec.weight of the NodePools, the highest is used first"
		}
		e.note(m.weight, "--"+name, "%s: %s", strings.Join(s.Flags[name], ", "), m.text)
	}
	for _, name := range []string{"skip-nodes-with-local-storage", "skip-nodes-with-system-pods"} {
		if s.Flags[name] == nil {
			e.note(convert.Changes, "--"+name, "true by default: %s", meanings[name].text)
		}
	}
	if len(s.Kept) == 0 {
		e.note(convert.Changes, "groups", "all that it scales are emptied, and the controller never runs on nodes of NodePools: name one of two nodes or more with --keep, for the controller and other system pods, unless other nodes have room for them")
	}
	e.note(convert.Changes, "pods", "cluster-autoscaler.kubernetes.io/safe-to-evict counts if the controller has --cluster-autoscaler-annotations (value settings.clusterAutoscalerAnnotations: true). Without it write karpenter.sh/do-not-disrupt: \"true\" for \"false\", and karpenter.sh/do-not-disrupt: \"false\" for \"true\" on a pod without a controller")
	e.note(convert.Changes, "nodes", "cluster-autoscaler.kubernetes.io/scale-down-disabled: \"true\" counts under the same option. Without it write karpenter.sh/do-not-disrupt: \"true\"")
}

var notInNames = regexp.MustCompile(`[^a-z0-9-]+`)

// nameOf is what pool and class of a group are called.
func nameOf(g nodegroup.Group) string {
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(cmp.Or(g.Managed, g.Name)), "-"), "-")
	return strings.Trim(name[:min(len(name), 60)], "-")
}

// Tags by which groups declare to the Cluster Autoscaler what their nodes will have.
const (
	templateLabel = "k8s.io/cluster-autoscaler/node-template/label/"
	templateTaint = "k8s.io/cluster-autoscaler/node-template/taint/"
)

// pool is the NodePool of a group.
func (s *Settings) pool(e *entry, g nodegroup.Group, name string) *karpv1.NodePool {
	p := &karpv1.NodePool{TypeMeta: metav1.TypeMeta{APIVersion: karpv1.GroupVersion.String(), Kind: "NodePool"}, ObjectMeta: metav1.ObjectMeta{Name: name}}
	t := &p.Spec.Template
	t.Spec.NodeClassRef = karpv1.NodeClassReference{Group: api.GroupAWS, Kind: "EC2NodeClass", Name: name}
	t.Spec.ExpireAfter = karpv1.Never
	s.labels(e, g, p)
	if len(g.Types) == 0 && len(g.Unmanaged) == 0 {
		e.note(convert.Refuses, "instance types", "none are named, neither by the group nor by its launch template")
	}
	types := slices.Sorted(slices.Values(g.Types))
	t.Spec.Requirements = append(t.Spec.Requirements, karpv1.Requirement{Key: api.LabelInstanceType, Operator: corev1.NodeSelectorOpIn, Values: slices.Compact(types)})
	e.note(convert.Maps, "instance types", "requirement on %s: any of them that is the cheapest", api.LabelInstanceType)
	var ways []string
	if g.OnDemand {
		ways = append(ways, "on-demand")
	}
	if g.Spot {
		ways = append(ways, "spot")
	}
	t.Spec.Requirements = append(t.Spec.Requirements, karpv1.Requirement{Key: api.LabelCapacityType, Operator: corev1.NodeSelectorOpIn, Values: ways})
	if g.Share != "" {
		e.note(convert.Changes, "instances distribution", "%s: the cheaper capacity type is launched, mostly spot; for a share on demand, create a NodePool for each capacity type, with limits of its own", g.Share)
	}
	switch g.Tenancy {
	case "dedicated":
		t.Spec.Requirements = append(t.Spec.Requirements, karpv1.Requirement{Key: api.LabelTenancy, Operator: corev1.NodeSelectorOpIn, Values: []string{g.Tenancy}})
	case "host":
		e.note(convert.Refuses, "placement", "tenancy host: instances on Dedicated Hosts are not launched")
	}
	low, high := g.Min, g.Max
	if a, b, said := s.bounds(g.Name); said {
		low, high = a, b
	}
	p.Spec.Limits = corev1.ResourceList{"nodes": *resource.NewQuantity(int64(high), resource.DecimalSI)}
	e.note(convert.Maps, "maximum size", "spec.limits.nodes %d", high)
	if low > 0 {
		e.note(convert.Loses, "minimum size", "%d: there are as many nodes as pods need; run pods of low priority to keep room", low)
	}
	s.removal(e, p)
	return p
}

// removal says when nodes go.
func (s *Settings) removal(e *entry, p *karpv1.NodePool) {
	d := &p.Spec.Disruption
	d.ConsolidationPolicy, d.ConsolidateAfter = karpv1.ConsolidateWhenEmptyOrUnderutilized, karpv1.DurationOrNever(s.last("scale-down-unneeded-time", "10m"))
	if s.last("scale-down-enabled", "true") == "false" {
		d.ConsolidateAfter = karpv1.Never
	}
	d.Budgets = []karpv1.Budget{
		{Nodes: s.last("max-scale-down-parallelism", s.last("max-empty-bulk-delete", "10")), Reasons: []karpv1.DisruptionReason{karpv1.ReasonEmpty}},
		{Nodes: s.last("max-drain-parallelism", "1"), Reasons: []karpv1.DisruptionReason{karpv1.ReasonUnderutilized}},
		{Nodes: "0", Reasons: []karpv1.DisruptionReason{karpv1.ReasonDrifted}},
	}
	e.note(convert.Maps, "scale down", "consolidateAfter %s, budgets %s for Empty and %s for Underutilized", d.ConsolidateAfter, d.Budgets[0].Nodes, d.Budgets[1].Nodes)
	e.note(convert.Maps, "updates", "nodes were never replaced by themselves: expireAfter Never, and a budget of 0 nodes for Drifted; take it out for nodes that follow newer images and changed classes")
}

// labels and taints are those that EKS gives nodes, and those that tags declare.
func (s *Settings) labels(e *entry, g nodegroup.Group, p *karpv1.NodePool) {
	t := &p.Spec.Template
	labels := maps.Clone(g.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	taints := slices.Clone(g.Taints)
	for _, key := range slices.Sorted(maps.Keys(g.Tags)) {
		value := g.Tags[key]
		if label, is := strings.CutPrefix(key, templateLabel); is {
			labels[label] = value
		}
		if taint, is := strings.CutPrefix(key, templateTaint); is {
			one := nodegroup.Taint{Key: taint}
			one.Value, one.Effect, _ = strings.Cut(value, ":")
			if !slices.ContainsFunc(taints, func(have nodegroup.Taint) bool { return have.Key == one.Key && have.Effect == one.Effect }) {
				taints = append(taints, one)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		switch {
		case api.IsWellKnown(key):
			t.Spec.Requirements = append(t.Spec.Requirements, karpv1.Requirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{labels[key]}})
			delete(labels, key)
			e.note(convert.Maps, "label "+key, "a requirement: every node has it by its instance")
		default:
			e.note(convert.Maps, "label "+key, "a label of the NodePool")
		}
	}
	if g.Managed != "" {
		e.note(convert.Changes, "label eks.amazonaws.com/nodegroup", "nodes of a NodePool do not have it: pods that select it have to select another, such as karpenter.sh/nodepool")
	}
	if len(labels) > 0 {
		t.Metadata.Labels = labels
	}
	for _, taint := range taints {
		t.Spec.Taints = append(t.Spec.Taints, corev1.Taint{Key: taint.Key, Value: taint.Value, Effect: corev1.TaintEffect(taint.Effect)})
		e.note(convert.Maps, "taint "+taint.Key, "a taint of the NodePool")
	}
}
