package aws

import (
	"context"
	"testing"
	"time"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// A control plane moves up by a version. API servers of both answer for a while, and
// images stay what they are until the old ones are gone.
func TestImagesFollowAVersionThatHasStayed(t *testing.T) {
	var s steady
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, step := range []struct {
		minute       int
		server, want string
	}{
		{0, "1.35", "1.35"},
		{1, "1.36", "1.35"}, // the first new API server
		{4, "1.35", "1.35"}, // an old one is still there
		{5, "1.36", "1.35"},
		{9, "1.36", "1.35"},
		{10, "1.36", "1.36"}, // five minutes without an old one
		{11, "1.35", "1.35"}, // it goes back: no kubelet may be newer
		{12, "1.36", "1.35"},
	} {
		if got := s.see(begin.Add(time.Duration(step.minute)*time.Minute), step.server, ""); got != step.want {
			t.Errorf("minute %d, the API server is %s: images for %s, want %s", step.minute, step.server, got, step.want)
		}
	}
}

// A controller that starts while API servers are replaced has not seen the old ones: images
// in use stay until those may be gone.
func TestImagesInUseStayWhenAControllerStarts(t *testing.T) {
	a := openAccount(t)
	version, chosen := "1.35", func(class nodeclass.Class) string {
		found, err := a.provider.Images(t.Context(), class)
		if err != nil {
			t.Fatal(err)
		}
		class.Resolved.Images = found
		return versionInUse(class)
	}
	a.provider.options.KubernetesVersion = func(context.Context) (string, error) { return version, nil }
	a.provider.steady = steady{}
	a.class = a.resolve(t, defaultSpec())
	version = "1.36"
	a.provider.steady = steady{} // another process
	for range 5 {
		if got := chosen(a.class); got != "1.35" {
			t.Fatalf("images for %s, want those in use, for 1.35", got)
		}
		a.Advance(time.Minute)
	}
	if got := chosen(a.class); got != "1.36" {
		t.Errorf("after five minutes images for %s, want 1.36", got)
	}
	a.provider.steady = steady{}
	fresh := a.class
	fresh.Resolved.Images = nil
	if got := chosen(fresh); got != "1.36" {
		t.Errorf("for a new class images for %s, want 1.36", got)
	}
}

// A subnet in a zone where nothing was offered, as one just opened, has the types read
// again, and once only.
func TestTypesAreReadAgainForANewZone(t *testing.T) {
	a := openAccount(t)
	for i := range a.provider.types {
		a.provider.types[i].Zones = []string{"us-east-1a", "us-east-1b"}
	}
	before := a.server.Calls()["DescribeInstanceTypeOfferings"]
	subnets, err := a.provider.Subnets(t.Context(), a.class)
	if err != nil {
		t.Fatal(err)
	}
	again := a.server.Calls()["DescribeInstanceTypeOfferings"]
	if len(subnets) < 3 || again == before || !a.provider.offeredIn(subnets) {
		t.Errorf("with %d subnets, offers were asked for %d times, and then %d", len(subnets), before, again)
	}
	for i := range a.provider.types {
		a.provider.types[i].Zones = []string{"us-east-1a", "us-east-1b"} // and still nothing is offered elsewhere
	}
	for range 3 {
		if _, err := a.provider.Subnets(t.Context(), a.class); err != nil {
			t.Fatal(err)
		}
	}
	if now := a.server.Calls()["DescribeInstanceTypeOfferings"]; now != again {
		t.Errorf("they were asked for %d times more for zones that were asked about already", now-again)
	}
}
