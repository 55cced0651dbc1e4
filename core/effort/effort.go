// Package effort counts the steps of one answer, so that a limit on them means the same on every
// processor.
package effort

// Count counts the steps of one answer. A step is about one look at one shape of pods in one place.
type Count struct {
	Steps     int64
	Most      int64 // 0: no bound
	Exhausted bool  // all of them are used up
	Known     bool  // the answer is known, and the search may end
}

// Spent counts steps, and reports whether the search must end.
func (c *Count) Spent(steps int64) bool {
	c.Steps += steps
	if c.Most > 0 && c.Steps >= c.Most {
		c.Exhausted = true
	}
	return c.Exhausted || c.Known
}

// Hurry reports whether more than half of the steps are used up.
func (c *Count) Hurry() bool { return c.Most > 0 && c.Steps > c.Most/2 }
