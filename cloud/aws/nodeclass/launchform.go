package nodeclass

import (
	"cmp"
	"maps"
	"slices"
)

// Variants of instances of one class, whose launch templates or user data differ from those of a plain one: on demand,
// amd64, with 58 pods, without a capacity reservation, accelerators, Elastic Fabric Adapters or Nitro Enclaves.
const (
	VariantSpot          = "spot"
	VariantReserved      = "capacity reservation"
	VariantBlock         = "capacity block"
	VariantInterruptible = "interruptible capacity reservation"
	VariantDedicated     = "dedicated"
	VariantPartition     = "partition"
	VariantArm           = "arm64"
	VariantFewPods       = "few pods"  // up to FewPods
	VariantManyPods      = "many pods" // from ManyPods on
	VariantGPU           = "GPU"
	VariantNeuron        = "Neuron"
	VariantEFA           = "EFA"  // one adapter
	VariantEFAs          = "EFAs" // one on each network card
	VariantEnclaves      = "Nitro Enclaves"
	VariantRelease       = "image release"
)

// Bounds of the variants by numbers of pods.
const (
	FewPods  = 29
	ManyPods = 111
)

// LaunchForm is launch template and user data that a build makes of a class for made-up instances: each setting by its
// path.
type LaunchForm struct {
	Base map[string]string `json:"base"` // of a plain instance
	// Variants is what is otherwise for an instance of one variant; empty: it lacks the setting.
	Variants map[string]map[string]string `json:"variants,omitempty"`
}

// Difference is one setting that two forms have otherwise; what one of the two lacks is empty.
type Difference struct {
	Variant       string // of the instances; empty: plain ones, and all variants that say nothing else
	Setting       string
	Before, After string
}

// Named names the setting, and the variant if it is of one alone.
func (d Difference) Named() string {
	if d.Variant == "" {
		return d.Setting
	}
	return d.Setting + " (" + d.Variant + ")"
}

// Vary adds the form of a variant, of which what the base says too is left out.
func (f *LaunchForm) Vary(variant string, form map[string]string) {
	otherwise := map[string]string{}
	for path, value := range form {
		if f.Base[path] != value {
			otherwise[path] = value
		}
	}
	for path := range f.Base {
		if _, has := form[path]; !has {
			otherwise[path] = ""
		}
	}
	if f.Variants == nil {
		f.Variants = map[string]map[string]string{}
	}
	f.Variants[variant] = otherwise
}

// For is what instances of these variants have otherwise by the later form. A variant that one of the two forms lacks is
// not compared, nor what it says for others.
func (f LaunchForm) For(later LaunchForm, variants []string) []Difference {
	varied := map[string]bool{}
	var out []Difference
	for _, v := range variants {
		_, both := f.Variants[v]
		its, is := later.Variants[v]
		both = both && is
		for _, path := range slices.Concat(slices.Collect(maps.Keys(f.Variants[v])), slices.Collect(maps.Keys(its))) {
			if !varied[path] && both {
				out = f.compare(later, v, path, out)
			}
			varied[path] = true
		}
	}
	for path := range union(f.Base, later.Base) {
		if !varied[path] {
			out = f.compare(later, "", path, out)
		}
	}
	return sorted(out)
}

// All is what instances of any variant have otherwise by the later form. What is the same for a plain one is
// listed once.
func (f LaunchForm) All(later LaunchForm) []Difference {
	out := f.For(later, nil)
	for v := range f.Variants {
		for _, d := range f.For(later, []string{v}) {
			if plain := d; d.Variant != "" {
				plain.Variant = ""
				if !slices.Contains(out, plain) {
					out = append(out, d)
				}
			}
		}
	}
	return sorted(out)
}

// compare appends the setting at a path where it is another for the variant.
func (f LaunchForm) compare(later LaunchForm, variant, path string, to []Difference) []Difference {
	d := Difference{variant, path, f.of(variant, path), later.of(variant, path)}
	if d.Before == d.After {
		return to
	}
	return append(to, d)
}

func (f LaunchForm) of(variant, path string) string {
	if value, otherwise := f.Variants[variant][path]; otherwise {
		return value
	}
	return f.Base[path]
}

func union(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	if all == nil {
		return b
	}
	maps.Copy(all, b)
	return all
}

func sorted(d []Difference) []Difference {
	slices.SortFunc(d, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(a.Variant, b.Variant), cmp.Compare(a.Setting, b.Setting))
	})
	return d
}
