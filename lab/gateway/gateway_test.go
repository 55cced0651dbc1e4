package gateway

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// open serves a gateway to a container that runs a second time and has printed three lines, and returns
// a client that reaches everything through it, as the API server does.
func open(t *testing.T) (*http.Client, string) {
	t.Helper()
	folder := t.TempDir()
	log := func(_, pod, container string, previous bool) string {
		return filepath.Join(folder, fmt.Sprintf("%s-%s-%v", pod, container, previous))
	}
	for previous, printed := range map[bool]string{false: "one\ntwo\nthree\n", true: "panic\n"} {
		if err := os.WriteFile(log("n", "real", "controller", previous), []byte(printed), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, dial := gateway(t, log)
	transport := &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}, log("n", "real", "controller", false)
}

// gateway opens a gateway, and returns it with what connects through it.
func gateway(t *testing.T, log func(namespace, pod, container string, previous bool) string) (*Gateway, func(ctx context.Context, _, address string) (net.Conn, error)) {
	t.Helper()
	https := httptest.NewTLSServer(nil) // for its certificate
	defer https.Close()
	socket := filepath.Join(t.TempDir(), "s")
	g, err := Open(t.Context(), Options{Socket: socket, Certificate: https.TLS.Certificates[0], Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g, func(ctx context.Context, _, address string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
		if err != nil {
			return nil, err
		}
		if _, err := io.WriteString(c, "CONNECT "+address+" HTTP/1.1\r\nHost: "+address+"\r\n\r\n"); err != nil {
			return nil, err
		}
		if _, err := http.ReadResponse(bufio.NewReader(io.LimitReader(c, int64(len("HTTP/1.1 200 Connection established\r\n\r\n")))), nil); err != nil {
			return nil, err
		}
		return c, nil
	}
}

func get(t *testing.T, c *http.Client, url string) (int, string) {
	t.Helper()
	r, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(body)
}

func TestLogsOfPods(t *testing.T) {
	c, _ := open(t)
	for path, want := range map[string]string{
		"/containerLogs/kube-system/real/controller":                       "one\ntwo\nthree\n",
		"/containerLogs/kube-system/real/controller?tailLines=2":           "two\nthree\n",
		"/containerLogs/kube-system/real/controller?tailLines=0":           "",
		"/containerLogs/kube-system/real/controller?tailLines=9":           "one\ntwo\nthree\n",
		"/containerLogs/kube-system/real/controller?limitBytes=5":          "one\nt",
		"/containerLogs/kube-system/pretended/controller?tailLines=9":      "",
		"/containerLogs/kube-system/real/sidecar":                          "",
		"/containerLogs/kube-system/real/controller?previous=true":         "panic\n",
		"/containerLogs/kube-system/real/sidecar?previous=true":            "previous terminated container \"sidecar\" in pod \"real\" not found\n",
		"/containerLogs/kube-system/real/controller?sinceSeconds=60":       "a lab does not keep when a container printed what: leave --since out, or choose lines by --tail\n",
		"/containerLogs/kube-system/real/controller?timestamps=false":      "one\ntwo\nthree\n",
		"/exec/kube-system/real/controller?command=sh":                     "the kubelets of a lab show logs alone, and know nothing of exec\n",
		"/containerLogs/kube-system/real/controller?tailLines=1&x=ignored": "three\n",
	} {
		if _, got := get(t, c, "https://any-node.ec2.internal:10250"+path); got != want {
			t.Errorf("%s = %q, want %q", path, got, want)
		}
	}
}

func TestALogIsFollowed(t *testing.T) {
	c, log := open(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://any-node:10250/containerLogs/n/real/controller?follow=true&tailLines=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	lines := bufio.NewReader(r.Body)
	if line, err := lines.ReadString('\n'); line != "three\n" {
		t.Fatalf("it begins with %q, %v", line, err)
	}
	f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("four\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := lines.ReadString('\n'); line != "four\n" {
		t.Errorf("it goes on with %q, %v", line, err)
	}
	if err := errors.Join(os.Rename(log, log+".previous"), os.WriteFile(log, []byte("of the next run\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if line, err := lines.ReadString('\n'); line != "" || err != io.EOF {
		t.Errorf("after the end of the run it goes on with %q, %v; want its end", line, err)
	}
}

// What is no kubelet's is where its address says.
func TestServicesOfThisMachine(t *testing.T) {
	c, _ := open(t)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "served") }))
	defer service.Close()
	if _, got := get(t, c, strings.Replace(service.URL, "127.0.0.1", "localhost", 1)); got != "served" {
		t.Errorf("the service answers %q", got)
	}
}

// A gateway that closes leaves no connection to a service open.
func TestCloseEndsConnectionsToServices(t *testing.T) {
	service, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	g, dial := gateway(t, nil)
	here, err := dial(t.Context(), "tcp", service.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	there, err := service.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(here, "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(there, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]net.Conn{"client": here, "service": there} {
		if err := c.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Read(make([]byte, 1)); n != 0 || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the connection of the %s is open after Close: %d, %v", name, n, err)
		}
	}
}
