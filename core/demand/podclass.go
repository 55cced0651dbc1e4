package demand

import (
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/topology"
)

// PodClass is all shapes that differ only in amounts and priority: the same rules hold for them.
type PodClass struct {
	Text          string                      // see RulesText
	Shape         *cluster.Shape              // the first of them
	Levels        []*Level                    // by what has given way: nothing first, all preferences last
	ByPreferences [NoPreferences + 1][]*Level // for questions, see core/removal: the levels, by which preferences count
	Ports         []cluster.Port
	Shared        []cluster.Volume // volumes that several pods use
	Groups        []*Group         // of waiting pods, while places are sought
	Follows       bool             // pods may have to be near pods of other groups
	Depth         int              // how many other pod classes, one after another, must come before its pods
}

// Level is a pod class with some of its preferences dropped, and the others kept like requirements.
type Level struct {
	Wants        *cluster.Shape // used instead of the shapes to ask whether pods may be on a target or offering, amounts aside
	Rules        *topology.Rules
	Strict       bool         // stays away from PreferNoSchedule taints of pools; on nodes they only score
	Gone         []Preference // the preferences that were dropped
	Allowed      []int8       // by target: 1 admitted, -1 not, 0 not asked yet
	OfferingSets []*OfferingSet
	Asked        bool       // OfferingSets are known
	fixed        []int      // in a question: Rules.Fixed when OfferingSets were found
	Followers    []Follower // pod classes whose pods must be near those of the level, and their followers
	Led          bool       // Followers are known
}

// Plain reports whether only the target itself decides whether pods may be there: not other pods, ports or volumes.
func (k *PodClass) Plain(lv *Level) bool {
	return (lv.Rules == nil || lv.Rules.Free()) && len(k.Ports) == 0 && len(k.Shared) == 0
}

// Required is the level on which only requirements hold.
func (k *PodClass) Required() *Level { return k.Levels[len(k.Levels)-1] }

// Hold makes these the levels of the pod class.
func (k *PodClass) Hold(levels []*Level) {
	k.Levels = levels
	k.Follows = levels[0].Rules != nil && levels[0].Rules.Follows()
}

// RulesText is equal for two shapes exactly when they differ only in amounts and priority.
func RulesText(s *cluster.Shape) string {
	var b strings.Builder
	b.WriteString(s.Namespace)
	b.WriteByte('|')
	b.WriteString(s.Unable)
	if s.Virtual {
		b.WriteString("|virtual")
	}
	if s.OnDemand != (cluster.Minimum{}) {
		fmt.Fprintf(&b, "|on-demand %v", s.OnDemand)
	}
	for _, l := range s.Labels {
		b.WriteByte('\x00')
		b.WriteString(l.Key)
		b.WriteByte('=')
		b.WriteString(l.Value)
	}
	for _, t := range s.Tolerations {
		fmt.Fprintf(&b, "|%q=%q%v%s", t.Key, t.Value, t.Exists, t.Effect)
	}
	for _, t := range s.NodeTerms {
		b.WriteString("|or " + t.String())
	}
	for _, t := range s.VolumeTerms {
		b.WriteString("|volume " + t.String())
	}
	for _, p := range s.Preferences {
		fmt.Fprintf(&b, "|prefer %d %s", p.Weight, p.Term)
	}
	for i := range s.Spread {
		x := &s.Spread[i]
		fmt.Fprintf(&b, "|spread %s %d %d %v%v%v ", x.Key, x.MaxSkew, x.MinDomains, x.Soft, x.IgnoreNodeTerms, x.HonourTaints)
		for _, t := range x.Among {
			b.WriteString("|among " + t.String())
		}
		selectorText(&b, x.Selector)
	}
	for i := range s.Neighbours {
		x := &s.Neighbours[i]
		fmt.Fprintf(&b, "|neighbours %v%v %s %d %q%v ", x.Apart, x.Volume, x.Key, x.Weight, x.Namespaces, x.AllNamespaces)
		selectorText(&b, x.Selector)
	}
	for _, p := range s.Ports {
		fmt.Fprintf(&b, "|port %v", p)
	}
	for _, v := range s.Volumes {
		fmt.Fprintf(&b, "|attach %q %q %v", v.Driver, v.Claim, v.Exclusive)
	}
	for _, name := range s.Drivers {
		fmt.Fprintf(&b, "|driver %q", name)
	}
	return b.String()
}

func selectorText(b *strings.Builder, s cluster.Selector) {
	if s.Nothing {
		b.WriteString("nothing")
		return
	}
	b.WriteString(s.Requirements.String())
}

// Begin prepares the level for a question with these rules: it forgets what the answer to another one may change.
func (lv *Level) Begin(rules *topology.Rules, firstLaunch int) {
	lv.Asked = lv.Asked && slices.Equal(lv.fixed, rules.Fixed())
	lv.Rules, lv.fixed = rules, rules.Fixed()
	lv.Followers, lv.Led = nil, false
	lv.Allowed = lv.Allowed[:min(len(lv.Allowed), firstLaunch)]
}

// Follower is a pod class whose pods must be near certain others, with the keys over
// which they must be: nil for all of them, as on the same host.
type Follower struct {
	PodClass *PodClass
	Keys     []int
}

// Exclusive reports whether pods of the class use a volume that only one pod may use.
func Exclusive(k *PodClass) bool {
	return slices.ContainsFunc(k.Shared, func(v cluster.Volume) bool { return v.Exclusive })
}
