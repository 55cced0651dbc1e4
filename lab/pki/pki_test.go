package pki_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/daemok/daemok/lab/pki"
)

func at(moment string) func() time.Time {
	parsed, err := time.Parse(time.RFC3339, moment)
	if err != nil {
		panic(err)
	}
	return func() time.Time { return parsed }
}

func open(t *testing.T, dir string) *pki.Authority {
	t.Helper()
	authority, err := pki.Open(dir, at("2026-03-01T12:00:00Z"))
	if err != nil {
		t.Fatal(err)
	}
	return authority
}

func leaf(t *testing.T, pair pki.Pair) *x509.Certificate {
	t.Helper()
	if _, err := tls.X509KeyPair(pair.Certificate, pair.Key); err != nil {
		t.Fatalf("certificate and key do not belong together: %v", err)
	}
	block, _ := pem.Decode(pair.Certificate)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

func verify(certificate *x509.Certificate, roots []byte, usage x509.ExtKeyUsage, host string) error {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(roots)
	_, err := certificate.Verify(x509.VerifyOptions{
		Roots: pool, DNSName: host, KeyUsages: []x509.ExtKeyUsage{usage},
		CurrentTime: at("2026-03-01T12:00:01Z")(),
	})
	return err
}

// A lab that starts again in its directory trusts what it issued before.
func TestReopenedAuthorityTrustsOldCertificates(t *testing.T) {
	dir := t.TempDir()
	before, err := open(t, dir).Client("system:node:a", "system:nodes")
	if err != nil {
		t.Fatal(err)
	}
	certificate := leaf(t, before)
	if err := verify(certificate, open(t, dir).CertificatePEM(), x509.ExtKeyUsageClientAuth, ""); err != nil {
		t.Errorf("reopened authority does not trust its certificate: %v", err)
	}
	if got := certificate.Subject.CommonName; got != "system:node:a" {
		t.Errorf("user = %q, want system:node:a", got)
	}
	if !slices.Equal(certificate.Subject.Organization, []string{"system:nodes"}) {
		t.Errorf("groups = %q, want system:nodes", certificate.Subject.Organization)
	}
}

// Two labs do not trust each other.
func TestOtherAuthorityDoesNotTrust(t *testing.T) {
	pair, err := open(t, t.TempDir()).Client("admin", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	if verify(leaf(t, pair), open(t, t.TempDir()).CertificatePEM(), x509.ExtKeyUsageClientAuth, "") == nil {
		t.Error("a certificate of one lab is trusted by another")
	}
}

func TestServerCertificateHosts(t *testing.T) {
	authority := open(t, t.TempDir())
	pair, err := authority.Server("localhost", "127.0.0.1", "kubernetes.default.svc")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		host string
		want bool
	}{
		"its first name":       {"localhost", true},
		"its address":          {"127.0.0.1", true},
		"its service name":     {"kubernetes.default.svc", true},
		"refuses other names":  {"example.com", false},
		"refuses other places": {"127.0.0.2", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := verify(leaf(t, pair), authority.CertificatePEM(), x509.ExtKeyUsageServerAuth, tt.host)
			if (err == nil) != tt.want {
				t.Errorf("verify %s: %v; want trusted %v", tt.host, err, tt.want)
			}
		})
	}
}

func TestSigningKeyIsKept(t *testing.T) {
	dir := t.TempDir()
	read := func() string {
		path, err := pki.SigningKey(dir)
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	if first, second := read(), read(); first != second {
		t.Error("the key for tokens changed when it was asked for again")
	}
}

// A damaged file is reported with a way out, never replaced: replacing it
// would lock every client of the kept cluster out.
func TestDamagedAuthorityIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	if err := os.WriteFile(pki.CertificateFile(dir, "ca"), []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := pki.Open(dir, time.Now); err == nil {
		t.Error("a damaged authority was accepted")
	}
}
