package topology

import (
	"maps"
	"math"
	"slices"
)

// tally counts the chosen pods of each domain of one key.
type tally struct {
	key     int
	who     []chosen // all of them must choose the pod
	owners  bool     // counts pods that keep the chosen ones away, not the chosen ones
	counts  []int32  // by domain
	total   int64
	adrift  int64           // of the total: in a domain that is not decided yet, or perhaps not counted
	loose   int64           // of these: in any domain
	may     []int64         // of these, by domain: those that may turn up in it
	brought bool            // new instances bring such pods by themselves
	wanted  bool            // some pod must be near such pods
	volume  bool            // because of a volume
	with    map[int32]int64 // where wanted: those of which the domain is not known, by what stands for the domains of their place alone

	filter   int    // of a spread: which nodes are examined; else -1
	eligible []bool // by domain: some node there is examined
	domains  int    // how many are eligible
	least    int32  // the least count among them, if not stale
	atLeast  int    // how many domains have it
	stale    bool
	expected int64 // pods that instances are to be launched for; see Board.Expect
}

func (t *tally) count(domain int32) int32 {
	if domain < 0 || int(domain) >= len(t.counts) {
		return 0
	}
	return t.counts[domain]
}

// most is how many there may be in the domain, wherever those turn up whose
// domain is not decided yet.
func (t *tally) most(domain int32) int64 {
	if domain <= Unknown {
		return t.total
	}
	out := int64(t.count(domain)) + t.loose
	if domain >= 0 && int(domain) < len(t.may) {
		out += t.may[domain]
	}
	return out
}

func (t *tally) grow(domain int32) {
	for int(domain) >= len(t.counts) {
		t.counts = append(t.counts, 0)
		t.eligible = append(t.eligible, false)
	}
}

// put counts n more pods where they are; reach is where they may be if that is
// not decided.
func (t *tally) put(domain int32, n int64, reach []int32) {
	switch {
	case domain >= 0:
		t.add(domain, n)
	case domain <= Unknown:
		t.drift(n, reach)
		t.gather(domain, n)
	}
}

// gather counts n pods that will be in one domain, whichever it is.
func (t *tally) gather(domain int32, n int64) {
	if !t.wanted || domain == Unknown {
		return
	}
	if t.with == nil {
		t.with = map[int32]int64{}
	}
	t.with[domain] += n
}

// drift counts n pods that may turn up in one of the domains, or in any if
// none are listed.
func (t *tally) drift(n int64, reach []int32) {
	t.total += n
	t.adrift += n
	if len(reach) == 0 {
		t.loose += n
		return
	}
	for _, d := range reach {
		if d < 0 {
			continue
		}
		for int(d) >= len(t.may) {
			t.may = append(t.may, 0)
		}
		t.may[d] += n
	}
}

func (t *tally) add(domain int32, n int64) {
	t.grow(domain)
	was := t.counts[domain]
	t.counts[domain] += int32(n)
	t.total += n
	if t.filter < 0 || !t.eligible[domain] || t.stale || was != t.least && n >= 0 {
		return
	}
	if n < 0 {
		t.stale = true
		return
	}
	if t.atLeast--; t.atLeast == 0 {
		t.stale = true
	}
}

// open makes a domain eligible.
func (t *tally) open(domain int32) {
	if domain < 0 {
		return
	}
	t.grow(domain)
	if t.eligible[domain] {
		return
	}
	t.eligible[domain] = true
	t.domains++
	switch c := t.counts[domain]; {
	case t.stale:
	case t.domains == 1 || c < t.least:
		t.least, t.atLeast = c, 1
	case c == t.least:
		t.atLeast++
	}
}

// close makes a domain ineligible.
func (t *tally) close(domain int32) {
	if t.eligible[domain] {
		t.eligible[domain], t.stale = false, true
		t.domains--
	}
}

// clone returns a tally with counts of its own.
func (t tally) clone() tally {
	t.counts, t.eligible, t.may, t.with = slices.Clone(t.counts), slices.Clone(t.eligible), slices.Clone(t.may), maps.Clone(t.with)
	return t
}

// minimum is the least count of an eligible domain; 0 where there are fewer
// of these than minDomains.
func (t *tally) minimum(minDomains int32) int64 {
	if t.domains < int(minDomains) {
		return 0
	}
	if t.domains == 0 {
		return math.MaxInt32
	}
	if t.stale {
		t.find()
	}
	return int64(t.least)
}

// leastBeside is minimum where the domain itself is counted as having that many,
// because pods may turn up there.
func (t *tally) leastBeside(domain int32, has int64, minDomains int32) int64 {
	least := t.minimum(minDomains)
	if t.domains == 0 || t.domains < int(minDomains) || has <= least || int64(t.count(domain)) > least || t.atLeast > 1 ||
		int(domain) >= len(t.eligible) || !t.eligible[domain] {
		return least
	}
	least = has
	for d, c := range t.counts {
		if t.eligible[d] && int32(d) != domain {
			least = min(least, int64(c))
		}
	}
	return least
}

func (t *tally) find() {
	t.stale, t.least, t.atLeast = false, math.MaxInt32, 0
	for d, c := range t.counts {
		switch {
		case !t.eligible[d]:
		case c < t.least:
			t.least, t.atLeast = c, 1
		case c == t.least:
			t.atLeast++
		}
	}
}
