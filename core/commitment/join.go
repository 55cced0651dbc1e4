package commitment

import "slices"

// Join is what AWS says of an account, with what users list. A listed commitment with the ID of one of the account only
// says how much of that is used elsewhere, and everything else of it is AWS's; the others are added. A listed one that
// has no more than that to say, of an ID that the account does not have (any more), says nothing.
func Join(account, listed Commitments) Commitments {
	out := account
	out.Reserved, out.Plans = slices.Clone(account.Reserved), slices.Clone(account.Plans)
	reserved, plans := map[string]int{}, map[string]int{}
	for i := range out.Reserved {
		reserved[out.Reserved[i].ID], out.Reserved[i].Elsewhere = i, 0
	}
	for i := range out.Plans {
		plans[out.Plans[i].ID], out.Plans[i].Elsewhere = i, 0
	}
	for _, r := range listed.Reserved {
		if i, known := reserved[r.ID]; known {
			out.Reserved[i].Elsewhere = r.Elsewhere
		} else if r.Count > 0 {
			out.Reserved = append(out.Reserved, r)
		}
	}
	for _, p := range listed.Plans {
		if i, known := plans[p.ID]; known {
			out.Plans[i].Elsewhere = p.Elsewhere
		} else if p.Commitment > 0 {
			out.Plans = append(out.Plans, p)
		}
	}
	return out
}

// OfAccount is the part that AWS said, without what users said of it.
func (c *Commitments) OfAccount() Commitments {
	own := Commitments{Others: c.Others}
	for _, r := range c.Reserved {
		if r.Account {
			own.Reserved = append(own.Reserved, r)
		}
	}
	for _, p := range c.Plans {
		if p.Account {
			own.Plans = append(own.Plans, p)
		}
	}
	return Join(own, Commitments{})
}
