package aws

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/daemok/daemok/cloud/aws/client"
)

// point makes the SDK call the handler, with credentials that it does not check.
func point(t *testing.T, h http.Handler) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	pointAt(t, server.URL)
}

func pointAt(t testing.TB, url string) {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": url, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
		"AWS_MAX_ATTEMPTS": "1", "AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
}

func ec2Error(status int, code, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprintf(w, "<Response><Errors><Error><Code>%s</Code><Message>%s</Message></Error></Errors><RequestID>r</RequestID></Response>", code, message)
	}
}

func eksAnswer(status int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amzn-Errortype", kind)
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// services distinguishes EC2 from EKS: only EKS has paths.
func services(ec2, eks http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/clusters/") {
			eks(w, r)
			return
		}
		ec2(w, r)
	}
}

const eksCluster = `{"cluster":{"name":"prod","version":"1.36","endpoint":"https://eks","certificateAuthority":{"data":"Q0E="},
	"kubernetesNetworkConfig":{"serviceIpv4Cidr":"10.100.0.0/16","ipFamily":"ipv4"}}}`

func TestCheck(t *testing.T) {
	dryRun := ec2Error(412, "DryRunOperation", "Request would have succeeded, but DryRun flag is set.")
	found := eksAnswer(200, "", eksCluster)
	missing := eksAnswer(404, "ResourceNotFoundException", `{"message":"No cluster found for name: prod."}`)
	all := Options{Cluster: "prod", Endpoint: "https://own", CA: "b3du", CIDR: "10.0.0.0/16"}
	tests := map[string]struct {
		options Options
		ec2     http.HandlerFunc
		eks     http.HandlerFunc
		want    []string // words of the error; none: no error
	}{
		"all is well":                        {Options{Cluster: "prod"}, dryRun, found, nil},
		"nothing to ask EKS":                 {all, dryRun, missing, nil},
		"a wrong name with endpoint and CA":  {Options{Cluster: "prod", Endpoint: "https://own", CA: "b3du"}, dryRun, missing, []string{"CLUSTER_NAME"}},
		"no rights at EKS, nor much need":    {Options{Cluster: "prod", Endpoint: "https://own", CA: "b3du"}, dryRun, eksAnswer(403, "AccessDeniedException", `{"message":"no"}`), nil},
		"a wrong cluster name":               {Options{Cluster: "prod"}, dryRun, missing, []string{`no cluster "prod"`, "CLUSTER_NAME", "us-east-1"}},
		"a wrong name with the endpoint set": {Options{Cluster: "prod", Endpoint: "https://own"}, dryRun, missing, []string{"CLUSTER_NAME"}},
		"no rights at EC2": {Options{Cluster: "prod"}, ec2Error(403, "UnauthorizedOperation", "You are not authorized."), found,
			[]string{"ec2:DescribeInstanceTypes", "IAM policies"}},
		"no rights at EKS": {Options{Cluster: "prod"}, dryRun, eksAnswer(403, "AccessDeniedException", `{"message":"no"}`),
			[]string{"eks:DescribeCluster", "IAM policies"}},
		"wrong credentials": {Options{Cluster: "prod"}, ec2Error(401, "AuthFailure", "AWS was not able to validate the provided access credentials"), found,
			[]string{"credentials"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			point(t, services(tt.ec2, tt.eks))
			p, err := New(t.Context(), tt.options)
			if err != nil {
				t.Fatal(err)
			}
			wantError(t, p.Check(t.Context()), tt.want)
		})
	}
}

func wantError(t *testing.T, err error, words []string) {
	t.Helper()
	if (err != nil) != (len(words) > 0) {
		t.Fatalf("error = %v, want words %q", err, words)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q does not say %q", err, word)
		}
	}
	if err != nil && strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q is more than one line", err)
	}
}

func TestCheckWithoutAWS(t *testing.T) {
	pointAt(t, "http://127.0.0.1:1")
	p, err := New(t.Context(), Options{Cluster: "prod"})
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, p.Check(t.Context()), []string{"cannot be reached in region us-east-1", "AWS_ENDPOINT_URL"})
}

// What stands between the controller and AWS is named, be it on the way to the service or to STS, which gives the role:
// without CoreDNS no name is known, and in a private VPC STS needs an endpoint of its own.
func TestCheckWithoutAWayToAWS(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("eyJ"), 0o600); err != nil {
		t.Fatal(err)
	}
	irsa := map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_ENDPOINT_URL_STS": "http://sts.test", "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/buyer", "AWS_WEB_IDENTITY_TOKEN_FILE": token}
	unknown := func(host string) error {
		return &net.DNSError{Err: "i/o timeout", Name: host, Server: "10.100.0.10:53", IsTimeout: true}
	}
	unreached := func(string) error { return errors.New("connection timed out") }
	for name, tt := range map[string]struct {
		environment map[string]string
		fails       func(host string) error
		want        []string
	}{
		"no DNS":                {nil, unknown, []string{"DNS does not know ec2.test", "CoreDNS", "dnsPolicy", "10.100.0.10:53"}},
		"no DNS, with IRSA":     {irsa, unknown, []string{"DNS does not know sts.test", "CoreDNS", "dnsPolicy"}},
		"no way to EC2":         {nil, unreached, []string{"AWS cannot be reached in region us-east-1 (ec2:DescribeInstanceTypes: connection timed out)", "VPC endpoint"}},
		"no way to STS by IRSA": {irsa, unreached, []string{"AWS cannot be reached in region us-east-1 (sts:AssumeRoleWithWebIdentity: connection timed out)", "VPC endpoint"}},
	} {
		t.Run(name, func(t *testing.T) {
			pointAt(t, "http://ec2.test")
			t.Setenv("AWS_CA_BUNDLE", "")
			for name, value := range tt.environment {
				t.Setenv(name, value)
			}
			none := doer(func(r *http.Request) (*http.Response, error) {
				return nil, &url.Error{Op: "Post", URL: r.URL.String(), Err: &net.OpError{Op: "dial", Net: "tcp", Err: tt.fails(r.URL.Hostname())}}
			})
			p, err := New(t.Context(), Options{Cluster: "prod", HTTP: none})
			if err != nil {
				t.Fatal(err)
			}
			wantError(t, p.Check(t.Context()), tt.want)
		})
	}
}

type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(r *http.Request) (*http.Response, error) { return d(r) }

func TestCheckWithoutCredentials(t *testing.T) {
	pointAt(t, "http://127.0.0.1:1")
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	p, err := New(t.Context(), Options{Cluster: "prod"})
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, p.Check(t.Context()), []string{"no AWS credentials", "service account"})
}

func TestNewNamesWhatIsNotSet(t *testing.T) {
	pointAt(t, "http://127.0.0.1:1")
	_, err := New(t.Context(), Options{})
	wantError(t, err, []string{"CLUSTER_NAME"})
	t.Setenv("AWS_REGION", "")
	_, err = New(t.Context(), Options{Cluster: "prod"})
	wantError(t, err, []string{"AWS_REGION"})
}

func TestTheClusterIsLearntFromEKS(t *testing.T) {
	point(t, services(ec2Error(412, "DryRunOperation", ""), eksAnswer(200, "", eksCluster)))
	p, err := New(t.Context(), Options{Cluster: "prod", Endpoint: "https://own"})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := p.clusterFacts()
	if c.Endpoint != "https://own" || c.CA != "Q0E=" || c.CIDR != "10.100.0.0/16" || c.Name != "prod" {
		t.Errorf("cluster = %+v; what is configured counts before what EKS says", c)
	}
	if v, err := p.KubernetesVersion(t.Context()); err != nil || v != "1.36" {
		t.Errorf("version = %q, %v", v, err)
	}
	p.options.KubernetesVersion = func(context.Context) (string, error) { return "1.35", nil }
	if v, _ := p.KubernetesVersion(t.Context()); v != "1.35" {
		t.Errorf("version = %q, want what the options tell", v)
	}
}

type calls struct {
	mu   sync.Mutex
	list []client.Call
}

func (c *calls) Called(call client.Call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, call)
}

func TestEveryCallIsObserved(t *testing.T) {
	tries := 0
	point(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if tries++; tries == 1 {
			ec2Error(503, "RequestLimitExceeded", "Request limit exceeded.")(w, r)
			return
		}
		if !strings.Contains(r.UserAgent(), "daemok/1.0") {
			t.Errorf("user agent %q does not name the program", r.UserAgent())
		}
		ec2Error(412, "DryRunOperation", "")(w, r)
	}))
	t.Setenv("AWS_MAX_ATTEMPTS", "2")
	seen := &calls{}
	p, err := New(t.Context(), Options{Cluster: "prod", Endpoint: "a", CA: "b", CIDR: "c", Agent: "daemok/1.0", Observer: seen})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(seen.list) != 1 {
		t.Fatalf("observed %+v, want one call", seen.list)
	}
	got := seen.list[0]
	if got.Service != "EC2" || got.Operation != "DescribeInstanceTypes" || got.Code != "DryRunOperation" || got.Attempts != 2 || got.Throttled != 1 || got.Took <= 0 {
		t.Errorf("observed %+v", got)
	}
	if tries := got.Tries; len(tries) != 2 || tries[0].Code != "RequestLimitExceeded" || tries[1].Code != "DryRunOperation" || tries[0].Took <= 0 || tries[0].Took+tries[1].Took > got.Took {
		t.Errorf("its tries are %+v, within %v", tries, got.Took)
	}
}
