package record

import "slices"

// Recall takes in what an earlier process has written. What holds goes on where
// it is said again, and ends with the next round where it is not.
func (r *Record) Recall(list []Statement) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := map[id]bool{}
	for i := range r.over {
		known[idOf(&r.over[i])] = true
	}
	slices.SortStableFunc(list, inTime)
	for _, s := range list {
		switch {
		case known[idOf(&s)]:
		case s.Until.IsZero():
			r.recall(s)
		default:
			r.end(s)
		}
	}
	slices.SortStableFunc(r.over, func(a, b Statement) int { return a.Until.Compare(b.Until) })
}

// recall takes in a statement that held when it was written. Of two about one
// topic the later one holds.
func (r *Record) recall(s Statement) {
	k := key{s.About, s.Topic}
	h, open := r.open[k]
	switch {
	case open && h.says(&s):
		if s.From.Before(h.From) {
			h.From, h.Basis = s.From, s.Basis // decided again since
		}
		return
	case open && s.From.Before(h.From):
		s.Until = h.From
		r.end(s)
		return
	case open:
		r.close(k, s.From)
	}
	if r.open == nil {
		r.open = map[key]*held{}
	}
	r.open[k] = &held{Statement: s, round: r.round - 1}
	r.bytes += s.bytes()
}
