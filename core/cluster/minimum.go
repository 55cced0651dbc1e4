package cluster

import "fmt"

// LimitOnDemand names the minimum of on-demand nodes where it is one of several limits: it limits spot instances.
const LimitOnDemand = "on-demand minimum"

// LowerOnDemand is what helps where such a minimum forbids spot instances.
const LowerOnDemand = "lower daemok.sh/on-demand-minimum"

// Minimum is how many of some nodes, or of some pods' nodes, are to be on demand at the least. What is reserved counts
// as on demand: it is not interrupted. The zero value asks for none.
type Minimum struct {
	Least   int64
	Percent bool // Least is a share of all, from 1 to 100, that is rounded up
}

// Any reports whether something is asked for.
func (m Minimum) Any() bool { return m.Least > 0 }

// String prints "2" or "30%".
func (m Minimum) String() string {
	if m.Percent {
		return fmt.Sprintf("%d%%", m.Least)
	}
	return fmt.Sprint(m.Least)
}

// Of is how many of so many are to be on demand.
func (m Minimum) Of(all int64) int64 {
	if m.Percent {
		return (all*m.Least + 99) / 100
	}
	return min(m.Least, all)
}

// Balance is how many of some nodes are on demand or reserved, and how many are spot instances.
type Balance struct{ OnDemand, Spot int64 }

// Count counts n more nodes; fewer where n is negative.
func (b *Balance) Count(spot bool, n int64) {
	if spot {
		b.Spot += n
	} else {
		b.OnDemand += n
	}
}

// Short is how many on-demand nodes are missing; 0 where the minimum is kept.
func (m Minimum) Short(b Balance) int64 { return max(0, m.Of(b.OnDemand+b.Spot)-b.OnDemand) }

// Lowers reports whether a change leaves too few on-demand nodes, and fewer of them than there are or more missing.
func (m Minimum) Lowers(before, after Balance) bool {
	short := m.Short(after)
	return short > 0 && (after.OnDemand < before.OnDemand || short > m.Short(before))
}

// unlimited stands for as many spot instances as anyone has.
const unlimited = 1 << 32

// Left is what is left of the minimum where it is one of several limits: one more spot instance keeps the minimum
// exactly where no more is taken for it than is left.
func (m Minimum) Left(b Balance) int64 {
	if !m.Percent {
		b.OnDemand += 1 - m.Least
	}
	return -b.OnDemand*m.Taken(false) - b.Spot*m.Taken(true)
}

// Taken is what one more node takes of what is left. One that is on demand takes a negative amount: it allows for more
// spot instances.
func (m Minimum) Taken(spot bool) int64 {
	switch {
	case m.Percent && spot:
		return m.Least
	case m.Percent:
		return m.Least - 100
	case spot:
		return 1
	}
	return -unlimited
}

// Gives reports whether more on-demand nodes allow for more spot instances.
func (m Minimum) Gives() bool { return m.Any() && m.Taken(false) < 0 }
