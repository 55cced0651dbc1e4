package explaincmd

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/pages"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe/record"
)

// instanceID is an instance's ID, alone or at the end of a provider ID.
var instanceID = regexp.MustCompile(`(?:^|/)(i-[0-9a-f]{8,17})$`)

// ofInstances are the words that may stand before the ID of an instance: those of the objects that it has.
var ofInstances = []string{"", "instance", "node", "nodes", "no", "nodeclaim", "nodeclaims"}

// instanceIn is the ID of the instance that arguments name: i-0123456789abcdef0, a provider ID, or either after a kind. Empty: they name none.
func instanceIn(args []string) string {
	if len(args) == 0 || len(args) > 2 {
		return ""
	}
	kind, name := "", args[len(args)-1]
	switch before, after, cut := strings.Cut(name, "/"); {
	case len(args) == 2:
		kind = args[0]
	case cut && !strings.HasSuffix(before, ":"): // else a provider ID: aws:///us-west-2a/i-0123456789abcdef0
		kind, name = before, after
	}
	kind, _, _ = strings.Cut(kind, ".")
	if found := instanceID.FindStringSubmatch(name); found != nil && slices.Contains(ofInstances, kind) {
		return found[1]
	}
	return ""
}

// ofInstance is the object that an instance is on record by: its NodeClaim, whether that is there or gone. The error says what an
// instance is that has none.
func ofInstance(ctx context.Context, store client.Reader, kept *record.Record, id string) (record.Object, error) {
	claim := ""
	err := pages.Each(ctx, store, &karpv1.NodeClaimList{}, func(l *karpv1.NodeClaimList) {
		for i := range l.Items {
			if translate.InstanceID(l.Items[i].Status.ProviderID) == id {
				claim = l.Items[i].Name
			}
		}
	})
	if err != nil && !meta.IsNoMatchError(err) {
		return record.Object{}, fmt.Errorf("find the NodeClaim of instance %s: %w", id, err)
	}
	if claim == "" {
		claim = kept.ClaimOf(id)
	}
	if claim != "" {
		return record.Object{Kind: record.Claim, Name: claim}, nil
	}
	return record.Object{}, withoutClaim(ctx, store, id)
}

// withoutClaim says what an instance is that no NodeClaim has.
func withoutClaim(ctx context.Context, store client.Reader, id string) error {
	node := ""
	err := pages.Each(ctx, store, &corev1.NodeList{}, func(l *corev1.NodeList) {
		for i := range l.Items {
			if translate.InstanceID(l.Items[i].Spec.ProviderID) == id {
				node = l.Items[i].Name
			}
		}
	})
	switch {
	case err != nil:
		return fmt.Errorf("find the node of instance %s: %w", id, err)
	case node != "":
		return fmt.Errorf("instance %s is node %s, which has no NodeClaim, so Daemok decides nothing about it: "+
			"daemok adopt lists the nodes of NodePools that are without one, and takes them over", id, node)
	}
	return fmt.Errorf("instance %s is not known in this cluster: no NodeClaim and no node has it, nor had a NodeClaim that is on record. "+
		"Its tags say what launched it, and for which cluster: aws ec2 describe-instances --instance-ids %s", id, id)
}
