package comparison

// then is the history followed by one that was watched later. It may keep both lists.
func (h History) then(later History) History {
	if h.BeganAt.IsZero() {
		return later
	}
	if later.BeganAt.IsZero() {
		return h
	}
	h.Version, h.Cluster = later.Version, later.Cluster
	h.Seconds, h.Starts = h.Seconds+later.Seconds, h.Starts+later.Starts
	h.Actual, h.Shadow = h.Actual.plus(later.Actual), h.Shadow.plus(later.Shadow)
	h.Hours = hoursOf(h.Hours, later.Hours)
	h.Largest = largest(append(h.Largest, later.Largest...))
	h.Latest = newest(append(h.Latest, later.Latest...), latestMax)
	h.Unplaced = left(h.Unplaced, later.Unplaced)
	if later.UntilAt.After(h.UntilAt) {
		h.UntilAt = later.UntilAt
		h.Unpriced, h.Outside, h.Static = later.Unpriced, later.Outside, later.Static
	}
	return h
}

func (s Side) plus(other Side) Side {
	return Side{
		Dollars: s.Dollars + other.Dollars, NodeSeconds: s.NodeSeconds + other.NodeSeconds,
		Launched: s.Launched + other.Launched, Terminated: s.Terminated + other.Terminated,
		Evicted: s.Evicted + other.Evicted, Waited: s.Waited + other.Waited, WaitSeconds: s.WaitSeconds + other.WaitSeconds,
		WaitLongest: max(s.WaitLongest, other.WaitLongest),
	}
}

// hoursOf puts later hours after earlier ones; both may have watched a part of the hour between them.
func hoursOf(list, later []Hour) []Hour {
	for _, l := range later {
		if n := len(list); n > 0 && list[n-1].At.Equal(l.At) {
			list[n-1] = list[n-1].plus(l)
			continue
		}
		list = append(list, l)
	}
	return newest(list, hoursMax)
}

func (h Hour) plus(other Hour) Hour {
	return Hour{
		At: h.At, Seconds: h.Seconds + other.Seconds, Evicted: h.Evicted + other.Evicted,
		ActualDollars: h.ActualDollars + other.ActualDollars, ShadowDollars: h.ShadowDollars + other.ShadowDollars,
		ActualNodeSeconds: h.ActualNodeSeconds + other.ActualNodeSeconds,
		ShadowNodeSeconds: h.ShadowNodeSeconds + other.ShadowNodeSeconds,
	}
}
