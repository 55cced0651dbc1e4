package convert

import (
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
	strictjson "sigs.k8s.io/json"

	"github.com/daemok/daemok/internal/nearest"
	"github.com/daemok/daemok/kube/api/admit"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/crds"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/api/validate"
)

// checks are the rules of an API server and of the controller.
type checks struct {
	gate    *admit.Gate
	schemas map[string]*apiextensionsv1.JSONSchemaProps // by apiVersion and kind
}

func newChecks() (*checks, error) {
	all, err := crds.All()
	if err != nil {
		return nil, err
	}
	kinds := []string{"Provisioner", awsv1alpha1.Kind, "NodePool", "EC2NodeClass"}
	all = slices.DeleteFunc(all, func(d *apiextensionsv1.CustomResourceDefinition) bool {
		return !slices.Contains(kinds, d.Spec.Names.Kind)
	})
	c := &checks{schemas: map[string]*apiextensionsv1.JSONSchemaProps{}}
	for _, d := range all {
		for i := range d.Spec.Versions {
			v := &d.Spec.Versions[i]
			c.schemas[d.Spec.Group+"/"+v.Name+" "+d.Spec.Names.Kind] = v.Schema.OpenAPIV3Schema
		}
	}
	c.gate, err = admit.New(all)
	return c, err
}

// unknown is how a field that a type does not have is reported.
var unknown = regexp.MustCompile(`^unknown field "(.*)"$`)

// admits reads a document into its type, and reports whether it may be used.
func (c *checks) admits(s *subject, into client.Object) bool {
	if s.Name == "" {
		s.note(Refuses, "metadata.name", "is missing: give the object a name")
		return false
	}
	c.standIns(s)
	strict, err := strictjson.UnmarshalStrict(s.JSON, into)
	if err != nil {
		c.unread(s, err)
		return false
	}
	for _, err := range strict {
		if m := unknown.FindStringSubmatch(err.Error()); m != nil {
			s.note(Refuses, m[1], "is no field of %s%s", withArticle(s.Kind), c.meant(s.APIVersion+" "+s.Kind, m[1]))
		} else {
			s.note(Refuses, "", "%s", err)
		}
	}
	c.check(s, s.JSON, into, "")
	return !s.refused()
}

func withArticle(kind string) string {
	if strings.HasPrefix(kind, "A") || strings.HasPrefix(kind, "E") {
		return "an " + kind
	}
	return "a " + kind
}

// fieldIn is the field that the decoder says it failed at.
func fieldIn(text string) string {
	_, after, found := strings.Cut(text, "field ")
	if !found {
		return ""
	}
	name, _, _ := strings.Cut(after, " ")
	_, name, _ = strings.Cut(name, ".")
	return name
}

// check reports what an API server or the controller would refuse.
func (c *checks) check(s *subject, data []byte, typed client.Object, prefix string) bool {
	object := map[string]any{}
	if err := utiljson.Unmarshal(data, &object); err != nil { // integers stay such
		s.note(Refuses, "", "%s", err)
		return false
	}
	good := true
	refuse := func(at, text string) {
		good = false
		if !slices.ContainsFunc(s.entry.Findings, func(f Finding) bool { return f.Weight == Refuses && f.Field == at }) {
			s.note(Refuses, at, "%s%s", prefix, text)
		}
	}
	if problems := validation.IsDNS1123Subdomain(typed.GetName()); len(problems) > 0 {
		refuse("metadata.name", strings.Join(problems, ", "))
	}
	for _, f := range validate.Errors(findingsOf(typed)) {
		refuse(f.Field, f.Text)
	}
	for _, p := range c.problems(object) {
		refuse(p.field, p.advice(s.hidden))
	}
	return good
}

func each(err error) []error {
	if all, ok := errors.AsType[utilerrors.Aggregate](err); ok {
		return all.Errors()
	}
	return []error{err}
}

func findingsOf(o client.Object) []validate.Finding {
	switch x := o.(type) {
	case *v1alpha5.Provisioner:
		return validate.Provisioner(x)
	case *awsv1alpha1.AWSNodeTemplate:
		return validate.AWSNodeTemplate(x)
	case *karpv1.NodePool:
		return validate.NodePool(x)
	case *awsv1.EC2NodeClass:
		return validate.EC2NodeClass(x, validate.ClassOptions{Expressions: true})
	}
	return nil
}

// holds reports whether what was made may be applied.
func (c *checks) holds(m made) bool {
	document, err := Clean(m.object)
	if err != nil {
		m.from.note(Refuses, "", "%s", err)
		return false
	}
	data, err := json.Marshal(document)
	if err != nil {
		m.from.note(Refuses, "", "%s", err)
		return false
	}
	kind := m.object.GetObjectKind().GroupVersionKind().Kind
	return c.check(m.from, data, m.object, "as "+kind+" "+m.object.GetName()+" it would be refused: ")
}

// moved are fields that people write where another generation has them.
var moved = map[string]string{
	"NodePool spec.ttlSecondsUntilExpired":    "spec.template.spec.expireAfter, such as 720h",
	"NodePool spec.ttlSecondsAfterEmpty":      "spec.disruption.consolidateAfter, such as 30s, with consolidationPolicy WhenEmpty",
	"NodePool spec.consolidation":             "spec.disruption.consolidationPolicy",
	"NodePool spec.providerRef":               "spec.template.spec.nodeClassRef",
	"NodePool spec.provider":                  "an EC2NodeClass that spec.template.spec.nodeClassRef names",
	"NodePool spec.requirements":              "spec.template.spec.requirements",
	"NodePool spec.taints":                    "spec.template.spec.taints",
	"NodePool spec.startupTaints":             "spec.template.spec.startupTaints",
	"NodePool spec.labels":                    "spec.template.metadata.labels",
	"NodePool spec.annotations":               "spec.template.metadata.annotations",
	"NodePool spec.kubeletConfiguration":      "spec.kubelet of its EC2NodeClass",
	"NodePool spec.template.spec.kubelet":     "spec.kubelet of its EC2NodeClass",
	"NodePool spec.disruption.expireAfter":    "spec.template.spec.expireAfter",
	"NodePool spec.limits.resources":          "spec.limits",
	"EC2NodeClass spec.subnetSelector":        "spec.subnetSelectorTerms",
	"EC2NodeClass spec.securityGroupSelector": "spec.securityGroupSelectorTerms",
	"EC2NodeClass spec.amiSelector":           "spec.amiSelectorTerms",
}

// meant names the field that was probably meant.
func (c *checks) meant(kind, path string) string {
	_, name, _ := strings.Cut(kind, " ")
	if to, known := moved[name+" "+path]; known {
		return ": write " + to
	}
	at := c.schemas[kind]
	names := step.FindAllString(path, -1)
	for _, one := range names[:len(names)-1] {
		if at = below(at, one); at == nil {
			return ": remove it"
		}
	}
	near := nearest.DidYouMean(names[len(names)-1], slices.Sorted(maps.Keys(at.Properties)))
	if near == "" {
		return ": remove it"
	}
	return near
}

// below is the schema of a field or of items.
func below(s *apiextensionsv1.JSONSchemaProps, name string) *apiextensionsv1.JSONSchemaProps {
	switch {
	case s == nil:
		return nil
	case strings.HasPrefix(name, "[") && s.Items != nil:
		return s.Items.Schema
	case s.AdditionalProperties != nil:
		return s.AdditionalProperties.Schema
	}
	if p, is := s.Properties[strings.Trim(name, "[]")]; is {
		return &p
	}
	return nil
}
