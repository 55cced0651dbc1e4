package drift

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/translate"
)

// poolChanged compares the fingerprint of what the instance was made from with that of the
// pool, and names what differs as far as the claim still says.
func (s *subject) poolChanged() (differs string, known bool) {
	has, version := s.claim.Annotations[api.AnnotationNodePoolHash], s.claim.Annotations[api.AnnotationNodePoolHashVersion]
	if has == "" || version != s.pool.HashVersion {
		return "", false
	}
	if has == s.pool.Hash {
		return "", true
	}
	parts := s.templateChanges()
	if len(parts) == 0 {
		parts = []string{"a label or an annotation that the node still has is gone"}
	}
	return fmt.Sprintf("the template of %s was changed: %s", s.pool.ID, strings.Join(parts, "; ")), true
}

// templateChanges compares field by field. What a pool no longer sets on labels and
// annotations cannot be distinguished from what other programs set there.
func (s *subject) templateChanges() []string {
	has, want := &s.claim.Spec, &s.pool.Template.Spec
	var out []string
	add := func(field, was, is string) {
		if was != is {
			out = append(out, fmt.Sprintf("%s was %s and is %s", field, orNone(was), orNone(is)))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.pool.Template.Metadata.Labels)) {
		add("label "+key, s.claim.Labels[key], s.pool.Template.Metadata.Labels[key])
	}
	for _, key := range slices.Sorted(maps.Keys(s.pool.Template.Metadata.Annotations)) {
		add("annotation "+key, s.claim.Annotations[key], s.pool.Template.Metadata.Annotations[key])
	}
	add("taints", taints(has.Taints), taints(want.Taints))
	add("startupTaints", taints(has.StartupTaints), taints(want.StartupTaints))
	add("nodeClassRef", translate.ClassID(has.NodeClassRef), translate.ClassID(want.NodeClassRef))
	add("expireAfter", length(has.ExpireAfter), length(want.ExpireAfter))
	add("terminationGracePeriod", length(has.TerminationGracePeriod), length(want.TerminationGracePeriod))
	return out
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

func taints(list []corev1.Taint) string {
	words := make([]string, len(list))
	for i := range list {
		words[i] = translate.Taints(list[i : i+1])[0].String()
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// length spells a length of time in one way; what is none stays as it is.
func length[D ~string](text D) string {
	if d, err := time.ParseDuration(string(text)); err == nil {
		return d.String()
	}
	return string(text)
}
