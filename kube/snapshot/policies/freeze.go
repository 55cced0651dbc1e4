package policies

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/apiclock"
	"github.com/daemok/daemok/kube/translate"
)

// Freeze is what keeps all nodes from being disrupted: a ConfigMap of a user, or a clock that is not to be trusted.
// The zero value is none.
type Freeze struct {
	In    string         // namespace of the ConfigMap daemok-freeze; empty: none is followed
	Doubt apiclock.Doubt // says why the clock is not to be trusted: then no node goes, not even one past its age

	is translate.Freeze
}

// Seen takes in a ConfigMap; any other than the one followed is passed over. It reports whether something has changed.
func (f *Freeze) Seen(c *corev1.ConfigMap) bool { return f.becomes(c, translate.ReadFreeze(c)) }

// Gone takes in that a ConfigMap was deleted.
func (f *Freeze) Gone(c *corev1.ConfigMap) bool { return f.becomes(c, translate.Freeze{}) }

func (f *Freeze) becomes(c *corev1.ConfigMap, next translate.Freeze) bool {
	if c.Namespace != f.In || c.Name != api.ConfigMapFreeze || f.is == next {
		return false
	}
	f.is = next
	return true
}

// Frozen is why no node may be disturbed now by its user's word; empty where it may.
func (f *Freeze) Frozen(now time.Time) string {
	if !f.is.Holds(now) {
		return ""
	}
	return f.is.Why
}

// Odd is what the ConfigMap says and is not understood.
func (f *Freeze) Odd() string { return f.is.Odd }

// Show adds it to a snapshot.
func (f *Freeze) Show(out *cluster.Snapshot) {
	if why := f.Doubt.Why(); why != "" {
		out.Freeze, out.FreezeAll = why, true
		return
	}
	if f.is.Holds(out.Now) {
		out.Freeze, out.FreezeUntil = f.is.Why, f.is.Until
	}
}
