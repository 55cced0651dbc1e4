package place

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
)

// recordFollowers finds out who must be near whom, and how many others must come
// before pods of each pod class.
func (sc *scheduler) recordFollowers() {
	missing := map[*demand.PodClass]int{}
	led := map[int][]*demand.PodClass{}
	var ready []*demand.PodClass
	for _, g := range sc.waiting {
		k := g.PodClass
		if k.Groups[0] != g {
			continue
		}
		for _, s := range k.Required().Rules.Nears() {
			sc.followers[s.Tally] = append(sc.followers[s.Tally], k)
		}
		for _, s := range k.Levels[0].Rules.Nears() {
			if !s.Own {
				led[s.Tally] = append(led[s.Tally], k)
				missing[k]++
			}
		}
		if missing[k] == 0 {
			ready = append(ready, k)
		}
	}
	open := map[int]bool{}
	for i := 0; i < len(ready) && len(led) > 0; i++ {
		for _, t := range sc.board.Led(ready[i].Required().Rules) {
			if open[t] {
				continue
			}
			open[t] = true
			for _, k := range led[t] {
				if missing[k]--; missing[k] == 0 {
					k.Depth, ready = ready[i].Depth+1, append(ready, k)
				}
			}
		}
	}
}

// followersOf lists the pod classes whose pods must be where those of the level are,
// and the followers of these.
func (sc *scheduler) followersOf(lv *demand.Level) []demand.Follower {
	if !lv.Led {
		lv.Followers, lv.Led = sc.newFollowers(lv), true
	}
	return lv.Followers
}

func (sc *scheduler) newFollowers(lv *demand.Level) []demand.Follower {
	var out []demand.Follower
	seen := map[*demand.PodClass]bool{}
	visit := func(lv *demand.Level, keys []int) {
		for _, t := range sc.board.Led(lv.Rules) {
			over := keys
			if key := sc.board.KeyOf(t); sc.board.Keys()[key] != cluster.LabelHostname {
				if keys != nil && !slices.Contains(keys, key) {
					continue
				}
				over = []int{key}
			}
			for _, k := range sc.followers[t] {
				if !seen[k] {
					seen[k], out = true, append(out, demand.Follower{PodClass: k, Keys: over})
				}
			}
		}
	}
	visit(lv, nil)
	for i := 0; i < len(out); i++ {
		visit(out[i].PodClass.Required(), out[i].Keys)
	}
	for i := range out {
		if out[i].Keys == nil {
			out[i].Keys = lv.Rules.Fixed()
		}
	}
	return out
}
