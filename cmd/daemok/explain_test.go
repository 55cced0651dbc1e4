package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/observe/record"
)

// explained runs `daemok explain` on a cluster.
func explained(t *testing.T, store client.Client, args ...string) (string, error) {
	t.Helper()
	cmd := explainCommand(func(*target) (client.Client, error) { return store, nil })
	var out bytes.Buffer
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetOut(&out)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// What a controller decided can be asked when it is gone.
func TestExplainReadsWhatAControllerLeft(t *testing.T) {
	scheme, err := kinds()
	if err != nil {
		t.Fatal(err)
	}
	store := fake.NewClientBuilder().WithScheme(scheme).Build()
	if _, err := explained(t, store, "node", "ip-1"); err == nil || !strings.Contains(err.Error(), "no decision is on record in namespace kube-system: there is no ConfigMap daemok-record-0") {
		t.Errorf("before anything was decided: %v", err)
	}
	leave(t, store, record.Statement{About: record.Object{Kind: record.Pod, Name: "shop/web-1"}, Said: "has no place", Why: "limit cpu is 2 short"})
	for name, args := range map[string][]string{
		"by namespace":         {"pod", "web-1", "-n", "shop"},
		"with its namespace":   {"pods", "shop/web-1"},
		"as kubectl names it":  {"pod/web-1", "-n", "shop"},
		"as it is printed":     {"pod/shop/web-1"},
		"where it is the only": {"po", "shop/web-1", "-n", "default"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := explained(t, store, args...)
			if err != nil || !strings.Contains(out, "pod/shop/web-1 has no place\n  because: limit cpu is 2 short\nthe record changed ") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	out, err := explained(t, store, "pod", "shop/web-1", "-o", "json")
	var list []record.Statement
	if err != nil || json.Unmarshal([]byte(out), &list) != nil || len(list) != 1 || list[0].Why != "limit cpu is 2 short" {
		t.Errorf("as JSON: %v\n%s", err, out)
	}
	for want, args := range map[string][]string{
		"on record are shop/web-1": {"pod", "web-2"},
		"nor about any node":       {"node", "ip-1"},
		"ask about a node, pod":    {"service", "web"},
		"say what to explain":      {"web-1"},
		"nor about any nodepool":   {"nodepool.karpenter.sh/web"},
		"want yaml, table":         {"node", "ip-1", "-o", "yml"},
	} {
		if _, err := explained(t, store, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("explain %s: %v, want %q", strings.Join(args, " "), err, want)
		}
	}
}

// leave writes a record as a controller does when it ends.
func leave(t *testing.T, store client.Client, s record.Statement) {
	t.Helper()
	decisions := &record.Record{}
	s.From = time.Now()
	decisions.Note(s)
	ended, end := context.WithCancel(t.Context())
	end()
	ring := &record.Ring{Record: decisions, Store: store, Live: store, Namespace: "kube-system", Log: slog.New(slog.DiscardHandler), Count: func(string) {}, Now: time.Now}
	if err := ring.Run(ended); err != nil {
		t.Fatal(err)
	}
}
