package fleet

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// Policies may look at anything that a launch says: one that demands encrypted volumes, or
// tokens of the metadata service, must not find the rehearsal wanting. So RunInstances
// says all that the template does, beside what is read inside the instance.
func TestARehearsalSaysAllThatALaunchDoes(t *testing.T) {
	r, err := Rehearse(request(t, func(r *Request) {
		everySetting(r)
		r.Class.Resolved.Placement = &nodeclass.PlacementGroup{ID: "pg-1", Strategy: nodeclass.Cluster}
		r.Launch.Options[0].Dedicated = true
	}))
	if err != nil {
		t.Fatal(err)
	}
	template, run := fields(t, r.Template.LaunchTemplateData), fields(t, r.Run)
	for _, i := range run["NetworkInterfaces"].([]any) {
		if i := i.(map[string]any); i["SubnetId"] != "subnet-a" {
			t.Errorf("an interface is in %v, want the subnet that a fleet would name", i["SubnetId"])
		} else {
			delete(i, "SubnetId")
		}
	}
	for name, want := range template {
		if name == "UserData" || name == "TagSpecifications" {
			continue
		}
		if got := run[name]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s of the rehearsal is %v; want that of the template: %v", name, got, want)
		}
	}
	if len(template) < 10 || !aws.ToBool(r.Run.DryRun) || r.Run.SubnetId != nil || len(r.Run.SecurityGroupIds) > 0 {
		t.Errorf("RunInstances = %+v; want a dry run, with subnet and groups on its interfaces alone", run)
	}
}

// fields are those that are set, by name.
func fields(t *testing.T, v any) map[string]any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return prune(out).(map[string]any)
}
