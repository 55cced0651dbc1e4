// Package manifest reads manifests as kubectl does, and adds them to a cluster state. With it, `daemok
// plan -f` makes a plan before anything is applied.
//
// It promises that nothing is ignored silently: a field or a kind that it does not know is an error
// which names file, document, kind and field, and it lists kinds that no plan depends on. It writes to
// no cluster, and it decides nothing.
package manifest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	sigsyaml "sigs.k8s.io/yaml"

	autoscalingv1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	bufferv1alpha1 "github.com/daemok/daemok/kube/api/autoscaling/v1alpha1"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	overlays "github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/manifest/terraform"
)

// Source is a file with manifests, in YAML, JSON or Terraform.
type Source struct {
	Name   string // as users know it
	Data   []byte
	Beside bool // of Terraform, and read for what it declares alone
}

// Object is one manifest as it would be stored, and where it stands.
type Object struct {
	client.Object
	place string // file and document
}

// At names the object for people: "web.yaml, document 2, Deployment default/web".
func (o Object) At() string { return o.place + ", " + o.String() }

// String is kind and name: "Deployment default/web".
func (o Object) String() string {
	kind := o.GetObjectKind().GroupVersionKind().Kind
	return strings.TrimSuffix(kind+" "+o.id(), " ")
}

func (o Object) id() string {
	name := o.GetName()
	if name == "" {
		name = o.GetGenerateName()
	}
	if o.GetNamespace() == "" {
		return name
	}
	return o.GetNamespace() + "/" + name
}

// Read reads every document of the sources, in their order, those of Terraform after the others; a
// list stands for its items. Objects without a namespace that need one are put into the given one.
// What an API server would refuse for the schema of a kind, or for its rules in CEL, is an error. Notes
// say what of Terraform is left out, and what was taken for granted.
func Read(sources []Source, namespace string) (objects []Object, notes []string, err error) {
	r, err := newReader(namespace)
	if err != nil {
		return nil, nil, err
	}
	return r.all(sources)
}

// ReadNames is Read for objects that are to be deleted: of each, kind and name are read, and nothing else has to be
// there or to be right.
func ReadNames(sources []Source, namespace string) (objects []Object, notes []string, err error) {
	r, err := newReader(namespace)
	if err != nil {
		return nil, nil, err
	}
	r.namesOnly = true
	return r.all(sources)
}

func (r *reader) all(sources []Source) (objects []Object, notes []string, err error) {
	var files []terraform.Source
	for _, s := range sources {
		if terraform.IsSource(s.Name) || s.Beside {
			files = append(files, terraform.Source{Name: s.Name, Data: s.Data, Beside: s.Beside})
			continue
		}
		before := len(r.out)
		if err := r.source(s); err != nil {
			return nil, nil, err
		}
		if len(r.out) == before {
			return nil, nil, fmt.Errorf("%s has no manifest in it", s.Name)
		}
	}
	notes, err = r.terraform(files)
	if err == nil && len(files) > 0 && len(r.out)+len(notes) == 0 {
		err = fmt.Errorf("%s has no manifest in it: those of kubernetes_manifest and kubectl_manifest are read", files[0].Name)
	}
	return r.out, notes, err
}

// terraform reads the manifests of Terraform's files that can be evaluated.
func (r *reader) terraform(files []terraform.Source) (notes []string, err error) {
	manifests, err := terraform.Read(files, false)
	if err != nil {
		return nil, err
	}
	defaults := map[string]bool{}
	for _, m := range manifests {
		if m.Unread != "" {
			notes = append(notes, fmt.Sprintf("%s:%d: %s is left out: %s", m.File, m.Line, m.Resource, m.Unread))
			continue
		}
		if len(m.Unknown) > 0 {
			notes = append(notes, fmt.Sprintf("%s is left out: %s", m.Resource, strings.Join(m.Unknown, "; ")))
			continue
		}
		for _, name := range m.Defaults {
			defaults[name] = true
		}
		if err := r.resource(m); err != nil {
			return nil, err
		}
	}
	if len(defaults) > 0 {
		notes = append(notes, "variables of Terraform stand for their defaults: "+strings.Join(slices.Sorted(maps.Keys(defaults)), ", "))
	}
	return notes, nil
}

// resource reads the manifests of a resource of Terraform.
func (r *reader) resource(m terraform.Manifest) error {
	place := fmt.Sprintf("%s:%d, %s", m.File, m.Line, m.Resource)
	if m.Node == nil {
		return r.source(Source{Name: place, Data: []byte(m.Text)})
	}
	var value any
	if err := m.Node.Decode(&value); err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	return r.document(place, data)
}

type reader struct {
	namespace string
	namesOnly bool
	decoder   runtime.Decoder
	own       definitions // of Daemok's own kinds
	out       []Object
	at        map[string]string // where a kind and name stands
}

func newReader(namespace string) (*reader, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, karpv1.AddToScheme, awsv1.AddToScheme, v1alpha5.AddToScheme,
		awsv1alpha1.AddToScheme, overlays.AddToScheme, v1alpha1.AddToScheme,
		v1beta1.AddToScheme, bufferv1alpha1.AddToScheme, autoscalingv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register kinds: %w", err)
		}
	}
	own, err := readDefinitions()
	if err != nil {
		return nil, err
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	return &reader{namespace: namespace, decoder: decoder, own: own, at: map[string]string{}}, nil
}

func (r *reader) source(s Source) error {
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(s.Data)))
	for number := 1; ; {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		place := fmt.Sprintf("%s, document %d", s.Name, number)
		if err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
		data, err := sigsyaml.YAMLToJSONStrict(text)
		if err != nil {
			return fmt.Errorf("%s: %s", place, strings.ReplaceAll(err.Error(), "\n", ""))
		}
		if string(data) == "null" {
			continue // comments alone
		}
		if err := r.document(place, data); err != nil {
			return err
		}
		number++
	}
}

func (r *reader) document(place string, data []byte) error {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name, Namespace string
		} `json:"metadata"`
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("%s: this is no manifest: %w", place, err)
	}
	if head.APIVersion == "" || head.Kind == "" {
		return fmt.Errorf("%s: apiVersion or kind is missing", place)
	}
	if head.APIVersion == "v1" && head.Kind == "List" {
		for i, item := range head.Items {
			if err := r.document(fmt.Sprintf("%s, item %d", place, i+1), item); err != nil {
				return err
			}
		}
		return nil
	}
	named := place + ", " + strings.TrimSuffix(head.Kind+" "+strings.TrimPrefix(head.Metadata.Namespace+"/"+head.Metadata.Name, "/"), " ")
	object, err := r.object(data)
	if runtime.IsNotRegisteredError(err) {
		return fmt.Errorf("%s: kind %s of %s is not known here: leave it out; %s", named, head.Kind, head.APIVersion, understood())
	}
	if err != nil {
		return fmt.Errorf("%s: %s", named, r.words(err, data))
	}
	return r.take(place, object)
}

// words are those of an error without what says only that it is one, and with
// the field where it does not say that.
func (r *reader) words(err error, data []byte) string {
	if runtime.IsStrictDecodingError(err) {
		return strings.TrimPrefix(err.Error(), "strict decoding error: ")
	}
	if at := blame(data, r.decodes); at != "" {
		return at + ": " + err.Error()
	}
	return err.Error()
}

// decodes finds out whether the Go type takes a manifest, unknown fields aside.
func (r *reader) decodes(data []byte) error {
	if _, _, err := r.decoder.Decode(data, nil, nil); err != nil && !runtime.IsStrictDecodingError(err) {
		return err
	}
	return nil
}

func (r *reader) object(data []byte) (client.Object, error) {
	if r.namesOnly {
		var err error
		if data, err = nameOf(data); err != nil {
			return nil, err
		}
	}
	decoded, _, err := r.decoder.Decode(data, nil, nil)
	if err != nil {
		return nil, err
	}
	object, ok := decoded.(client.Object)
	if !ok {
		return nil, errors.New("this kind stands for no object: give its items")
	}
	if r.namesOnly {
		return object, nil
	}
	return object, r.own.allow(object.GetObjectKind().GroupVersionKind(), data)
}

// nameOf is a manifest without all that does not name its object.
func nameOf(data []byte) ([]byte, error) {
	type named struct {
		Name      string `json:"name,omitempty"`
		Namespace string `json:"namespace,omitempty"`
	}
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   named  `json:"metadata"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, err
	}
	return json.Marshal(head)
}

func (r *reader) take(place string, object client.Object) error {
	o := Object{object, place}
	scope, err := scopeOf(object)
	if err != nil {
		return fmt.Errorf("%s: %w", o.At(), err)
	}
	switch {
	case scope == namespaced && o.GetNamespace() == "":
		o.SetNamespace(r.namespace)
	case scope == wide && o.GetNamespace() != "":
		return fmt.Errorf("%s: metadata.namespace is %s, and the kind has none", o.At(), o.GetNamespace())
	}
	if o.GetName() == "" && o.GetGenerateName() == "" {
		return fmt.Errorf("%s: metadata.name is missing", o.At())
	}
	if o.GetName() == "" {
		o.SetName(fmt.Sprintf("%s%d", o.GetGenerateName(), len(r.out)+1))
	}
	if at, twice := r.at[o.String()]; twice {
		return fmt.Errorf("%s: it is there twice: see %s", o.At(), at)
	}
	r.at[o.String()] = place
	r.out = append(r.out, o)
	return nil
}
