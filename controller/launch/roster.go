package launch

import (
	"context"
	"fmt"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/pages"
)

// roster reads which NodeClaims are in a batch, as the API server has them at some moment after the caller asked.
// All callers that ask while it reads share its next reading, and the error of one that fails: a reading for each of
// hundreds of batches would read thousands of NodeClaims hundreds of times. It is safe for concurrent use.
type roster struct {
	live client.Reader
	turn turn // of the caller that reads for all that share its reading

	mu   sync.Mutex
	next *reading // which has not begun; nil: no caller waits for one
}

// reading is one list of all NodeClaims, for those of some batches.
type reading struct {
	members map[string][]karpv1.NodeClaim // by batch that was asked for
	err     error
}

func newRoster(live client.Reader) *roster { return &roster{live: live, turn: make(turn, 1)} }

func (r *roster) inBatch(ctx context.Context, name string) ([]karpv1.NodeClaim, error) {
	its := r.join(name)
	if err := r.turn.take(ctx); err != nil {
		return nil, err
	}
	if r.begins(its) { // else another has read for this one too
		its.read(ctx, r.live)
	}
	r.turn.leave()
	if its.err != nil {
		return nil, fmt.Errorf("list claims of batch %s: %w", name, its.err)
	}
	var out []karpv1.NodeClaim
	for i := range its.members[name] {
		out = append(out, *its.members[name][i].DeepCopy()) // two may ask for one batch
	}
	return out, nil
}

// join asks the next reading for a batch.
func (r *roster) join(name string) *reading {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == nil {
		r.next = &reading{members: map[string][]karpv1.NodeClaim{}}
	}
	r.next.members[name] = nil
	return r.next
}

// begins reports whether no other caller has read; from then on none joins.
func (r *roster) begins(its *reading) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next != its {
		return false
	}
	r.next = nil
	return true
}

func (its *reading) read(ctx context.Context, live client.Reader) {
	its.err = pages.Each(ctx, live, &karpv1.NodeClaimList{}, func(l *karpv1.NodeClaimList) {
		for i := range l.Items {
			a, tried := attemptOf(&l.Items[i])
			if _, asked := its.members[a.batch]; tried && asked {
				its.members[a.batch] = append(its.members[a.batch], l.Items[i])
			}
		}
	})
}
