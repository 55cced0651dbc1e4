// Package convert converts manifests of older APIs to v1, for `daemok migrate`. It also converts pods
// that name them.
//
// It promises that an API server accepts what it makes and that the controller uses it, and that
// nothing is lost silently: for every field that is set, the report says what happens to it. It
// refuses what cannot be converted, and says what to do instead. It takes values and returns values:
// it knows no cluster and no cloud.
package convert

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
)

// Options are what manifests alone do not say.
type Options struct {
	// Role is the IAM role of nodes where nothing names a role or an instance profile.
	Role string
	// Kubernetes is the version of the cluster, such as "1.27"; empty: not known.
	Kubernetes string
	// RewriteWorkloads has manifests with pods that speak in older words made again.
	RewriteWorkloads bool
	// NoDrift says that nodes were not replaced for being outdated, where no settings say
	// whether they were.
	NoDrift bool
	// Gate is what the controller's own switch says of that, which goes before settings;
	// nil: nothing.
	Gate *bool
}

// Result is what manifests came to.
type Result struct {
	Objects []client.Object // in the order to apply them in: classes, then pools, by name; no workloads
	Report  []Entry         // one for each manifest that was examined, in their order
	made    []made
}

// Refused counts the findings for which something was not made.
func (r *Result) Refused() int {
	n := 0
	for _, e := range r.Report {
		for _, f := range e.Findings {
			if f.Weight == Refuses {
				n++
			}
		}
	}
	return n
}

// New are the objects that were made of Provisioners and AWSNodeTemplates, in the order of
// Objects.
func (r *Result) New() []client.Object {
	var out []client.Object
	for _, m := range r.made {
		if from := m.from.APIVersion; from == v1alpha5.GroupVersion.String() || from == awsv1alpha1.GroupVersion.String() {
			out = append(out, m.object)
		}
	}
	return out
}

// made is an object and what it was made from.
type made struct {
	object client.Object
	from   *subject
	hidden *placeholders
}

// Converter turns manifests. It may be used again.
type Converter struct{ checks *checks }

// New returns a converter. It takes about a second, in which rules are compiled.
func New() (*Converter, error) {
	checks, err := newChecks()
	return &Converter{checks}, err
}

// converter holds what the manifests say together.
type converter struct {
	Options
	checks    *checks
	settings  *settings
	subjects  []*subject
	classes   []*class
	pools     []*pool
	workloads []made
}

// Convert turns documents into one result.
func (t *Converter) Convert(documents []Document, o Options) *Result {
	c := &converter{Options: o, checks: t.checks}
	for _, d := range documents {
		c.subjects = append(c.subjects, &subject{Document: d, entry: Entry{Object: d.String(), At: d.At("")}})
	}
	for _, s := range c.subjects {
		if s.isSettings() {
			c.takeSettings(s)
		}
	}
	for _, s := range c.subjects {
		c.read(s)
	}
	return c.join()
}

// read takes in one document, by its kind.
func (c *converter) read(s *subject) {
	if s.unread != "" {
		s.note(Refuses, "", "%s", s.unread)
		return
	}
	if len(s.defaults) > 0 && s.ofKarpenter() {
		s.note(Maps, "", "variables of Terraform stand for their defaults: %s", strings.Join(s.defaults, ", "))
	}
	switch s.APIVersion + " " + s.Kind {
	case v1alpha5.GroupVersion.String() + " Provisioner":
		anyValue(s, "spec", "provider")
		if p := new(v1alpha5.Provisioner); c.checks.admits(s, p) {
			c.provisioner(s, p)
		}
	case awsv1alpha1.GroupVersion.String() + " " + awsv1alpha1.Kind:
		anyValue(s, "spec")
		if t := new(awsv1alpha1.AWSNodeTemplate); c.checks.admits(s, t) {
			c.template(s, t)
		}
	case karpv1.GroupVersion.String() + " NodePool":
		if p := new(karpv1.NodePool); c.checks.admits(s, p) {
			c.newest(s, p)
		}
	case awsv1.GroupVersion.String() + " EC2NodeClass":
		if n := new(awsv1.EC2NodeClass); c.checks.admits(s, n) {
			s.note(Maps, "", "is of the newest generation and stays as it is")
			n.ObjectMeta = meta(n.ObjectMeta)
			c.classes = append(c.classes, &class{from: s, out: n})
		}
	case betaPool + " NodePool":
		c.betaNodePool(s)
	case betaClass + " EC2NodeClass":
		c.betaNodeClass(s)
	default:
		c.beside(s)
	}
}

// beside reports manifests of Karpenter's that are of no use in files.
func (c *converter) beside(s *subject) {
	if s.isSettings() {
		return
	}
	if !s.ofKarpenter() {
		c.workload(s)
		return
	}
	s.note(Refuses, "", "%s of %s is not known here: leave it out; nodes of a live cluster are not migrated by manifests", s.Kind, s.APIVersion)
}

// YAML prints objects as documents, with what was hidden in them.
func (r *Result) YAML() (string, error) {
	text := ""
	for _, m := range r.made {
		document, err := Clean(m.object)
		if err != nil {
			return "", err
		}
		data, err := yaml.Marshal(document)
		if err != nil {
			return "", fmt.Errorf("write %s: %w", m.object.GetName(), err)
		}
		if text != "" {
			text += "---\n"
		}
		text += m.hidden.restore(string(data))
	}
	return text, nil
}

// Clean is an object as users write it: without a status, and without fields that no user set.
func Clean(o client.Object) (map[string]any, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", o.GetName(), err)
	}
	document := map[string]any{}
	if err := utiljson.Unmarshal(data, &document); err != nil {
		return nil, fmt.Errorf("write %s: %w", o.GetName(), err)
	}
	delete(document, "status")
	if meta, ok := document["metadata"].(map[string]any); ok {
		delete(meta, "creationTimestamp")
	}
	return document, nil
}

// finish checks what was made, and puts it in order.
func (c *converter) finish() *Result {
	r := &Result{}
	for _, k := range c.classes {
		r.made = append(r.made, made{k.out, k.from, k.from.hidden})
	}
	for _, p := range c.pools {
		r.made = append(r.made, made{p.out, p.from, p.from.hidden})
	}
	taken := map[string]string{}
	r.made = slices.DeleteFunc(r.made, func(m made) bool {
		kind := m.object.GetObjectKind().GroupVersionKind().Kind
		id := kind + " " + m.object.GetName()
		if other, twice := taken[id]; twice {
			m.from.note(Refuses, "metadata.name", "%s is made of %s already: give one of the manifests another metadata.name and convert them by files", id, other)
			return true
		}
		if !c.checks.holds(m) {
			return true
		}
		taken[id] = m.from.entry.Object
		m.from.entry.Made = append(m.from.entry.Made, m.hidden.restore(id))
		return false
	})
	slices.SortStableFunc(r.made, func(a, b made) int {
		return cmp.Or(cmp.Compare(a.object.GetObjectKind().GroupVersionKind().Kind, b.object.GetObjectKind().GroupVersionKind().Kind),
			cmp.Compare(a.object.GetName(), b.object.GetName()))
	})
	for _, m := range r.made {
		r.Objects = append(r.Objects, m.object)
	}
	for _, w := range c.workloads {
		w.from.entry.Made = append(w.from.entry.Made, w.from.entry.Object)
		r.made = append(r.made, w)
	}
	for _, s := range c.subjects {
		if len(s.entry.Findings) > 0 || len(s.entry.Made) > 0 {
			r.Report = append(r.Report, s.reported())
		}
	}
	return r
}
