package output

import (
	"strings"

	"github.com/daemok/daemok/kube/api"
)

// groups are the API groups of kinds that commands name; the others are named without one, as those
// of core and things at AWS are.
var groups = map[string]string{
	"NodeClaim": api.GroupKarpenter, "NodePool": api.GroupKarpenter, "Provisioner": api.GroupKarpenter,
	"EC2NodeClass": api.GroupAWS, "AWSNodeTemplate": api.GroupAWS,
	"Deployment": "apps", "DaemonSet": "apps", "StatefulSet": "apps",
	"CustomResourceDefinition": "apiextensions.k8s.io",
}

// ObjectOf is an object as -o name has it; without a name there is none. kubectl knows no
// namespace there.
func ObjectOf(kind, name string) Object {
	if at := strings.LastIndex(name, "/"); at >= 0 {
		name = name[at+1:]
	}
	return Object{Group: groups[kind], Kind: kind, Name: name}
}

// Refer is the object in words such as "NodePool/web" or "ServiceAccount/kube-system/karpenter";
// of words that name none there is none.
func Refer(words string) Object {
	kind, name, is := strings.Cut(words, "/")
	if !is || kind == "" || strings.ContainsAny(words, " :") {
		return Object{}
	}
	return ObjectOf(kind, name)
}

// Each maps a list for an answer; that of an empty one is empty, which JSON shows as [] and not as null.
func Each[A, B any](list []A, view func(A) B) []B {
	out := make([]B, 0, len(list))
	for _, x := range list {
		out = append(out, view(x))
	}
	return out
}
