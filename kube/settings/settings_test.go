package settings_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/daemok/daemok/kube/settings"
)

// guide is as installation guides have it, with every key.
var guide = map[string]string{
	"batchMaxDuration": "10s", "batchIdleDuration": "1s", "featureGates.driftEnabled": "true",
	"aws.clusterName": "shop", "aws.clusterEndpoint": "https://ABCD.gr7.eu-west-1.eks.amazonaws.com", "aws.clusterCABundle": "Y2E=",
	"aws.defaultInstanceProfile": "KarpenterNodeInstanceProfile-shop", "aws.enablePodENI": "true", "aws.enableENILimitedPodDensity": "true",
	"aws.isolatedVPC": "false", "aws.nodeNameConvention": "ip-name", "aws.vmMemoryOverheadPercent": "0.075",
	"aws.interruptionQueueName": "shop", "aws.tags": `{"team": "web"}`, "aws.assumeRoleARN": "arn:aws:iam::123456789012:role/k",
	"aws.assumeRoleDuration": "15m", "aws.reservedENIs": "1",
}

func TestEveryKeyOfAGuideIsTaken(t *testing.T) {
	s := settings.Read(guide)
	if len(s.Findings) > 0 {
		t.Errorf("it says %v", s.Findings)
	}
	want := map[string]string{
		"BATCH_MAX_DURATION": "10s", "BATCH_IDLE_DURATION": "1s", "CLUSTER_NAME": "shop", "CLUSTER_ENDPOINT": guide["aws.clusterEndpoint"],
		"CLUSTER_CA_BUNDLE": "Y2E=", "ISOLATED_VPC": "false", "VM_MEMORY_OVERHEAD_PERCENT": "0.075", "INTERRUPTION_QUEUE": "shop", "RESERVED_ENIS": "1",
		"ASSUME_ROLE_ARN": guide["aws.assumeRoleARN"], "ASSUME_ROLE_DURATION": "15m",
	}
	if !maps.Equal(s.Variables, want) {
		t.Errorf("variables are %v", s.Variables)
	}
	live := settings.Live{InstanceProfile: "KarpenterNodeInstanceProfile-shop", Tags: map[string]string{"team": "web"}, Drift: true}
	if !s.Live.Equal(live) {
		t.Errorf("live are %+v", s.Live)
	}
	if len(settings.Keys()) != len(guide) {
		t.Errorf("the guide has %d keys of %d", len(guide), len(settings.Keys()))
	}
}

func TestWhatIsWrongIsNamedAndChangesNothing(t *testing.T) {
	tests := map[string]struct {
		key, value, says string
		warning          bool
	}{
		"a length without a unit":      {"batchMaxDuration", "10", "want one above 0, such as 10s", false},
		"no time at all":               {"batchIdleDuration", "0s", "want one above 0", false},
		"a truth in other words":       {"featureGates.driftEnabled", "yes", "want true or false", false},
		"tags that are no JSON":        {"aws.tags", "team=web", `such as {"team": "web"}`, false},
		"tags that are no texts":       {"aws.tags", `{"cost": 42}`, "is no JSON object of texts", false},
		"a share of hundreds":          {"aws.vmMemoryOverheadPercent", "7.5", "such as 0.075", false},
		"a share that is no number":    {"aws.vmMemoryOverheadPercent", "NaN", "such as 0.075", false},
		"less than no interfaces":      {"aws.reservedENIs", "-1", "want 0 or more", false},
		"an endpoint without a scheme": {"aws.clusterEndpoint", "abcd.eks.amazonaws.com", "want the API server's", false},
		"a slip of the pen":            {"aws.clustername", "shop", "did you mean aws.clusterName?", true},
		"names that nodes cannot have": {"aws.nodeNameConvention", "resource-name", "remove the key", true},
		"interfaces in other words":    {"aws.enablePodENI", "no", "want true or false", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := settings.Read(map[string]string{tt.key: tt.value})
			if len(s.Findings) != 1 || s.Findings[0].Field != "data."+tt.key || !strings.Contains(s.Findings[0].Text, tt.says) || s.Findings[0].Warning != tt.warning {
				t.Errorf("it says %v", s.Findings)
			}
			if len(s.Variables) > 0 || !s.Live.Equal(settings.Live{}) {
				t.Errorf("it is taken: %+v", s)
			}
		})
	}
}

func TestATagThatIsSetInAnyEventIsIgnored(t *testing.T) {
	s := settings.Read(map[string]string{"aws.tags": `{"team": "web", "karpenter.sh/nodepool": "mine"}`})
	if !maps.Equal(s.Live.Tags, map[string]string{"team": "web"}) || len(s.Findings) != 1 || !s.Findings[0].Warning || !strings.Contains(s.Findings[0].Text, "karpenter.sh/nodepool is ignored") {
		t.Errorf("tags are %v, and it says %v", s.Live.Tags, s.Findings)
	}
}

// Interfaces that pods have to themselves are provided unless a setting says otherwise.
func TestPodInterfaces(t *testing.T) {
	for value, none := range map[string]bool{"true": false, "false": true, "": false} {
		if s := settings.Read(map[string]string{"aws.enablePodENI": value}); s.Live.NoPodInterfaces != none || len(s.Findings) > 0 || s.Live.Equal(settings.Live{}) == none {
			t.Errorf("%q: %+v", value, s)
		}
	}
}

func TestAnEmptyValueIsNone(t *testing.T) {
	if s := settings.Read(map[string]string{"aws.clusterEndpoint": "", "aws.tags": " "}); len(s.Findings)+len(s.Variables) > 0 {
		t.Errorf("it is %+v", s)
	}
}

func TestTheLevelOfTheLog(t *testing.T) {
	tests := map[string]struct {
		data  map[string]string
		level string
		wrong bool
	}{
		"as in a chart":                   {map[string]string{"zap-logger-config": `{"level": "debug", "encoding": "console"}`}, "debug", false},
		"the controller's own goes first": {map[string]string{"zap-logger-config": `{"level": "debug"}`, "loglevel.controller": "error"}, "error", false},
		"warnings are among what is told": {map[string]string{"loglevel.controller": "warn"}, "info", false},
		"no JSON":                         {map[string]string{"zap-logger-config": "level: debug"}, "", true},
		"no level":                        {map[string]string{"loglevel.controller": "loud"}, "", true},
		"nothing said":                    {map[string]string{"loglevel.webhook": "error"}, "", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := settings.ReadLogging(tt.data)
			if s.Variables["LOG_LEVEL"] != tt.level || len(s.Findings) > 0 != tt.wrong {
				t.Errorf("level %q, told %v", s.Variables["LOG_LEVEL"], s.Findings)
			}
		})
	}
}
