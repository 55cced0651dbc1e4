package up

import (
	"cmp"
	"fmt"
	"maps"

	"github.com/daemok/daemok/lab/directory"
)

const keptFile = "lab.json"

// Identity is what a lab keeps for as long as its directory exists: clients and instances
// hold on to it.
type Identity struct {
	Region      string
	ClusterName string
	EKSVersion  string
	Seed        *uint64
	Install     Installation
	Tags        map[string]string
	Ports       Ports
}

// resolve returns who the lab in the directory is: as it was before, or as
// wanted when it is new; empty fields of wanted ask for what was before or for
// the default. Wanting another identity than the kept one is an error.
func resolve(d directory.Directory, wanted Identity) (Identity, error) {
	var kept Identity
	found, err := d.Load(keptFile, &kept)
	if err != nil {
		return Identity{}, err
	}
	if !found {
		return wanted.withDefaults(), nil
	}
	if err := kept.agrees(wanted, d.Root()); err != nil {
		return Identity{}, err
	}
	kept.Ports.API = cmp.Or(wanted.Ports.API, kept.Ports.API)
	kept.Install = cmp.Or(kept.Install, AsProgram)
	return kept, nil
}

func (i Identity) withDefaults() Identity {
	i.Region = cmp.Or(i.Region, "us-east-1")
	i.ClusterName = cmp.Or(i.ClusterName, "lab")
	i.EKSVersion = cmp.Or(i.EKSVersion, "1.36")
	i.Install = cmp.Or(i.Install, AsProgram)
	if i.Seed == nil {
		i.Seed = new(uint64(1))
	}
	i.Tags = maps.Clone(i.Tags)
	return i
}

// agrees returns an error for the first setting that was asked for and differs.
func (i Identity) agrees(wanted Identity, root string) error {
	differs := func(flag, kept, asked string) error {
		return fmt.Errorf("the lab in %s was made with --%s %s, not %s: leave the flag out, remove the directory or choose another --dir",
			root, flag, kept, asked)
	}
	for _, s := range []struct{ flag, kept, asked string }{
		{"region", i.Region, wanted.Region},
		{"cluster-name", i.ClusterName, wanted.ClusterName},
		{"eks-version", i.EKSVersion, wanted.EKSVersion},
		{"install", string(cmp.Or(i.Install, AsProgram)), string(wanted.Install)},
	} {
		if s.asked != "" && s.asked != s.kept {
			return differs(s.flag, s.kept, s.asked)
		}
	}
	if wanted.Seed != nil && *wanted.Seed != *i.Seed {
		return differs("seed", fmt.Sprint(*i.Seed), fmt.Sprint(*wanted.Seed))
	}
	if wanted.Tags != nil && !maps.Equal(wanted.Tags, i.Tags) {
		return differs("tag", fmt.Sprint(i.Tags), fmt.Sprint(wanted.Tags))
	}
	return nil
}
