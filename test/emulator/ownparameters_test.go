package emulator_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
)

// "Each time that you edit the value of a parameter, Parameter Store creates a new version"; one is found by
// its name or ARN, "to query by parameter version, use Name: name:version". "If Overwrite is false, the request
// fails" for one that is there. "A parameter name can't be prefixed with aws or ssm (case-insensitive)".
func TestParametersOfOnesOwn(t *testing.T) {
	a, ctx := open(t), context.Background()
	client := ssm.NewFromConfig(a.config)
	put := func(name, value string, kind ssmtypes.ParameterType, over bool) (int64, error) {
		out, err := client.PutParameter(ctx, &ssm.PutParameterInput{Name: &name, Value: &value, Type: kind, Overwrite: &over})
		if err != nil {
			return 0, err
		}
		return out.Version, nil
	}
	get := func(name string) string {
		out, err := client.GetParameter(ctx, &ssm.GetParameterInput{Name: &name})
		if err != nil {
			return code(err)
		}
		return *out.Parameter.Value
	}
	const name = "/team/image"
	if n, err := put(name, "ami-1", ssmtypes.ParameterTypeString, false); err != nil || n != 1 {
		t.Fatalf("version %d, %v; want the first", n, err)
	}
	if n, err := put(name, "ami-2", "", true); err != nil || n != 2 {
		t.Fatalf("version %d, %v; want the second", n, err)
	}
	out, err := client.GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String(name)})
	a.must(err)
	arn := *out.Parameter.ARN
	if want := "arn:aws:ssm:us-east-1:123456789012:parameter/team/image"; arn != want || out.Parameter.Version != 2 || out.Parameter.Type != "String" {
		t.Errorf("%s, version %d of type %s; want %s, 2 of type String", arn, out.Parameter.Version, out.Parameter.Type, want)
	}
	public := "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/x86_64/standard/recommended/image_id"
	for asked, want := range map[string]string{
		name: "ami-2", arn: "ami-2", name + ":2": "ami-2", arn + ":2": "ami-2", name + ":1": "ami-1", arn + ":1": "ami-1", name + ":3": "ParameterVersionNotFound", name + ":0": "ParameterVersionNotFound", name + ":new": "ParameterVersionNotFound", "/team/other": "ParameterNotFound",
		public: a.image("x86_64"), "arn:aws:ssm:us-east-1::parameter" + public: a.image("x86_64"),
	} {
		if got := get(asked); got != want {
			t.Errorf("%s is %q, want %q", asked, got, want)
		}
	}
	for what, tt := range map[string]struct {
		name, value string
		kind        ssmtypes.ParameterType
		want        string
	}{
		"one that is there":     {name, "x", "String", "ParameterAlreadyExists"},
		"one of AWS's":          {public, "x", "String", "ValidationException"},
		"a name with a space":   {"/team/an image", "x", "String", "ValidationException"},
		"a path without a root": {"team/image", "x", "String", "ValidationException"},
		"one without a type":    {"/team/new", "x", "", "ValidationException"},
		"one of 5 KB":           {"/team/new", strings.Repeat("x", 5000), "String", "ValidationException"},
		"one of sixteen levels": {strings.Repeat("/x", 16), "x", "String", "HierarchyLevelLimitExceededException"},
	} {
		if _, err := put(tt.name, tt.value, tt.kind, false); code(err) != tt.want {
			t.Errorf("put %s: %q, want %s", what, code(err), tt.want)
		}
	}
	gone, err := client.DeleteParameters(ctx, &ssm.DeleteParametersInput{Names: []string{name, public}})
	a.must(err)
	if strings.Join(gone.DeletedParameters, " ") != name || strings.Join(gone.InvalidParameters, " ") != public || get(name) != "ParameterNotFound" {
		t.Errorf("deleted %q and not %q, want %s and not AWS's", gone.DeletedParameters, gone.InvalidParameters, name)
	}
	_, err = client.DeleteParameter(ctx, &ssm.DeleteParameterInput{Name: aws.String(name)})
	if code(err) != "ParameterNotFound" {
		t.Errorf("deleted twice: %q", code(err))
	}
}
