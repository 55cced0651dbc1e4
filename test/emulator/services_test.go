package emulator_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	pricingtypes "github.com/aws/aws-sdk-go-v2/service/pricing/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/world"
)

// Every alias that a node class may name leads to an image of its processor,
// and images past their deprecation stay out of lists unless asked for.
func TestImageAliases(t *testing.T) {
	a := open(t, func(o *world.Options) { o.Account.EKSVersion = "1.32" })
	client := ssm.NewFromConfig(a.config)
	for path, want := range map[string]string{
		"/aws/service/eks/optimized-ami/1.32/amazon-linux-2023/x86_64/standard/recommended/image_id":                                           "x86_64",
		"/aws/service/eks/optimized-ami/1.32/amazon-linux-2023/arm64/nvidia/recommended/image_id":                                              "arm64",
		"/aws/service/eks/optimized-ami/1.32/amazon-linux-2023/x86_64/neuron/recommended/image_id":                                             "x86_64",
		"/aws/service/eks/optimized-ami/1.32/amazon-linux-2-arm64/recommended/image_id":                                                        "arm64",
		"/aws/service/bottlerocket/aws-k8s-1.32/arm64/latest/image_id":                                                                         "arm64",
		"/aws/service/bottlerocket/aws-k8s-1.32-nvidia/x86_64/1.49.0/image_id":                                                                 "x86_64",
		"/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.32/image_id":                                         "x86_64",
		"/aws/service/canonical/ubuntu/eks/22.04/1.32/stable/current/amd64/hvm/ebs-gp2/ami-id":                                                 "x86_64",
		"/aws/service/eks/optimized-ami/1.32/amazon-linux-2023/x86_64/standard/amazon-eks-node-al2023-x86_64-standard-1.32-v20261112/image_id": "x86_64",
	} {
		out, err := client.GetParameter(context.Background(), &ssm.GetParameterInput{Name: &path})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		images, err := a.ec2.DescribeImages(context.Background(), &ec2.DescribeImagesInput{ImageIds: []string{*out.Parameter.Value}})
		a.must(err)
		if got := string(images.Images[0].Architecture); got != want {
			t.Errorf("%s is for %s, want %s", path, got, want)
		}
	}
	_, err := client.GetParameter(context.Background(), &ssm.GetParameterInput{Name: aws.String("/aws/service/eks/optimized-ami/1.36/amazon-linux-2/recommended/image_id")})
	if code(err) != "ParameterNotFound" {
		t.Errorf("AL2 for 1.36: got %q, want ParameterNotFound", code(err))
	}
	list := func(deprecated bool) int {
		out, err := a.ec2.DescribeImages(context.Background(), &ec2.DescribeImagesInput{
			Owners: []string{"amazon"}, IncludeDeprecated: aws.Bool(deprecated), Filters: filters("name", "amazon-eks-node-al2023-x86_64-standard-1.32-*"),
		})
		a.must(err)
		return len(out.Images)
	}
	if current, all := list(false), list(true); current != 3 || all != 4 {
		t.Errorf("%d images, %d with deprecated ones; want 3 and 4", current, all)
	}
}

// A new instance profile is not accepted by EC2 for a while; one role at most.
func TestInstanceProfiles(t *testing.T) {
	a := open(t)
	client := iam.NewFromConfig(a.config)
	name, role := aws.String("prof"), aws.String("KarpenterNodeRole-lab")
	_, err := client.GetInstanceProfile(context.Background(), &iam.GetInstanceProfileInput{InstanceProfileName: name})
	if code(err) != "NoSuchEntity" {
		t.Errorf("before: %q, want NoSuchEntity", code(err))
	}
	made, err := client.CreateInstanceProfile(context.Background(), &iam.CreateInstanceProfileInput{InstanceProfileName: name, Path: aws.String("/karpenter/us-east-1/lab/uid/")})
	a.must(err)
	if *made.InstanceProfile.Arn != "arn:aws:iam::123456789012:instance-profile/karpenter/us-east-1/lab/uid/prof" {
		t.Errorf("ARN %s", *made.InstanceProfile.Arn)
	}
	_, err = client.CreateInstanceProfile(context.Background(), &iam.CreateInstanceProfileInput{InstanceProfileName: name})
	if code(err) != "EntityAlreadyExists" {
		t.Errorf("again: %q, want EntityAlreadyExists", code(err))
	}
	add := &iam.AddRoleToInstanceProfileInput{InstanceProfileName: name, RoleName: role}
	_, err = client.AddRoleToInstanceProfile(context.Background(), add)
	a.must(err)
	if _, err = client.AddRoleToInstanceProfile(context.Background(), add); code(err) != "LimitExceeded" {
		t.Errorf("second role: %q, want LimitExceeded", code(err))
	}
	if _, err = client.DeleteInstanceProfile(context.Background(), &iam.DeleteInstanceProfileInput{InstanceProfileName: name}); code(err) != "DeleteConflict" {
		t.Errorf("delete with a role: %q, want DeleteConflict", code(err))
	}
	listed, err := client.ListInstanceProfiles(context.Background(), &iam.ListInstanceProfilesInput{PathPrefix: aws.String("/karpenter/")})
	a.must(err)
	if len(listed.InstanceProfiles) != 1 || *listed.InstanceProfiles[0].Roles[0].RoleName != *role {
		t.Errorf("listed %+v", listed.InstanceProfiles)
	}
}

// DescribeCluster follows the lab's API server; STS knows the account.
func TestClusterAndIdentity(t *testing.T) {
	a := open(t)
	a.server.SetClusterEndpoint("https://127.0.0.1:7443", "PEM")
	out, err := eks.NewFromConfig(a.config).DescribeCluster(context.Background(), &eks.DescribeClusterInput{Name: aws.String("lab")})
	a.must(err)
	c := out.Cluster
	if *c.Endpoint != "https://127.0.0.1:7443" || *c.CertificateAuthority.Data != "UEVN" || *c.KubernetesNetworkConfig.ServiceIpv4Cidr != "10.100.0.0/16" ||
		*c.Version != "1.36" || len(c.ResourcesVpcConfig.SubnetIds) != 8 {
		t.Errorf("cluster %+v", c)
	}
	_, err = eks.NewFromConfig(a.config).DescribeCluster(context.Background(), &eks.DescribeClusterInput{Name: aws.String("other")})
	if code(err) != "ResourceNotFoundException" {
		t.Errorf("another cluster: %q, want ResourceNotFoundException", code(err))
	}
	who, err := sts.NewFromConfig(a.config).GetCallerIdentity(context.Background(), &sts.GetCallerIdentityInput{})
	a.must(err)
	if *who.Account != "123456789012" {
		t.Errorf("account %s", *who.Account)
	}
}

// GetProducts: JSON texts, 100 a page, filtered by attributes.
func TestPriceList(t *testing.T) {
	a := open(t)
	field := func(name, value string) pricingtypes.Filter {
		return pricingtypes.Filter{Field: aws.String(name), Value: aws.String(value), Type: pricingtypes.FilterTypeTermMatch}
	}
	pages := pricing.NewGetProductsPaginator(pricing.NewFromConfig(a.config), &pricing.GetProductsInput{
		ServiceCode: aws.String("AmazonEC2"), Filters: []pricingtypes.Filter{field("regionCode", "us-east-1"), field("tenancy", "Shared"), field("operatingSystem", "Linux")},
	})
	prices := map[string]string{}
	for pages.HasMorePages() {
		page, err := pages.NextPage(context.Background())
		a.must(err)
		if len(page.PriceList) > 100 {
			t.Errorf("a page of %d, want at most 100", len(page.PriceList))
		}
		for _, text := range page.PriceList {
			var p struct {
				Product struct{ Attributes map[string]string }
				Terms   struct {
					OnDemand map[string]struct {
						PriceDimensions map[string]struct{ PricePerUnit map[string]string }
					}
				}
			}
			a.must(json.Unmarshal([]byte(text), &p))
			for _, term := range p.Terms.OnDemand {
				for _, d := range term.PriceDimensions {
					prices[p.Product.Attributes["instanceType"]] = d.PricePerUnit["USD"]
				}
			}
		}
	}
	if prices["m5.large"] != "0.0960000000" || len(prices) < 500 {
		t.Errorf("m5.large at %s among %d", prices["m5.large"], len(prices))
	}
}

// "TERM_MATCH: Returns only products that match both the given filter field and the given value. CONTAINS: […] the
// field value contains the provided value as a substring. ANY_OF: […] any of the provided values. NONE_OF: […] not any
// of" them. "Valid values include: ServiceCode, and all attribute names", which clients write as they like.
func TestPriceListFilters(t *testing.T) {
	a := open(t)
	tests := map[string]struct {
		field, value string
		kind         pricingtypes.FilterType
		want         string // types, or the code of an error
	}{
		"the service code":         {"serviceCode", "AmazonEC2", "TERM_MATCH", "m5.large m5.metal m5.xlarge"},
		"the service code, so":     {"ServiceCode", "AmazonEC2", "TERM_MATCH", "m5.large m5.metal m5.xlarge"},
		"another service":          {"serviceCode", "AmazonRDS", "TERM_MATCH", ""},
		"one type":                 {"instanceType", "m5.large", "EQUALS", "m5.large"},
		"a part of a name":         {"productFamily", "bare metal", "CONTAINS", "m5.metal"},
		"any of two":               {"instanceType", "m5.metal,m5.large", "ANY_OF", "m5.large m5.metal"},
		"none of two":              {"instanceType", "m5.metal,m5.large", "NONE_OF", "m5.xlarge"},
		"a field that nothing has": {"colour", "blue", "TERM_MATCH", "InvalidParameterException"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			filter := func(field, value string, kind pricingtypes.FilterType) pricingtypes.Filter {
				return pricingtypes.Filter{Field: aws.String(field), Value: aws.String(value), Type: kind}
			}
			out, err := pricing.NewFromConfig(a.config).GetProducts(context.Background(), &pricing.GetProductsInput{
				ServiceCode: aws.String("AmazonEC2"), Filters: []pricingtypes.Filter{
					filter("regionCode", "us-east-1", "TERM_MATCH"), filter("tenancy", "Shared", "TERM_MATCH"),
					filter("instanceType", "m5.large,m5.xlarge,m5.metal", "ANY_OF"), filter(tt.field, tt.value, tt.kind),
				},
			})
			got := []string{}
			if err == nil {
				for _, text := range out.PriceList {
					var p struct {
						Product struct{ Attributes map[string]string }
					}
					a.must(json.Unmarshal([]byte(text), &p))
					got = append(got, p.Product.Attributes["instanceType"])
				}
				slices.Sort(got)
			} else {
				got = append(got, code(err))
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Messages carry right MD5 sums (the SDK checks them), come back when their
// visibility ends, and a newer receipt voids an older one.
func TestQueueDeliversAtLeastOnce(t *testing.T) {
	a := open(t)
	client, queue := sqs.NewFromConfig(a.config), aws.String(a.server.QueueURL())
	_, err := client.GetQueueUrl(context.Background(), &sqs.GetQueueUrlInput{QueueName: aws.String("other")})
	if !strings.Contains(code(err), "NonExistentQueue") && code(err) != "QueueDoesNotExist" {
		t.Errorf("another queue: %q", code(err))
	}
	found, err := client.GetQueueUrl(context.Background(), &sqs.GetQueueUrlInput{QueueName: aws.String("lab")})
	a.must(err)
	if want := *a.config.BaseEndpoint + "/123456789012/lab"; *found.QueueUrl != want { // SDKs that go by the URL get here, too
		t.Errorf("the queue is at %s, want %s", *found.QueueUrl, want)
	}
	_, err = client.SendMessage(context.Background(), &sqs.SendMessageInput{QueueUrl: queue, MessageBody: aws.String("hello")})
	a.must(err)
	receive := func() []string {
		out, err := client.ReceiveMessage(context.Background(), &sqs.ReceiveMessageInput{QueueUrl: queue, VisibilityTimeout: 20, MaxNumberOfMessages: 10})
		a.must(err)
		var receipts []string
		for _, m := range out.Messages {
			receipts = append(receipts, *m.ReceiptHandle)
		}
		return receipts
	}
	first := receive()
	if len(first) != 1 || len(receive()) != 0 {
		t.Fatalf("received %d, want one message once", len(first))
	}
	a.Advance(21 * time.Second)
	second := receive()
	if len(second) != 1 {
		t.Fatalf("after its visibility time: %d messages, want 1", len(second))
	}
	_, err = client.DeleteMessage(context.Background(), &sqs.DeleteMessageInput{QueueUrl: queue, ReceiptHandle: &second[0]})
	a.must(err)
	a.Advance(time.Minute)
	if n := len(receive()); n != 0 {
		t.Errorf("%d messages after the delete", n)
	}
}

// A long poll ends at once when the server closes.
func TestLongPollEndsWithTheServer(t *testing.T) {
	a := open(t)
	client := sqs.NewFromConfig(a.config)
	var wait sync.WaitGroup
	var err error
	start := time.Now()
	wait.Go(func() {
		_, err = client.ReceiveMessage(context.Background(), &sqs.ReceiveMessageInput{QueueUrl: aws.String(a.server.QueueURL()), WaitTimeSeconds: 20})
	})
	a.server.Close()
	wait.Wait()
	if err != nil || time.Since(start) > 10*time.Second {
		t.Errorf("the poll took %s and gave %v", time.Since(start), err)
	}
}

// State changes reach the watchers in order and the queue as EventBridge
// bodies; an interruption warns first.
func TestEventsOfAnInstance(t *testing.T) {
	a := open(t, noLags)
	var reported []string
	stop := a.server.Watch(func(e emulator.Event) { reported = append(reported, string(e.Kind)+" "+e.Instance.State) })
	defer stop()
	out, err := a.fleet(a.template("web"), 1, overrides(a.override("m5.large", "us-east-1a")), spot)
	a.must(err)
	id := out.Instances[0].InstanceIds[0]
	a.Advance(2 * time.Minute)
	a.server.Advance()
	a.server.Market().Interrupt(id)
	a.server.Advance()
	a.Advance(4 * time.Minute)
	a.server.Advance()
	want := "changed pending, changed running, warning running, changed shutting-down, changed terminated"
	if got := strings.Join(reported, ", "); got != want {
		t.Errorf("told %q, want %q", got, want)
	}
	messages, err := sqs.NewFromConfig(a.config).ReceiveMessage(context.Background(), &sqs.ReceiveMessageInput{QueueUrl: aws.String(a.server.QueueURL()), MaxNumberOfMessages: 10})
	a.must(err)
	bodies := ""
	for _, m := range messages.Messages {
		bodies += *m.Body
	}
	for _, part := range []string{`"detail-type":"EC2 Spot Instance Interruption Warning"`, `arn:aws:ec2:us-east-1a:instance/` + id, `"state":"shutting-down"`} {
		if !strings.Contains(bodies, part) {
			t.Errorf("the queue lacks %s", part)
		}
	}
}

// An account that was exported goes on where it was.
func TestAccountSurvivesARestart(t *testing.T) {
	a := open(t, noLags)
	out, err := a.fleet(a.template("web"), 2, overrides(a.override("m5.large", "us-east-1a")))
	a.must(err)
	text, err := a.server.Export()
	a.must(err)
	b := open(t, noLags)
	a.must(b.server.Import(text))
	shown, err := b.ec2.DescribeInstances(context.Background(), &ec2.DescribeInstancesInput{InstanceIds: out.Instances[0].InstanceIds})
	a.must(err)
	if len(shown.Reservations) != 1 || len(shown.Reservations[0].Instances) != 2 {
		t.Fatalf("found %+v, want both instances", shown.Reservations)
	}
	if got, want := *b.subnets()["us-east-1a"].AvailableIpAddressCount, *a.subnets()["us-east-1a"].AvailableIpAddressCount; got != want {
		t.Errorf("%d free addresses, want %d as before", got, want)
	}
	again, err := b.fleet("web", 1, overrides(b.override("m5.large", "us-east-1a")))
	a.must(err)
	if id := again.Instances[0].InstanceIds[0]; strings.Contains(strings.Join(out.Instances[0].InstanceIds, " "), id) {
		t.Errorf("the new machine got the old id %s", id)
	}
}
