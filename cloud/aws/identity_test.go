package aws

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/world"
)

// issued is a token of the service account, as the API server issues it, and the key that signed it.
func issued(t *testing.T, issuer, account string, from, until time.Time) (token, key []byte) {
	t.Helper()
	signs, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(signs.Public())
	if err != nil {
		t.Fatal(err)
	}
	id := sha256.Sum256(public)
	with, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: signs, KeyID: base64.RawURLEncoding.EncodeToString(id[:])}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.Signed(with).Claims(map[string]any{
		"iss": issuer, "aud": []string{"sts.amazonaws.com"}, "sub": "system:serviceaccount:" + account,
		"iat": from.Unix(), "nbf": from.Unix(), "exp": until.Unix(),
	}).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return []byte(text), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
}

// A controller that gets its role by its service account (IRSA) does not start where a clock is
// wrong, or the role trusts other identities. It says which, and what to do.
func TestAStartThatGetsNoRole(t *testing.T) {
	const ours = "kube-system:karpenter"
	for name, tt := range map[string]struct {
		account     string
		from, until time.Duration // of the token, from now
		skew        time.Duration // by which AWS's clock is ahead
		want        []string      // of the error; none: it starts
	}{
		"all is well":                        {ours, 0, time.Hour, 0, nil},
		"the token was not renewed":          {ours, -2 * time.Hour, -time.Hour, 0, []string{"AWS does not know the controller", "has expired by AWS's clock: correct the time synchronisation of the controller's node", "Token expired: current date/time"}},
		"the control plane's clock is ahead": {ours, time.Hour, 2 * time.Hour, 0, []string{"it is not valid yet", "correct the time synchronisation of the control plane", "could not be validated by AWS"}},
		"the clock is behind":                {ours, 0, time.Hour, 90 * time.Minute, []string{"this host's clock is 90 min behind AWS's", "chrony"}},
		"the clock is ahead":                 {ours, 0, time.Hour, -30 * time.Minute, []string{"this host's clock is 30 min ahead of AWS's", "chrony"}},
		"the role trusts others":             {"kube-system:another", 0, time.Hour, 0, []string{"does not trust the controller's service account", "daemok doctor", "Not authorized to perform sts:AssumeRoleWithWebIdentity"}},
	} {
		t.Run(name, func(t *testing.T) {
			server := emulator.New(world.Options{Account: world.Account{ClusterName: "prod"}, Seed: 1})
			web := httptest.NewServer(server)
			t.Cleanup(func() { server.Close(); web.Close() })
			token, key := issued(t, server.Issuer(), tt.account, time.Now().Add(tt.from), time.Now().Add(tt.until))
			if err := server.SetIssuerKeys(key); err != nil {
				t.Fatal(err)
			}
			if err := server.Attach("prod-karpenter", "look", `{"Statement": {"Effect": "Allow", "Action": ["ec2:Describe*", "eks:DescribeCluster"], "Resource": "*"}}`); err != nil {
				t.Fatal(err)
			}
			server.Skew(tt.skew)
			path := filepath.Join(t.TempDir(), "token")
			if err := os.WriteFile(path, token, 0o600); err != nil {
				t.Fatal(err)
			}
			pointAt(t, web.URL)
			for name, value := range map[string]string{
				"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_ENDPOINT_URL_STS": web.URL,
				"AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/prod-karpenter", "AWS_WEB_IDENTITY_TOKEN_FILE": path,
			} {
				t.Setenv(name, value)
			}
			p, err := New(t.Context(), Options{Cluster: "prod"})
			if err != nil {
				t.Fatal(err)
			}
			wantError(t, p.Check(t.Context()), tt.want)
		})
	}
}
