// Package pki is the lab's own certificate authority. It issues the serving and client certificates of
// one emulated cluster, and keeps its key in a directory so that a restarted lab trusts what it issued
// before.
//
// Keys are ECDSA P-256, which take a millisecond to make. Nothing here is suitable for a cluster that
// outsiders can reach: certificates last ten years and are never revoked.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const (
	certificateBlock = "CERTIFICATE"
	keyBlock         = "EC PRIVATE KEY"

	validFor    = 10 * 365 * 24 * time.Hour
	clockMargin = time.Hour // a certificate is valid a little before it was made
)

// Authority signs certificates for one cluster. It is safe for concurrent use.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
	now         func() time.Time
}

// Open loads the authority kept in dir, or makes one there when there is none.
// now is asked for the time whenever a certificate is issued.
func Open(dir string, now func() time.Time) (*Authority, error) {
	pair, err := readPair(dir, "ca")
	if errors.Is(err, fs.ErrNotExist) {
		return create(dir, now)
	}
	if err != nil {
		return nil, fmt.Errorf("read certificate authority in %s: %w", dir, err)
	}
	return load(pair, now)
}

func create(dir string, now func() time.Time) (*Authority, error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "lab-ca"},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	pair, err := sign(template, nil, now())
	if err != nil {
		return nil, fmt.Errorf("make certificate authority: %w", err)
	}
	if err := pair.Write(dir, "ca"); err != nil {
		return nil, fmt.Errorf("keep certificate authority: %w", err)
	}
	return load(pair, now)
}

func load(pair Pair, now func() time.Time) (*Authority, error) {
	certificate, err := parseCertificate(pair.Certificate)
	if err != nil {
		return nil, err
	}
	key, err := parseKey(pair.Key)
	if err != nil {
		return nil, err
	}
	return &Authority{certificate: certificate, key: key, pem: pair.Certificate, now: now}, nil
}

// CertificatePEM returns the authority's own certificate, which clients trust.
func (a *Authority) CertificatePEM() []byte {
	return append([]byte(nil), a.pem...)
}

// Client issues a certificate that authenticates to the API server as the
// given user in the given groups.
func (a *Authority) Client(user string, groups ...string) (Pair, error) {
	pair, err := sign(&x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, a, a.now())
	if err != nil {
		return Pair{}, fmt.Errorf("issue client certificate for %s: %w", user, err)
	}
	return pair, nil
}

// Server issues a certificate that a server shows under the given host names
// and IP addresses.
func (a *Authority) Server(hosts ...string) (Pair, error) {
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: hosts[0]},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
			continue
		}
		template.DNSNames = append(template.DNSNames, host)
	}
	pair, err := sign(template, a, a.now())
	if err != nil {
		return Pair{}, fmt.Errorf("issue server certificate for %s: %w", hosts[0], err)
	}
	return pair, nil
}

// sign completes template, makes a key for it and signs it by issuer; a nil
// issuer means that it signs itself.
func sign(template *x509.Certificate, issuer *Authority, now time.Time) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return Pair{}, err
	}
	template.SerialNumber = serial
	template.NotBefore, template.NotAfter = now.Add(-clockMargin).UTC(), now.Add(validFor).UTC()
	parent, signer := template, key
	if issuer != nil {
		parent, signer = issuer.certificate, issuer.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return Pair{}, err
	}
	keyPEM, err := encodeKey(key)
	if err != nil {
		return Pair{}, err
	}
	return Pair{Certificate: pem.EncodeToMemory(&pem.Block{Type: certificateBlock, Bytes: der}), Key: keyPEM}, nil
}

// SigningKey returns the file in dir that holds the key for service account
// tokens, and makes it when there is none.
func SigningKey(dir string) (string, error) {
	path := filepath.Join(dir, "service-accounts.key")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", fmt.Errorf("make service account key: %w", err)
	}
	content, err := encodeKey(key)
	if err != nil {
		return "", fmt.Errorf("encode service account key: %w", err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return "", fmt.Errorf("keep service account key: %w", err)
	}
	return path, nil
}
