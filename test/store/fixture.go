package store

import (
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

var class = karpv1.NodeClassReference{Group: api.GroupAWS, Kind: "EC2NodeClass", Name: "default"}

// ClaimSpec is the least that a NodeClaim must say to be admitted.
func ClaimSpec() karpv1.NodeClaimSpec {
	return karpv1.NodeClaimSpec{NodeClassRef: class, Requirements: []karpv1.Requirement{}}
}

// PoolSpec is the least that a NodePool must say to be admitted.
func PoolSpec() karpv1.NodePoolSpec {
	var spec karpv1.NodePoolSpec
	spec.Template.Spec.NodeClassRef, spec.Template.Spec.Requirements = class, []karpv1.Requirement{}
	return spec
}
