package validate

import (
	"maps"
	"slices"
	"strings"

	"github.com/daemok/daemok/internal/nearest"
	"github.com/daemok/daemok/kube/api"
)

// unknownAnnotations warns of names in Daemok's domain that it does not know: they are misspelt,
// or of another version.
func (f *findings) unknownAnnotations(annotations map[string]string) {
	var known []string
	for _, k := range api.Keys() {
		if k.Kind == api.KindAnnotation && strings.HasPrefix(k.Name, api.GroupDaemok+"/") {
			known = append(known, k.Name)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if strings.HasPrefix(key, api.GroupDaemok+"/") && !slices.Contains(known, key) {
			f.warn("metadata.annotations["+key+"]", "has no effect, Daemok knows no annotation of this name%s", nearest.DidYouMean(key, known))
		}
	}
}
