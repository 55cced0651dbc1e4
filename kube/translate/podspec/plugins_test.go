package podspec

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// plugins are those of the default profile of kube-scheduler 1.36, with the
// features that are on by default.
var plugins = []string{
	"SchedulingGates", "PrioritySort", "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit",
	"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity", "DefaultPreemption",
	"NodeResourcesBalancedAllocation", "ImageLocality", "DefaultBinder", "NodeDeclaredFeatures", "DynamicResources",
}

// TestEveryPluginOfTheSchedulerHasARule: the table that users read says of
// each plugin whether it is followed, and names no other.
func TestEveryPluginOfTheSchedulerHasARule(t *testing.T) {
	page, err := os.ReadFile("../../../docs/concepts/scheduling.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([A-Z][A-Za-z]+) \| (followed: |scores only|not used: |decides nothing|pods )`).FindAllStringSubmatch(string(page), -1) {
		listed = append(listed, row[1])
	}
	if !slices.Equal(listed, plugins) {
		t.Errorf("the table lists %v\nwant %v", listed, plugins)
	}
}
