package identity

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
)

// Policy is one managed policy of the account.
type Policy struct {
	ID, Name, Path, Document string
	CreatedAt                time.Time
}

// PolicyARN names a managed policy of the account.
func (s *Identity) PolicyARN(p *Policy) string {
	return fmt.Sprintf("arn:aws:iam::%s:policy%s%s", s.Settings.ID, p.Path, p.Name)
}

// AttachedARN is the ARN of what a role's list of policies names: AWS's own are there by name.
func AttachedARN(policy string) string {
	if strings.HasPrefix(policy, "arn:") {
		return policy
	}
	return AWSPolicies + policy
}

// AWSPolicies is how the ARNs of AWS's own managed policies begin.
const AWSPolicies = "arn:aws:iam::aws:policy/"

// Policy finds a managed policy by its ARN; AWS's own exist under any name, with a document that allows nothing.
func (s *Identity) Policy(arn string) (*Policy, error) {
	if name, own := strings.CutPrefix(arn, AWSPolicies); own {
		return &Policy{ID: s.Settings.UniqueID("ANPA", name), Name: name, Path: "/", Document: `{"Version":"2012-10-17","Statement":[]}`, CreatedAt: s.CreatedAt}, nil
	}
	if p := s.Policies[arn]; p != nil {
		return p, nil
	}
	return nil, wire.Errorf("NoSuchEntity", "Policy %s does not exist or is not attachable.", arn).WithStatus(http.StatusNotFound)
}

// CheckDocument refuses, as IAM does, what is no policy.
func CheckDocument(document string) error {
	var read map[string]any
	if err := json.Unmarshal([]byte(document), &read); err != nil || read["Statement"] == nil {
		return wire.Errorf("MalformedPolicyDocument", "The policy failed legacy parsing: it is no JSON object with a Statement")
	}
	return nil
}
