package kubectl

import (
	"strings"
)

// KindAndName are the arguments KIND NAME, which may be one as kubectl has it: KIND/NAME, with the kind's
// group behind it where kubectl prints that, as in nodepool.karpenter.sh/default. A pod's namespace may go before its name.
func KindAndName(args []string) []string {
	if len(args) != 1 {
		return args
	}
	resource, name, cut := strings.Cut(args[0], "/")
	if !cut {
		return args
	}
	kind, _, _ := strings.Cut(resource, ".")
	return []string{kind, name}
}
