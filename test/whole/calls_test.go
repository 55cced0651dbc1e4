package whole_test

import (
	"context"
	"flag"
	"testing"
	"time"

	"github.com/daemok/daemok/cloud/aws"
	"github.com/daemok/daemok/controller/class"
)

var howMany = flag.Int("machines", 60, "how many machines TestCallsOfAWS buys")

// A class is ready, instances are launched, and then nothing happens: how often is AWS called? Each instance
// is tagged by a call of its own, since its tags are. Of all other calls that change
// something there is one for ten instances at the most, of those that only look at things
// at EC2 one for two instances, and a cluster idle makes fewer than one call a second.
// It prints what there was.
func TestCallsOfAWS(t *testing.T) {
	instances, atRest := *howMany, 5*time.Minute
	reportAWS(t, 3, func(t *testing.T, w *world) {
		w.pool("default", nil)
		c := w.start(setup{usual: true})
		w.until(time.Minute, "a class that is ready", w.classIsReady)
		before := c.ordeal.counted(asked)
		w.scale("web", instances)
		w.until(10*time.Minute, "all pods running", func() bool { return w.run(instances) })
		w.until(20*time.Minute, "all machines tagged", func() bool { return c.ordeal.counted(asked)["CreateTags"] >= instances })
		begun := c.ordeal.counted(asked)
		launched := less(begun, before)
		changing, acknowledged := 0, launched["DeleteMessageBatch"]
		for action, n := range launched {
			if changes(action) && action != "CreateTags" && action != "DeleteMessageBatch" {
				changing += n
			}
		}
		t.Logf("to buy %d machines: %v", instances, launched)
		t.Logf("for each machine: %.2f CreateTags, %.3f other calls that change something, %.2f that acknowledge interruption messages, %.2f that ask",
			each(launched["CreateTags"], instances), each(changing, instances), each(acknowledged, instances),
			each(sum(launched)-launched["CreateTags"]-changing-acknowledged, instances))
		if launched["CreateTags"] > instances || changing > instances/10 || acknowledged > instances/2 {
			t.Errorf("more than one CreateTags, a tenth of another call that changes something, or half of one that acknowledges notices")
		}
		if looks := launched["DescribeInstances"]; looks > instances/2 {
			t.Errorf("%d calls of DescribeInstances for %d machines, want one for two at the most", looks, instances)
		}

		time.Sleep(atRest)
		rested := c.ordeal.counted(asked)
		perSecond := float64(sum(rested)-sum(begun))/atRest.Seconds() + w.refreshing()
		t.Logf("a second at rest: %.2f calls", perSecond)
		if perSecond >= 1 {
			t.Errorf("%.2f calls a second at rest, want less than 1: %v, and %v before", perSecond, rested, begun)
		}
	})
}

// refreshing is how many calls a second it takes to keep fresh what is known of AWS, with
// one class, beside looking up every minute what that selects.
func (w *world) refreshing() (perSecond float64) {
	w.t.Helper()
	ctx, count := context.Background(), &ordeal{}
	p := w.provider(&carrier{account: w.aws, ordeal: count, usual: true})
	settings, err := class.Settings(ec2NodeClasses().Of(w.nodeClass()))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, round := range []struct {
		every time.Duration
		do    func() error
	}{
		{aws.TypesEvery, func() error { return p.RefreshTypes(ctx) }},
		{aws.OnDemandEvery, func() error { return p.RefreshOnDemand(ctx) }},
		{aws.SpotEvery, func() error { return p.RefreshSpot(ctx) }},
		{aws.QuotasEvery, func() error { return p.RefreshQuotas(ctx) }},
		{aws.TemplatesEvery, func() error { return p.RefreshTemplates(ctx) }},
		{aws.ProfilesEvery, func() error { _, err := p.CollectProfiles(ctx, nil); return err }},
		{aws.VerifiedFor, func() error { return p.Verify(ctx, settings) }},
	} {
		before := sum(count.counted(asked))
		if err := round.do(); err != nil {
			w.t.Fatal(err)
		}
		perSecond += float64(sum(count.counted(asked))-before) / round.every.Seconds()
	}
	return perSecond
}

func sum(calls map[string]int) (n int) {
	for _, of := range calls {
		n += of
	}
	return n
}

// less is what was called beside what had been before.
func less(calls, before map[string]int) map[string]int {
	out := map[string]int{}
	for action, n := range calls {
		if n > before[action] {
			out[action] = n - before[action]
		}
	}
	return out
}

func each(calls, instances int) float64 { return float64(calls) / float64(instances) }
