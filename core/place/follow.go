package place

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
)

// follower is a pod class whose pods must be near certain others, with the keys over
// which they must be: nil for all of them, as on the same host.
type follower struct {
	podClass *podClass
	keys     []int
}

// recordFollowers finds out who must be near whom, and how many others must come
// before pods of each pod class.
func (sc *scheduler) recordFollowers() {
	missing := map[*podClass]int{}
	led := map[int][]*podClass{}
	var ready []*podClass
	for _, g := range sc.run.waiting {
		k := g.podClass
		if k.groups[0] != g {
			continue
		}
		for _, s := range k.required().rules.Nears() {
			sc.followers[s.Tally] = append(sc.followers[s.Tally], k)
		}
		for _, s := range k.levels[0].rules.Nears() {
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
		for _, t := range sc.run.board.Led(ready[i].required().rules) {
			if open[t] {
				continue
			}
			open[t] = true
			for _, k := range led[t] {
				if missing[k]--; missing[k] == 0 {
					k.depth, ready = ready[i].depth+1, append(ready, k)
				}
			}
		}
	}
}

// followersOf lists the pod classes whose pods must be where those of the level are,
// and the followers of these.
func (sc *scheduler) followersOf(lv *level) []follower {
	if !lv.led {
		lv.followers, lv.led = sc.newFollowers(lv), true
	}
	return lv.followers
}

func (sc *scheduler) newFollowers(lv *level) []follower {
	var out []follower
	seen := map[*podClass]bool{}
	visit := func(lv *level, keys []int) {
		for _, t := range sc.run.board.Led(lv.rules) {
			over := keys
			if key := sc.run.board.KeyOf(t); sc.run.board.Keys()[key] != cluster.LabelHostname {
				if keys != nil && !slices.Contains(keys, key) {
					continue
				}
				over = []int{key}
			}
			for _, k := range sc.followers[t] {
				if !seen[k] {
					seen[k], out = true, append(out, follower{k, over})
				}
			}
		}
	}
	visit(lv, nil)
	for i := 0; i < len(out); i++ {
		visit(out[i].podClass.required(), out[i].keys)
	}
	for i := range out {
		if out[i].keys == nil {
			out[i].keys = lv.rules.Fixed()
		}
	}
	return out
}
