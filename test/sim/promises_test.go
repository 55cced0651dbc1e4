package sim

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// scene is a world in which no promise is broken: two nodes with room, each with a
// pod, of which the first is to go; a pod that waits, and an instance for it that is
// about to be ordered.
type scene struct {
	*World
	pool     *pool
	web      *work
	a, b     *instance
	onA      *pod
	more     *instance
	move     *move
	plan     *plan.Plan        // which lets the first node go
	snapshot *cluster.Snapshot // what the plan was made from; nil: what there is
}

func newScene() *scene {
	w := emptyWorld(Options{Decide: onlyReported})
	w.drawCatalogue()
	w.now = w.began.Add(3 * time.Hour)
	c := &scene{World: w, web: &work{name: "web", want: 3, shape: w.shape("web", quantity.Resources{CPU: 500, Memory: quantity.GiB, Pods: 1})}}
	c.pool = &pool{budget: 1, Pool: cluster.Pool{ID: cluster.PoolID{Kind: "NodePool", Name: "p"}}}
	w.pools, w.works = []*pool{c.pool}, []*work{c.web}
	c.a, c.b = c.node("a"), c.node("b")
	c.onA = c.pod("web-1", c.a)
	c.pod("web-2", c.b)
	c.pod("web-3", nil)
	c.more = &instance{claim: "more", pool: c.pool, launch: &plan.Launch{}, orderedAt: w.now}
	w.control.launchedFor = cluster.Ordered{"more": {"web-3"}}
	gone := plan.Removal{Node: "a", Claim: "a", Pool: c.pool.ID, Reason: plan.Underutilized}
	c.move = &move{Move: plan.Move{Removals: []plan.Removal{gone}, Saves: 1}, leaving: []*leaver{{Removal: gone, instance: c.a}}}
	c.plan = &plan.Plan{Moves: []plan.Move{c.move.Move}, Unplaced: onlyReported(w.photo()).Unplaced}
	c.a.voluntary, c.a.reason, c.a.with = true, plan.Underutilized, c.move
	return c
}

// onlyReported asks for nothing, and says of every pod that waits that it has no place.
func onlyReported(s *cluster.Snapshot) (p plan.Plan) {
	for i := range s.Waiting {
		p.Unplaced = append(p.Unplaced, plan.Unplaced{Pods: s.Waiting[i : i+1]})
	}
	return p
}

// node adds one that has started an hour ago.
func (c *scene) node(name string) *instance {
	at := c.now.Add(-time.Hour)
	instanceType := c.cloud.catalogues[0].InstanceTypes[0]
	m := &instance{claim: name, pool: c.pool, launch: &plan.Launch{}, choice: choice{instanceType, instanceType.Offerings[0]}, ready: true,
		orderedAt: at, launchedAt: at, joinedAt: at, startedAt: at, changedAt: at}
	c.instances = append(c.instances, m)
	return m
}

// pod adds one of the work; without an instance it waits.
func (c *scene) pod(name string, at *instance) *pod {
	p := &pod{work: c.web, at: at, line: &line{}, Pod: cluster.Pod{Namespace: "default", Name: name, UID: name, Shape: c.web.shape, Owner: "ReplicaSet/web",
		CreatedAt: c.now.Add(-time.Hour), Returns: true}}
	if at != nil {
		p.StartedAt = p.CreatedAt
	}
	c.pods = append(c.pods, p)
	return p
}

// protect gives the pods a PodDisruptionBudget that allows nothing.
func (c *scene) protect() {
	c.web.pdb = &pdb{name: "web", least: -1}
	for _, p := range c.pods {
		p.PDBs = "web"
	}
}

// The moments at which promises are looked at.
func anyEvent(c *scene)  { c.World.check() }
func ordering(c *scene)  { c.checks.ordering(c.World, c.more) }
func lettingGo(c *scene) { c.checks.lettingGo(c.World, c.move) }
func evicting(c *scene)  { c.checks.evicting(c.World, c.onA, c.a) }
func stable(c *scene)    { c.checks.snapshot, c.checks.plan = c.photo(), c.plan; c.World.stable() }
func planned(c *scene) {
	if c.snapshot == nil {
		c.snapshot = c.photo()
	}
	c.checks.planned(c.World, c.snapshot, c.plan)
}

// stabilizing waits for an end of what who decides asks for.
func stabilizing(c *scene) {
	c.still = true
	c.control.live()
	c.World.stabilize()
}

// breach is a promise that is broken at a moment.
type breach struct {
	at     func(*scene)
	breaks func(*scene)
	want   string // the rule, and what is said
}

// Every promise that simulations look at is noticed when that one is broken, and
// not before.
func TestBrokenPromisesAreNoticed(t *testing.T) {
	tests := map[string]breach{
		"pods share a node that is too small for them": {anyEvent, func(c *scene) { c.web.shape.Requests.CPU = 5000 }, "room: pods on a request "},
		"a node is tainted and not deleted":            {anyEvent, func(c *scene) { c.a.taintedAt = c.now.Add(-closedMost - 1) }, "leak: a has been tainted for 40m0"},
		"an instance never starts and is not given up": {anyEvent, func(c *scene) { c.b.orderedAt, c.b.startedAt = c.now.Add(-orderMost-1), time.Time{} }, "leak: b was created 30m0"},

		"a pool has more nodes than it may have": {ordering, func(c *scene) { two := int64(2); c.pool.Limits.Nodes = &two }, "limit: with more: NodePool/p has 3 nodes and may have 2"},
		"a pool has more cpu than it may have":   {ordering, func(c *scene) { c.pool.cpuMost = 4000 }, "limit: with more: NodePool/p has cpu="},
		"two moves replace the same node": {ordering, func(c *scene) {
			c.b.move, c.b.waits, c.b.replaces = 1, true, []string{"x", "a"}
			c.more.move, c.more.replaces = 2, []string{"a"}
		}, "twice: b and more replace the same of [x a]"},
		"two instances are launched for one pod": {ordering, func(c *scene) {
			c.instances = append(c.instances, &instance{claim: "first", pool: c.pool, launch: &plan.Launch{}, orderedAt: c.now.Add(-time.Minute)})
			c.control.launchedFor["first"] = []string{"web-3"}
		}, "twice: with more, 2 instances are being launched for 1 pods"},

		"a node goes in a freeze":                  {lettingGo, func(c *scene) { c.frozen = "audit" }, "freeze: a is disrupted while disruption is frozen"},
		"a node goes that must not be disturbed":   {lettingGo, func(c *scene) { c.a.doNotDisrupt = true }, "protected: a is disrupted despite do-not-disrupt"},
		"a pod goes that must not be disturbed":    {lettingGo, func(c *scene) { c.onA.DoNotDisrupt = true }, "protected: web-1 has do-not-disrupt and its node a is disrupted"},
		"a pod goes whose budget allows nothing":   {lettingGo, (*scene).protect, "pdb: the PodDisruptionBudget of web-1 allows no eviction and its node a is disrupted"},
		"a node goes while its schedule is closed": {lettingGo, func(c *scene) { c.pool.opensAt = c.now.Add(1) }, "budget: 1 nodes of NodePool/p are disrupted or not ready, and the budget is 0"},
		"more nodes go than may":                   {lettingGo, func(c *scene) { c.node("third").deletedAt = c.now }, "budget: 2 nodes of NodePool/p are disrupted or not ready, and the budget is 1"},
		"a pod goes that has no other place":       {lettingGo, func(c *scene) { c.b.instanceType.Allocatable.CPU = 900 }, "home: web-1 is evicted and fits on no other node"},

		"a pod is moved again and again": {evicting, func(c *scene) {
			c.onA.line.movedAt = []time.Time{c.now.Add(-50 * time.Minute), c.now.Add(-20 * time.Minute)}
		}, "flapping: web-1 is moved to save money for the 3. time since 50m0s"},

		"no plan is the last one": {stabilizing, func(c *scene) {
			c.Decide = func(*cluster.Snapshot) plan.Plan { return plan.Plan{Withdrawals: []plan.Withdrawal{{Claim: "nobody"}}} }
		}, "settling: 33 plans had actions in the "},
		"a pod is pending in the end without a reason": {stable, func(c *scene) { c.plan.Unplaced = nil }, "settling: web-3 is pending without a reason"},
		"a buffer is forgotten": {stable, func(c *scene) {
			c.kept.buffers = []cluster.Buffer{{Namespace: "default", Name: "spare", Shape: c.web.shape, Pods: 2}}
		},
			"settling: CapacityBuffer default/spare keeps no capacity for its 2 pods, and no reason is given"},
		"a static pool has too many nodes in the end": {stable, func(c *scene) { c.pool.Replicas = new(int64) },
			"settling: NodePool/p keeps 0 nodes (spec.replicas), and has 2 in the end"},
		"a static pool lacks nodes in the end": {stable, func(c *scene) { three := int64(3); c.pool.Replicas = &three },
			"settling: NodePool/p keeps 3 nodes (spec.replicas), has 2 in the end, and no reason is given"},
		"a node is closed in the end": {stable, func(c *scene) { c.a.taintedAt = c.now }, "leak: a is still tainted or has not started in the end"},

		"a plan lets a node go twice":             {planned, func(c *scene) { c.plan.Moves = append(c.plan.Moves, c.plan.Moves...) }, "decision: a is disrupted twice"},
		"a plan lets a node go that is not there": {planned, func(c *scene) { c.plan.Moves[0].Removals[0].Node = "x" }, "decision: x of NodePool/p does not exist"},
		"a plan lets a node go that goes already": {planned, func(c *scene) { c.a.deletedAt = c.now }, "decision: a is being deleted or has not joined"},
		"a plan moves pods to a pool that is being deleted": {planned, func(c *scene) {
			c.snapshot = c.photo()
			c.snapshot.Nodes[1].Drifted = cluster.PoolDeleted
			c.plan.Moves[0].Placements = []plan.Placement{{Pod: c.onA.Pod, On: plan.OnNode, Target: "b"}}
		}, "decision: web-1 moves from a to b, whose pool is being deleted"},
		"a plan launches more than a static pool keeps": {planned, func(c *scene) {
			two := int64(2)
			c.pool.Replicas, c.plan.Moves, c.plan.Launches = &two, nil, []plan.Launch{{Name: "p-1", Pool: c.pool.ID}}
		}, "decision: NodePool/p keeps 2 nodes (spec.replicas), and the plan makes them 3"},
		"a plan consolidates a static pool": {planned, func(c *scene) { two := int64(2); c.pool.Replicas = &two },
			"decision: a of NodePool/p, which is static, is disrupted for Underutilized"},
		"a plan launches from a pool that may not": {planned, func(c *scene) {
			c.pool.NotReady, c.plan.Launches = "its class is gone", []plan.Launch{{Name: "p-1", Pool: c.pool.ID}}
		}, "decision: p-1 is launched from NodePool/p, which may launch nothing"},
		"a plan lets more nodes go than may":             {planned, func(c *scene) { c.b.ready = false }, "decision: 2 nodes of NodePool/p would be disrupted or not ready, and the budget is 1"},
		"a plan lets a node go in a freeze":              {planned, func(c *scene) { c.frozen = "audit" }, "decision: a is disrupted while disruption is frozen"},
		"a plan lets a node go that is protected":        {planned, func(c *scene) { c.a.doNotDisrupt = true }, "decision: a has do-not-disrupt"},
		"a plan saves nothing":                           {planned, func(c *scene) { c.plan.Moves[0].Saves = 0 }, "decision: a is consolidated, and nothing is saved"},
		"a plan moves a pod that is protected":           {planned, func(c *scene) { c.onA.DoNotDisrupt = true }, "decision: web-1 has do-not-disrupt and its node a is disrupted"},
		"a plan moves a pod that nothing creates again":  {planned, func(c *scene) { c.onA.OneOff, c.onA.Returns = "it has no controller", false }, "decision: web-1 has no controller and its node a is consolidated"},
		"a plan moves a pod whose budget allows nothing": {planned, (*scene).protect, "decision: the PodDisruptionBudget of web-1 allows no eviction and its node a is disrupted"},
	}
	maps.Copy(tests, ofQuotas)
	maps.Copy(tests, ofRequests)
	maps.Copy(tests, ofOnDemand)
	var noticed []*Wrong
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			well := newScene()
			if tt.at(well); well.checks.wrong != nil {
				t.Fatalf("where nothing is wrong, %s is: %s", well.checks.wrong.Rule, well.checks.wrong.What)
			}
			c := newScene()
			tt.breaks(c)
			tt.at(c)
			if c.checks.wrong == nil {
				t.Fatalf("nothing is noticed, want %q", tt.want)
			}
			if got := c.checks.wrong.Rule + ": " + c.checks.wrong.What; !strings.HasPrefix(got, tt.want) {
				t.Errorf("what is noticed is %q, want %q", got, tt.want)
			}
			noticed = append(noticed, c.checks.wrong)
		})
	}
	if r := Run(Options{Decide: func(*cluster.Snapshot) plan.Plan { panic("at sea") }}); r.Wrong == nil || !strings.HasPrefix(r.Wrong.What, "at sea\n") {
		t.Errorf("of a panic of who decides is said %v", r.Wrong)
	} else {
		noticed = append(noticed, r.Wrong)
	}
	everyPromise(t, noticed)
}

// broken and said are how the sources name a promise, with its rule or, in package promise, without.
var (
	broken = regexp.MustCompile(`\.broken\("(\w+)", [^"]*"([^"]*)"`)
	said   = regexp.MustCompile(`return fmt\.Sprintf\(()"([^"]*)"`)
)

// everyPromise looks whether each that the sources name was seen to be noticed.
func everyPromise(t *testing.T, noticed []*Wrong) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	others, err := filepath.Glob("promise/*.go")
	if err != nil || len(others) == 0 {
		t.Fatal("package promise is not there", err)
	}
	files = append(files, others...)
	promises := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		names := broken
		if slices.Contains(others, file) {
			names = said
		}
		for _, found := range names.FindAllStringSubmatch(string(text), -1) {
			promises++
			words := strings.Split(strings.ReplaceAll(found[2], `\n`, "\n"), "%")
			pattern := "^" + regexp.QuoteMeta(words[0])
			for _, w := range words[1:] {
				pattern += ".*" + regexp.QuoteMeta(w[1:])
			}
			what := regexp.MustCompile("(?s)" + pattern + "$")
			is := func(w *Wrong) bool { return (found[1] == "" || w.Rule == found[1]) && what.MatchString(w.What) }
			if !slices.ContainsFunc(noticed, is) {
				t.Errorf("%s: nothing shows that %q (%s) is ever noticed: add a case", file, found[2], found[1])
			}
		}
	}
	if promises < 25 {
		t.Errorf("only %d promises were found in the sources", promises)
	}
}
