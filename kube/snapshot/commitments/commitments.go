// Package commitments is the table of Reserved Instances and Savings Plans that plans use.
package commitments

import (
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/translate"
)

// Table holds what the ConfigMap daemok-commitments lists, as it was last understood, beside what AWS says of the
// account. The zero value follows neither. It is not safe for concurrent use.
type Table struct {
	In      string                          // namespace of the ConfigMap; empty: no commitments have an effect
	Account func() cloud.AccountCommitments // what was read of the account last; nil: it is not read

	listed   commitment.Commitments
	recalled commitment.Commitments // of the account, by a saved snapshot
	shown    int                    // how many of the account's the last snapshot has
	odd      string
	ran      ran
}

// ran is which running instances of the account are of the cluster, by their provider IDs.
type ran struct {
	reading int             // what was read of the account, by its number
	own     map[string]bool // of that reading: nodes then or since, which may be gone
	nodes   map[string]bool // of the last snapshot
}

// Recall begins with the commitments of a saved snapshot. What users list of them counts until a ConfigMap is seen.
func (t *Table) Recall(of commitment.Commitments) {
	t.recalled, t.listed = of.OfAccount(), of
}

// ReadsAccount reports whether the account's commitments are known, so that a ConfigMap may add to them.
func (t *Table) ReadsAccount() bool { return t.In != "" && t.Account != nil || t.recalled.Any() }

// Seen takes in a ConfigMap; any other than the one followed is passed over. What cannot be read leaves what was listed
// before. It reports whether something has changed that plans depend on.
func (t *Table) Seen(c *corev1.ConfigMap) bool {
	if !t.follows(c) {
		return false
	}
	list, err := translate.ReadCommitments(c, t.ReadsAccount())
	if err != nil {
		t.odd = err.Error() + "; plans use what it listed before"
		if !t.listed.Any() {
			t.odd = err.Error() + "; until it is corrected, plans use no commitments"
			if t.ReadsAccount() {
				t.odd = err.Error() + "; until it is corrected, plans use what AWS says of the account alone"
			}
		}
		return false
	}
	return t.become(*list)
}

// Gone takes in that a ConfigMap is not there.
func (t *Table) Gone(c *corev1.ConfigMap) bool {
	return t.follows(c) && t.become(commitment.Commitments{})
}

func (t *Table) follows(c *corev1.ConfigMap) bool {
	return t.In != "" && c.Namespace == t.In && c.Name == api.ConfigMapCommitments
}

func (t *Table) become(next commitment.Commitments) bool {
	was := t.listed
	t.listed, t.odd = next, ""
	return !reflect.DeepEqual(was, next)
}

// Odd says what of the ConfigMap is not understood, and what plans use meanwhile; empty: all is.
func (t *Table) Odd() string { return t.odd }

// Now are the commitments that plans use at the moment. They must not be written. Nodes is asked for the provider IDs
// of the cluster's own instances only where some run in the account: all others use commitments too, those that users
// list included. An instance whose node is gone is an own one until the next reading, which does not show it if it is
// gone too.
func (t *Table) Now(now time.Time, nodes func() map[string]bool) commitment.Commitments {
	account, running, reading := t.account(now)
	t.shown = count(&account)
	all := commitment.Join(account, t.listed)
	if len(running) > 0 && all.Any() {
		all.Others = others(running, t.ran.ownAmong(running, reading, nodes()), &all)
	}
	return all
}

// Expired reports whether commitments of the account have ended since the last snapshot.
func (t *Table) Expired(now time.Time) bool {
	account, _, _ := t.account(now)
	return count(&account) < t.shown
}

func (t *Table) account(now time.Time) (_ commitment.Commitments, running []cloud.RunningInstance, reading int) {
	if t.In == "" || t.Account == nil {
		return t.recalled, nil, 0
	}
	read := t.Account()
	return read.At(now), read.Running, read.Reading
}

// ownAmong are the running instances that are nodes of the cluster, or were while the last snapshot before the reading
// was made, or since.
func (r *ran) ownAmong(running []cloud.RunningInstance, reading int, nodes map[string]bool) map[string]bool {
	before := r.own
	if reading != r.reading {
		before = r.nodes
	}
	own := map[string]bool{}
	for i := range running {
		if id := running[i].ProviderID; nodes[id] || before[id] {
			own[id] = true
		}
	}
	r.reading, r.own, r.nodes = reading, own, nodes
	return own
}

func count(c *commitment.Commitments) int { return len(c.Reserved) + len(c.Plans) }

// others counts the instances that are none of these, and that one of all commitments may pay for, by what commitments
// see of them, in the order of commitment.Sort.
func others(
	running []cloud.RunningInstance, own map[string]bool, all *commitment.Commitments,
) (out []commitment.Usage) {
	counts := map[commitment.Usage]int64{}
	for _, r := range running {
		if !own[r.ProviderID] {
			counts[r.Usage]++
		}
	}
	for u, n := range counts {
		if all.MayPay(&u) {
			u.Count = n
			out = append(out, u)
		}
	}
	commitment.Sort(out)
	return out
}
