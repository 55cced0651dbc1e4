package class

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/daemok/daemok/cloud/aws/image"
	"github.com/daemok/daemok/cloud/aws/network"
	"github.com/daemok/daemok/kube/api/admit"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/crds"
)

// asked keeps what EC2 is asked for, and has nothing of it.
type asked struct {
	filters [][]types.Filter
	owners  [][]string
}

func (a *asked) note(filters []types.Filter, owners []string) {
	a.filters, a.owners = append(a.filters, filters), append(a.owners, owners)
}

func (a *asked) DescribeSubnets(_ context.Context, in *ec2.DescribeSubnetsInput, _ ...func(*ec2.Options)) (*ec2.DescribeSubnetsOutput, error) {
	a.note(in.Filters, nil)
	return &ec2.DescribeSubnetsOutput{}, nil
}

func (a *asked) DescribeSecurityGroups(_ context.Context, in *ec2.DescribeSecurityGroupsInput, _ ...func(*ec2.Options)) (*ec2.DescribeSecurityGroupsOutput, error) {
	a.note(in.Filters, nil)
	return &ec2.DescribeSecurityGroupsOutput{}, nil
}

func (a *asked) DescribeImages(_ context.Context, in *ec2.DescribeImagesInput, _ ...func(*ec2.Options)) (*ec2.DescribeImagesOutput, error) {
	a.note(in.Filters, in.Owners)
	return &ec2.DescribeImagesOutput{}, nil
}

// Of a term that says too much, which the API server lets through beside others, an ID
// decides alone, and else a name. An event reports that the rest is ignored.
func TestWhatATermSelectsThatSaysTooMuch(t *testing.T) {
	tags := map[string]string{"team": "web"}
	c := &awsv1.EC2NodeClass{Spec: awsv1.EC2NodeClassSpec{
		SubnetSelectorTerms:        []awsv1.SubnetSelectorTerm{{ID: "subnet-1", Tags: tags}},
		SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{ID: "sg-1", Name: "web", Tags: tags}, {Name: "db", Tags: tags}},
	}}
	s, err := specOf(c)
	if err != nil {
		t.Fatal(err)
	}
	a := &asked{}
	_, _ = network.Finder{API: a}.Subnets(t.Context(), s.Subnets)
	_, _ = network.Finder{API: a}.Groups(t.Context(), s.Groups)
	var words []string
	for _, query := range a.filters {
		for _, f := range query {
			words = append(words, aws.ToString(f.Name)+"="+strings.Join(f.Values, ","))
		}
	}
	if got, want := strings.Join(words, " "), "subnet-id=subnet-1 group-id=sg-1 group-name=db"; got != want {
		t.Errorf("EC2 is asked for %s; want %s", got, want)
	}
}

var gate = sync.OnceValues(func() (*admit.Gate, error) {
	definitions, err := crds.All()
	if err != nil {
		return nil, err
	}
	return admit.New(definitions)
})

// term is one selector term as a user may write it: what is empty is left out.
func term(fields map[string]string, key, value string) map[string]any {
	out := map[string]any{}
	for name, text := range fields {
		if text != "" {
			out[name] = text
		}
	}
	if key != "" || value != "" {
		out["tags"] = map[string]any{key: value}
	}
	return out
}

// Whatever selector terms a user writes are refused, or ask EC2 for what has what they
// say: never for all that there is, and for no tag or value that they do not name.
func FuzzSelectorTerms(f *testing.F) {
	for _, s := range [][5]string{
		{"subnet-0a"}, {"sg-0a"}, {"ami-0a"}, {"", "web-*"}, {"", "", "amazon"}, {"", "web", "self", "karpenter.sh/discovery", "*"}, {"", "", "", "Name", "a?b\\*"}, {"", "", "", "", "x"},
	} {
		f.Add(s[0], s[1], s[2], s[3], s[4])
	}
	known, err := gate()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, id, name, owner, key, value string) {
		for _, field := range []struct {
			name string
			term map[string]any
			ask  func(c *awsv1.EC2NodeClass, a *asked) error
		}{
			{"subnetSelectorTerms", term(map[string]string{"id": id}, key, value), func(c *awsv1.EC2NodeClass, a *asked) error {
				s, err := specOf(c)
				_, _ = network.Finder{API: a}.Subnets(t.Context(), s.Subnets)
				return err
			}},
			{"securityGroupSelectorTerms", term(map[string]string{"id": id, "name": name}, key, value), func(c *awsv1.EC2NodeClass, a *asked) error {
				s, err := specOf(c)
				_, _ = network.Finder{API: a}.Groups(t.Context(), s.Groups)
				return err
			}},
			{"amiSelectorTerms", term(map[string]string{"id": id, "name": name, "owner": owner}, key, value), func(c *awsv1.EC2NodeClass, a *asked) error {
				s, err := specOf(c)
				_, _ = image.Finder{API: a, Now: time.Now}.Find(t.Context(), s, "1.34")
				return err
			}},
		} {
			c, refused := admitted(t, known, field.name, field.term)
			if refused != nil {
				continue
			}
			a := &asked{}
			if err := field.ask(c, a); err != nil {
				t.Fatalf("%s with %v is admitted, and cannot be read: %v", field.name, field.term, err)
			}
			if len(a.filters) != 1 {
				t.Fatalf("%s with %v: EC2 is asked %d times", field.name, field.term, len(a.filters))
			}
			checkFilters(t, a.filters[0], field.term)
			if owner != "" && field.name == "amiSelectorTerms" && field.term["id"] == nil && !slices.Equal(a.owners[0], []string{owner}) {
				t.Fatalf("%v asks for images of %q", field.term, a.owners[0])
			}
		}
	})
}

// checkFilters checks whether filters say what a term does.
func checkFilters(t *testing.T, filters []types.Filter, term map[string]any) {
	t.Helper()
	if len(filters) == 0 {
		t.Fatalf("%v selects all that there is", term)
	}
	for _, f := range filters {
		name := aws.ToString(f.Name)
		if len(f.Values) != 1 {
			t.Fatalf("%v asks for %s %q", term, name, f.Values)
		}
		value := f.Values[0]
		tags, _ := term["tags"].(map[string]any)
		key, isTag := strings.CutPrefix(name, "tag:")
		switch {
		case isTag && key != "" && value != "" && tags[key] == value && value != "*":
		case name == "tag-key" && value != "" && tags[value] == "*":
		case strings.HasSuffix(name, "-id") && value == term["id"]:
		case strings.HasSuffix(name, "name") && value == term["name"]:
		default:
			t.Fatalf("%v asks for %s %q", term, name, value)
		}
	}
}

// admitted is a class with one term in one field as the API server would store it, or why
// it would not.
func admitted(t *testing.T, known *admit.Gate, field string, one map[string]any) (*awsv1.EC2NodeClass, error) {
	t.Helper()
	other := []any{map[string]any{"tags": map[string]any{"karpenter.sh/discovery": "test"}}}
	spec := map[string]any{"amiFamily": "AL2023", "role": "nodes", "subnetSelectorTerms": other, "securityGroupSelectorTerms": other, "amiSelectorTerms": []any{map[string]any{"id": "ami-1"}}}
	spec[field] = []any{one}
	stored, err := known.Create(map[string]any{"apiVersion": awsv1.GroupVersion.String(), "kind": "EC2NodeClass", "metadata": map[string]any{"name": "default"}, "spec": spec})
	if err != nil {
		return nil, err
	}
	c := &awsv1.EC2NodeClass{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(stored, c); err != nil {
		t.Fatalf("%v is admitted, and is no class: %v", one, err)
	}
	return c, nil
}
