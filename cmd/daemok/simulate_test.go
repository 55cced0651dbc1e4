package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recordedShop writes the files of a service with two replicas, and returns their prefix.
func recordedShop(t *testing.T) string {
	t.Helper()
	prefix := filepath.Join(t.TempDir(), "shop")
	for suffix, text := range map[string]string{
		".deployments.csv": "name,cpu_milli,memory_mib,min,max,curve,spread,anti_affinity,pdb_max_unavailable,startup_s\nweb,900,1000,2,2,none,1,0,1,5\n",
		".replicas.csv":    "second,name,replicas\n0,web,2\n",
	} {
		if err := os.WriteFile(prefix+suffix, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return prefix
}

func TestSimulateKeepsItsKeys(t *testing.T) {
	got := keysOf(t, "simulate", "--services", recordedShop(t), "--to", "3600", "--policy", "ours,untouched", "-o", "json")
	for _, key := range strings.Fields("boundDollars mixedDollars hours pods tooLarge policies") {
		if _, ok := got[key]; !ok || len(got) != 6 {
			t.Errorf("it prints no %s, or others: %v", key, got)
		}
	}
	policies := got["policies"].(map[string]any)
	for _, name := range []string{"ours", "untouched"} {
		one, _ := policies[name].(map[string]any)
		for _, key := range strings.Fields("costDollars gap evictions interruptions pendingP50Seconds pendingP99Seconds nodesMean launched cpuSeconds") {
			if _, ok := one[key].(float64); !ok || len(one) != 9 {
				t.Errorf("policy %s has no number %s, or others: %v", name, key, one)
			}
		}
	}
	if len(policies) != 2 {
		t.Errorf("policies are %v; want those that were named", policies)
	}
}

func TestSimulatePrintsALineForEachPolicy(t *testing.T) {
	out, err := run(t, "simulate", "--services", recordedShop(t), "--to", "3600", "--policy", "untouched", "--policy", "plain")
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(out, "POLICY")
	if at < 0 || !strings.Contains(out, "2 pods in 1 h;") {
		t.Fatalf("it prints\n%s", out)
	}
	if lines := strings.Split(strings.TrimSpace(out[at:]), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[1], "untouched ") || !strings.HasPrefix(lines[2], "plain ") {
		t.Errorf("the table is\n%s\nwant the policies in the order given", out[at:])
	}
}

func TestSimulateHasARowForEachPolicy(t *testing.T) {
	out, err := run(t, "simulate", "--services", recordedShop(t), "--to", "1800", "--policy", "untouched,plain", "-o", "custom-columns=POLICY:.policy,EVICTIONS:.evictions")
	if want := "POLICY EVICTIONS untouched 0 plain 0"; err != nil || strings.Join(strings.Fields(out), " ") != want {
		t.Errorf("it prints %v,\n%s\nwant %s", err, out, want)
	}
}

func TestSimulateInterruptsSpotInstances(t *testing.T) {
	out, err := run(t, "simulate", "--services", recordedShop(t), "--to", "7200", "--policy", "ours", "--capacity", "spot", "--interruptions-per-hour", "2", "-o", "custom-columns=INTERRUPTIONS:.interruptions")
	if err != nil || strings.HasSuffix(strings.TrimSpace(out), " 0") || !strings.Contains(out, "INTERRUPTIONS") {
		t.Errorf("it prints %v,\n%s\nwant some interruptions", err, out)
	}
	if _, err := run(t, "simulate", "--services", recordedShop(t), "--to", "3600", "--spot-prices", "wild"); err == nil || !strings.Contains(err.Error(), "use moving or fixed") {
		t.Errorf("unknown prices are %v", err)
	}
}
