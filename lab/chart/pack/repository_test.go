package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/repo/v1"
)

var alpha = release{version: "0.2.0-alpha.1", at: time.Date(2026, 11, 27, 6, 41, 43, 0, time.UTC)}

// charts lays out two charts, of another version than the release, last changed at a time.
func charts(t *testing.T, changedAt time.Time, more ...string) string {
	t.Helper()
	folder := t.TempDir()
	files := append([]string{
		"one/Chart.yaml", "apiVersion: v2\nname: one\nversion: 9.9.9\nappVersion: 9.9.9\n",
		"one/values.yaml", "# how many\nreplicas: 2\n",
		"one/templates/a.yaml", "kind: ConfigMap\n",
		"two-crd/Chart.yaml", "apiVersion: v2\nname: two-crd\nversion: 0.0.1\n",
		"notes.txt", "no chart",
	}, more...)
	for pair := range slices.Chunk(files, 2) {
		name := filepath.Join(folder, pair[0])
		err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(pair[1]), 0o644), os.Chtimes(name, changedAt, changedAt))
		if err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestChartsAreARepositoryOfTheRelease(t *testing.T) {
	to := filepath.Join(t.TempDir(), "charts")
	names, err := alpha.write(charts(t, time.Now()), to)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"one-0.2.0-alpha.1.tgz", "two-crd-0.2.0-alpha.1.tgz"}; !slices.Equal(names, want) {
		t.Fatalf("packaged %q; want %q", names, want)
	}
	index, err := repo.LoadIndexFile(filepath.Join(to, "index.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"one", "two-crd"} {
		v, err := index.Get(name, "0.2.0-alpha.1")
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(to, names[i]))
		if err != nil {
			t.Fatal(err)
		}
		digest := sha256.Sum256(content)
		if !slices.Equal(v.URLs, names[i:i+1]) || v.Digest != hex.EncodeToString(digest[:]) || !v.Created.Equal(alpha.at) {
			t.Errorf("%s is listed as %+v", name, v)
		}
		c, err := loader.LoadFile(filepath.Join(to, names[i]))
		if err != nil || c.Metadata.Version != "0.2.0-alpha.1" || c.AppVersion() != "0.2.0-alpha.1" {
			t.Errorf("%s reads as %+v, %v; want the version of the release", names[i], c, err)
		}
	}
}

func TestTheSameChartsMakeTheSameBytes(t *testing.T) {
	var before map[string][]byte
	for _, changedAt := range []time.Time{time.Unix(1e9, 0), time.Unix(2e9, 0)} {
		to := filepath.Join(t.TempDir(), "charts")
		names, err := alpha.write(charts(t, changedAt), to)
		if err != nil {
			t.Fatal(err)
		}
		made := map[string][]byte{}
		for _, name := range append(names, "index.yaml") {
			if made[name], err = os.ReadFile(filepath.Join(to, name)); err != nil {
				t.Fatal(err)
			}
			if before != nil && !bytes.Equal(before[name], made[name]) {
				t.Errorf("%s depends on when its files were written", name)
			}
		}
		before = made
	}
}

func TestPackageRefuses(t *testing.T) {
	tests := map[string]struct {
		more []string
		want string
	}{
		"a chart that cannot be read": {[]string{"three/Chart.yaml", "{"}, "three"},
		"a chart that needs another":  {[]string{"three/Chart.yaml", "apiVersion: v2\nname: three\nversion: 1.0.0\ndependencies: [{name: four, version: 1.0.0}]\n"}, "depends on four"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := alpha.write(charts(t, time.Now(), tt.more...), t.TempDir()); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v; want one with %q", err, tt.want)
			}
		})
	}
}

func TestNoChartsMakeNoRepository(t *testing.T) {
	to := filepath.Join(t.TempDir(), "charts")
	if names, err := alpha.write(t.TempDir(), to); err != nil || len(names) != 0 {
		t.Errorf("packaged %q, %v; want none", names, err)
	}
	if _, err := os.Stat(to); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder %s is there: %v", to, err)
	}
}
