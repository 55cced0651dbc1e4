package roll

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/plan"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/kube/translate"
)

// Progress is how far the roll of one pool is.
type Progress struct {
	Pool    string
	Left    int64         // nodes that are still to go
	Going   int64         // nodes that are going
	Coming  int64         // instances that were being launched when the roll was asked for, and are to go once they have joined
	Allowed int64         // how many more may go now
	Because string        // what allows no more
	Nodes   []string      // the names of those that are still to go, sorted
	Kept    []Kept        // those of them that something keeps beside what allows no more of the pool, as far as is known
	Wrong   string        // why what was asked for cannot be read; empty: it can
	Lasts   time.Duration // how long it takes yet, if nothing keeps nodes longer than instances take; 0: nothing is left, or nothing may go
}

// Kept is a node that is to go and stays for now.
type Kept struct{ Node, Why string }

// Keep adds what keeps nodes that are still to go, by what is on record about each; empty: nothing
// is. Where it keeps all of them it is not known how long it takes.
func (p Progress) Keep(stays func(node string) string) Progress {
	p.Kept = nil
	for _, node := range p.Nodes {
		if why := stays(node); why != "" && why != p.Because {
			p.Kept = append(p.Kept, Kept{node, why})
		}
	}
	if int64(len(p.Kept)) == p.Left && p.Going == 0 {
		p.Lasts = 0
	}
	return p
}

// Done reports whether nothing is left to do.
func (p Progress) Done() bool { return p.Wrong == "" && p.Left == 0 && p.Going == 0 && p.Coming == 0 }

// Read reports how far the rolls are that pools ask for, as the cluster is now. It reads the nodes
// and claims of these pools, what keeps them, and no pods.
func Read(ctx context.Context, from client.Reader, serves translate.Generations, pools []translate.PoolObject, now func() time.Time, freezeIn string) ([]Progress, error) {
	state := snapshot.New(notAsked, now)
	state.Configure(func(s *snapshot.Settings) { s.Generations, s.FreezeIn = serves, freezeIn })
	ids := make([]cluster.PoolID, len(pools))
	for i := range pools {
		ids[i] = pools[i].ID
	}
	s, err := state.ReadNodes(ctx, from, ids...)
	if err != nil {
		return nil, err
	}
	out := make([]Progress, len(ids))
	for i, id := range ids {
		out[i] = Of(s, id)
		p, found := state.Pool(id)
		if !found {
			continue
		}
		if _, _, err := mark.ReadRoll(p.Annotations); err != nil {
			out[i].Wrong = err.Error()
		}
		for j := range s.Instances {
			if m := &s.Instances[j]; m.Pool == id && !m.Deleting {
				if _, about := translate.RollOf(p, state.Claim(m.Claim)); about {
					out[i].Coming++
				}
			}
		}
	}
	return out, nil
}

// notAsked is for what does not depend on what can be launched.
func notAsked(karpv1.NodeClassReference) (*cluster.Catalogue, string) {
	return nil, "what its class offers was not read"
}

// Of reports how many nodes of a pool are to go yet, and how long that takes.
func Of(s *cluster.Snapshot, id cluster.PoolID) Progress {
	out := Progress{Pool: translate.Called(id)}
	if _, found := s.Pool(id); !found {
		return out
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		switch {
		case !goes(n, id):
		case n.Deleting:
			out.Going++
		default:
			out.Left++
			out.Nodes = append(out.Nodes, n.Name)
		}
	}
	out.Allowed, out.Because = disruption.Allowed(s, id, plan.Drifted)
	out.Lasts = out.lasts(terms(s, id, func(grace time.Duration) time.Duration { return grace }), func(left int64) int64 { return left })
	return out
}

// String is one line for people.
func (p Progress) String() string {
	switch {
	case p.Wrong != "":
		return fmt.Sprintf("%s: no node goes for having drifted, since what was asked for cannot be read: %s", p.Pool, p.Wrong)
	case p.Done():
		return p.Pool + ": nothing is left to replace"
	case p.Left == 0 && p.Going == 0:
		return fmt.Sprintf("%s: %d to go once they have joined", p.Pool, p.Coming)
	}
	text := fmt.Sprintf("%s: %d to go, none may now", p.Pool, p.Left)
	if p.Allowed == 0 {
		text += ": " + p.Because
	}
	if p.Lasts > 0 {
		text = fmt.Sprintf("%s: %d to go, %d going, about %s left", p.Pool, p.Left, p.Going, p.Lasts.Round(time.Minute))
		if p.Left > 0 && p.Allowed == 0 {
			text += "; no more at once: " + p.Because
		}
	}
	if p.Coming > 0 {
		text += fmt.Sprintf("; and %d once they have joined", p.Coming)
	}
	for i, k := range p.Kept {
		if i == keptMax {
			return text + fmt.Sprintf("\n  and %d more stay; daemok explain node NAME says why", len(p.Kept)-keptMax)
		}
		text += fmt.Sprintf("\n  node %s stays: %s", k.Node, k.Why)
	}
	return text
}

// keptMax is how many nodes that stay are named.
const keptMax = 3
