package catalog

import "github.com/daemok/daemok/cloud/aws/nodeclass"

// ResourceEnclaves counts the Nitro Enclaves that may run on an instance. An instance that is launched with them
// enabled has what AWS's device plugin offers unless it is configured otherwise.
const ResourceEnclaves = "aws.ec2.nitro/nitro_enclaves"

// enclaves is how many enclaves an instance may run, where they are asked for: none where the user's own launch
// template decides about them, and none on Windows, for which there is no device plugin.
func enclaves(t Type, spec nodeclass.Spec) int64 {
	supported, _ := t.Labels.Get(nodeclass.LabelNitroSandbox)
	if supported != "true" || spec.LaunchTemplate != "" || spec.EffectiveFamily().Windows() {
		return 0
	}
	return 1
}

// onRequest is what an instance of the type has only where it is launched for pods that ask for it, sorted.
func onRequest(t Type, spec nodeclass.Spec, f Fabric) (out []string) {
	if enclaves(t, spec) > 0 {
		out = append(out, ResourceEnclaves)
	}
	return append(out, f.onRequest()...)
}
