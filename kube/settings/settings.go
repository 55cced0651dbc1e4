// Package settings reads the ConfigMaps karpenter-global-settings and config-logging, which configure
// v1alpha5 controllers.
//
// It promises that a value which cannot be read changes nothing and is reported with what to do, and
// that no key is ignored silently. It reads no cluster and changes no environment: it returns the
// meaning of the keys to its caller, which has the flags and variables that take precedence.
package settings

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/daemok/daemok/internal/nearest"
	"github.com/daemok/daemok/kube/api/validate"
)

// Settings is what the ConfigMap says. Its zero value is that of none.
type Settings struct {
	Variables map[string]string // environment variables that its keys stand for, with their values
	Live      Live
	Findings  []validate.Finding // what is wrong or doubtful in it, sorted by key
}

// Live is what takes effect while the controller runs.
type Live struct {
	InstanceProfile string            // of templates that name none
	Tags            map[string]string // of all instances of templates, before their own
	Drift           bool              // nodes of Provisioners whose image is another now are replaced
	ManyPods        bool              // nodes of Provisioners run 110 pods, whatever addresses they have
	NoPodInterfaces bool              // they give pods no interfaces of their own
}

// Equal reports whether both say the same.
func (l Live) Equal(m Live) bool {
	return l.InstanceProfile == m.InstanceProfile && maps.Equal(l.Tags, m.Tags) && l.Drift == m.Drift && l.ManyPods == m.ManyPods && l.NoPodInterfaces == m.NoPodInterfaces
}

// variables are the keys that stand for environment variables, and how their values are
// checked.
var variables = map[string]struct {
	name  string
	check func(string) error
}{
	"batchMaxDuration":            {"BATCH_MAX_DURATION", length},
	"batchIdleDuration":           {"BATCH_IDLE_DURATION", length},
	"aws.clusterName":             {"CLUSTER_NAME", anything},
	"aws.clusterEndpoint":         {"CLUSTER_ENDPOINT", address},
	"aws.clusterCABundle":         {"CLUSTER_CA_BUNDLE", anything},
	"aws.isolatedVPC":             {"ISOLATED_VPC", truth},
	"aws.vmMemoryOverheadPercent": {"VM_MEMORY_OVERHEAD_PERCENT", share},
	"aws.interruptionQueueName":   {"INTERRUPTION_QUEUE", anything},
	"aws.reservedENIs":            {"RESERVED_ENIS", count},
	"aws.assumeRoleARN":           {"ASSUME_ROLE_ARN", anything},
	"aws.assumeRoleDuration":      {"ASSUME_ROLE_DURATION", length},
}

// Keys of what takes effect while the controller runs, and of what is taken and cannot be
// honoured.
const (
	keyProfile    = "aws.defaultInstanceProfile"
	keyTags       = "aws.tags"
	keyDrift      = "featureGates.driftEnabled"
	keyENILimited = "aws.enableENILimitedPodDensity"
	keyPodENI     = "aws.enablePodENI"
	keyNodeNames  = "aws.nodeNameConvention"
)

// Keys lists the keys, sorted.
func Keys() []string {
	all := slices.Collect(maps.Keys(variables))
	all = append(all, keyProfile, keyTags, keyDrift, keyENILimited, keyPodENI, keyNodeNames)
	slices.Sort(all)
	return all
}

// Read reads the data of the ConfigMap. An empty value is none.
func Read(data map[string]string) Settings {
	s := Settings{Variables: map[string]string{}}
	for _, key := range slices.Sorted(maps.Keys(data)) {
		value := strings.TrimSpace(data[key])
		if value == "" {
			continue
		}
		if err := s.take(key, value); err != nil {
			s.Findings = append(s.Findings, validate.Finding{Field: "data." + key, Text: fmt.Sprintf("%q %v", value, err)})
		}
	}
	return s
}

func (s *Settings) take(key, value string) (err error) {
	if v, is := variables[key]; is {
		if err := v.check(value); err != nil {
			return err
		}
		s.Variables[v.name] = value
		return nil
	}
	switch key {
	case keyProfile:
		s.Live.InstanceProfile = value
	case keyTags:
		s.Live.Tags, err = tags(value)
		for _, tag := range slices.Sorted(maps.Keys(s.Live.Tags)) {
			if validate.SetsTag(tag) {
				delete(s.Live.Tags, tag)
				s.doubt(key, tag+" is ignored, Daemok sets this tag: remove it")
			}
		}
	case keyDrift:
		err = truth(value)
		s.Live.Drift = value == "true"
	case keyENILimited:
		err = truth(value)
		s.Live.ManyPods = value == "false"
	case keyPodENI:
		err = truth(value)
		s.Live.NoPodInterfaces = value == "false"
	case keyNodeNames:
		if value != "ip-name" {
			s.doubt(key, "nodes have the names that their instances give themselves, and are found by their provider IDs; remove the key")
		}
	default:
		s.doubt(key, "there is no such key"+nearest.DidYouMean(key, Keys()))
	}
	return err
}

// doubt notes what is taken and does nothing.
func (s *Settings) doubt(key, text string) {
	s.Findings = append(s.Findings, validate.Finding{Field: "data." + key, Text: text, Warning: true})
}

func anything(string) error { return nil }

func length(text string) error {
	if d, err := time.ParseDuration(text); err != nil || d <= 0 {
		return fmt.Errorf("is no length of time: want one above 0, such as 10s")
	}
	return nil
}

func truth(text string) error {
	if text != "true" && text != "false" {
		return fmt.Errorf("is neither: want true or false")
	}
	return nil
}

func share(text string) error {
	if f, err := strconv.ParseFloat(text, 64); err != nil || !(f >= 0 && f < 1) {
		return fmt.Errorf("is no share: want a number from 0 to below 1, such as 0.075")
	}
	return nil
}

func count(text string) error {
	if n, err := strconv.Atoi(text); err != nil || n < 0 {
		return fmt.Errorf("is no number of network interfaces: want 0 or more")
	}
	return nil
}

func address(text string) error {
	if u, err := url.Parse(text); err != nil || u.Scheme == "" || u.Host == "" {
		return fmt.Errorf("is no URL: want the API server's, such as https://ABCD.gr7.eu-west-1.eks.amazonaws.com")
	}
	return nil
}

func tags(text string) (map[string]string, error) {
	var out map[string]string
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return nil, fmt.Errorf(`is no JSON object of texts: want one such as {"team": "web"}: %w`, err)
	}
	if _, empty := out[""]; empty {
		return nil, fmt.Errorf("has a tag without a name")
	}
	return out, nil
}

// Keys of ConfigMap config-logging.
const (
	keyZap   = "zap-logger-config"
	keyLevel = "loglevel.controller"
)

// levels are what zap's levels are here.
var levels = map[string]string{"debug": "debug", "info": "info", "warn": "info", "error": "error", "dpanic": "error", "panic": "error", "fatal": "error"}

// ReadLogging reads the data of ConfigMap config-logging, of which the level counts: the
// controller's own, else that of all.
func ReadLogging(data map[string]string) Settings {
	s := Settings{Variables: map[string]string{}}
	var zap struct {
		Level string `json:"level"`
	}
	if text := strings.TrimSpace(data[keyZap]); text != "" {
		if err := json.Unmarshal([]byte(text), &zap); err != nil {
			s.Findings = append(s.Findings, validate.Finding{Field: "data." + keyZap, Text: fmt.Sprintf(`is no JSON: want zap's configuration, such as {"level": "info"}: %v`, err)})
		}
	}
	for _, level := range []string{strings.TrimSpace(data[keyLevel]), zap.Level} {
		if level == "" {
			continue
		}
		if mine, known := levels[level]; known {
			s.Variables["LOG_LEVEL"] = mine
			break
		}
		s.Findings = append(s.Findings, validate.Finding{Field: "data", Text: fmt.Sprintf("%q is no level: want debug, info, warn or error", level)})
	}
	return s
}

// And is both together.
func (s Settings) And(t Settings) Settings {
	out := Settings{Variables: map[string]string{}, Live: s.Live, Findings: slices.Concat(s.Findings, t.Findings)}
	maps.Copy(out.Variables, s.Variables)
	maps.Copy(out.Variables, t.Variables)
	return out
}
