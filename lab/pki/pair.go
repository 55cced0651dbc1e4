package pki

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
)

// Pair is a certificate and its private key, both in PEM.
type Pair struct {
	Certificate []byte
	Key         []byte
}

// Write keeps the pair in dir as name.crt and name.key, readable by the owner
// alone. The key goes first, so that a certificate on disk always has its key.
func (p Pair) Write(dir, name string) error {
	if err := os.WriteFile(KeyFile(dir, name), p.Key, 0o600); err != nil {
		return err
	}
	return os.WriteFile(CertificateFile(dir, name), p.Certificate, 0o600)
}

// CertificateFile is where a pair of that name keeps its certificate.
func CertificateFile(dir, name string) string { return filepath.Join(dir, name+".crt") }

// KeyFile is where a pair of that name keeps its key.
func KeyFile(dir, name string) string { return filepath.Join(dir, name+".key") }

func readPair(dir, name string) (Pair, error) {
	certificate, err := os.ReadFile(CertificateFile(dir, name))
	if err != nil {
		return Pair{}, err
	}
	key, err := os.ReadFile(KeyFile(dir, name))
	if err != nil {
		return Pair{}, err
	}
	return Pair{Certificate: certificate, Key: key}, nil
}

func parseCertificate(content []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(content)
	if block == nil || block.Type != certificateBlock {
		return nil, errors.New("no certificate in PEM data: remove the lab's directory to start again")
	}
	return x509.ParseCertificate(block.Bytes)
}

func parseKey(content []byte) (*ecdsa.PrivateKey, error) {
	block, _ := pem.Decode(content)
	if block == nil || block.Type != keyBlock {
		return nil, errors.New("no private key in PEM data: remove the lab's directory to start again")
	}
	return x509.ParseECPrivateKey(block.Bytes)
}

// encodeKey writes the form that names the kind of key: the API server takes
// no other for service account keys.
func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: der}), nil
}
