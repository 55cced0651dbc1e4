package aws

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cloud/aws/pace"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/internal/pause"
	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

// atHand answers requests without a network, so that time is virtual.
type atHand struct{ http.Handler }

func (h atHand) Do(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, r)
	return answer.Result(), nil
}

// openAtHand opens an account in virtual time, whose EC2 answers as many calls of
// each action as the share of what is usual.
func openAtHand(t *testing.T, share float64) (*emulator.Server, *Provider, nodeclass.Class) {
	t.Helper()
	server := emulator.New(world.Options{Account: world.Account{ClusterName: "prod"}, Seed: 1, Now: time.Now})
	t.Cleanup(server.Close)
	config := client.At("http://ec2.test", "us-east-1", client.Key{ID: "key", Secret: "secret"})
	config.HTTPClient = atHand{server}
	p := newProvider(Options{Cluster: "prod", MemoryOverhead: 0.075}, client.From(config, pace.New(time.Now, pause.For)))
	a := &account{server: server, provider: p}
	if err := p.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.RefreshTypes(t.Context()); err != nil {
		t.Fatal(err)
	}
	class := a.resolve(t, defaultSpec())
	time.Sleep(time.Minute) // a profile just made is accepted by now
	for action, rate := range market.DefaultFigures().Buckets {
		server.Market().SetRate(action, market.Rate{PerSecond: rate.PerSecond * share, Burst: rate.Burst * share})
	}
	return server, p, class
}

// Many launches come at once where EC2 answers a tenth of the usual calls. All are made,
// nearly as fast as EC2 lets them be, with few calls without effect; and an instance that
// is terminated meanwhile does not wait for them.
func TestAtATenthOfTheUsualRateNothingIsLostAndLittleWasted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const purchases, each = 25, 20
		server, p, class := openAtHand(t, 0.1)
		request := func(i int) cloud.LaunchRequest {
			return cloud.LaunchRequest{Class: cloud.Class{ID: "EC2NodeClass/default", Settings: class}, Token: fmt.Sprint("t", i), Batch: fmt.Sprint("b", i),
				Count: each, Options: []cloud.OfferingChoice{{Kind: "m5.large", Zone: "us-east-1a", Option: cluster.OnDemand}, {Kind: "m5.large", Zone: "us-east-1b", Option: cluster.OnDemand}}}
		}
		first, err := p.Launch(t.Context(), request(purchases))
		if err != nil {
			t.Fatal(err)
		}
		before, began := server.Calls()["CreateFleet"], time.Now()
		var calls sync.WaitGroup
		for i := range purchases {
			calls.Go(func() {
				for wait := time.Second; ; wait = min(2*wait, time.Minute) { // as the launcher does
					ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
					got, err := p.Launch(ctx, request(i))
					cancel()
					var throttled *cloud.ThrottledError
					switch {
					case err == nil && len(got) == each:
						return
					case err != nil && !errors.As(err, &throttled) && !errors.Is(err, context.DeadlineExceeded):
						t.Errorf("purchase %d: %v", i, err)
						return
					}
					time.Sleep(wait)
				}
			})
		}
		time.Sleep(20 * time.Second)
		asked := time.Now()
		if _, err := p.Terminate(t.Context(), first[0].ID); err != nil {
			t.Error(err)
		}
		gone := time.Since(asked)
		calls.Wait()
		took, sent := time.Since(began), server.Calls()["CreateFleet"]-before
		t.Logf("%d machines in %d purchases: %d calls of CreateFleet in %v, a machine given back within %v", purchases*each, purchases, sent, took.Round(time.Second), gone)
		least := time.Duration((purchases-5)/0.5) * time.Second // 5 at once, then one in two seconds
		if took > 2*least {
			t.Errorf("bought within %v; EC2 would have let them be within %v", took, least)
		}
		if sent > 2*purchases+20 { // all of them may be on their way when the first is refused
			t.Errorf("%d calls of CreateFleet for %d purchases", sent, purchases)
		}
		if gone > 5*time.Second {
			t.Errorf("a machine was given back after %v, want at once", gone)
		}
		time.Sleep(time.Minute) // until EC2 shows them everywhere
		instances, err := p.List(t.Context(), cloud.Filter{})
		if err != nil || len(instances) != (purchases+1)*each-1 {
			t.Errorf("%d machines are there, error %v; want %d", len(instances), err, (purchases+1)*each-1)
		}
	})
}

// Whoever asks why a launch does not come about hears that EC2 throttles, also where calls ran out of time while they waited for their turn.
func TestAThrottledLaunchIsReportedAsThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, p, class := openAtHand(t, 1)
		server.Market().SetRate("CreateFleet", market.Rate{PerSecond: 0.001, Burst: 1})
		for i := range 6 {
			ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
			_, err := p.Launch(ctx, cloud.LaunchRequest{Class: cloud.Class{ID: "EC2NodeClass/default", Settings: class}, Token: fmt.Sprint("t", i), Batch: fmt.Sprint("b", i),
				Count: 1, Options: []cloud.OfferingChoice{{Kind: "m5.large", Zone: "us-east-1a", Option: cluster.OnDemand}}})
			cancel()
			if throttled, is := errors.AsType[*cloud.ThrottledError](err); i > 0 && (!is || err.Error() != throttled.Error() || throttled.Call != "ec2:CreateFleet") {
				t.Errorf("launch %d: %v, want that ec2:CreateFleet is throttled", i, err)
			}
		}
	})
}
