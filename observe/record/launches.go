package record

import (
	"strings"
	"time"
)

// Launches writes into a record what becomes of the launches of NodeClaims.
type Launches struct {
	Record *Record
	Now    func() time.Time
}

// unlaunched begins what is said of a NodeClaim while its launch fails; the reason follows, in a word.
const unlaunched = "has no instance yet: "

// Unlaunched says that a NodeClaim has no instance yet, the reason in a word, and why: until that is said again in other words, the launch has ended, or
// the NodeClaim is gone.
func (l *Launches) Unlaunched(claim, reason, why string, more ...string) {
	l.Record.Hold(Statement{About: Object{Claim, claim}, Topic: TopicLaunch, Said: unlaunched + reason, Why: why, From: l.Now().UTC()}, func() []string { return more })
}

// Became says what became of the launch of a NodeClaim.
func (l *Launches) Became(claim, said, why string) {
	about, at := Object{Claim, claim}, l.Now().UTC()
	l.Record.End(about, TopicLaunch, at)
	l.Record.Note(Statement{About: about, Said: said, Why: why, From: at})
}

// gaveUp is said of a NodeClaim that is deleted since it got no instance.
const gaveUp = "was given up, and its pods are planned again"

// GaveUp says that a NodeClaim is given up without an instance, and why.
func (l *Launches) GaveUp(claim, why string) { l.Became(claim, gaveUp, why) }

// hasInstance begins what is said of a NodeClaim whose instance is launched; the ID and a colon follow.
const hasInstance = "has instance "

// Has says which instance a NodeClaim has, and what that is in words such as "m5.large in us-west-2a, spot".
func (l *Launches) Has(claim, instance, what string) {
	l.Became(claim, hasInstance+instance+": "+what, "")
}

// ClaimOf is the NodeClaim that has an instance according to the record, or had; empty: none is on record.
func (r *Record) ClaimOf(instance string) string {
	list, _ := r.Statements(time.Time{})
	for i := range list {
		if s := &list[i]; s.About.Kind == Claim && strings.HasPrefix(s.Said, hasInstance+instance+":") {
			return s.About.Name
		}
	}
	return ""
}

// launches lets what is said of launches that are under way stand, and says of pools how many of them do not come about.
func (m *minutes) launches() {
	failing := map[Object][]Statement{}
	for i := range m.s.Instances {
		instance := &m.s.Instances[i]
		if instance.Launched {
			continue
		}
		about := Object{Claim, instance.Claim}
		m.Record.Stand(about, TopicLaunch)
		if s, failed := m.Record.Held(about, TopicLaunch); failed {
			pool := ofPool(instance.Pool)
			failing[pool] = append(failing[pool], s)
		}
	}
	for i := range m.s.Pools {
		about := ofPool(m.s.Pools[i].ID)
		if list := failing[about]; len(list) > 0 {
			why := list[0].About.Name + andMore(len(list)-1) + ": " + strings.TrimPrefix(list[0].Said, unlaunched) + ": " + list[0].Why
			m.hold(about, "", TopicLaunch, "has NodeClaims without an instance", why, func() []string { return list[0].More })
		}
	}
}

// launchesOf are, of all statements, those that say why NodeClaims had no instance that a pod was to run on, by what is said of the pod.
func launchesOf(ofPod, all []Statement) (out []Statement) {
	claims := map[string]bool{}
	for i := range ofPod {
		if s := &ofPod[i]; s.About.Kind == Pod && s.Claim != "" {
			claims[s.Claim] = true
		}
	}
	for i := range all {
		if s := &all[i]; s.About.Kind == Claim && claims[s.About.Name] && (s.Topic == TopicLaunch || strings.HasPrefix(s.Said, unlaunched) || strings.HasPrefix(s.Said, gaveUp)) {
			out = append(out, *s)
		}
	}
	return out
}
