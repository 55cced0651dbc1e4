package move

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/pages"
	"github.com/daemok/daemok/kube/translate"
)

// way is from which pools to which nodes are carried: to those of the same name.
type way struct {
	from, to translate.Generation
	names    []string
}

// scene is what there is of nodes and claims at one moment.
type scene struct {
	claims map[string]*karpv1.NodeClaim // by name
	nodes  map[string]*corev1.Node      // by provider ID
}

// stuckFor is for how many checks instances may be refused for the same reason while nothing else
// moves: the controller asks again every half minute.
const stuckFor = 45

// carry has every node of a way taken over, and waits until none is left.
func (m *Mover) carry(ctx context.Context, r *record, w way) error {
	if err := m.note(ctx, r, "carries nodes over to "+w.to.Kind+"s"); err != nil {
		return err
	}
	reported, looks := "", 0
	for {
		s, err := m.look(ctx)
		if err != nil {
			return err
		}
		left, err := m.carryAll(ctx, w, s)
		if err != nil || len(left) == 0 {
			return err
		}
		text, stuck := left.report()
		if looks++; text != reported {
			reported, looks = text, 0
			m.Report(text)
		}
		if looks == stuckFor {
			m.Report("nothing has moved for a while: see that Daemok's controller runs, and its log")
		}
		if stuck && looks >= stuckFor {
			return errors.New(text + "\nmend that and repeat, or go back by --rollback")
		}
		if err := m.Pause(ctx, checkEvery); err != nil {
			return err
		}
	}
}

// waiting are instances that are to be taken over yet, and why they cannot be; empty: it is only a
// matter of time.
type waiting map[string]string

// report says how many there are, and why they cannot be taken over; stuck: none of them can.
func (w waiting) report() (text string, stuck bool) {
	text, stuck = fmt.Sprintf("%d nodes are to be taken over yet", len(w)), true
	for _, id := range slices.Sorted(maps.Keys(w)) {
		if w[id] == "" {
			stuck = false
			continue
		}
		text += "\n" + w[id]
	}
	return text, stuck
}

// look reads all claims and nodes.
func (m *Mover) look(ctx context.Context) (*scene, error) {
	s := &scene{map[string]*karpv1.NodeClaim{}, map[string]*corev1.Node{}}
	err := pages.Each(ctx, m.Store, &karpv1.NodeClaimList{}, func(l *karpv1.NodeClaimList) {
		for i := range l.Items {
			s.claims[l.Items[i].Name] = &l.Items[i]
		}
	})
	return s, errors.Join(err, pages.Each(ctx, m.Store, &corev1.NodeList{}, func(l *corev1.NodeList) {
		for i := range l.Items {
			if n := &l.Items[i]; n.Spec.ProviderID != "" {
				s.nodes[n.Spec.ProviderID] = n
			}
		}
	}))
}

// carryAll takes the next step with every instance that is left.
func (m *Mover) carryAll(ctx context.Context, w way, s *scene) (waiting, error) {
	left := waiting{}
	for _, name := range slices.Sorted(maps.Keys(s.claims)) {
		c := s.claims[name]
		var err error
		switch id := translate.PoolOf(c); {
		case !slices.Contains(w.names, id.Name):
		case id.Kind == w.from.Kind:
			if key := cmp.Or(c.Status.ProviderID, c.Name); left[key] == "" {
				left[key] = "" // a word on it that is there already stays
			}
			err = m.take(ctx, w, s, c)
		case id.Kind == w.to.Kind && condition.IsTrue(c, karpv1.ClaimRegistered):
			err = m.stabilize(ctx, w, s.nodes[c.Status.ProviderID])
		case id.Kind == w.to.Kind && translate.Adopts(c) && c.DeletionTimestamp == nil:
			left[cmp.Or(c.Annotations[api.AnnotationAdopt], c.Name)] = refusal(c)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, node := range s.unclaimed(w) {
		left[node.Spec.ProviderID] = ""
		if err := m.adopt(ctx, w, s, node, ""); err != nil {
			return nil, err
		}
	}
	return left, nil
}

// refusal says why the controller does not take a claim's instance over; empty: it does.
func refusal(c *karpv1.NodeClaim) string {
	is := condition.Get(c, karpv1.ClaimLaunched)
	if is == nil || is.Reason != karpv1.ReasonNotAdopted {
		return ""
	}
	return fmt.Sprintf("NodeClaim %s: %s", c.Name, is.Message)
}

// unclaimed are the nodes of a way that no claim has or asks for.
func (s *scene) unclaimed(w way) (out []*corev1.Node) {
	claimed := map[string]bool{}
	for _, c := range s.claims {
		claimed[c.Status.ProviderID], claimed[c.Annotations[api.AnnotationAdopt]] = true, true
	}
	for _, providerID := range slices.Sorted(maps.Keys(s.nodes)) {
		node := s.nodes[providerID]
		id := translate.PoolOfNode(node)
		if id.Kind == w.from.Kind && slices.Contains(w.names, id.Name) && !claimed[providerID] && node.DeletionTimestamp == nil {
			out = append(out, node)
		}
	}
	return out
}

// take has the instance of a claim taken over. One that is not a node yet is waited for, and so is
// one that goes.
func (m *Mover) take(ctx context.Context, w way, s *scene, c *karpv1.NodeClaim) error {
	node := s.nodes[c.Status.ProviderID]
	if c.DeletionTimestamp != nil || node == nil || !condition.IsTrue(c, karpv1.ClaimRegistered) {
		return nil
	}
	if err := m.forgetSource(ctx, c); err != nil {
		return err
	}
	return m.adopt(ctx, w, s, node, c.Name)
}

// forgetSource takes off a claim whose instance it took over: where nodes went to and fro, the
// claim that is to have the instance next has that name again, and would have to yield it.
func (m *Mover) forgetSource(ctx context.Context, c *karpv1.NodeClaim) error {
	if c.Annotations[api.AnnotationAdoptFrom] == "" {
		return nil
	}
	before := c.DeepCopy()
	delete(c.Annotations, api.AnnotationAdoptFrom)
	if err := m.Store.Patch(ctx, c, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("take annotation %s off NodeClaim %s: %w", api.AnnotationAdoptFrom, c.Name, err)
	}
	return nil
}

// adopt creates the claim that takes a node over, from another claim where it has one.
func (m *Mover) adopt(ctx context.Context, w way, s *scene, node *corev1.Node, from string) error {
	o := w.to.New()
	name := translate.PoolOfNode(node).Name
	if from != "" {
		name = translate.PoolOf(s.claims[from]).Name
	}
	if err := m.Store.Get(ctx, client.ObjectKey{Name: name}, o); err != nil {
		return fmt.Errorf("read %s %s, which is to have node %s: %w", w.to.Kind, name, node.Name, err)
	}
	claim, err := translate.Adoption(w.to.View(o), node, from)
	if err != nil {
		return err
	}
	if s.claims[claim.Name] != nil {
		return nil // the controller is to act
	}
	if err := m.protect(ctx, node); err != nil {
		return err
	}
	if err := m.Store.Create(ctx, claim); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create NodeClaim %s, which takes node %s over: %w", claim.Name, node.Name, err)
	}
	return nil
}

// protect has a node that is not to be consolidated say so in the newer words, with an annotation
// by which settle undoes that.
func (m *Mover) protect(ctx context.Context, node *corev1.Node) error {
	if node.Annotations[api.AnnotationDoNotConsolidate] != "true" || node.Annotations[api.AnnotationDoNotDisrupt] != "" {
		return nil
	}
	before := node.DeepCopy()
	node.Annotations[api.AnnotationDoNotDisrupt], node.Annotations[api.AnnotationMigratedFrom] = "true", v1alpha5.GroupVersion.String()
	if err := m.Store.Patch(ctx, node, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("protect node %s as %s did: %w", node.Name, api.AnnotationDoNotConsolidate, err)
	}
	return nil
}

// stabilize takes off a node of a Provisioner what the move wrote on it: that it is of a NodePool,
// and how it was protected. The other way round the older label stays, as pods may select by
// it.
func (m *Mover) stabilize(ctx context.Context, w way, node *corev1.Node) error {
	if w.to.Kind != translate.KindProvisioner || node == nil || node.Labels[api.LabelNodePool] == "" && node.Annotations[api.AnnotationMigratedFrom] == "" {
		return nil
	}
	before := node.DeepCopy()
	delete(node.Labels, api.LabelNodePool)
	if node.Annotations[api.AnnotationMigratedFrom] != "" {
		delete(node.Annotations, api.AnnotationMigratedFrom)
		delete(node.Annotations, api.AnnotationDoNotDisrupt)
	}
	if err := m.Store.Patch(ctx, node, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("take off node %s what it was given for NodePools: %w", node.Name, err)
	}
	return nil
}
