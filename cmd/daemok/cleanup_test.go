package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/world"
)

// prodAccount is the URL of an account whose one cluster is prod, which is AWS until the
// test ends.
func prodAccount(t *testing.T) string {
	t.Helper()
	server := emulator.New(world.Options{Account: world.Account{ClusterName: "prod"}, Seed: 1, Lags: &world.Lags{}})
	web := httptest.NewServer(server)
	t.Cleanup(func() { server.Close(); web.Close() })
	pointAtAccount(t, web.URL)
	return web.URL
}

// pointAtAccount makes what answers at the URL AWS until the test ends.
func pointAtAccount(t *testing.T, url string) {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": url, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
}

// clean runs the command.
func clean(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := root()
	cmd.SetArgs(append([]string{"cleanup"}, args...))
	cmd.SetOut(&out)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestCleanup(t *testing.T) {
	tests := map[string]struct {
		args       []string
		want, says string // output, and words of the error
	}{
		"a cluster that left nothing":  {[]string{"--cluster=old", "--yes"}, "nothing is left of cluster old in us-east-1\n", ""},
		"one in another region":        {[]string{"--cluster=prod-2", "--region=eu-west-1"}, "nothing is left of cluster prod-2 in eu-west-1\n", ""},
		"a cluster that is there":      {[]string{"--cluster=prod", "--yes"}, "", "cluster prod is still there in us-east-1, and ACTIVE"},
		"a pattern in place of a name": {[]string{"--cluster=pro*"}, "", "is no name of a cluster"},
		"a context that is not there":  {[]string{"--cluster=old", "--context=prod", "--yes"}, "", `find the cluster that is in use: --context: context "prod" does not exist`},
		"no name":                      {nil, "", "--cluster NAME"},
		"a name without its flag":      {[]string{"old"}, "", "unknown command"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			prodAccount(t)
			got, err := clean(t, tt.args...)
			if got != tt.want || (err != nil) != (tt.says != "") || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("daemok cleanup %v prints %q, %v; want %q and an error with %q", tt.args, got, err, tt.want, tt.says)
			}
		})
	}
}

// What is left is listed, however often, until its removal is asked for.
func TestCleanupListsFirst(t *testing.T) {
	account := iam.NewFromConfig(client.At(prodAccount(t), "us-east-1", client.Key{ID: "test", Secret: "test"}))
	if _, err := account.CreateInstanceProfile(t.Context(), &iam.CreateInstanceProfileInput{InstanceProfileName: aws.String("old_1"), Path: aws.String("/karpenter/us-east-1/old/uid/")}); err != nil {
		t.Fatal(err)
	}
	const listed = "instance profile old_1 (no role)\n"
	const kept = listed + "1 are left of cluster old in us-east-1; nothing was removed: repeat with --yes to remove them\n"
	for i, step := range []struct{ yes, want string }{
		{"--yes=false", kept}, {"--yes=false", kept}, {"--yes", listed + "removed " + listed}, {"--yes", "nothing is left of cluster old in us-east-1\n"},
	} {
		if got, err := clean(t, "--cluster=old", step.yes); err != nil || got != step.want {
			t.Errorf("step %d prints %q, %v; want %q", i+1, got, err, step.want)
		}
	}
}
