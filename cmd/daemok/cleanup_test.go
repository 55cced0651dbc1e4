package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/daemok/daemok/cloud/aws/emulator"
)

// prodAccount is the URL of an account whose one cluster is prod, which is AWS until the
// test ends.
func prodAccount(t *testing.T) string {
	t.Helper()
	server := emulator.New(emulator.Options{Account: emulator.Account{ClusterName: "prod"}, Seed: 1})
	web := httptest.NewServer(server)
	t.Cleanup(func() { server.Close(); web.Close() })
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": web.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
	return web.URL
}

// clean runs the command against such an account.
func clean(t *testing.T, args ...string) (string, error) {
	t.Helper()
	prodAccount(t)
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
		"no name":                      {nil, "", "--cluster NAME"},
		"a name without its flag":      {[]string{"old"}, "", "unknown command"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := clean(t, tt.args...)
			if got != tt.want || (err != nil) != (tt.says != "") || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("daemok cleanup %v prints %q, %v; want %q and an error with %q", tt.args, got, err, tt.want, tt.says)
			}
		})
	}
}
