package aws

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"

	"github.com/daemok/daemok/cloud/aws/rights"
)

//go:embed cloudformation.yaml.tmpl
var cloudFormation string

// partResource is a part as the template shows it.
type partResource struct {
	Name, Condition, Document string
}

// accountTemplate is the CloudFormation template of all that an account needs.
func accountTemplate() (string, error) {
	text, err := template.New("cloudformation.yaml").Parse(cloudFormation)
	if err != nil {
		return "", fmt.Errorf("parse the CloudFormation template: %w", err)
	}
	var parts []partResource
	for _, p := range rights.Parts(rights.Scope{
		Partition: "${AWS::Partition}", Account: "${AWS::AccountId}", Region: "${AWS::Region}", Cluster: "${ClusterName}",
		NodeRoles: []string{"${KarpenterNodeRole.Arn}"}, Queue: "${KarpenterInterruptionQueue.Arn}", Features: rights.Features(),
	}) {
		one := partResource{Name: p.Name, Document: indented(p.Document().JSON(), 8)}
		if p.Name == optionalPart {
			one.Condition = p.Name
		}
		parts = append(parts, one)
	}
	var b strings.Builder
	b.WriteString("# Written by make generate; the source is cloudformation.yaml.tmpl and cloud/aws/rights.\n")
	if err := text.Execute(&b, map[string]any{"Parts": parts, "Rules": rules()}); err != nil {
		return "", fmt.Errorf("write the CloudFormation template: %w", err)
	}
	return b.String(), nil
}

// CloudFormation is a template with nothing but managed policies of the parts, for a cluster.
func CloudFormation(parts []rights.Part, cluster string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "AWSTemplateFormatVersion: \"2010-09-09\"\nDescription: Policies of Daemok's controller in cluster %s\n\nResources:\n", cluster)
	for _, p := range parts {
		fmt.Fprintf(&b, "  Karpenter%sPolicy:\n    Type: AWS::IAM::ManagedPolicy\n    Properties:\n      ManagedPolicyName: %s\n      PolicyDocument:\n%s",
			p.Name, PolicyName(p.Name, cluster), indented(p.Document().JSON(), 8))
	}
	b.WriteString("\nOutputs:\n")
	for _, p := range parts {
		fmt.Fprintf(&b, "  %sPolicyArn:\n    Value: !Ref Karpenter%sPolicy\n", p.Name, p.Name)
	}
	return b.String()
}
