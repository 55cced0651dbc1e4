package launch

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// attempt is one try at launching the instances of a batch, as the annotation
// daemok.sh/launch-attempt holds it: "<batch>/<n>", n from 1.
type attempt struct {
	batch string
	n     int
}

func (a attempt) String() string { return a.batch + "/" + strconv.Itoa(a.n) }

// token is the idempotency token of the attempt: the same after a restart,
// another for every n.
func (a attempt) token() string {
	sum := sha256.Sum256([]byte(a.String()))
	return hex.EncodeToString(sum[:16])
}

func (a attempt) next() attempt { return attempt{a.batch, a.n + 1} }

// attemptOf reads the annotation; ok is false where there is none or it is
// not ours to understand.
func attemptOf(c *karpv1.NodeClaim) (a attempt, ok bool) {
	batch, number, found := strings.Cut(c.Annotations[api.AnnotationLaunchAttempt], "/")
	n, err := strconv.Atoi(number)
	if !found || batch == "" || err != nil || n < 1 {
		return attempt{}, false
	}
	return attempt{batch, n}, true
}

// newBatch names a batch by the claims it was formed of, so that forming it
// again from the same claims gives the same name.
func newBatch(claims []*karpv1.NodeClaim) string {
	uids := make([]string, len(claims))
	for i, c := range claims {
		uids[i] = string(c.UID)
	}
	slices.Sort(uids)
	sum := sha256.Sum256([]byte(strings.Join(uids, ",")))
	return hex.EncodeToString(sum[:8])
}

// sameRequest is equal for two claims whose instances can be launched together, now
// and with what is tried when that cannot be had.
func sameRequest(r Request) (string, error) {
	text, err := json.Marshal(struct {
		Class    string
		Settings any
		Options  []cloud.OfferingChoice
		Tags     map[string]string
		Node     cloud.NodeSetup
		Marks    map[string]string
		Whole    uint64
		Extended []string
		Relaxed  bool
		Ordered  bool
	}{r.Class.ID, r.Class.Settings, r.Options, r.Tags, r.Node, r.ClassMarks, r.Whole, r.Extended, r.Relaxed, r.Ordered})
	if err != nil {
		return "", fmt.Errorf("describe launch request of class %s: %w", r.Class.ID, err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// takingPart counts the claims that took part in an attempt, those that have
// their instance already included: the count is part of what the idempotency
// token stands for.
func takingPart(claims []karpv1.NodeClaim, a attempt) int {
	n := 0
	for i := range claims {
		if its, ok := attemptOf(&claims[i]); ok && its == a {
			n++
		}
	}
	return n
}

// stillWaiting returns those of the claims that still need an instance, as the
// list shows them now.
func stillWaiting(claims []*karpv1.NodeClaim, now []karpv1.NodeClaim) []*karpv1.NodeClaim {
	needy := map[types.UID]*karpv1.NodeClaim{}
	for i := range now {
		if needsInstance(&now[i]) {
			needy[now[i].UID] = &now[i]
		}
	}
	var out []*karpv1.NodeClaim
	for _, c := range claims {
		if live := needy[c.UID]; live != nil {
			out = append(out, live)
		}
	}
	return out
}

// unassigned returns the instances that no claim of the list has yet, by ID.
func unassigned(instances []cloud.Instance, claims []karpv1.NodeClaim) []cloud.Instance {
	taken := map[string]bool{}
	for i := range claims {
		taken[claims[i].Status.ProviderID] = true
	}
	out := slices.DeleteFunc(slices.Clone(instances), func(m cloud.Instance) bool {
		return taken[m.ProviderID] || m.State == cloud.ShuttingDown
	})
	slices.SortFunc(out, func(a, b cloud.Instance) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// maybeLaunched reports whether a launch for the claim may be tried, or was
// and may have brought an instance.
func maybeLaunched(c *karpv1.NodeClaim) bool {
	_, tried := attemptOf(c)
	return needsInstance(c) && (tried || !translate.IsWithdrawn(c))
}

// needsInstance reports whether an instance is to be launched for the claim, which has none; a
// withdrawn one gets what was launched for it before.
func needsInstance(c *karpv1.NodeClaim) bool {
	return c.DeletionTimestamp == nil && c.Status.ProviderID == "" && !translate.Adopts(c)
}
