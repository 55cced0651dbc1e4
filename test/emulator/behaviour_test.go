package emulator_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

// "Filter values are case-sensitive, * and ? are wildcards, values are or-ed,
// filters are and-ed; an unknown filter is an error."
func TestFilters(t *testing.T) {
	a := open(t)
	tests := map[string]struct {
		filters []types.Filter
		want    int
		code    string
	}{
		"a tag":                 {filters("tag:karpenter.sh/discovery", "lab"), 8, ""},
		"a tag that --tag adds": {filters("tag:team", "blue"), 8, ""},
		"a tag of other case":   {filters("tag:team", "Blue"), 0, ""},
		"any of two values":     {filters("availability-zone", "us-east-1a|us-east-1b"), 4, ""},
		"all of two filters":    {filters("tag:team", "blue", "tag-key", "kubernetes.io/role/elb"), 4, ""},
		"any run of characters": {filters("tag:Name", "*Private*1A"), 1, ""},
		"one character":         {filters("availability-zone", "us-east-1?"), 8, ""},
		"not two characters":    {filters("availability-zone", "us-east-??"), 8, ""},
		"an unknown filter":     {filters("colour", "blue"), 0, "InvalidParameterValue"},
		"no values":             {[]types.Filter{{Name: aws.String("tag:team")}}, 0, "InvalidParameterValue"},
		"too many values":       {filters("tag:team", strings.Repeat("x|", 200)+"x"), 0, "FilterLimitExceeded"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			out, err := a.ec2.DescribeSubnets(context.Background(), &ec2.DescribeSubnetsInput{Filters: tt.filters})
			if code(err) != tt.code {
				t.Fatalf("got error %q, want %q", code(err), tt.code)
			}
			if err == nil && len(out.Subnets) != tt.want {
				t.Errorf("got %d subnets, want %d", len(out.Subnets), tt.want)
			}
		})
	}
}

// "If you have the permissions the error is DryRunOperation (412), else
// UnauthorizedOperation (403)", and nothing is done in either case. A fleet is rehearsed before its
// template is made: clients name one that none has, by ID and by name.
func TestDryRunsReportRights(t *testing.T) {
	a := open(t, noLags)
	a.template("web")
	subnet := a.subnets()["us-east-1a"].SubnetId
	calls := map[string]func() error{
		"DescribeInstanceTypes": func() error {
			_, err := a.ec2.DescribeInstanceTypes(context.Background(), &ec2.DescribeInstanceTypesInput{DryRun: aws.Bool(true)})
			return err
		},
		"CreateLaunchTemplate": func() error {
			_, err := a.ec2.CreateLaunchTemplate(context.Background(), &ec2.CreateLaunchTemplateInput{
				DryRun: aws.Bool(true), LaunchTemplateName: aws.String("dry"), LaunchTemplateData: &types.RequestLaunchTemplateData{ImageId: aws.String("ami-1")},
			})
			return err
		},
		"CreateFleet": func() error {
			_, err := a.fleet("web", 1, overrides(types.FleetLaunchTemplateOverridesRequest{InstanceType: "m5.large", SubnetId: subnet}),
				func(in *ec2.CreateFleetInput) { in.DryRun = aws.Bool(true) })
			return err
		},
		"CreateFleet of what is not there": func() error {
			_, err := a.fleet("web", 1, overrides(types.FleetLaunchTemplateOverridesRequest{InstanceType: "m5.large", SubnetId: aws.String("subnet-0123456789abcdef0")}),
				func(in *ec2.CreateFleetInput) {
					in.DryRun = aws.Bool(true)
					in.LaunchTemplateConfigs[0].LaunchTemplateSpecification = &types.FleetLaunchTemplateSpecificationRequest{
						LaunchTemplateId: aws.String("lt-0123456789abcdef0"), LaunchTemplateName: aws.String("nobodys"), Version: aws.String("1"),
					}
				})
			return err
		},
		"RunInstances": func() error {
			_, err := a.ec2.RunInstances(context.Background(), &ec2.RunInstancesInput{
				DryRun: aws.Bool(true), MinCount: aws.Int32(1), MaxCount: aws.Int32(1), InstanceType: "m5.large", SubnetId: subnet,
				LaunchTemplate: &types.LaunchTemplateSpecification{LaunchTemplateName: aws.String("web")},
			})
			return err
		},
	}
	for name, do := range calls {
		t.Run(name, func(t *testing.T) {
			err := do()
			if code(err) != "DryRunOperation" || status(err) != http.StatusPreconditionFailed {
				t.Errorf("with the right: %q, status %d; want DryRunOperation, 412", code(err), status(err))
			}
			action, _, _ := strings.Cut(name, " ")
			a.server.Deny(action)
			defer a.server.Allow(action)
			err = do()
			if code(err) != "UnauthorizedOperation" || status(err) != http.StatusForbidden {
				t.Errorf("without: %q, status %d; want UnauthorizedOperation, 403", code(err), status(err))
			}
		})
	}
	if n := len(a.server.Instances()); n != 0 {
		t.Errorf("dry runs made %d instances", n)
	}
}

func status(err error) int {
	var response *awshttp.ResponseError
	if errors.As(err, &response) {
		return response.HTTPStatusCode()
	}
	return 0
}

// Request limits answer 503 RequestLimitExceeded, which the SDK takes for
// throttling and repeats; a fault does the same for one call.
func TestThrottledCallsAreRepeated(t *testing.T) {
	a := open(t)
	a.server.Market().SetRate("DescribeVpcs", market.Rate{PerSecond: 0.001, Burst: 1})
	_, err := a.ec2.DescribeVpcs(context.Background(), &ec2.DescribeVpcsInput{})
	a.must(err)
	if _, err = a.ec2.DescribeVpcs(context.Background(), &ec2.DescribeVpcsInput{}); code(err) != "RequestLimitExceeded" || status(err) != http.StatusServiceUnavailable {
		t.Errorf("got %q with %d, want RequestLimitExceeded with 503", code(err), status(err))
	}
	a.server.Fault("DescribeRegions", 1, "RequestLimitExceeded")
	quick := ec2.NewFromConfig(a.config, func(o *ec2.Options) {
		o.RetryMaxAttempts = 2
		o.Retryer = retry.NewStandard(func(r *retry.StandardOptions) {
			r.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	})
	if _, err = quick.DescribeRegions(context.Background(), &ec2.DescribeRegionsInput{}); err != nil {
		t.Errorf("the repeat failed: %v", err)
	}
	if n := a.server.Calls()["DescribeRegions"]; n != 2 {
		t.Errorf("%d calls were counted, want 2", n)
	}
}

// The token bucket of RunInstances is one of launches, from which dry runs take nothing.
func TestDryRunsLeaveTheBucketOfLaunches(t *testing.T) {
	a := open(t, noLags)
	a.server.Market().SetRate("RunInstances", market.Rate{PerSecond: 0.001, Burst: 1})
	a.template("web")
	run := func(dry bool) string {
		_, err := a.ec2.RunInstances(context.Background(), &ec2.RunInstancesInput{
			DryRun: &dry, MinCount: aws.Int32(1), MaxCount: aws.Int32(1), InstanceType: "m5.large", SubnetId: a.subnets()["us-east-1a"].SubnetId,
			LaunchTemplate: &types.LaunchTemplateSpecification{LaunchTemplateName: aws.String("web")},
		})
		return code(err)
	}
	for i, want := range []string{"DryRunOperation", "DryRunOperation", "", "RequestLimitExceeded", "DryRunOperation"} {
		if got := run(strings.HasPrefix(want, "Dry")); got != want {
			t.Errorf("call %d: %q, want %q", i, got, want)
		}
	}
}

// An instance that was just launched is not found by other calls for a while.
func TestNewInstancesAreNotSeenAtOnce(t *testing.T) {
	slow := func(o *world.Options) {
		noLags(o)
		o.Figures.Visible = market.Spread{Half: 3 * time.Second, Tail: 3 * time.Second}
	}
	a := open(t, slow)
	out, err := a.fleet(a.template("web"), 1, overrides(a.override("m5.large", "us-east-1a")))
	a.must(err)
	ids := out.Instances[0].InstanceIds
	ask := func() map[string]string {
		_, describe := a.ec2.DescribeInstances(context.Background(), &ec2.DescribeInstancesInput{InstanceIds: ids})
		_, tag := a.ec2.CreateTags(context.Background(), &ec2.CreateTagsInput{Resources: ids, Tags: tagList("Name", "node")})
		_, end := a.ec2.TerminateInstances(context.Background(), &ec2.TerminateInstancesInput{InstanceIds: ids, DryRun: aws.Bool(true)})
		return map[string]string{"describe": code(describe), "tag": code(tag), "terminate": code(end)}
	}
	for what, got := range ask() {
		if got != "InvalidInstanceID.NotFound" {
			t.Errorf("%s at once: %q, want InvalidInstanceID.NotFound", what, got)
		}
	}
	if err := a.server.Schedule(ids[0], "instance-retirement", a.Now().Add(time.Hour)); err != nil {
		t.Errorf("what happens to an instance does not wait until it is seen: %v", err)
	}
	a.Advance(4 * time.Second)
	for what, got := range ask() {
		if got != "" && got != "DryRunOperation" {
			t.Errorf("%s later: %q, want no error", what, got)
		}
	}
}

// Tags: 50 a resource, none that begin with aws:, seen by filters a bit later.
func TestTagRules(t *testing.T) {
	a := open(t, noLags, func(o *world.Options) { o.Lags = &world.Lags{TagLeast: time.Second, TagMost: 2 * time.Second} })
	out, err := a.fleet(a.template("web"), 1, overrides(a.override("m5.large", "us-east-1a")))
	a.must(err)
	id := out.Instances[0].InstanceIds[0]
	var fifty []types.Tag
	for i := range 50 {
		fifty = append(fifty, types.Tag{Key: aws.String(fmt.Sprintf("k%02d", i)), Value: aws.String("v")})
	}
	tests := map[string]struct {
		tags []types.Tag
		want string
	}{
		"AWS's own prefix": {tagList("aws:x", "y"), "InvalidParameterValue"},
		"a long key":       {tagList(strings.Repeat("k", 129), "y"), "InvalidParameterValue"},
		"a key twice":      {tagList("a", "1", "a", "2"), "InvalidParameterValue"},
		"more than fifty":  {fifty, "TagLimitExceeded"}, // one is there already
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := a.ec2.CreateTags(context.Background(), &ec2.CreateTagsInput{Resources: []string{id}, Tags: tt.tags})
			if code(err) != tt.want {
				t.Errorf("got %q, want %q", code(err), tt.want)
			}
		})
	}
	_, err = a.ec2.CreateTags(context.Background(), &ec2.CreateTagsInput{Resources: []string{id}, Tags: tagList("Name", "node-1")})
	a.must(err)
	count := func() int {
		found, err := a.ec2.DescribeInstances(context.Background(), &ec2.DescribeInstancesInput{Filters: filters("tag:Name", "node-1")})
		a.must(err)
		return len(found.Reservations)
	}
	if n := count(); n != 0 {
		t.Errorf("the filter saw the tag at once")
	}
	a.Advance(3 * time.Second)
	if n := count(); n != 1 {
		t.Errorf("the filter found %d, want 1", n)
	}
}

// "MaxResults: 5 to 1000, and not together with instance IDs."
func TestInstancePages(t *testing.T) {
	a := open(t, noLags)
	out, err := a.fleet(a.template("web"), 12, overrides(a.override("m5.large", "us-east-1a")))
	a.must(err)
	pages, seen := 0, map[string]bool{}
	all := ec2.NewDescribeInstancesPaginator(a.ec2, &ec2.DescribeInstancesInput{MaxResults: aws.Int32(5)})
	for ; all.HasMorePages(); pages++ {
		page, err := all.NextPage(context.Background())
		a.must(err)
		for _, r := range page.Reservations {
			for _, i := range r.Instances {
				seen[*i.InstanceId] = true
			}
		}
	}
	if pages != 3 || len(seen) != 12 {
		t.Errorf("%d pages with %d instances, want 3 with 12", pages, len(seen))
	}
	refused := map[string]*ec2.DescribeInstancesInput{
		"InvalidParameterCombination": {MaxResults: aws.Int32(5), InstanceIds: out.Instances[0].InstanceIds},
		"InvalidParameterValue":       {MaxResults: aws.Int32(4)},
		"InvalidNextToken":            {NextToken: aws.String("made-up")},
		"InvalidInstanceID.NotFound":  {InstanceIds: []string{"i-0123456789abcdef0"}},
	}
	for want, in := range refused {
		if _, err := a.ec2.DescribeInstances(context.Background(), in); code(err) != want {
			t.Errorf("got %q, want %q", code(err), want)
		}
	}
}

// An action that the account does not know is named in the error, with those that it knows.
func TestUnknownActions(t *testing.T) {
	a := open(t)
	_, err := a.ec2.DescribeHosts(context.Background(), &ec2.DescribeHostsInput{})
	if code(err) != "InvalidAction" || !strings.Contains(err.Error(), "The emulator's ec2 service has no action DescribeHosts: it has CancelCapacityReservation, CopyImage") {
		t.Errorf("got %v, want InvalidAction naming DescribeHosts, and what there is", err)
	}
}

// Clients of services that are not there can read so, each in its own protocol.
func TestUnknownServices(t *testing.T) {
	a := open(t)
	const form, json = "application/x-www-form-urlencoded; charset=utf-8", "application/x-amz-json-1.0"
	tests := map[string]struct {
		service, method, path, kind, target, body string
		want                                      []string
	}{
		"JSON with a target": {"dynamodb", "POST", "/", json, "DynamoDB_20120810.ListTables", "{}", []string{`"__type":"InvalidAction"`, "no service dynamodb: it answers for arc-zonal-shift"}},
		"a form":             {"rds", "POST", "/", form, "", "Action=DescribeDBInstances", []string{"<ErrorResponse", "<Code>InvalidAction", "no service rds"}},
		"JSON by path":       {"lambda", "GET", "/2015-03-31/functions/", "", "", "", []string{`"__type":"InvalidAction"`, "no service lambda"}},
		"XML by path":        {"s3", "GET", "/", "", "", "", []string{"<Error><Code>InvalidAction", "no service s3"}},
		"SSM by a form":      {"ssm", "POST", "/", form, "", "Action=GetParameter", []string{"<Code>InvalidAction", "answers GetParameter in its JSON protocol alone"}},
		"a path of EKS":      {"eks", "GET", "/clusters/lab/addons", "", "", "", []string{`"__type":"InvalidAction"`, "eks service has no action GET /clusters/lab/addons: it has CreateAccessEntry"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(tt.method, tt.path, strings.NewReader(tt.body))
			r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AK/20261121/us-east-1/"+tt.service+"/aws4_request, SignedHeaders=host, Signature=0")
			r.Header.Set("Content-Type", tt.kind)
			if tt.target != "" {
				r.Header.Set("X-Amz-Target", tt.target)
			}
			w := httptest.NewRecorder()
			a.server.ServeHTTP(w, r)
			for _, words := range tt.want {
				if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), words) {
					t.Errorf("status %d, %s\nwant 400 and %s", w.Code, w.Body, words)
				}
			}
		})
	}
}

// "The Query API: HTTP requests that use the HTTP verb GET or POST and a Query parameter named Action", which may be
// signed beforehand.
func TestQueriesByGET(t *testing.T) {
	a := open(t)
	for query, want := range map[string]string{
		"Action=DescribeAvailabilityZones&ZoneName.1=us-east-1b&X-Amz-Credential=AK/20261121/us-east-1/ec2/aws4_request": "<zoneName>us-east-1b</zoneName>",
		"Action=GetCallerIdentity&X-Amz-Credential=AK/20261121/us-east-1/sts/aws4_request":                               "<Account>123456789012</Account>",
	} {
		w := httptest.NewRecorder()
		a.server.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/?"+query, nil))
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: status %d, %s\nwant %s", query, w.Code, w.Body, want)
		}
	}
}

// Pages of the spot history together are what one page would be.
func TestSpotHistoryInPages(t *testing.T) {
	a := open(t)
	read := func(size int32) (rows []string) {
		pages := ec2.NewDescribeSpotPriceHistoryPaginator(a.ec2, &ec2.DescribeSpotPriceHistoryInput{
			StartTime: aws.Time(a.Now().Add(-time.Hour)), InstanceTypes: []types.InstanceType{"m5.large", "c5.large", "r5.large"}, MaxResults: aws.Int32(size),
		})
		for pages.HasMorePages() {
			page, err := pages.NextPage(context.Background())
			a.must(err)
			for _, row := range page.SpotPriceHistory {
				rows = append(rows, fmt.Sprint(row.InstanceType, *row.AvailabilityZone, row.ProductDescription, row.Timestamp))
			}
		}
		return rows
	}
	whole := read(1000)
	if got := read(17); !slices.Equal(got, whole) || len(whole) < 100 {
		t.Errorf("pages of 17 have %d rows, one page has %d", len(got), len(whole))
	}
	if got := read(2000); !slices.Equal(got, whole) { // some clients ask for more than a page has
		t.Errorf("pages of 2,000 have %d rows, one page has %d", len(got), len(whole))
	}
}

// A client that asks for more rows than EC2 gives at once gets what it gives, and goes on.
func TestSpotHistoryGivesNoMoreThanAThousandRows(t *testing.T) {
	a := open(t)
	out, err := a.ec2.DescribeSpotPriceHistory(context.Background(), &ec2.DescribeSpotPriceHistoryInput{StartTime: aws.Time(a.Now()), MaxResults: aws.Int32(2000)})
	a.must(err)
	if n := len(out.SpotPriceHistory); n != 1000 || aws.ToString(out.NextToken) == "" {
		t.Errorf("%d rows, next %q; want 1000 and a token", n, aws.ToString(out.NextToken))
	}
	_, err = a.ec2.DescribeSpotPriceHistory(context.Background(), &ec2.DescribeSpotPriceHistoryInput{MaxResults: aws.Int32(-1)})
	if code(err) != "InvalidParameterValue" {
		t.Errorf("less than nothing: %q, want InvalidParameterValue", code(err))
	}
}

// Spot history from now on gives the newest price of each pool, above zero
// and never above on-demand.
func TestSpotHistory(t *testing.T) {
	a := open(t)
	out, err := a.ec2.DescribeSpotPriceHistory(context.Background(), &ec2.DescribeSpotPriceHistoryInput{
		StartTime: aws.Time(a.Now()), InstanceTypes: []types.InstanceType{"m5.large"}, ProductDescriptions: []string{"Linux/UNIX"},
	})
	a.must(err)
	zones := map[string]bool{}
	for _, row := range out.SpotPriceHistory {
		var usd float64
		if _, err := fmt.Sscan(*row.SpotPrice, &usd); err != nil || usd <= 0 || usd > 0.096 || row.Timestamp.After(a.Now()) {
			t.Errorf("row %s %s at %s", *row.AvailabilityZone, *row.SpotPrice, row.Timestamp)
		}
		zones[*row.AvailabilityZone] = true
	}
	if len(zones) != len(out.SpotPriceHistory) || len(zones) < 3 {
		t.Errorf("%d rows in %d zones, want one row a zone", len(out.SpotPriceHistory), len(zones))
	}
}
