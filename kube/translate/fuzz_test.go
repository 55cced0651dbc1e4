package translate

import (
	"strings"
	"testing"
)

// Whatever stands in a node's spec.providerID, what is asked of the cloud is one name,
// and that of an AWS instance where it is one.
func FuzzInstanceID(f *testing.F) {
	for _, text := range []string{"aws:///us-east-1a/i-0123456789abcdef0", "aws:///us-east-1a/", "i-0123456789abcdef0", "", "/", "kwok://node-1", "aws:///us-east-1a/1234/fargate-ip-10-0-0-1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id := InstanceID(text)
		if strings.Contains(id, "/") || !strings.HasSuffix(text, id) {
			t.Fatalf("MachineID(%q) = %q", text, id)
		}
		if again := InstanceID("aws:///us-east-1a/" + id); again != id {
			t.Fatalf("MachineID of a machine %q = %q", id, again)
		}
	})
}
