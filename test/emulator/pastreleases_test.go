package emulator_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/daemok/daemok/test/emulator/world"
)

// AWS keeps the parameters of every release beside those that lead to the newest. A release that is pinned may be of long
// ago, but not of before EKS supported the version of Kubernetes, nor of days to come.
func TestReleasesOfThePastAreFound(t *testing.T) {
	const eks = "/aws/service/eks/optimized-ami/1.32/amazon-linux-2"
	tests := map[string]struct {
		parameter string
		image     string // its name; empty: there is none
	}{
		"AL2023 by its date":              {eks + "023/x86_64/standard/amazon-eks-node-al2023-x86_64-standard-1.32-v20250610/image_id", "amazon-eks-node-al2023-x86_64-standard-1.32-v20250610"},
		"for GPUs of arm64":               {eks + "023/arm64/nvidia/amazon-eks-node-al2023-arm64-nvidia-1.32-v20250610/image_id", "amazon-eks-node-al2023-arm64-nvidia-1.32-v20250610"},
		"AL2 by its date":                 {eks + "-gpu/amazon-eks-gpu-node-1.32-v20250610/image_id", "amazon-eks-gpu-node-1.32-v20250610"},
		"Bottlerocket by its number":      {"/aws/service/bottlerocket/aws-k8s-1.32/x86_64/1.40.1/image_id", "bottlerocket-aws-k8s-1.32-x86_64-v1.40.1-69852f00"},
		"and with what it was built from": {"/aws/service/bottlerocket/aws-k8s-1.32/x86_64/1.40.1-69852f00/image_id", "bottlerocket-aws-k8s-1.32-x86_64-v1.40.1-69852f00"},
		"Ubuntu by its date":              {"/aws/service/canonical/ubuntu/eks/24.04/1.32/stable/20250610/amd64/hvm/ebs-gp3/ami-id", "ubuntu-eks/k8s_1.32/images/hvm-ssd-gp3/ubuntu-noble-24.04-amd64-server-20250610"},
		"by ARN":                          {"arn:aws:ssm:us-east-1::parameter" + eks + "023/x86_64/standard/amazon-eks-node-al2023-x86_64-standard-1.32-v20250610/image_id", "amazon-eks-node-al2023-x86_64-standard-1.32-v20250610"},
		"before the version was there":    {eks + "023/x86_64/standard/amazon-eks-node-al2023-x86_64-standard-1.32-v20240807/image_id", ""},
		"of days to come":                 {eks + "023/x86_64/standard/amazon-eks-node-al2023-x86_64-standard-1.32-v20270101/image_id", ""},
		"of a day that is none":           {eks + "023/x86_64/standard/amazon-eks-node-al2023-x86_64-standard-1.32-v20250631/image_id", ""},
		"of another version's name":       {eks + "023/x86_64/standard/amazon-eks-node-al2023-x86_64-standard-1.33-v20250610/image_id", ""},
		"built from something else":       {"/aws/service/bottlerocket/aws-k8s-1.32/x86_64/1.40.1-00000000/image_id", ""},
		"of a number to come":             {"/aws/service/bottlerocket/aws-k8s-1.32/x86_64/1.51.0/image_id", ""},
		"a field that there is not":       {eks + "023/x86_64/standard/amazon-eks-node-al2023-x86_64-standard-1.32-v20250610/image_ids", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a, ctx := open(t, func(o *world.Options) { o.Account.EKSVersion = "1.32" }), context.Background()
			client := ssm.NewFromConfig(a.config)
			out, err := client.GetParameter(ctx, &ssm.GetParameterInput{Name: &tt.parameter})
			if tt.image == "" {
				if code(err) != "ParameterNotFound" {
					t.Errorf("got %v, want ParameterNotFound", err)
				}
				return
			}
			a.must(err)
			images, err := a.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{ImageIds: []string{*out.Parameter.Value}})
			a.must(err)
			if got := *images.Images[0].Name; got != tt.image {
				t.Errorf("the image is %s, want %s", got, tt.image)
			}
			again, err := client.GetParameter(ctx, &ssm.GetParameterInput{Name: &tt.parameter})
			a.must(err)
			if *again.Parameter.Value != *out.Parameter.Value || again.Parameter.Version != 1 {
				t.Errorf("asked again it is %s, version %d, want %s and the first", *again.Parameter.Value, again.Parameter.Version, *out.Parameter.Value)
			}
		})
	}
}

// Clients select images by name, too, and instances boot from them.
func TestImagesOfThePastAreFoundByName(t *testing.T) {
	a, ctx := open(t, noLags), context.Background()
	const name = "amazon-eks-node-al2023-x86_64-standard-1.36-v20260701"
	out, err := a.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{Owners: []string{"amazon"}, Filters: filters("name", name)})
	a.must(err)
	if len(out.Images) != 1 || *out.Images[0].CreationDate != "2026-07-01T00:00:00.000Z" {
		t.Fatalf("%s is found as %+v", name, out.Images)
	}
	run, err := a.ec2.RunInstances(ctx, &ec2.RunInstancesInput{MinCount: aws.Int32(1), MaxCount: aws.Int32(1), InstanceType: "m5.large", ImageId: out.Images[0].ImageId})
	a.must(err)
	if got := *run.Instances[0].ImageId; got != *out.Images[0].ImageId {
		t.Errorf("the machine boots from %s", got)
	}
}

// "GetParameterHistory retrieves the history of all changes to a parameter", oldest first, and a version that is kept is
// had as name:version, also of the parameters that AWS moves on with each release.
func TestParameterHistory(t *testing.T) {
	a, ctx := open(t), context.Background()
	client := ssm.NewFromConfig(a.config)
	const recommended = "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/x86_64/standard/recommended/image_id"
	history := func(name string, size int32) (all []ssmtypes.ParameterHistory) {
		pages := ssm.NewGetParameterHistoryPaginator(client, &ssm.GetParameterHistoryInput{Name: &name, MaxResults: aws.Int32(size)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			a.must(err)
			if len(page.Parameters) > int(size) {
				t.Errorf("a page of %d versions, want %d at most", len(page.Parameters), size)
			}
			all = append(all, page.Parameters...)
		}
		return all
	}
	before := history(recommended, 50)
	newest := before[len(before)-1]
	if *newest.Value != a.image("x86_64") || newest.Version != int64(len(before)) {
		t.Errorf("the last of %d versions is %d with %s", len(before), newest.Version, *newest.Value)
	}
	for i, past := range before {
		out, err := client.GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String(fmt.Sprintf("%s:%d", recommended, past.Version))})
		a.must(err)
		if *out.Parameter.Value != *past.Value || aws.ToString(out.Parameter.Selector) != fmt.Sprintf(":%d", past.Version) {
			t.Errorf("version %d is %s by its selector, %s in the history", past.Version, *out.Parameter.Value, *past.Value)
		}
		if i > 0 && (!past.LastModifiedDate.After(*before[i-1].LastModifiedDate) || *past.Value == *before[i-1].Value) {
			t.Errorf("version %d is no later than the one before it, or the same", past.Version)
		}
	}
	a.Advance(29 * 24 * time.Hour)
	if after := history(recommended, 1); len(after) != len(before)+1 || *after[len(after)-2].Value != *newest.Value {
		t.Errorf("a release later there are %d versions, want one more than %d", len(after), len(before))
	}

	for n := range 120 {
		_, err := client.PutParameter(ctx, &ssm.PutParameterInput{Name: aws.String("/team/image"), Value: aws.String(fmt.Sprint("ami-", n+1)), Type: "String", Overwrite: aws.Bool(true)})
		a.must(err)
	}
	if own := history("/team/image", 50); len(own) != 100 || *own[0].Value != "ami-21" || own[0].Version != 21 {
		t.Errorf("%d versions are kept, from %d on; want the last hundred, from 21", len(own), own[0].Version)
	}
	for _, name := range []string{"/team/other", "/team/image:100"} {
		_, err := client.GetParameterHistory(ctx, &ssm.GetParameterHistoryInput{Name: &name})
		if code(err) != "ParameterNotFound" {
			t.Errorf("history of %s: %v, want ParameterNotFound", name, err)
		}
	}
}
