package convert

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/daemok/daemok/internal/nearest"
	"github.com/daemok/daemok/kube/api/validate"
	kubesettings "github.com/daemok/daemok/kube/settings"
)

// settings are those of the v1alpha5 API that belong to pools and classes now.
type settings struct {
	from    *subject
	profile string
	tags    map[string]string
	drift   bool
	dense   bool // as many pods as a network allows is not the limit
}

const settingsName = "karpenter-global-settings"

func (s *subject) isSettings() bool {
	return s.APIVersion == "v1" && s.Kind == "ConfigMap" && s.Name == settingsName
}

// elsewhere are keys that are no matter of pools or classes, and where they are now.
var elsewhere = map[string]string{
	"batchMaxDuration":            "--batch-max-duration of the controller",
	"batchIdleDuration":           "--batch-idle-duration of the controller",
	"aws.clusterName":             "--cluster-name of the controller",
	"aws.clusterEndpoint":         "--cluster-endpoint of the controller",
	"aws.clusterCABundle":         "--cluster-ca-bundle of the controller",
	"aws.isolatedVPC":             "--isolated-vpc of the controller",
	"aws.vmMemoryOverheadPercent": "--vm-memory-overhead-percent of the controller",
	"aws.interruptionQueueName":   "--interruption-queue of the controller",
	"aws.reservedENIs":            "--reserved-enis of the controller",
	"aws.assumeRoleARN":           "--assume-role-arn of the controller",
	"aws.assumeRoleDuration":      "--assume-role-duration of the controller",
}

// nowhere are keys that nothing stands for, and what to do.
var nowhere = map[string]string{
	"aws.nodeNameConvention": "nodes are found by their instances, whatever they are called",
	"aws.enablePodENI":       "pod interfaces are always offered by types that have them",
}

func (c *converter) takeSettings(s *subject) {
	var from struct {
		Data map[string]string `json:"data"`
	}
	if err := json.Unmarshal(s.JSON, &from); err != nil {
		s.note(Refuses, "data", "its values must be texts: %s", err)
		return
	}
	if c.settings != nil {
		s.note(Refuses, "metadata.name", "%s is there twice, see %s: give one of them", settingsName, c.settings.from.At(""))
		return
	}
	read := kubesettings.Read(from.Data)
	c.settings = &settings{from: s, profile: read.Live.InstanceProfile, tags: read.Live.Tags, drift: read.Live.Drift, dense: read.Live.ManyPods}
	for _, key := range slices.Sorted(maps.Keys(from.Data)) {
		at := "data[" + key + "]"
		wrong := slices.IndexFunc(read.Findings, func(f validate.Finding) bool { return f.Field == "data."+key && !f.Warning })
		switch {
		case strings.TrimSpace(from.Data[key]) == "":
			s.note(Maps, at, "is empty, which is as if it were not there")
		case wrong >= 0:
			s.note(Refuses, at, "%s", read.Findings[wrong].Text)
		default:
			c.reportSetting(s, at, key, from.Data[key])
		}
	}
	if strings.TrimSpace(from.Data[keyDrift]) == "" && c.Gate == nil {
		s.note(Changes, "data", "%s is not set, so it was off: every NodePool gets a budget of 0 nodes for the reason Drifted", keyDrift)
	}
	if c.Gate != nil && *c.Gate != c.settings.drift {
		s.note(Changes, "data", "FEATURE_GATES says Drift=%t where this runs, and goes before %s: %s", *c.Gate, keyDrift, driftNow(*c.Gate))
	}
}

const keyDrift = "featureGates.driftEnabled"

// driftNow says what becomes of drift that was on or off.
func driftNow(was bool) string {
	if was {
		return "drift is always on now, and edits of pools and classes replace nodes too"
	}
	return "there is no such switch, so every NodePool gets a budget of 0 nodes for the reason Drifted"
}

// reportSetting says what becomes of a key that has a value.
func (c *converter) reportSetting(s *subject, at, key, value string) {
	switch {
	case key == "aws.defaultInstanceProfile":
		s.note(Maps, at, "spec.instanceProfile of every EC2NodeClass whose template names none")
	case key == "aws.tags":
		s.note(Maps, at, "spec.tags of every EC2NodeClass that is made, below the tags of its template")
		for _, f := range kubesettings.Read(map[string]string{key: value}).Findings {
			s.note(Loses, at, "%s", f.Text)
		}
	case key == "aws.enableENILimitedPodDensity" && c.settings.dense:
		s.note(Maps, at, "kubelet.maxPods 110 of every EC2NodeClass that says nothing else")
	case key == "aws.enableENILimitedPodDensity":
		s.note(Maps, at, "is always so")
	case key == keyDrift:
		s.note(Changes, at, "%s", driftNow(c.settings.drift))
	case elsewhere[key] != "":
		s.note(Maps, at, "set %s", elsewhere[key])
	case nowhere[key] != "":
		s.note(Loses, at, "%s", nowhere[key])
	default:
		s.note(Loses, at, "is no setting that is known here, remove it%s", nearest.DidYouMean(key, kubesettings.Keys()))
	}
}

// driftOff reports whether nodes were not replaced for being outdated.
func (c *converter) driftOff() bool {
	switch {
	case c.Gate != nil:
		return !*c.Gate
	case c.settings == nil:
		return c.NoDrift
	}
	return !c.settings.drift
}

// named is a comma list as its values, without space and doubles.
func named(list string) []string {
	var out []string
	for one := range strings.SplitSeq(list, ",") {
		if one = strings.TrimSpace(one); one != "" && !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return out
}
