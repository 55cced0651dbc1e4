package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/kube/pages"
)

// export is all there was before anything was written.
type export struct {
	Cluster     types.UID `json:"cluster"` // UID of its namespace kube-system
	At          time.Time `json:"at"`
	Objects     []string  `json:"objects"` // their files in the folder
	definitions []apiextensionsv1.CustomResourceDefinition
	objects     map[kind][]exported
}

// exported is an object, and the file that it is in.
type exported struct {
	*unstructured.Unstructured
	file string
}

const (
	indexFile       = "export.json" // written last: without it the export is not whole
	definitionsFile = "definitions.yaml"
)

// export writes the export, or reads the one that is there.
func (m *Mover) export(ctx context.Context, found *definitions) (*export, error) {
	system := &corev1.Namespace{}
	if err := m.Store.Get(ctx, client.ObjectKey{Name: "kube-system"}, system); err != nil {
		return nil, fmt.Errorf("read namespace kube-system, which distinguishes the cluster from others: %w", err)
	}
	kept, err := m.kept()
	if err != nil {
		return nil, fmt.Errorf("read the export in %s: %w", m.Folder, err)
	}
	if kept != nil {
		if kept.Cluster != system.UID {
			return nil, fmt.Errorf("the export in %s is of another cluster: give a new folder", m.Folder)
		}
		m.report("the export of %s in %s is gone on with", kept.At.UTC().Format(time.RFC3339), m.Folder)
		return kept, nil
	}
	if kept, err = m.write(ctx, found, system.UID); err != nil {
		return nil, fmt.Errorf("export to %s: %w", m.Folder, err)
	}
	m.report("exported %d objects and their definitions to %s", len(kept.Objects), m.Folder)
	return kept, nil
}

// write exports everything. Definitions that were changed halfway are known by the export
// of before, and are exported as they were.
func (m *Mover) write(ctx context.Context, found *definitions, cluster types.UID) (*export, error) {
	if err := os.MkdirAll(m.Folder, 0o700); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(m.Folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Name() != definitionsFile && !slices.ContainsFunc(kinds, func(k kind) bool { return k.plural == e.Name() }) {
			return nil, fmt.Errorf("the folder has %s, which is no part of an export: give an empty one", e.Name())
		}
	}
	out := &export{Cluster: cluster, At: m.Now().UTC().Truncate(time.Second), objects: map[kind][]exported{}}
	if out.definitions, err = m.readDefinitions(); errors.Is(err, fs.ErrNotExist) {
		out.definitions, err = m.writeDefinitions(found)
	}
	if err != nil {
		return nil, err
	}
	if err := m.detach(ctx, found); err != nil {
		return nil, err
	}
	for _, k := range kinds {
		if out.objects[k], err = m.read(ctx, found, k); err != nil {
			return nil, err
		}
		for i := range out.objects[k] {
			o := &out.objects[k][i]
			o.file = filepath.Join(k.plural, o.GetName()+".yaml")
			data, err := yaml.Marshal(o.Object)
			if err != nil {
				return nil, err
			}
			if err := save(filepath.Join(m.Folder, o.file), data); err != nil {
				return nil, err
			}
			out.Objects = append(out.Objects, o.file)
		}
	}
	if leaving := out.leaving(); len(leaving) > 0 {
		return nil, errors.Join(refusal(leaving), m.reattach(ctx, out))
	}
	index, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return nil, err
	}
	return out, save(filepath.Join(m.Folder, indexFile), append(index, '\n'))
}

// leaving names the objects whose deletion waits for a controller.
func (e *export) leaving() []string {
	var out []string
	for _, k := range kinds {
		for _, o := range e.objects[k] {
			if o.GetDeletionTimestamp() != nil {
				out = append(out, fmt.Sprintf("%s %s is being deleted and waits for %s: let the controller that ran before finish that, then stop it again",
					k.Kind, o.GetName(), strings.Join(o.GetFinalizers(), ", ")))
			}
		}
	}
	return out
}

// read reads the objects of a kind, once the API server goes by its definition.
func (m *Mover) read(ctx context.Context, found *definitions, k kind) ([]exported, error) {
	var out []exported
	err := m.until(ctx, "the objects "+k.definition()+" can be read", func() (err error) {
		if d := found.of[k.definition()]; d != nil && opened(d) {
			if err := m.probe(ctx, k); err != nil {
				return err
			}
		}
		out, err = m.listStored(ctx, found, k)
		return err
	})
	return out, err
}

// listStored reads the objects of a kind without loss, in the version that each has.
// Nothing is converted: fields that a version does not have are missing where an object
// that is stored in the other is read in it.
func (m *Mover) listStored(ctx context.Context, found *definitions, k kind) ([]exported, error) {
	read := map[string][]unstructured.Unstructured{}
	for _, version := range []string{older, newer} {
		if !found.serves(k, version) {
			continue
		}
		var err error
		if read[version], err = m.list(ctx, k, version); err != nil {
			return nil, err
		}
	}
	var out []exported
	first, second := read[older], map[string]*unstructured.Unstructured{}
	if !found.serves(k, older) {
		first = read[newer]
	}
	for i := range read[newer] {
		second[read[newer][i].GetName()] = &read[newer][i]
	}
	for i := range first {
		o := &first[i]
		twin := second[o.GetName()]
		switch {
		case twin != nil && isNewer(k, twin, o):
			o = twin
		case twin == o || twin == nil: // read in one version alone
			if !isNewer(k, o, o) {
				o.SetAPIVersion(k.of(older).GroupVersion().String())
			}
		}
		o.SetManagedFields(nil)
		out = append(out, exported{Unstructured: o})
	}
	return out, nil
}

// isNewer reports whether an object is of v1, by what that version alone has. It may have
// been read in the older version too.
func isNewer(k kind, o, asOlder *unstructured.Unstructured) bool {
	spec, _, _ := unstructured.NestedMap(o.Object, "spec")
	switch k {
	case claims:
		group, _, _ := unstructured.NestedString(spec, "nodeClassRef", "group")
		return group != ""
	case pools:
		group, _, _ := unstructured.NestedString(spec, "template", "spec", "nodeClassRef", "group")
		return group != ""
	}
	terms, _, _ := unstructured.NestedSlice(spec, "amiSelectorTerms")
	if o == asOlder {
		return len(terms) > 0 // one without an alias is the same in both
	}
	before, _, _ := unstructured.NestedMap(asOlder.Object, "spec")
	for _, t := range terms {
		if term, _ := t.(map[string]any); term["alias"] != nil || term["ssmParameter"] != nil {
			return true
		}
	}
	for name := range spec {
		if _, both := before[name]; !both {
			return true
		}
	}
	return false
}

// list reads all objects of a kind in a version, by name.
func (m *Mover) list(ctx context.Context, k kind, version string) ([]unstructured.Unstructured, error) {
	newPage := func() client.ObjectList {
		page := &unstructured.UnstructuredList{}
		page.SetGroupVersionKind(k.GroupKind.WithVersion(version))
		page.SetKind(k.Kind + "List")
		return page
	}
	var out []unstructured.Unstructured
	err := pages.EachList(ctx, m.Store, newPage, func(page client.ObjectList) { out = append(out, page.(*unstructured.UnstructuredList).Items...) })
	if err != nil {
		return nil, fmt.Errorf("list the objects %s in %s: %w", k.definition(), version, err)
	}
	slices.SortFunc(out, func(a, b unstructured.Unstructured) int { return strings.Compare(a.GetName(), b.GetName()) })
	return out, nil
}

func (m *Mover) writeDefinitions(found *definitions) ([]apiextensionsv1.CustomResourceDefinition, error) {
	var out []apiextensionsv1.CustomResourceDefinition
	text := ""
	for _, k := range kinds {
		if d := found.of[k.definition()]; d != nil {
			one := d.DeepCopy()
			one.APIVersion, one.Kind, one.ManagedFields = apiextensionsv1.SchemeGroupVersion.String(), "CustomResourceDefinition", nil
			data, err := yaml.Marshal(one)
			if err != nil {
				return nil, err
			}
			text += "---\n" + string(data)
			out = append(out, *one)
		}
	}
	return out, save(filepath.Join(m.Folder, definitionsFile), []byte(text))
}

func (m *Mover) readDefinitions() ([]apiextensionsv1.CustomResourceDefinition, error) {
	data, err := os.ReadFile(filepath.Join(m.Folder, definitionsFile))
	if err != nil {
		return nil, err
	}
	var out []apiextensionsv1.CustomResourceDefinition
	for text := range strings.SplitSeq("\n"+string(data), "\n---\n") {
		if strings.TrimSpace(text) == "" {
			continue
		}
		var d apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal([]byte(text), &d); err != nil {
			return nil, fmt.Errorf("%s: %w", definitionsFile, err)
		}
		out = append(out, d)
	}
	return out, nil
}

// kept reads the export that is whole; nil: there is none.
func (m *Mover) kept() (*export, error) {
	data, err := os.ReadFile(filepath.Join(m.Folder, indexFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := &export{objects: map[kind][]exported{}}
	if err := json.Unmarshal(data, out); err != nil {
		return nil, fmt.Errorf("%s: %w", indexFile, err)
	}
	if out.definitions, err = m.readDefinitions(); err != nil {
		return nil, err
	}
	for _, file := range out.Objects {
		text, err := os.ReadFile(filepath.Join(m.Folder, file))
		if err != nil {
			return nil, err
		}
		o := &unstructured.Unstructured{}
		if text, err = yaml.YAMLToJSON(text); err == nil {
			err = utiljson.Unmarshal(text, &o.Object)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, k := range kinds {
			if o.GroupVersionKind().GroupKind() == k.GroupKind {
				out.objects[k] = append(out.objects[k], exported{o, file})
			}
		}
	}
	return out, nil
}

// save writes a file that is whole or not there.
func save(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".part-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
