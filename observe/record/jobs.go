package record

import (
	"strings"
	"time"

	"github.com/daemok/daemok/core/cluster"
)

// tick is the latest pod of a Job that was seen on a node.
type tick struct {
	of string
	at time.Time // it was created
}

// recordJobs keeps of every node the latest pod of a Job: of one that ends within seconds
// most plans see nothing any more.
func (m *minutes) recordJobs() {
	before := m.ticks
	m.ticks = map[string]tick{}
	for i := range m.s.Nodes {
		n := &m.s.Nodes[i]
		latest := before[n.Name]
		for j := range n.Pods {
			p := &n.Pods[j]
			seen := tick{p.Owner + " in namespace " + p.Namespace, p.CreatedAt}
			if strings.HasPrefix(p.Owner, "Job/") && (seen.at.After(latest.at) || seen.at.Equal(latest.at) && seen.of < latest.of) {
				latest = seen
			}
		}
		if latest.of != "" {
			m.ticks[n.Name] = latest
		}
	}
}

// jobs names a Job whose pods begin the time again after which the node may go, since
// one of them came within that time; empty where none did.
func (m *minutes) jobs(n *cluster.Node) string {
	pool, found := m.s.Pool(n.Pool)
	latest, seen := m.ticks[n.Name]
	if !found || !seen || n.QuietSince.IsZero() || latest.at.Before(n.QuietSince.Add(-pool.Policy.After)) {
		return ""
	}
	return "; every pod of a Job begins that time again, such as of " + latest.of
}
