package up

import (
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/daemok/daemok/lab/access"
	"github.com/daemok/daemok/lab/directory"
)

func TestShellQuotes(t *testing.T) {
	got := string(shell([]variable{{"KUBECONFIG", "/it's here/kubeconfig"}, {"AWS_REGION", "us-east-1"}}))
	want := "export KUBECONFIG='/it'\\''s here/kubeconfig'\nexport AWS_REGION='us-east-1'\n"
	if got != want {
		t.Errorf("shell = %q, want %q", got, want)
	}
}

// No program in the lab may ever meet the account of the user who runs it.
func TestMergedKeepsRealAWSOut(t *testing.T) {
	base := []string{"HOME=/h", "AWS_PROFILE=production", "AWS_SESSION_TOKEN=secret", "KUBECONFIG=/real", "PATH=/bin"}
	got := merged(base, []variable{{"KUBECONFIG", "/admin"}, {"AWS_REGION", "us-east-1"}, {"KUBECONFIG", "/controller"}})
	want := []string{"HOME=/h", "PATH=/bin", "AWS_REGION=us-east-1", "KUBECONFIG=/controller"}
	if !slices.Equal(got, want) {
		t.Errorf("merged = %q, want %q", got, want)
	}
}

func TestFindController(t *testing.T) {
	tests := map[string]struct {
		there []string
		want  string // "" when it is an error
	}{
		"beside the lab first":      {[]string{"/opt/bin/daemok-controller", "daemok-controller"}, "/opt/bin/daemok-controller"},
		"then on PATH":              {[]string{"daemok-controller"}, "/found/daemok-controller"},
		"nowhere says what to do":   {nil, ""},
		"another program is no use": {[]string{"/opt/bin/daemok"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			look := func(file string) (string, error) {
				if !slices.Contains(tt.there, file) {
					return "", exec.ErrNotFound
				}
				if filepath.IsAbs(file) {
					return file, nil
				}
				return "/found/" + file, nil
			}
			got, err := findController("/opt/bin/daemok-lab", look)
			if got != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("findController with %q = %q, %v; want %q", tt.there, got, err, tt.want)
			}
			if errors.Is(err, exec.ErrNotFound) {
				t.Errorf("error %v does not say what to do", err)
			}
		})
	}
}

func TestZones(t *testing.T) {
	if got, err := zones("us-east-1"); err != nil || len(got) != 4 || got[0] != "us-east-1a" {
		t.Errorf("zones(us-east-1) = %q, %v; want the first four", got, err)
	}
	if got, err := zones("mars-north-1"); err == nil {
		t.Errorf("zones(mars-north-1) = %q, want an error", got)
	}
}

// boto3 and the AWS CLI of version 1 read the region elsewhere than other SDKs do.
func TestEverySDKFindsTheRegion(t *testing.T) {
	d, err := directory.At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	got := string(shell(environment(d, Identity{Region: "eu-west-1"}, access.Cluster{})))
	for _, want := range []string{"export AWS_REGION='eu-west-1'\n", "export AWS_DEFAULT_REGION='eu-west-1'\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("environment is\n%swant %s", got, want)
		}
	}
}
