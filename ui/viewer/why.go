package viewer

import (
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/ui/card"
	"github.com/daemok/daemok/ui/text"
	"github.com/daemok/daemok/ui/view"
)

// explained is a sheet whose rows can be explained.
type explained interface {
	about(row int) record.Object
}

func (s *nodes) about(row int) record.Object {
	n := s.node(row)
	if n.Name == "" {
		return record.Object{Kind: record.Claim, Name: n.Claim}
	}
	return record.Object{Kind: record.Node, Name: n.Name}
}

func (s *waiting) about(row int) record.Object {
	w := &s.c.Waiting[s.rows[row]]
	return record.Object{Kind: record.Pod, Name: w.Namespace + "/" + w.Pods[0]}
}

func (s *pools) about(row int) record.Object {
	p := s.pool(row)
	if p.Kind == "Provisioner" {
		return record.Object{Kind: record.Provisioner, Name: p.Name}
	}
	return record.Object{Kind: record.Pool, Name: p.Name}
}

// why is the explanation of a row. It is kept as long as the view is the same: in a large cluster it takes longer than
// the rest of the screen.
type why struct {
	of    *view.Cluster
	about record.Object
	card  view.Card
	known bool
}

// write writes why the row's object is as it is, where the source can say.
func (w *why) write(m *Model, p *text.Printer, row int) {
	from, can := m.source.(view.Explainer)
	s, is := m.sheet.(explained)
	if !can || !is {
		return
	}
	if o := s.about(row); w.of != m.cluster || w.about != o {
		c, err := from.Explain(o)
		*w = why{m.cluster, o, c, err == nil} // what nothing is known about has gone meanwhile
	}
	if w.known {
		card.Reasons(p, &w.card, m.moment())
	}
}
