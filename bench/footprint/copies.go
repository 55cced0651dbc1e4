package footprint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/uuid"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// pattern is a node that the controller launched, with its NodeClaim.
type pattern struct {
	claim *karpv1.NodeClaim
	node  *corev1.Node
}

// copyNodes makes so many more nodes after those that the controller launched, in turn: what it writes
// for each is the same but for names, IDs and addresses, and one launch after another takes an hour
// where there are thousands.
func (w *world) copyNodes(ctx context.Context, count int, dice *rand.Rand) ([]*corev1.Node, error) {
	patterns, err := w.patterns(ctx)
	if err != nil {
		return nil, err
	}
	var out []*corev1.Node
	for i := range count {
		n, err := w.copyOf(patterns[i%len(patterns)], dice)
		if err != nil {
			return nil, fmt.Errorf("copy node %s: %w", patterns[i%len(patterns)].node.Name, err)
		}
		out = append(out, n)
	}
	return out, nil
}

// patterns are the nodes there are, by name.
func (w *world) patterns(ctx context.Context) (out []pattern, err error) {
	var claims karpv1.NodeClaimList
	var nodes corev1.NodeList
	if err := errors.Join(w.hand.List(ctx, &claims), w.hand.List(ctx, &nodes)); err != nil {
		return nil, err
	}
	of := map[string]*karpv1.NodeClaim{}
	for i := range claims.Items {
		of[claims.Items[i].Status.ProviderID] = &claims.Items[i]
	}
	for i := range nodes.Items {
		n := &nodes.Items[i]
		if of[n.Spec.ProviderID] == nil {
			return nil, fmt.Errorf("node %s has no NodeClaim", n.Name)
		}
		out = append(out, pattern{of[n.Spec.ProviderID], n})
	}
	slices.SortFunc(out, func(a, b pattern) int { return strings.Compare(a.node.Name, b.node.Name) })
	return out, nil
}

// copyOf launches an instance like that of the pattern, and puts its NodeClaim and node beside those there are.
func (w *world) copyOf(p pattern, dice *rand.Rand) (*corev1.Node, error) {
	names := []string{
		p.claim.Name, "default-" + letters(10, dice),
		p.node.Name, nodeName(dice),
		string(p.claim.UID), string(uuid.NewUUID()),
		string(p.node.UID), string(uuid.NewUUID()),
		p.node.Status.NodeInfo.MachineID, letters(32, dice),
		p.node.Status.Addresses[0].Address, address(dice),
	}
	id := translate.InstanceID(p.node.Spec.ProviderID)
	launched, err := w.aws.Copy(id, strings.NewReplacer(names...).Replace)
	if err != nil {
		return nil, err
	}
	renamed := strings.NewReplacer(append(names, id, launched)...)
	claim, node := &karpv1.NodeClaim{}, &corev1.Node{}
	if err := errors.Join(under(renamed, p.claim, claim), under(renamed, p.node, node)); err != nil {
		return nil, err
	}
	return node, w.store.Put(claim, node, csiNode(node))
}

// under gives an object its other names.
func under(renamed *strings.Replacer, from, to any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(renamed.Replace(string(text))), to)
}
