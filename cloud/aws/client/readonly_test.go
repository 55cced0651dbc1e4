package client

import "testing"

func TestOperationsThatReadAreKnownByTheirNames(t *testing.T) {
	for operation, want := range map[string]bool{
		"DescribeInstances": true, "GetParameter": true, "ListAutoshifts": true, "AssumeRole": true, "AssumeRoleWithWebIdentity": true,
		"CreateFleet": false, "TerminateInstances": false, "CreateTags": false, "RunInstances": false, "DeleteMessageBatch": false, "ReceiveMessage": false, "ModifyInstanceAttribute": false,
		"CreateLaunchTemplate": false, "AddRoleToInstanceProfile": false, "": false,
	} {
		if got := reads(operation); got != want {
			t.Errorf("reads(%q) = %v, want %v", operation, got, want)
		}
	}
}
