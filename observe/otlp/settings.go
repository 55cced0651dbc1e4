package otlp

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// Defaults of OpenTelemetry.
const (
	usualEndpoint = "http://localhost:4318"
	usualTimeout  = 10 * time.Second
	tracesPath    = "/v1/traces"
)

// settings are how and where spans are sent.
type settings struct {
	endpoint   string
	headers    http.Header
	timeout    time.Duration // of one try
	compressed bool
	tls        *tls.Config // nil: as usual
}

// variables read what OpenTelemetry has for all signals, and of its own for traces, which goes
// before the other.
type variables func(string) string

func (v variables) of(name string) (value, from string) {
	for _, from := range []string{"OTEL_EXPORTER_OTLP_TRACES_" + name, "OTEL_EXPORTER_OTLP_" + name} {
		if value := strings.TrimSpace(v(from)); value != "" {
			return value, from
		}
	}
	return "", ""
}

func read(env variables) (s settings, err error) {
	for _, part := range []func(*settings) error{env.protocol, env.place, env.head, env.limits, env.trust} {
		if err := part(&s); err != nil {
			return settings{}, err
		}
	}
	return s, nil
}

func (v variables) protocol(*settings) error {
	if name, from := v.of("PROTOCOL"); name != "" && name != "http/protobuf" {
		return fmt.Errorf("%s is %q: spans are sent by http/protobuf alone, which collectors take on port 4318; leave it out", from, name)
	}
	return nil
}

func (v variables) place(s *settings) error {
	text, from := v.of("ENDPOINT")
	if text == "" {
		s.endpoint = usualEndpoint + tracesPath
		return nil
	}
	at, err := url.Parse(text)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		if strings.Contains(text, "@") {
			text = "…" // what is before it may be a password
		}
		return fmt.Errorf("%s is %q: want a URL such as http://collector.monitoring:4318", from, text)
	}
	if !strings.Contains(from, "TRACES") {
		at = at.JoinPath(tracesPath)
	}
	s.endpoint = at.String()
	return nil
}

// head reads headers, which may be secrets: errors do not have their values.
func (v variables) head(s *settings) error {
	s.headers = http.Header{}
	text, from := v.of("HEADERS")
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, has := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !has || name == "" || err != nil {
			return fmt.Errorf("%s: want name=value,name=value, with %% and two digits for what is not plain", from)
		}
		s.headers.Add(name, value)
	}
	return nil
}

func (v variables) limits(s *settings) error {
	s.timeout = usualTimeout
	if text, from := v.of("TIMEOUT"); text != "" {
		ms, err := strconv.Atoi(text)
		if err != nil || ms <= 0 {
			return fmt.Errorf("%s is %q: want milliseconds, such as 10000", from, text)
		}
		s.timeout = time.Duration(ms) * time.Millisecond
	}
	switch text, from := v.of("COMPRESSION"); text {
	case "", "none":
	case "gzip":
		s.compressed = true
	default:
		return fmt.Errorf("%s is %q: want gzip or none", from, text)
	}
	return nil
}

// trust reads which CA to trust, and which certificate the collector is to trust.
func (v variables) trust(s *settings) error {
	s.tls = &tls.Config{MinVersion: tls.VersionTLS12}
	if file, from := v.of("CERTIFICATE"); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
		s.tls.RootCAs = x509.NewCertPool()
		if !s.tls.RootCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("%s: %s has no certificate in PEM", from, file)
		}
	}
	certificate, from := v.of("CLIENT_CERTIFICATE")
	key, other := v.of("CLIENT_KEY")
	if certificate == "" && key == "" {
		return nil
	}
	if certificate == "" || key == "" {
		return fmt.Errorf("%s: OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY go together", from+other)
	}
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return fmt.Errorf("%s and %s: %w", from, other, err)
	}
	s.tls.Certificates = []tls.Certificate{pair}
	return nil
}
