package demand

import (
	"github.com/daemok/daemok/core/supply"
)

// StartOn makes the guests those of a new instance of the instance type: its daemon pods.
func (g *Guests) StartOn(b *supply.Candidate, kind int) {
	g.Reset()
	g.Ports = append(g.Ports, b.Kinds[kind].Ports...)
	b.Bring(g.Host, kind)
}
