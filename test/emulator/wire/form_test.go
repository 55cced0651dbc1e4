package wire_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"

	"github.com/daemok/daemok/test/emulator/wire"
)

func parse(t *testing.T, query string) *wire.Node {
	t.Helper()
	form, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	return wire.ParseForm(form)
}

func TestFormLists(t *testing.T) {
	tests := map[string]struct {
		query string
		want  []string
	}{
		"keep the order of their numbers": {"Id.10=c&Id.2=b&Id.1=a", []string{"a", "b", "c"}},
		"skip the older protocol's step":  {"Id.member.1=a&Id.member.2=b", []string{"a", "b"}},
		"are empty when absent":           {"Other.1=a", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := parse(t, tt.query).Strings("Id"); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestFormNests(t *testing.T) {
	n := parse(t, "Filter.1.Name=tag:a&Filter.1.Value.1=x&Filter.1.Value.2=y&DryRun=true&Max=seven")
	filter := n.List("Filter")[0]
	if filter.String("Name") != "tag:a" || !slices.Equal(filter.Strings("Value"), []string{"x", "y"}) || !n.Bool("DryRun") {
		t.Errorf("decoded %+v", n)
	}
	if _, err := n.Int("Max", 0); err == nil {
		t.Error("Max=seven was read as a number")
	}
	if v, err := n.Int("Absent", 3); v != 3 || err != nil {
		t.Errorf("absent number: %d, %v; want the default 3", v, err)
	}
}

func TestCanonicalIgnoresOrderAndTheNamed(t *testing.T) {
	a := parse(t, "A.1.B=x&C=y&ClientToken=1").Canonical("ClientToken")
	b := parse(t, "C=y&ClientToken=2&A.1.B=x").Canonical("ClientToken")
	if a != b {
		t.Errorf("%q and %q differ", a, b)
	}
	if c := parse(t, "C=z&A.1.B=x").Canonical("ClientToken"); c == a {
		t.Errorf("other values are equal: %q", c)
	}
}

func TestLocate(t *testing.T) {
	tests := map[string]struct {
		authorization, target, action string
		want                          wire.Target
	}{
		"by the credential scope": {"AWS4-HMAC-SHA256 Credential=AK/20261121/eu-west-1/ec2/aws4_request, SignedHeaders=host", "", "DescribeVpcs",
			wire.Target{Service: wire.EC2, Region: "eu-west-1", Action: "DescribeVpcs", Key: "AK"}},
		"by the target header":     {"", "AmazonSSM.GetParameter", "", wire.Target{Service: wire.SSM, Action: "GetParameter"}},
		"by an unsigned action":    {"", "", "AssumeRoleWithWebIdentity", wire.Target{Service: wire.STS, Action: "AssumeRoleWithWebIdentity"}},
		"not without any of these": {"", "", "DescribeVpcs", wire.Target{Action: "DescribeVpcs"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/", nil)
			r.Header.Set("Authorization", tt.authorization)
			r.Header.Set("X-Amz-Target", tt.target)
			if got := wire.Locate(r, url.Values{"Action": {tt.action}}); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// Temporary credentials come with a token, in headers or, as what was signed beforehand, in the query.
func TestLocateReadsTokensAndDates(t *testing.T) {
	const scope = "AK/20261121/eu-west-1/sts/aws4_request"
	want := wire.Target{Service: wire.STS, Region: "eu-west-1", Action: "GetCallerIdentity", Key: "AK", Token: "t/1", Signed: "20261121T120000Z"}
	inHeaders := httptest.NewRequest(http.MethodPost, "/", nil)
	for name, value := range map[string]string{"Authorization": "AWS4-HMAC-SHA256 Credential=" + scope + ", SignedHeaders=host", "X-Amz-Security-Token": want.Token, "X-Amz-Date": want.Signed} {
		inHeaders.Header.Set(name, value)
	}
	query := url.Values{"X-Amz-Credential": {scope}, "X-Amz-Security-Token": {want.Token}, "X-Amz-Date": {want.Signed}}
	for name, r := range map[string]*http.Request{"headers": inHeaders, "the query": httptest.NewRequest(http.MethodGet, "/?"+query.Encode(), nil)} {
		if got := wire.Locate(r, url.Values{"Action": {want.Action}}); got != want {
			t.Errorf("in %s: %+v, want %+v", name, got, want)
		}
	}
}
