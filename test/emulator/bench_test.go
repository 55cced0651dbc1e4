package emulator_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/world"
)

// BenchmarkNew is the cost of opening an account, the catalogue decoded.
func BenchmarkNew(b *testing.B) {
	ec2data.Load()
	for b.Loop() {
		emulator.New(world.Options{})
	}
}

// launchThousand is one CreateFleet of a thousand instances.
func (a *account) launchThousand(zone string) []string {
	a.Helper()
	out, err := a.fleet("web", 1000, overrides(a.override("m5.large", zone)))
	a.must(err)
	if n := len(out.Instances[0].InstanceIds); n != 1000 {
		a.Fatalf("bought %d, want 1000", n)
	}
	return out.Instances[0].InstanceIds
}

// fiveThousand is an account with as many running instances.
func fiveThousand(b *testing.B) *account {
	b.Helper()
	a := open(b, noLags)
	a.template("web")
	for i := range 5 {
		a.launchThousand("us-east-1" + string("abcda"[i]))
		a.Advance(time.Minute)
		a.server.Advance()
	}
	return a
}

// BenchmarkCreateFleet is one CreateFleet of a thousand instances beside four thousand, with the SDK's share.
// It is to take a second at most.
func BenchmarkCreateFleet(b *testing.B) {
	var spent time.Duration
	for b.Loop() {
		b.StopTimer()
		a := open(b, noLags)
		a.template("web")
		for i := range 4 {
			a.launchThousand("us-east-1" + string("abcd"[i]))
		}
		a.Advance(time.Minute)
		begin := processorTime(b)
		b.StartTimer()
		a.launchThousand("us-east-1a")
		b.StopTimer()
		spent += processorTime(b) - begin
		b.StartTimer()
	}
	b.ReportMetric(float64(spent.Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

// BenchmarkDescribeInstances is one page of a thousand of five thousand instances: of all, of those with a tag, and as the
// server alone answers it. It is to take 50 ms at most. heap-MiB is what the account, the catalogue and the SDK keep; it is to
// be 200 at most.
func BenchmarkDescribeInstances(b *testing.B) {
	a := fiveThousand(b)
	heap := func(b *testing.B) {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "heap-MiB")
	}
	for name, in := range map[string]*ec2.DescribeInstancesInput{
		"all":    {MaxResults: aws.Int32(1000)},
		"tagged": {MaxResults: aws.Int32(1000), Filters: filters("tag:claim", "one", "instance-state-name", "pending|running")},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				a.Advance(time.Second) // refills the call's token bucket
				out, err := a.ec2.DescribeInstances(context.Background(), in)
				a.must(err)
				if len(out.Reservations) == 0 || out.NextToken == nil {
					b.Fatal("no page")
				}
			}
			heap(b)
		})
	}
	b.Run("server alone", func(b *testing.B) {
		begin := processorTime(b)
		form := url.Values{"Action": {"DescribeInstances"}, "Version": {"2016-11-15"}, "MaxResults": {"1000"}}.Encode()
		for b.Loop() {
			a.Advance(time.Second)
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(form))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
			r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=key/20261121/us-east-1/ec2/aws4_request, SignedHeaders=host, Signature=0")
			w := httptest.NewRecorder()
			a.server.ServeHTTP(w, r)
			if w.Code != http.StatusOK {
				b.Fatal(w.Body.String())
			}
		}
		b.ReportMetric(float64((processorTime(b)-begin).Microseconds())/1000/float64(b.N), "cpu-ms/op")
	})
}

// processorTime is what this process has had of the processors: unlike the time on the wall it does not grow with
// what else the instance does.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkByID is one DescribeInstances of a hundred instances by their IDs, of five thousand.
func BenchmarkByID(b *testing.B) {
	a := fiveThousand(b)
	out, err := a.ec2.DescribeInstances(context.Background(), &ec2.DescribeInstancesInput{MaxResults: aws.Int32(100)})
	a.must(err)
	var ids []string
	for _, r := range out.Reservations {
		for _, i := range r.Instances {
			ids = append(ids, *i.InstanceId)
		}
	}
	for b.Loop() {
		a.Advance(time.Second)
		_, err := a.ec2.DescribeInstances(context.Background(), &ec2.DescribeInstancesInput{InstanceIds: ids})
		a.must(err)
	}
}
