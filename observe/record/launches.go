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

// Unlaunched says that a NodeClaim has no instance yet, and why: until that is said again in other words, the launch has ended, or
// the NodeClaim is gone.
func (l *Launches) Unlaunched(claim, said, why string, more ...string) {
	l.Record.Hold(Statement{About: Object{Claim, claim}, Topic: TopicLaunch, Said: said, Why: why, From: l.Now().UTC()}, func() []string { return more })
}

// Became says what became of the launch of a NodeClaim.
func (l *Launches) Became(claim, said, why string) {
	about, at := Object{Claim, claim}, l.Now().UTC()
	l.Record.End(about, TopicLaunch, at)
	l.Record.Note(Statement{About: about, Said: said, Why: why, From: at})
}

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
	for i := range m.s.Machines {
		machine := &m.s.Machines[i]
		if machine.Launched {
			continue
		}
		about := Object{Claim, machine.Claim}
		m.Record.Stand(about, TopicLaunch)
		if s, failed := m.Record.Held(about, TopicLaunch); failed {
			pool := ofPool(machine.Pool)
			failing[pool] = append(failing[pool], s)
		}
	}
	for i := range m.s.Pools {
		about := ofPool(m.s.Pools[i].ID)
		if list := failing[about]; len(list) > 0 {
			m.hold(about, "", TopicLaunch, "has NodeClaims without an instance", list[0].About.Name+andMore(len(list)-1)+" "+list[0].Said+": "+list[0].Why, func() []string { return list[0].More })
		}
	}
}

// launchOf is why the NodeClaim that a pod waits for has no instance yet, where that is known.
func (r *Record) launchOf(pod Object) (s Statement, failed bool) {
	if place, _ := r.Held(pod, TopicPlace); place.Claim != "" {
		return r.Held(Object{Claim, place.Claim}, TopicLaunch)
	}
	return Statement{}, false
}
