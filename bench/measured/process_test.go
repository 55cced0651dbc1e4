package measured

import "testing"

// A controller that is measured has the rights of its role, and none of the lab's owner.
func TestAControllerActsAsItsOwnRole(t *testing.T) {
	lab := exported("export KUBECONFIG='/lab/admin'\nexport CONTROLLER_KUBECONFIG='/lab/controller'\nexport AWS_ACCESS_KEY_ID='owner'\nexport CONTROLLER_AWS_ACCESS_KEY_ID='role'\n")
	got := variables(lab, "one", 8081)
	for name, want := range map[string]string{"KUBECONFIG": "/lab/controller", "AWS_ACCESS_KEY_ID": "role", "POD_NAME": "one", "HEALTH_PROBE_PORT": "8081"} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if lab["KUBECONFIG"] != "/lab/admin" {
		t.Errorf("the lab's own variables were changed: %v", lab)
	}
}
