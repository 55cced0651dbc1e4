package mark

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/daemok/daemok/kube/api"
)

// MemoryOverhead is the share of memory, from 0 to below 1, that hypervisor and kernel of the
// class's instances are taken to keep; nil where the class does not say.
func MemoryOverhead(annotations map[string]string) (*float64, error) {
	text, said := annotations[api.AnnotationMemoryOverhead]
	if !said {
		return nil, nil
	}
	share, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(share >= 0 && share < 1) {
		return nil, &Error{api.AnnotationMemoryOverhead, fmt.Errorf("%q is no share of memory: want 0 or more and less than 1, such as \"0.03\" for 3 %%", text)}
	}
	return &share, nil
}
