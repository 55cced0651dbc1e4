package aws

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/world"
)

// signed notes with which key each call was signed.
type signed struct {
	server http.Handler
	mu     sync.Mutex
	keys   map[string]string // by action
}

func (s *signed) Do(r *http.Request) (*http.Response, error) {
	body := ""
	if r.Body != nil {
		read, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(read)
	}
	again := httptest.NewRequest(r.Method, r.URL.String(), strings.NewReader(body))
	again.Header = r.Header
	if form, err := url.ParseQuery(body); err == nil && form.Get("Action") != "" {
		_, credential, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
		key, _, _ := strings.Cut(credential, "/")
		s.mu.Lock()
		s.keys[form.Get("Action")] = key
		s.mu.Unlock()
	}
	w := httptest.NewRecorder()
	s.server.ServeHTTP(w, again)
	return w.Result(), nil
}

// makeLauncher makes a role that everybody in the account may assume, and that may ask EC2 for types.
func makeLauncher(t *testing.T, server *emulator.Server) {
	t.Helper()
	web := httptest.NewServer(server)
	defer web.Close()
	_, err := iam.NewFromConfig(client.At(web.URL, "us-east-1", client.Key{ID: "admin", Secret: "secret"})).CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName:                 sdk.String("buyer"),
		AssumeRolePolicyDocument: sdk.String(`{"Statement": {"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::123456789012:root"}, "Action": "sts:AssumeRole"}}`),
	})
	if err == nil {
		err = server.Attach("buyer", "look", `{"Statement": {"Effect": "Allow", "Action": "ec2:Describe*", "Resource": "*"}}`)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Where a role is to be assumed every call is made as that role; the call that assumes it
// with the credentials of the program.
func TestEveryCallIsMadeAsTheRole(t *testing.T) {
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": "http://aws.test", "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "mine", "AWS_SECRET_ACCESS_KEY": "mine",
		"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_EC2_METADATA_DISABLED": "true", "AWS_CA_BUNDLE": "",
	} {
		t.Setenv(name, value)
	}
	server := emulator.New(world.Options{Account: world.Account{ClusterName: "test"}, Seed: 1})
	s := &signed{server: server, keys: map[string]string{}}
	role := client.Role{ARN: "arn:aws:iam::123456789012:role/buyer", For: 15 * time.Minute}
	makeLauncher(t, server)
	p, err := New(t.Context(), Options{Cluster: "test", Endpoint: "https://api.test", CA: "Y2E=", CIDR: "10.100.0.0/16", HTTP: s, Role: role})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.RefreshTypes(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.keys["AssumeRole"] != "mine" || !strings.HasPrefix(s.keys["DescribeInstanceTypes"], "ASIA") {
		t.Errorf("calls were signed with the keys %v", s.keys)
	}
}
