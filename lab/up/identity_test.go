package up

import (
	"strings"
	"testing"

	"github.com/daemok/daemok/lab/directory"
)

func dir(t *testing.T) directory.Directory {
	t.Helper()
	d, err := directory.At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestNewLabTakesDefaults(t *testing.T) {
	got, err := resolve(dir(t), Identity{ClusterName: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	if got.Region != "us-east-1" || got.ClusterName != "mine" || got.EKSVersion != "1.36" || *got.Seed != 1 {
		t.Errorf("resolve = %+v, want the defaults and the name asked for", got)
	}
}

// What instances and clients hold on to cannot change under them.
func TestKeptLabStaysItself(t *testing.T) {
	kept := Identity{
		Region: "eu-west-1", ClusterName: "kept", EKSVersion: "1.32", Seed: new(uint64(7)),
		Tags: map[string]string{"team": "a"}, Ports: Ports{API: 20001, AWS: 20002},
	}
	tests := map[string]struct {
		wanted Identity
		flag   string // named in the error; empty for none
	}{
		"nothing asked for":       {Identity{}, ""},
		"the same asked for":      {Identity{Region: "eu-west-1", Seed: new(uint64(7)), Tags: map[string]string{"team": "a"}}, ""},
		"another API port":        {Identity{Ports: Ports{API: 20009}}, ""},
		"another region":          {Identity{Region: "us-east-1"}, "--region"},
		"another name":            {Identity{ClusterName: "other"}, "--cluster-name"},
		"another version":         {Identity{EKSVersion: "1.36"}, "--eks-version"},
		"another seed":            {Identity{Seed: new(uint64(8))}, "--seed"},
		"other tags":              {Identity{Tags: map[string]string{"team": "b"}}, "--tag"},
		"no tags where some were": {Identity{Tags: map[string]string{}}, "--tag"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := dir(t)
			if err := d.Save(keptFile, kept); err != nil {
				t.Fatal(err)
			}
			got, err := resolve(d, tt.wanted)
			if tt.flag != "" {
				if err == nil || !strings.Contains(err.Error(), tt.flag) {
					t.Errorf("resolve(%+v) = %v, want an error naming %s", tt.wanted, err, tt.flag)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.Region != kept.Region || got.ClusterName != kept.ClusterName || got.Ports.AWS != kept.Ports.AWS {
				t.Errorf("resolve(%+v) = %+v, want what was kept", tt.wanted, got)
			}
			if want := tt.wanted.Ports.API; want != 0 && got.Ports.API != want {
				t.Errorf("API port = %d, want %d", got.Ports.API, want)
			}
		})
	}
}
