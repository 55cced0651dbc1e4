package gateway

import (
	"bufio"
	"context"
	"crypto/tls"
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

// open serves a gateway with one pod that has printed three lines, and returns a client that reaches
// everything through it, as the API server does.
func open(t *testing.T) (*http.Client, string) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(log, []byte("one\ntwo\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	https := httptest.NewTLSServer(nil) // for its certificate
	defer https.Close()
	socket := filepath.Join(t.TempDir(), "s")
	g, err := Open(t.Context(), Options{Socket: socket, Certificate: https.TLS.Certificates[0], Log: func(_, pod string) string {
		if pod == "real" {
			return log
		}
		return ""
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	dial := func(ctx context.Context, _, address string) (net.Conn, error) {
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
	transport := &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}, log
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
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://any-node:10250/containerLogs/n/real/c?follow=true&tailLines=1", nil)
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
