package class

import (
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
)

// reports lets time pass, reconciles, and checks which events were published since.
func (s *story) reports(d time.Duration, want ...string) {
	s.t.Helper()
	s.now, s.events = s.now.Add(d), nil
	look(s.t, s.r)
	var got []string
	for _, e := range s.events {
		got = append(got, e.Reason)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		s.t.Errorf("at %v: events %v, want %v", s.now.Sub(start), got, want)
	}
}

func TestUsersAreReportedOncePerChange(t *testing.T) {
	s := begin(t)
	s.edit(func(c *awsv1.EC2NodeClass) { c.CreationTimestamp = metav1.NewTime(start) })
	s.subnets = &nodeclass.MissingError{Reason: nodeclass.SubnetsNotFound, Text: "no subnet matches team=a"}
	s.reports(0, "SubnetsNotFound") // what is sure is reported at once
	s.reports(time.Minute)
	s.subnets = &nodeclass.MissingError{Reason: nodeclass.SubnetsNotFound, Text: "no subnet matches team=b"}
	s.reports(time.Minute, "SubnetsNotFound")
	s.subnets = nil
	s.verify = &cloud.RefusedError{Reason: awsv1.ReasonCreateFleetAuthCheckFailed, Cause: "may not"}
	s.reports(time.Minute, awsv1.ReasonCreateFleetAuthCheckFailed)
	s.reports(time.Minute)
	s.verify = nil
	s.reports(time.Minute)
	s.verify = &cloud.RefusedError{Reason: awsv1.ReasonCreateFleetAuthCheckFailed, Cause: "may not"}
	s.reports(time.Hour, awsv1.ReasonCreateFleetAuthCheckFailed)
}

// Types for which an expression has no amount are not launched; a class that is
// left without any is not ready.
func TestExpressionsWithoutAnAmount(t *testing.T) {
	why := errors.New("kubelet.maxPods: evaluate \"vcpus - 4\" for m5.large: the result -2 is no amount")
	s := begin(t)
	s.unsized = nodeclass.Unsized{Types: 3, Of: 40, First: "m5.large", Why: why}
	s.reports(0, "SpecWarning")
	s.reports(time.Minute)
	if got, _ := look(t, s.r); !condition.IsTrue(got, awsv1.ClassReady) {
		t.Errorf("a class that 37 types are left for is not ready: %s", condition.Describe(condition.Get(got, awsv1.ClassReady)))
	}
	s.unsized.Types = 40
	s.reports(time.Minute, awsv1.ReasonKubeletExpressionEvaluationFailed)
	got, _ := look(t, s.r)
	if v := condition.Get(got, awsv1.ClassValidationSucceeded); v.Status != metav1.ConditionFalse || !strings.Contains(v.Message, "spec.kubelet.maxPods") {
		t.Errorf("%s; want false, naming spec.kubelet.maxPods", condition.Describe(v))
	}
}

func TestANewClassIsQuietWhileItIsLookedAt(t *testing.T) {
	s := begin(t)
	s.edit(func(c *awsv1.EC2NodeClass) { c.CreationTimestamp = metav1.NewTime(start) })
	s.verify = errors.New("connection reset")
	s.reports(0)
	s.reports(4 * time.Second)
	s.reports(8*time.Second, condition.ReasonAwaiting)
	s.verify = errors.New("connection reset, request 2")
	s.reports(time.Minute)
}

// Every condition says what is true of its own part, whatever else is wrong.
func TestAWrongSpecHidesNothing(t *testing.T) {
	tests := map[string]struct {
		change func(*awsv1.EC2NodeClass)
		reason string
		text   string
	}{
		"user data that machines cannot read": {func(c *awsv1.EC2NodeClass) {
			c.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "bottlerocket@latest"}}
			c.Spec.UserData = new("[settings]\n#!/bin/sh\necho 1\n")
		}, awsv1.ReasonInvalidUserData, "spec.userData: line 3"},
		"an amount that is an expression": {func(c *awsv1.EC2NodeClass) {
			c.Spec.Kubelet = &awsv1.Kubelet{KubeReserved: map[string]string{"cpu": "double(vcpus)*50.0"}}
		}, awsv1.ReasonKubeletExpressionsDisabled, "spec.kubelet.kubeReserved[cpu]"},
		"a threshold that is none": {func(c *awsv1.EC2NodeClass) {
			c.Spec.Kubelet = &awsv1.Kubelet{EvictionHard: awsv1.EvictionThresholds{"memory.available": "little"}}
		}, awsv1.ReasonInvalidKubeletConfiguration, "memory.available"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, again := reconcile(t, &account{}, class(tt.change))
			for _, kind := range lookedUp(subject(got)) {
				if !condition.IsTrue(got, kind) {
					t.Errorf("%s, want true", condition.Describe(condition.Get(got, kind)))
				}
			}
			v := condition.Get(got, awsv1.ClassValidationSucceeded)
			if v.Status != metav1.ConditionFalse || v.Reason != tt.reason || !strings.Contains(v.Message, tt.text) {
				t.Errorf("%s; want %s saying %q", condition.Describe(v), tt.reason, tt.text)
			}
			if again != retryFirst {
				t.Errorf("looks again after %v, want %v", again, retryFirst)
			}
		})
	}
}
