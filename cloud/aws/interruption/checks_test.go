package interruption

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/test/emulator"
	emulated "github.com/daemok/daemok/test/emulator/ec2/instance"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
	"github.com/daemok/daemok/test/market/clock"
)

// ward is an account with instances, and the checks of them.
type ward struct {
	Checks
	server *emulator.Server
	queue  *Queue
	clock  *clock.Virtual
	ids    []string
}

// pause lets the world's time go by.
func (w *ward) pause(_ context.Context, d time.Duration) error {
	w.clock.Advance(d)
	w.server.Advance()
	return nil
}

// admit opens an account with so many instances that run.
func admit(t *testing.T, n int) *ward {
	t.Helper()
	w := &ward{clock: clock.NewVirtual(sent)}
	figures := market.DefaultFigures()
	figures.Visible = market.Spread{}
	w.server = emulator.New(world.Options{Account: world.Account{ClusterName: "prod"}, Seed: 1, Now: w.clock.Now, Lags: &world.Lags{}, Figures: figures})
	web := httptest.NewServer(w.server)
	t.Cleanup(func() { w.server.Close(); web.Close() })
	config := client.At(web.URL, "us-east-1", client.Key{ID: "key", Secret: "secret"})
	w.queue = New(sqs.NewFromConfig(config), "prod", "prod", w.clock.Now, w.pause)
	api := ec2.NewFromConfig(config, func(o *ec2.Options) { o.RetryMaxAttempts = 1 })
	w.API = api
	images, err := api.DescribeImages(t.Context(), &ec2.DescribeImagesInput{Filters: []types.Filter{{Name: aws.String("architecture"), Values: []string{"x86_64"}}}})
	if err != nil || len(images.Images) == 0 {
		t.Fatalf("%d images, %v", len(images.Images), err)
	}
	subnets, err := api.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})
	if err != nil {
		t.Fatal(err)
	}
	run, err := api.RunInstances(t.Context(), &ec2.RunInstancesInput{ImageId: images.Images[0].ImageId, InstanceType: "m5.large",
		MinCount: aws.Int32(int32(n)), MaxCount: aws.Int32(int32(n)), SubnetId: subnets.Subnets[0].SubnetId})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range run.Instances {
		w.ids = append(w.ids, *i.InstanceId)
	}
	slices.Sort(w.ids)
	w.clock.Advance(10 * time.Minute)
	w.server.Advance()
	return w
}

func (w *ward) troubles(t *testing.T) (out []string) {
	t.Helper()
	all, err := w.Troubles(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range all {
		out = append(out, fmt.Sprintf("%d %s %s since %s starts %s", slices.Index(w.ids, x.InstanceID), x.Kind, x.What, clockTime(x.Since), clockTime(x.StartsAt)))
	}
	return out
}

func clockTime(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.Format("15:04")
}

// "impaired" is reported with the moment since when, events with when they begin, and those
// that are over ("[Canceled]") are left out. Instances that are well are not shown.
func TestWhatStatusChecksSay(t *testing.T) {
	w := admit(t, 4)
	if got := w.troubles(t); len(got) > 0 {
		t.Fatalf("%q, want all to be well", got)
	}
	for _, err := range []error{
		w.server.Impair(w.ids[0], emulated.InstanceCheck, true), w.server.Impair(w.ids[0], emulated.SystemCheck, true),
		w.server.Schedule(w.ids[1], "instance-retirement", sent.Add(5*time.Hour)),
		w.server.Schedule(w.ids[2], "system-reboot", sent.Add(6*time.Hour)), w.server.Cancel(w.ids[2]),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w.clock.Advance(5 * time.Minute)
	want := []string{"0 instance_status reachability since 02:10 starts -", "0 system_status reachability since 02:10 starts -", "1 scheduled_event instance-retirement since - starts 07:00"}
	if got := w.troubles(t); !slices.Equal(got, want) {
		t.Errorf("troubles = %q, want %q", got, want)
	}
	if err := w.server.Impair(w.ids[0], emulated.InstanceCheck, false); err != nil {
		t.Fatal(err)
	}
	if got := w.troubles(t); !slices.Equal(got, want[1:]) {
		t.Errorf("troubles = %q, want %q", got, want[1:])
	}
}

// AWS Health reports what is scheduled, too, in the queue.
func TestAScheduledChangeIsInTheQueue(t *testing.T) {
	w := admit(t, 1)
	if err := w.server.Schedule(w.ids[0], "instance-retirement", sent.Add(5*time.Hour)); err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(5 * time.Second)
	for range 10 {
		got, err := w.queue.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range got {
			if n.Kind == cloud.Maintenance && n.InstanceID == w.ids[0] && n.EndsAt.Equal(sent.Add(5*time.Hour)) {
				return
			}
		}
		w.clock.Advance(5 * time.Second)
	}
	t.Error("the queue tells of no retirement")
}

func TestStatusChecksThatMayNotBeAsked(t *testing.T) {
	w := admit(t, 1)
	w.server.Deny("DescribeInstanceStatus")
	_, err := w.Troubles(context.Background())
	if refused, ok := errors.AsType[*cloud.RefusedError](err); !ok || refused.Reason != cloud.ChecksDenied {
		t.Errorf("Troubles = %v, want %s", err, cloud.ChecksDenied)
	}
}
