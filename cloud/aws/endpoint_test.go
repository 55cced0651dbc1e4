package aws

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/catalog"
	"github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/cloud/aws/interruption"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cloud/aws/pace"
	"github.com/daemok/daemok/internal/pause"
	"github.com/daemok/daemok/test/conformance"
	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/world"
)

var endpoint = flag.String("endpoint", "", "URL of what TestEndpoint is run against, with credentials and region from the environment; empty: an emulator of its own")

// Most of an endpoint's promises must be shown: what it cannot do is left out by
// name, and more than a fifth left out is a failure.
const skippedMost = 0.2

// TestEndpoint shows that whatever answers at a URL is one that the adapter can work
// with: the port's promises, and what the adapter relies on beside them. It finds or
// makes what it needs through the public API, and removes it again.
func TestEndpoint(t *testing.T) {
	site := openSite(t)
	var tally tally
	t.Run("port", func(t *testing.T) {
		conformance.Run(t, func(t *testing.T) conformance.Subject {
			tally.count(t)
			return site.subject(t)
		})
	})
	t.Run("wire", func(t *testing.T) {
		for _, p := range wirePromises {
			t.Run(p.name, func(t *testing.T) {
				tally.count(t)
				p.test(t, site)
			})
		}
	})
	if total := tally.passed.Load() + tally.skipped.Load(); float64(tally.skipped.Load()) > skippedMost*float64(total) {
		t.Errorf("%d of %d were left out, which is more than a fifth: too little is shown", tally.skipped.Load(), total)
	}
	if *endpoint != "" {
		fmt.Println(tally.line(t.Failed()))
	}
}

// tally counts how tests end.
type tally struct{ passed, skipped, failed atomic.Int64 }

func (x *tally) count(t *testing.T) {
	t.Cleanup(func() {
		switch {
		case t.Failed():
			x.failed.Add(1)
		case t.Skipped():
			x.skipped.Add(1)
		default:
			x.passed.Add(1)
		}
	})
}

func (x *tally) line(failed bool) string {
	if failed {
		return fmt.Sprintf("conformance: FAILED passed=%d skipped=%d failed=%d", x.passed.Load(), x.skipped.Load(), x.failed.Load())
	}
	return fmt.Sprintf("conformance: ok passed=%d skipped=%d", x.passed.Load(), x.skipped.Load())
}

// site is an account with a network to launch instances in.
type site struct {
	clients client.Clients
	now     func() time.Time
	pause   func(context.Context, time.Duration) error
	lag     time.Duration // after it, new instances and tags are seen
	end     time.Duration // after it, terminated instances have ended

	vpc, group, role, profile string
	subnets                   []string
	queue, queueURL           string // empty: none could be made
	noQueue                   error  // why

	types   []catalog.Type // the region's, read once
	noTypes error          // why they cannot be read
	opened  atomic.Int64
}

// openSite makes what instances need at the endpoint, or at an emulator of its own on a
// clock of its own.
func openSite(t *testing.T) *site {
	t.Helper()
	s := &site{}
	if *endpoint != "" {
		t.Setenv("AWS_ENDPOINT_URL", *endpoint)
		for name, otherwise := range map[string]string{"AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"} {
			if os.Getenv(name) == "" {
				t.Setenv(name, otherwise)
			}
		}
		s.now, s.pause = time.Now, pause.For
		s.lag, s.end = duration(t, "CONFORMANCE_LAG", 15*time.Second), duration(t, "CONFORMANCE_END", 3*time.Minute)
	} else {
		c := newClock()
		server := emulator.New(world.Options{Account: world.Account{ClusterName: "elsewhere"}, Seed: 3, Now: c.Now})
		web := httptest.NewServer(server)
		t.Cleanup(func() { server.Close(); web.Close() })
		pointAt(t, web.URL)
		s.now, s.lag, s.end = c.Now, time.Minute, 5*time.Minute
		var stabilizing sync.Mutex
		s.pause = func(ctx context.Context, d time.Duration) error {
			stabilizing.Lock()
			defer stabilizing.Unlock()
			c.Advance(d)
			server.Advance()
			return ctx.Err()
		}
	}
	var err error
	if s.clients, err = client.New(t.Context(), "", "daemok/conformance", nil, nil, pace.New(s.now, s.pause), client.Role{}); err != nil {
		t.Fatal(err)
	}
	s.build(t)
	types, err := catalog.Read(t.Context(), s.clients.EC2, s.clients.Region, factsFor(s.clients.Region))
	if s.types = types; absent(err) {
		s.noTypes = err
	} else if err != nil {
		t.Fatal(err)
	}
	return s
}

func duration(t *testing.T, name string, otherwise time.Duration) time.Duration {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("%s: %v; want a duration such as 15s", name, err)
	}
	return d
}

// subject is a provider for a cluster of its own.
func (s *site) subject(t *testing.T) conformance.Subject {
	t.Helper()
	if s.noTypes != nil {
		t.Skipf("types cannot be read: %v", s.noTypes)
	}
	number := s.opened.Add(1)
	p := s.provider(t, fmt.Sprintf("conformance-%d-%d", s.now().Unix(), number))
	other := s.provider(t, fmt.Sprintf("conformance-other-%d", number))
	class := nodeclass.Class{Name: "default", UID: "uid-1", Spec: s.spec()}
	found, err := p.Resolve(t.Context(), class)
	if absent(err) {
		t.Skipf("what the class names cannot be found: %v; CONFORMANCE_IMAGE names an image where aliases cannot be looked up", err)
	} else if err != nil {
		t.Fatalf("what the class names cannot be used: %v; CONFORMANCE_KUBERNETES_VERSION says of which version there are images by alias, CONFORMANCE_IMAGE names one", err)
	}
	class.Resolved = found
	t.Cleanup(func() { s.empty(t, p, class) })
	reserved := reservations{site: s, provider: p, class: &class}
	out := conformance.Subject{
		Catalog: p, Instances: p, Other: other, Class: cloud.Class{ID: class.ID(), Settings: &class},
		Advance: func(d time.Duration) {
			_ = s.pause(context.Background(), d)
			reserved.look(t)
		},
		LagMax: s.lag, EndMax: s.end, Name: p.options.Cluster + "-",
		Dedicated:      *endpoint == "" || os.Getenv("CONFORMANCE_DEDICATED") == "true",
		Reserve:        func(kind, zone string, n int) string { return reserved.add(t, kind, zone, n) },
		EndReservation: func(id string) { reserved.cancel(t, id) },
	}
	if s.queueURL != "" {
		out.InterruptionMessages, out.RedeliverIn = p.InterruptionMessages(s.queue), interruption.HiddenFor
		out.Interrupt = func(id string) {
			s.report(t, id, "EC2 Spot Instance Interruption Warning", `"instance-action":"terminate"`)
		}
		out.Ended = func(id string) {
			s.report(t, id, "EC2 Instance State-change Notification", `"state":"terminated"`)
		}
	} else {
		t.Logf("no queue could be made: %v", s.noQueue)
	}
	return out
}

func (s *site) provider(t *testing.T, name string) *Provider {
	t.Helper()
	p := newProvider(Options{
		Cluster: name, Endpoint: setting("CONFORMANCE_CLUSTER_ENDPOINT", "https://cluster.example"), CA: setting("CONFORMANCE_CLUSTER_CA", "Y2E="),
		CIDR: setting("CONFORMANCE_SERVICE_CIDR", "10.100.0.0/16"), MemoryOverhead: 0.075, Now: s.now, Pause: s.pause,
		KubernetesVersion: func(context.Context) (string, error) { return setting("CONFORMANCE_KUBERNETES_VERSION", "1.34"), nil },
	}, s.clients)
	p.types, p.typesSeq = s.types, 1
	return p
}

// spec is a class that names what was made, by tags where it has them.
func (s *site) spec() nodeclass.Spec {
	image := nodeclass.ImageTerm{Alias: "al2023@latest"}
	spec := nodeclass.Spec{
		Subnets: []nodeclass.SubnetTerm{{Tags: siteTag}}, Groups: []nodeclass.GroupTerm{{Tags: siteTag}},
		InstanceProfile: s.profile, Tags: maps.Clone(siteTag),
	}
	if id := os.Getenv("CONFORMANCE_IMAGE"); id != "" {
		image, spec.Family = nodeclass.ImageTerm{ID: id}, nodeclass.AL2023
	}
	spec.Images = []nodeclass.ImageTerm{image}
	return spec
}

func setting(name, otherwise string) string {
	if text := os.Getenv(name); text != "" {
		return text
	}
	return otherwise
}

// report puts into the queue what EventBridge sends of an instance: no rule of the
// account's own is made for that.
func (s *site) report(t *testing.T, id, what, detail string) {
	t.Helper()
	body := fmt.Sprintf(`{"version":"0","id":"about-%s","detail-type":%q,"source":"aws.ec2","account":"123456789012","time":%q,"region":%q,`+
		`"resources":["arn:aws:ec2:%s:instance/%s"],"detail":{"instance-id":%q,%s}}`,
		id, what, s.now().UTC().Format(time.RFC3339), s.clients.Region, s.clients.Region, id, id, detail)
	if _, err := s.clients.SQS.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &s.queueURL, MessageBody: &body}); err != nil {
		t.Fatalf("send %s: %v", what, err)
	}
}

// empty terminates what a test launched, and removes its launch templates.
func (s *site) empty(t *testing.T, p *Provider, class nodeclass.Class) {
	t.Helper()
	ctx := context.Background()
	_ = s.pause(ctx, s.lag)
	left, err := p.List(ctx, cloud.Filter{})
	for part := range slices.Chunk(left, 50) {
		ids := make([]string, len(part))
		for i := range part {
			ids[i] = part[i].ID
		}
		if _, refused := p.Terminate(ctx, ids...); refused != nil {
			err = errors.Join(err, refused)
		}
	}
	if err = errors.Join(err, p.Forget(ctx, class)); err != nil {
		t.Errorf("clean up: %v", err)
	}
}

// absent reports whether an endpoint says that it does not know the call.
func absent(err error) bool {
	switch fault.Code(err) {
	case "InvalidAction", "UnknownOperationException", "NotImplemented", "NotYetImplemented", "UnknownOperation":
		return true
	}
	response, ok := errors.AsType[*awshttp.ResponseError](err)
	return ok && response.HTTPStatusCode() == http.StatusNotImplemented
}

// must ends a test that could not be set up, or leaves it out where the endpoint does
// not know the call.
func must(t *testing.T, err error) {
	t.Helper()
	switch {
	case absent(err):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
}

// refusedWith compares an error's code, or leaves the test out where the endpoint does not
// know the call.
func refusedWith(t *testing.T, what string, err error, want ...string) {
	t.Helper()
	if absent(err) {
		t.Skip(err)
	}
	if got := fault.Code(err); !slices.Contains(want, got) {
		t.Errorf("%s: got %q (%v), want %q", what, got, err, want)
	}
}
