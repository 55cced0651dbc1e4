// Package migrate moves clusters to today's APIs: from older APIs of Karpenter and from a Cluster
// Autoscaler, and back to Karpenter.
//
// Each folder is one command of `daemok`, or a part of one. No controller uses them: it serves the
// v1alpha5 API itself, by kube/translate/provisioner. They promise that nodes and pods stay, and that
// a command which was stopped can be given again. They know values of the cloud port, and call no
// cloud: package autoscaler gets the groups as values.
package migrate
