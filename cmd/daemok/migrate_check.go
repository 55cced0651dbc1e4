package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/rights"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/controller"
	"github.com/daemok/daemok/controller/drift"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/kube/access/output"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/pages"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/podspec"
	"github.com/daemok/daemok/migrate/convert"
	"github.com/daemok/daemok/migrate/live"
	"github.com/daemok/daemok/migrate/move"
)

// wouldTouch is the exit code of a check that found something.
const wouldTouch = 2

// check reports what would become of the nodes of a cluster, and of the controller's rights, were
// its pools and classes those of a result.
func (m *migration) check(ctx context.Context, cluster reached, r *convert.Result, out io.Writer) error {
	nodes, err := m.predict(ctx, cluster, r)
	if err != nil {
		return err
	}
	text, touched := reportNodes(nodes)
	of, err := compareRights(m.policies)
	if err != nil {
		return err
	}
	rightsText, lacks := of.text()
	if err := m.form.Print(out, foretold(nodes, of, text+rightsText)); err != nil {
		return err
	}
	if n := r.Refused(); n > 0 {
		return fmt.Errorf("%s, see the report: what has one cannot be migrated", brief.Counted(n, "error"))
	}
	if err := m.mayApply(ctx, cluster, r); err != nil {
		return fmt.Errorf("--apply would refuse: %w", err)
	}
	if touched > 0 || lacks > 0 {
		return &exitError{fmt.Errorf("%s would be replaced, %s missing", brief.Counted(touched, "node"), brief.Counted(lacks, "right")), wouldTouch}
	}
	return nil
}

// mayApply says why --apply would not begin.
func (m *migration) mayApply(ctx context.Context, cluster reached, r *convert.Result) error {
	objects, err := live.Older(ctx, cluster)
	if err != nil || len(objects) == 0 {
		return err
	}
	return m.mover(cluster, io.Discard).Check(ctx, move.Plan{Older: objects, Newer: r.New()})
}

// compareRights compares the policies in files with what the controller needs; without files
// nothing is reported.
func compareRights(files []string) (of rightsJSON, err error) {
	var policies []rights.Policy
	for _, file := range files {
		document, err := os.ReadFile(file)
		if err != nil {
			return of, fmt.Errorf("read an IAM policy: %w", err)
		}
		p, err := rights.Read(file, document)
		if err != nil {
			return of, err
		}
		policies = append(policies, p)
	}
	if len(policies) > 0 {
		d := rights.Compare(policies)
		of = rightsJSON{d.Missing, d.Outdated, d.Needless}
	}
	return of, nil
}

// rightsJSON is how policies differ from what the controller needs, as scripts read it.
type rightsJSON struct {
	Missing  []string `json:"missing,omitempty"`
	Outdated []string `json:"missingOfNodePools,omitempty"` // conditions that hold for instances of NodePools alone
	Needless []string `json:"needless,omitempty"`
}

// text reports rights to people, and counts those that every cluster lacks.
func (r rightsJSON) text() (text string, lacks int) {
	lacks = len(r.Outdated)
	for _, action := range r.Missing {
		if !strings.Contains(action, ",") {
			lacks++
		}
		text += "right missing: " + action + "\n"
	}
	for _, condition := range r.Outdated {
		text += "right missing: for instances of NodePools: " + condition + "\n"
	}
	for _, action := range r.Needless {
		text += "right not needed: " + action + "\n"
	}
	return text, lacks
}

// futureJSON is what would become of a node, as scripts read it. Lists are never null.
type futureJSON struct {
	Node     string   `json:"node"`
	Pool     string   `json:"pool"`
	Replaced bool     `json:"replaced"`
	Reason   string   `json:"reason,omitempty"` // for which it would have drifted, though a budget may keep it
	Why      string   `json:"why,omitempty"`
	Marks    []string `json:"marks"` // what becomes of what the node says in older words
	Pods     []string `json:"pods"`  // that would leave
	Budgets  []string `json:"podDisruptionBudgets"`
}

// foretold is what a check has found, in all forms.
func foretold(nodes []future, of rightsJSON, text string) output.Answer {
	same := func(text string) string { return text }
	list := output.Each(nodes, func(f future) futureJSON {
		return futureJSON{f.node, f.pool, f.touched(), f.reason, f.text, output.Each(f.marks, same), output.Each(f.pods, same), output.Each(f.budgets, same)}
	})
	a := output.Answer{
		Value: struct {
			Nodes  []futureJSON `json:"nodes"`
			Rights rightsJSON   `json:"rights"`
		}{list, of},
		Text: func(out io.Writer) error {
			_, err := io.WriteString(out, text)
			return err
		},
	}
	for _, f := range list {
		a.Rows = append(a.Rows, output.Row{Object: output.ObjectOf("Node", f.Node), Value: f})
	}
	return a
}

// future is what would become of a node.
type future struct {
	node, pool   string
	reason, text string   // by which it would have drifted; empty: it would not
	kept         bool     // all the same, by a budget
	marks        []string // what the node says in older words
	pods         []string
	budgets      []string // PodDisruptionBudgets of these
}

// predict finds the nodes of Provisioners that would drift, by their names.
func (m *migration) predict(ctx context.Context, cluster reached, r *convert.Result) ([]future, error) {
	var nodes corev1.NodeList
	if err := cluster.List(ctx, &nodes, client.HasLabels{translate.PoolLabel(translate.KindProvisioner)}); err != nil {
		return nil, fmt.Errorf("list nodes of Provisioners: %w", err)
	}
	if len(nodes.Items) == 0 {
		return nil, nil
	}
	if err := m.at.Learn(ctx, cluster); err != nil {
		return nil, err
	}
	provider, err := m.market(ctx, m.at)
	if err != nil {
		return nil, err
	}
	classes, err := inspect.ClassesOf(ctx, m.at, cluster, provider, false)
	if err != nil {
		return nil, err
	}
	instances, err := provider.List(ctx, cloud.Filter{})
	if err != nil {
		return nil, fmt.Errorf("list instances: %w", err)
	}
	forms, pools := map[string]*drift.Selected{}, map[string]*karpv1.NodePool{}
	for _, o := range r.Objects {
		switch o := o.(type) {
		case *karpv1.NodePool:
			pools[o.Name] = o
		case *awsv1.EC2NodeClass:
			if err := classes.Add(ctx, o); err != nil {
				return nil, fmt.Errorf("look up what EC2NodeClass %s would select: %w", o.Name, err)
			}
			forms[o.Name] = controller.Selected(classes.Found[inspect.KeyOf(o, o.Name)])
		}
	}
	var out []future
	for i := range nodes.Items {
		node := &nodes.Items[i]
		f := future{node: node.Name, pool: translate.PoolOfNode(node).Name, marks: marksOf(node)}
		pool := pools[f.pool]
		if pool == nil || translate.PoolOfNode(node).Kind != translate.KindProvisioner {
			continue // its Provisioner is refused, or it belongs to a NodePool already
		}
		view := translate.FromNodePool(pool)
		claim, err := translate.Adoption(view, node, "")
		if err != nil {
			return nil, err
		}
		all := maps.Clone(node.Labels)
		maps.Copy(all, claim.Labels)
		claim.Labels, claim.Status.ProviderID = all, node.Spec.ProviderID
		offerings, _ := classes.Offered(ctx, view.Class) // what is not known is not compared
		f.reason, f.text = drift.Predict(drift.Prospect{Claim: claim, Pool: view, Class: drift.Class{Selected: forms[view.Class.Name]}, Offerings: offerings, Instances: instances}, time.Now())
		f.kept = keepsDrifted(pool)
		out = append(out, f)
	}
	return out, addPods(ctx, cluster, out)
}

// marksOf says what becomes of what users wrote on a node in older words.
func marksOf(node *corev1.Node) []string {
	var out []string
	if node.Annotations[api.AnnotationDoNotConsolidate] == "true" {
		out = append(out, api.AnnotationDoNotConsolidate+" becomes "+api.AnnotationDoNotDisrupt+", which keeps it from drift too")
	}
	if node.Annotations[api.AnnotationVoluntaryDisruption] == api.VoluntaryDrifted {
		out = append(out, api.AnnotationVoluntaryDisruption+" says nothing of nodes of NodePools: to have it go, delete its NodeClaim after the move")
	}
	return out
}

// keepsDrifted reports whether a budget of a pool never lets nodes go for having drifted.
func keepsDrifted(p *karpv1.NodePool) bool {
	return slices.ContainsFunc(p.Spec.Disruption.Budgets, func(b karpv1.Budget) bool {
		return (b.Nodes == "0" || b.Nodes == "0%") && b.Schedule == nil && (len(b.Reasons) == 0 || slices.Contains(b.Reasons, karpv1.ReasonDrifted))
	})
}

// addPods adds the pods that would leave, and the budgets that speak of them.
func addPods(ctx context.Context, cluster reached, nodes []future) error {
	touched := map[string]*future{}
	for i := range nodes {
		if nodes[i].touched() {
			touched[nodes[i].node] = &nodes[i]
		}
	}
	if len(touched) == 0 {
		return nil
	}
	var budgets []policyv1.PodDisruptionBudget
	err := pages.Each(ctx, cluster, &policyv1.PodDisruptionBudgetList{}, func(l *policyv1.PodDisruptionBudgetList) { budgets = append(budgets, l.Items...) })
	if err != nil {
		return err
	}
	return pages.Each(ctx, cluster, &corev1.PodList{}, func(l *corev1.PodList) {
		for i := range l.Items {
			pod := &l.Items[i]
			f := touched[pod.Spec.NodeName]
			if f == nil || podspec.IsDaemon(pod) || podspec.IsMirror(pod) || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
				continue
			}
			f.pods = append(f.pods, pod.Namespace+"/"+pod.Name)
			for j := range budgets {
				if b := &budgets[j]; b.Namespace == pod.Namespace && speaksOf(b, pod) && !slices.Contains(f.budgets, b.Namespace+"/"+b.Name) {
					f.budgets = append(f.budgets, b.Namespace+"/"+b.Name)
				}
			}
		}
	})
}

func speaksOf(b *policyv1.PodDisruptionBudget, pod *corev1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	return err == nil && selector.Matches(labels.Set(pod.Labels))
}

func (f *future) touched() bool { return f.reason != "" && !f.kept }

func reportNodes(nodes []future) (text string, touched int) {
	for _, f := range nodes {
		for _, mark := range f.marks {
			text += fmt.Sprintf("node %s: %s\n", f.node, mark)
		}
		switch {
		case f.reason == "":
			continue
		case f.kept:
			text += fmt.Sprintf("node %s of NodePool %s would stay, since a budget of 0 keeps nodes that have drifted: %s: %s\n", f.node, f.pool, f.reason, f.text)
			continue
		}
		touched++
		text += fmt.Sprintf("node %s of NodePool %s would be replaced: %s: %s\n", f.node, f.pool, f.reason, f.text)
		for _, pod := range f.pods {
			text += "  pod " + pod + "\n"
		}
		for _, budget := range f.budgets {
			text += "  PodDisruptionBudget " + budget + "\n"
		}
	}
	return text + fmt.Sprintf("%d of %d nodes of Provisioners would be replaced\n", touched, len(nodes)), touched
}
