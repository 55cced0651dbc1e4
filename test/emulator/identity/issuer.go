package identity

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// tokenAlgorithms are those that IAM takes of an OIDC provider.
var tokenAlgorithms = []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.ES256, jose.ES384, jose.ES512}

// What may be wrong with a token's form and signature.
var (
	errNoToken  = errors.New("it is no JSON web token")
	ErrNoKey    = errors.New("no key of its issuer is known under its key ID")
	errUnsigned = errors.New("its signature is not that of the key")
)

// SetIssuerKeys says with which keys the API server of the cluster signs the tokens of service accounts, in
// place of those before: a JSON web key set, or PEM blocks of public keys, certificates or private keys, of
// which the public half is kept. AWS reads them from the issuer's URL; here nothing is read. Without keys no
// token is believed. They are not part of what Export writes.
func (s *Identity) SetIssuerKeys(keys []byte) error {
	read, err := readKeys(keys)
	if err != nil {
		return fmt.Errorf("read the keys of issuer %s: %w", s.Issuer(), err)
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.IssuerKeys = read
	return nil
}

// Issuer is the URL of the cluster's OIDC issuer, as EKS tells it: what its tokens must have for iss.
func (s *Identity) Issuer() string { return s.Account().Issuer }

func readKeys(text []byte) (jose.JSONWebKeySet, error) {
	var set jose.JSONWebKeySet
	if text = bytes.TrimSpace(text); bytes.HasPrefix(text, []byte("{")) {
		if err := json.Unmarshal(text, &set); err != nil {
			return set, fmt.Errorf("they are no JSON web key set: %w", err)
		}
		for _, k := range set.Keys {
			if !k.IsPublic() {
				return set, fmt.Errorf("key %q of the set is not public", k.KeyID)
			}
		}
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		key, err := publicKey(block)
		if err != nil {
			return set, fmt.Errorf("read a block of PEM, %s: %w", block.Type, err)
		}
		id, err := keyID(key)
		if err != nil {
			return set, err
		}
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: key, KeyID: id, Use: "sig"})
	}
	if len(set.Keys) == 0 {
		return set, errors.New("there is none: give a JSON web key set, or PEM as the API server's --service-account-key-file")
	}
	return set, nil
}

// publicKey is the key of a block, of which private ones have a public half.
func publicKey(block *pem.Block) (any, error) {
	half := func(key any, err error) (any, error) {
		if err != nil {
			return nil, err
		}
		signer, is := key.(crypto.Signer)
		if !is {
			return nil, fmt.Errorf("%T signs nothing", key)
		}
		return signer.Public(), nil
	}
	switch block.Type {
	case "PUBLIC KEY":
		return x509.ParsePKIXPublicKey(block.Bytes)
	case "RSA PUBLIC KEY":
		return x509.ParsePKCS1PublicKey(block.Bytes)
	case "CERTIFICATE":
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		return c.PublicKey, nil
	case "EC PRIVATE KEY":
		key, err := x509.ParseECPrivateKey(block.Bytes)
		return half(key, err)
	case "RSA PRIVATE KEY":
		key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
		return half(key, err)
	case "PRIVATE KEY":
		return half(x509.ParsePKCS8PrivateKey(block.Bytes))
	}
	return nil, errors.New("want a public key, a certificate or a private key")
}

// keyID is the one that the API server writes into its tokens: the hash of the key.
func keyID(key any) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return "", fmt.Errorf("encode a public key: %w", err)
	}
	sum := sha256.Sum256(der)
	return base64.RawURLEncoding.EncodeToString(sum[:]), nil
}

// Claims are those of a service account's token.
type Claims struct {
	jwt.Claims
	Kubernetes struct {
		Pod struct {
			Name string `json:"name"`
			UID  string `json:"uid"`
		} `json:"pod"`
	} `json:"kubernetes.io"`
}

// ServiceAccount is whose the token is; empty where it is no service account's.
func (c Claims) ServiceAccount() (namespace, name string) {
	rest, is := strings.CutPrefix(c.Subject, "system:serviceaccount:")
	if !is {
		return "", ""
	}
	namespace, name, _ = strings.Cut(rest, ":")
	return namespace, name
}

// Token is a token as it was sent, with claims that none has verified.
type Token struct {
	signed *jwt.JSONWebToken
	Claims Claims
}

// ReadToken takes a token apart; it fails with errNoToken.
func ReadToken(text string) (Token, error) {
	signed, err := jwt.ParseSigned(text, tokenAlgorithms)
	if err != nil {
		return Token{}, errNoToken
	}
	t := Token{signed: signed}
	if err := signed.UnsafeClaimsWithoutVerification(&t.Claims); err != nil {
		return Token{}, errNoToken
	}
	return t, nil
}

// Verify fails with errNoKey or errUnsigned unless a key of the issuer has signed the token. Of issuers
// but the cluster's no key is known.
func (t Token) Verify(issuer string, keys jose.JSONWebKeySet) error {
	found := keys.Keys
	if id := t.signed.Headers[0].KeyID; id != "" {
		found = keys.Key(id)
	}
	if t.Claims.Issuer != issuer || len(found) == 0 {
		return ErrNoKey
	}
	for _, key := range found {
		if t.signed.Claims(key.Key, &Claims{}) == nil {
			return nil
		}
	}
	return errUnsigned
}

// tokenLeeway is how far in the future a token may be dated; a pick of ours.
const tokenLeeway = 5 * time.Minute

// Later reports whether a date of a token, which need not be there, is not yet reached.
func Later(date *jwt.NumericDate, now time.Time) bool {
	return date != nil && date.Time().After(now.Add(tokenLeeway))
}
