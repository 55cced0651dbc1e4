package pack_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/pack"
)

// TestInstancesSuitPods describes small batches in words: the offerings, the pods that wait, and
// what is launched.
func TestInstancesSuitPods(t *testing.T) {
	small, large := offering(1, 2, 2), offering(1.9, 4, 4)
	for name, c := range map[string]struct {
		batch pack.Batch
		want  string
	}{
		"one large machine is cheaper than two small ones": {batch(offerings(small, large), group(2, 2, 2)), "2×0 on 1"},
		"the cheapest offer that has room is taken":        {batch(offerings(small, large), group(1, 2, 1)), "1×0 on 0"},
		"pods of two kinds fill each other's gaps":         {batch(offerings(offering(1, 4, 4)), group(2, 1, 3), group(2, 3, 1)), "1×0 1×1 on 0, 1×0 1×1 on 0"},
		"who may not have the large one waits for the small": {
			batch(offerings(small, large), only(group(2, 2, 2), 0)), "1×0 on 0, 1×0 on 0"},
		"who refuses its own kind is alone": {
			batch(offerings(small, large), apart(group(2, 1, 1), 5)), "1×0 on 0, 1×0 on 0"},
		"two that are kept off each other are not together": {
			batch(offerings(small, large), keptOff(counted(group(1, 1, 1), 3), 4), keptOff(counted(group(1, 1, 1), 4), 3)), "1×0 on 0, 1×1 on 0"},
		"who is kept off another kind may come before it": {
			batch(offerings(small, large), counted(group(1, 1, 1), 3), keptOff(group(1, 1, 1), 3)), "1×0 1×1 on 0"},
		"a limit sends the rest elsewhere": {
			limited(batch(offerings(takes(small, 2), offering(3, 2, 2)), group(3, 2, 2)), 4), "1×0 on 0, 1×0 on 0, 1×0 on 1"},
		"limits that do not suffice are left to others": {
			limited(batch(offerings(takes(small, 2)), group(3, 2, 2)), 4), ""},
		"a pod too large for all is left out":  {batch(offerings(small), group(1, 3, 1), group(1, 1, 1)), "1×1 on 0"},
		"nothing for sale":                     {batch(nil, group(1, 1, 1)), ""},
		"nothing for sale to several kinds":    {batch(nil, group(1, 1, 1), group(1, 2, 2)), ""},
		"nobody waits":                         {batch(offerings(small)), ""},
		"nobody waits and nothing is for sale": {batch(nil), ""},
		"no offer may have them":               {batch(offerings(small), none(group(1, 1, 1)), group(1, 2, 2), none(group(1, 1, 1)), none(group(2, 1, 1))), "1×1 on 0"},
		"all fit everywhere":                   {batch(offerings(offering(2, 9, 9), offering(1, 8, 8)), group(2, 1, 1)), "2×0 on 1"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := text(pack.Solve(c.batch, 20_000)); got != c.want {
				t.Errorf("bought %q, want %q", got, c.want)
			}
		})
	}
}

// TestAnswersKeepWhatTheBatchSays makes batches by chance and counts for itself.
func TestAnswersKeepWhatTheBatchSays(t *testing.T) {
	for seed := range uint64(500) {
		l := randomBatch(rand.New(rand.NewPCG(seed, 1)), 12, 9)
		got := pack.Solve(l, 20_000)
		if why := broken(l, got); why != "" {
			t.Fatalf("seed %d: %s\n%+v\n%+v", seed, why, l, got)
		}
		if again := pack.Solve(l, 20_000); text(again) != text(got) {
			t.Fatalf("seed %d: a second answer differs: %s, then %s", seed, text(got), text(again))
		}
	}
}

// TestSmallBatchesAreSolvedWell compares with the best answer there is, which is found by trying
// all: at most three per cent more is paid, for fewer instances.
func TestSmallBatchesAreSolvedWell(t *testing.T) {
	const seeds = 1000
	exact := 0
	for seed := range uint64(seeds) {
		l := randomBatch(rand.New(rand.NewPCG(seed, 2)), 5, 2)
		l.Limits = nil
		for i := range l.Offerings {
			l.Offerings[i].Takes = nil
		}
		got, best := cost(l, pack.Solve(l, 20_000)), optimum(l)
		if got < best*(1-1e-9) {
			t.Fatalf("seed %d: %g is less than the least possible %g", seed, got, best)
		}
		if got > best*1.05 {
			t.Errorf("seed %d: costs %g, and %g is possible\n%+v", seed, got, best, l)
		}
		if got <= best*(1+pack.Fewer) {
			exact++
		}
	}
	t.Logf("%d of %d batches at the best cost", exact, seeds)
	if exact < seeds*95/100 {
		t.Errorf("%d of %d batches at the best cost, want 95 of 100", exact, seeds)
	}
}

// TestPodsThatFillInstancesExactlyNearlyDo cuts instances into pods: the same cuts many times over,
// so that no answer is cheaper than to put the pieces together again.
func TestPodsThatFillInstancesExactlyNearlyDo(t *testing.T) {
	const seeds, cuts, times = 20, 5, 12
	worst, sum := 0.0, 0.0
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 4))
		l := pack.Batch{Offerings: offerings(offering(3, 64, 128), offering(1.6, 32, 64))}
		for range cuts {
			cpu, mem := []int64{0, 10 + r.Int64N(20), 35 + r.Int64N(20), 64}, []int64{0, 10 + r.Int64N(50), 70 + r.Int64N(40), 128}
			for i := range 3 {
				l.Groups = append(l.Groups, pack.Group{Need: []int64{cpu[i+1] - cpu[i], mem[i+1] - mem[i]}, Count: times, Offerings: bitset.Full(2)})
			}
		}
		got := pack.Solve(l, 2_000_000)
		if why := broken(l, got); why != "" {
			t.Fatalf("seed %d: %s", seed, why)
		}
		gap := cost(l, got)/(3*cuts*times) - 1
		worst, sum = max(worst, gap), sum+gap
	}
	t.Logf("%.2f %% above the best in the mean, %.2f %% at worst", 100*sum/seeds, 100*worst)
	if sum/seeds > 0.002 || worst > 0.02 {
		t.Errorf("%.2f %% above the best in the mean, %.2f %% at worst; want 0.2 and 2", 100*sum/seeds, 100*worst)
	}
}

// TestResourcesAreUsedUpTogether has pods ask for nearly as much memory for each core as the
// cheapest instances have. By the linear program memory is worth nothing then, and yet it must not
// be left over on instances with full cores: other instances would be launched for it.
func TestResourcesAreUsedUpTogether(t *testing.T) {
	const seeds, pods = 6, 1000
	sum := 0.0
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 5))
		l := pack.Batch{Offerings: offerings(offering(16, 6400, 12800), offering(18, 6400, 25600), offering(4, 1600, 3200), offering(4.5, 1600, 6400), offering(1, 400, 800))}
		var cores int64
		for range pods {
			x := group(1, 10+r.Int64N(390), 10+r.Int64N(770))
			x.Offerings = bitset.Full(len(l.Offerings))
			l.Groups, cores = append(l.Groups, x), cores+x.Need[0]
		}
		got := pack.Solve(l, 12_000_000)
		if why := broken(l, got); why != "" {
			t.Fatalf("seed %d: %s", seed, why)
		}
		sum += cost(l, got)/(float64(cores)*16/6400) - 1
	}
	t.Logf("%.2f %% above what cores alone cost in the mean", 100*sum/seeds)
	if sum/seeds > 0.005 {
		t.Errorf("%.2f %% above what cores alone cost in the mean, want 0.5 at most", 100*sum/seeds)
	}
}

// TestFewInstancesArePreferredAmongTheCheapest has two small instances a little cheaper than a large
// one, without a limit and with one that just suffices.
func TestFewInstancesArePreferredAmongTheCheapest(t *testing.T) {
	l := batch(offerings(offering(1, 10, 10), offering(2.002, 20, 20)))
	for i := range int64(40) {
		l.Groups = append(l.Groups, only(group(1, 5, 4+i%2), 0))
		l.Groups[i].Offerings.Add(1)
	}
	tied := l
	tied.Offerings, tied.Limits = offerings(takes(l.Offerings[0], 10), takes(l.Offerings[1], 20)), []int64{200}
	for name, l := range map[string]pack.Batch{"free": l, "limited": tied} {
		got := pack.Solve(l, 2_000_000)
		if c := cost(l, got); len(got) >= 20 || c > 20*(1+pack.Fewer) {
			t.Errorf("%s: %d machines cost %g; want fewer than 20, for hardly more than 20", name, len(got), c)
		}
	}
}

// TestFewerInstancesAreLookedFor has sizes of which each costs a little more than two of the next
// smaller one: without a search for fewer instances there are a quarter more of them.
func TestFewerInstancesAreLookedFor(t *testing.T) {
	const seeds, pods, wanted = 6, 200, 110
	instances := 0
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 8))
		l := pack.Batch{Offerings: offerings(offering(1, 100, 100), offering(2.006, 200, 200), offering(4.024, 400, 400), offering(8.072, 800, 800))}
		for range pods {
			x := group(1, 10+r.Int64N(50), 10+r.Int64N(50))
			x.Offerings = bitset.Full(len(l.Offerings))
			l.Groups = append(l.Groups, x)
		}
		got := pack.Solve(l, 2_000_000)
		if why := broken(l, got); why != "" {
			t.Fatalf("seed %d: %s", seed, why)
		}
		instances += len(got)
	}
	t.Logf("%d machines for %d seeds", instances, seeds)
	if instances > wanted {
		t.Errorf("%d machines for %d seeds, want %d at most", instances, seeds, wanted)
	}
}

// TestALimitThatSufficesCostsLittle limits instances to what an answer without a limit takes, and
// to a little more.
func TestALimitThatSufficesCostsLittle(t *testing.T) {
	free := batch(offerings(offering(10, 640, 1280), offering(5.3, 320, 640), offering(2.9, 160, 320)))
	r := rand.New(rand.NewPCG(6, 6))
	for range 400 {
		free.Groups = append(free.Groups, pack.Group{Need: []int64{1 + r.Int64N(60), 1 + r.Int64N(118)}, Count: 1, Offerings: bitset.Full(3)})
	}
	const effort = 3_000_000
	without := pack.Solve(free, effort)
	least := int64(0)
	tied := pack.Batch{Groups: free.Groups, Offerings: offerings()}
	for _, o := range free.Offerings {
		tied.Offerings = append(tied.Offerings, takes(o, o.Free[0]))
	}
	for _, m := range without {
		least += free.Offerings[m.Offering].Free[0]
	}
	for more, moreExpensive := range map[int64]float64{free.Offerings[0].Free[0]: 1.01, 0: 1.02} {
		with := pack.Solve(limited(tied, least+more), effort)
		if why := broken(limited(tied, least+more), with); why != "" {
			t.Fatal(why)
		}
		t.Logf("%d machines at %g with %d to spare, %d at %g without a limit", len(with), cost(tied, with), more, len(without), cost(free, without))
		if c := cost(tied, with); len(with) == 0 || c > cost(free, without)*moreExpensive || len(with) > len(without)+1 {
			t.Errorf("%d machines at %g with %d to spare, %d at %g without a limit", len(with), c, more, len(without), cost(free, without))
		}
	}
}

// TestPodsThatMustBeApartGetTheFirstInstances: nine pods of a class are apart from each
// other and, once they come, from another pod of the class. Instances opened for what else
// there is would be one too many.
func TestPodsThatMustBeApartGetTheFirstInstances(t *testing.T) {
	l := batch(offerings(takes(offering(1, 3920, 75, 58), 4), takes(offering(1, 3920, 157, 8), 4)),
		group(2, 250, 30, 1), group(2, 100, 30, 1), group(6, 100, 30, 1), group(1, 50, 30, 1), group(9, 50, 30, 1))
	l.Groups[3].Kinds, l.Groups[4].Kinds, l.Groups[4].Caps = []int{0}, []int{0}, []pack.Cap{{Kind: 0, Most: 1}}
	for _, l := range []pack.Batch{batch(offerings(offering(1, 3920, 75, 58), offering(1, 3920, 157, 8)), l.Groups...), limited(l, 40)} {
		if got := pack.Solve(l, 20_000); len(got) == 0 || len(got) > 10 {
			t.Errorf("%d machines within %v, want 9 or 10", len(got), l.Limits)
		}
	}
}

// TestMoreEffortCostsNoMore solves one batch with more and more steps.
func TestMoreEffortCostsNoMore(t *testing.T) {
	l := randomBatch(rand.New(rand.NewPCG(3, 3)), 60, 30)
	first := cost(l, pack.Solve(l, 0))
	if much := cost(l, pack.Solve(l, 400_000)); much > first {
		t.Errorf("400,000 steps cost %g, none cost %g", much, first)
	}
}

func batch(offerings []pack.Offering, groups ...pack.Group) pack.Batch {
	for i := range groups {
		if groups[i].Offerings == nil {
			groups[i].Offerings = bitset.Full(len(offerings))
		}
	}
	return pack.Batch{Groups: groups, Offerings: offerings}
}

func offerings(list ...pack.Offering) []pack.Offering { return list }

func offering(cost float64, free ...int64) pack.Offering {
	return pack.Offering{Free: free, Cost: cost}
}

func takes(o pack.Offering, amount int64) pack.Offering {
	o.Takes = []pack.Take{{Limit: 0, Amount: amount}}
	return o
}

func limited(l pack.Batch, limit int64) pack.Batch {
	l.Limits = []int64{limit}
	return l
}

func group(count int64, need ...int64) pack.Group {
	return pack.Group{Need: need, Count: count}
}

func only(r pack.Group, offering int) pack.Group {
	r.Offerings = bitset.New(64)
	r.Offerings.Add(offering)
	return r
}

// none is of pods that no offering may have, said by a set of no length.
func none(r pack.Group) pack.Group {
	r.Offerings = bitset.Set{}
	return r
}

func counted(r pack.Group, kind int) pack.Group {
	r.Kinds = append(r.Kinds, kind)
	return r
}

func keptOff(r pack.Group, kind int) pack.Group {
	r.Caps = append(r.Caps, pack.Cap{Kind: kind, Most: 1})
	return r
}

func apart(r pack.Group, kind int) pack.Group { return keptOff(counted(r, kind), kind) }

func text(instances []pack.Instance) string {
	var out []string
	for _, m := range instances {
		n := map[int]int64{}
		for _, p := range m.Parts {
			n[p.Group] += p.N
		}
		one := ""
		for group := range 100 {
			if n[group] > 0 {
				one += fmt.Sprintf("%d×%d ", n[group], group)
			}
		}
		out = append(out, fmt.Sprintf("%son %d", one, m.Offering))
	}
	slices.Sort(out)
	all := ""
	for i, s := range out {
		if i > 0 {
			all += ", "
		}
		all += s
	}
	return all
}

func cost(l pack.Batch, instances []pack.Instance) float64 {
	sum := 0.0
	for _, m := range instances {
		sum += l.Offerings[m.Offering].Cost
	}
	return sum
}

// randomBatch makes up to so many groups and offerings with two resources; some groups may not have
// some offerings, some refuse a class, some offerings are limited.
func randomBatch(r *rand.Rand, groups, most int) pack.Batch {
	var l pack.Batch
	for range 1 + r.IntN(4) {
		cpu, mem := 2+r.Int64N(14), 2+r.Int64N(14)
		l.Offerings = append(l.Offerings, pack.Offering{Free: []int64{cpu, mem, 9}, Cost: float64(cpu)*(1+r.Float64()) + float64(mem)*r.Float64()})
	}
	if r.IntN(3) == 0 {
		l.Limits = []int64{4 + r.Int64N(40)}
		l.Offerings[0].Takes = []pack.Take{{Limit: 0, Amount: l.Offerings[0].Free[0]}}
	}
	for range 1 + r.IntN(groups) {
		group := pack.Group{Need: []int64{1 + r.Int64N(6), 1 + r.Int64N(6), 1}, Count: 1 + r.Int64N(int64(most)), Offerings: bitset.Full(len(l.Offerings))}
		if r.IntN(4) == 0 {
			group.Offerings.Remove(r.IntN(len(l.Offerings)))
		}
		if r.IntN(4) == 0 {
			group.Kinds = []int{r.IntN(3)}
		}
		if r.IntN(4) == 0 {
			group.Caps = []pack.Cap{{Kind: r.IntN(3), Most: 1 + r.Int64N(2)}}
		}
		l.Groups = append(l.Groups, group)
	}
	return l
}

// broken says what is wrong with an answer, by plain counting.
func broken(l pack.Batch, instances []pack.Instance) string {
	seen := make([]int64, len(l.Groups))
	limits := slices.Clone(l.Limits)
	for _, m := range instances {
		o := l.Offerings[m.Offering]
		room, kinds := slices.Clone(o.Free), map[int]int64{}
		for _, t := range o.Takes {
			if limits[t.Limit] -= t.Amount; limits[t.Limit] < 0 {
				return fmt.Sprintf("limit %d is exceeded", t.Limit)
			}
		}
		for _, p := range m.Parts {
			group := l.Groups[p.Group]
			if !group.Offerings.Has(m.Offering) {
				return fmt.Sprintf("row %d may not have offer %d", p.Group, m.Offering)
			}
			for range p.N {
				if why := join(group, room, kinds); why != "" {
					return fmt.Sprintf("row %d on offer %d: %s", p.Group, m.Offering, why)
				}
			}
			seen[p.Group] += p.N
		}
	}
	for i, n := range seen {
		couldBe := slices.ContainsFunc(indices(l.Offerings), func(o int) bool { return l.Groups[i].Offerings.Has(o) && holds(l.Offerings[o].Free, l.Groups[i].Need) })
		if n > l.Groups[i].Count || couldBe && n < l.Groups[i].Count && (l.Limits == nil || len(instances) > 0) {
			return fmt.Sprintf("row %d: %d of %d pods have a machine", i, n, l.Groups[i].Count)
		}
	}
	return ""
}

func indices(offerings []pack.Offering) []int {
	out := make([]int, len(offerings))
	for i := range out {
		out[i] = i
	}
	return out
}

func join(group pack.Group, room []int64, kinds map[int]int64) string {
	for _, c := range group.Caps {
		if kinds[c.Kind] >= c.Most {
			return fmt.Sprintf("%d of kind %d are there", kinds[c.Kind], c.Kind)
		}
	}
	for _, k := range group.Kinds {
		kinds[k]++
	}
	for d, v := range group.Need {
		if room[d] -= v; room[d] < 0 {
			return fmt.Sprintf("too little of resource %d", d)
		}
	}
	return ""
}

func holds(room, need []int64) bool {
	for d, v := range need {
		if v > room[d] {
			return false
		}
	}
	return true
}

// optimum is the least cost of all pods that some offering has room for, by trying every set of
// pods for the instance of the first pod that is left.
func optimum(l pack.Batch) float64 {
	var pods []int
	for i, r := range l.Groups {
		if slices.ContainsFunc(indices(l.Offerings), func(o int) bool { return r.Offerings.Has(o) && holds(l.Offerings[o].Free, r.Need) }) {
			for range r.Count {
				pods = append(pods, i)
			}
		}
	}
	price := make([]float64, 1<<len(pods)) // of one instance for a set
	least := make([]float64, 1<<len(pods))
	for set := 1; set < len(price); set++ {
		price[set], least[set] = oneInstance(l, pods, set), math.Inf(1)
		low := set & -set
		for sub := set; sub > 0; sub = (sub - 1) & set {
			if sub&low != 0 {
				least[set] = min(least[set], price[sub]+least[set&^sub])
			}
		}
	}
	return least[len(least)-1]
}

// oneInstance is the cheapest offering that may have the set of pods in some
// order.
func oneInstance(l pack.Batch, pods []int, set int) float64 {
	best := math.Inf(1)
	for _, o := range l.Offerings {
		best = min(best, o.Cost)
	}
	var chosen []int
	for i, group := range pods {
		if set&(1<<i) != 0 {
			chosen = append(chosen, group)
		}
	}
	out := math.Inf(1)
	for o, it := range l.Offerings {
		room, may := slices.Clone(it.Free), true
		for _, group := range chosen {
			may = may && l.Groups[group].Offerings.Has(o)
			for d, v := range l.Groups[group].Need {
				room[d] -= v
			}
		}
		if may && slices.Min(room) >= 0 && it.Cost < out && someOrder(l, chosen, map[int]int64{}) {
			out = it.Cost
		}
	}
	return out
}

// someOrder reports whether the pods may join one after another in any order.
func someOrder(l pack.Batch, groups []int, kinds map[int]int64) bool {
	if len(groups) == 0 {
		return true
	}
	for i, group := range groups {
		if i > 0 && groups[i-1] == group || slices.ContainsFunc(l.Groups[group].Caps, func(c pack.Cap) bool { return kinds[c.Kind] >= c.Most }) {
			continue
		}
		for _, k := range l.Groups[group].Kinds {
			kinds[k]++
		}
		ok := someOrder(l, slices.Delete(slices.Clone(groups), i, i+1), kinds)
		for _, k := range l.Groups[group].Kinds {
			kinds[k]--
		}
		if ok {
			return true
		}
	}
	return false
}

// TestExpensiveInstancesAreLaunchedWhereALimitAsksForIt: cheap instances hold pods for less, but
// more of them than the limit allows.
func TestExpensiveInstancesAreLaunchedWhereALimitAsksForIt(t *testing.T) {
	l := limited(batch(offerings(takes(offering(0.5, 10, 6), 10), takes(offering(1, 10, 10), 10)), group(60, 2, 2), group(30, 1, 1), group(20, 1, 2), group(5, 2, 1)), 205)
	got := pack.Solve(l, 100_000)
	if why := broken(l, got); why != "" || len(got) == 0 {
		t.Errorf("%d machines are bought: %s", len(got), why)
	}
}
