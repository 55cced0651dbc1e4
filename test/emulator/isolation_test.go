package emulator_test

import (
	"context"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

func TestTypesReportEnclavesAndProcessorFeatures(t *testing.T) {
	a, ctx := open(t), context.Background()
	tests := map[string]struct {
		kind     types.InstanceType
		enclaves types.NitroEnclavesSupport
		features []types.SupportedAdditionalProcessorFeature
	}{
		"neither":              {"m5.large", types.NitroEnclavesSupportUnsupported, nil},
		"enclaves":             {"m5.xlarge", types.NitroEnclavesSupportSupported, nil},
		"memory is encrypted":  {"m6a.large", types.NitroEnclavesSupportUnsupported, []types.SupportedAdditionalProcessorFeature{types.SupportedAdditionalProcessorFeatureAmdSevSnp}},
		"machines in machines": {"r8i.xlarge", types.NitroEnclavesSupportSupported, []types.SupportedAdditionalProcessorFeature{types.SupportedAdditionalProcessorFeatureNestedVirtualization}},
	}
	for name, tt := range tests {
		out, err := a.ec2.DescribeInstanceTypes(ctx, &ec2.DescribeInstanceTypesInput{InstanceTypes: []types.InstanceType{tt.kind}})
		a.must(err)
		got := out.InstanceTypes[0]
		if got.NitroEnclavesSupport != tt.enclaves || !slices.Equal(got.ProcessorInfo.SupportedFeatures, tt.features) {
			t.Errorf("%s: %s has enclaves %s and features %v, want %s and %v", name, tt.kind, got.NitroEnclavesSupport, got.ProcessorInfo.SupportedFeatures, tt.enclaves, tt.features)
		}
	}
	found := func(pairs ...string) (kinds []types.InstanceType) {
		pages := ec2.NewDescribeInstanceTypesPaginator(a.ec2, &ec2.DescribeInstanceTypesInput{Filters: filters(pairs...)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			a.must(err)
			for _, kind := range page.InstanceTypes {
				kinds = append(kinds, kind.InstanceType)
			}
		}
		return kinds
	}
	if with, without := found("nitro-enclaves-support", "supported"), found("nitro-enclaves-support", "unsupported"); len(with) < 300 || len(without) < 300 || slices.Contains(with, "m5.large") {
		t.Errorf("%d types have enclaves and %d have not, want some hundreds of either", len(with), len(without))
	}
	if kinds := found("processor-info.supported-features", "amd-sev-snp", "instance-type", "r6a.*"); !slices.Equal(kinds, []types.InstanceType{"r6a.2xlarge", "r6a.4xlarge", "r6a.large", "r6a.xlarge"}) {
		t.Errorf("of r6a %v encrypt their memory", kinds)
	}
}

// What a type lacks is refused for its override alone; the record of an instance shows what it has.
func TestLaunchesHaveEnclavesAndFeaturesOfTheirType(t *testing.T) {
	enclave := func(d *types.RequestLaunchTemplateData) {
		d.EnclaveOptions = &types.LaunchTemplateEnclaveOptionsRequest{Enabled: aws.Bool(true)}
	}
	encrypted := func(d *types.RequestLaunchTemplateData) {
		d.CpuOptions = &types.LaunchTemplateCpuOptionsRequest{AmdSevSnp: types.AmdSevSnpSpecificationEnabled}
	}
	nested := func(value types.NestedVirtualizationSpecification) func(*types.RequestLaunchTemplateData) {
		return func(d *types.RequestLaunchTemplateData) {
			d.CpuOptions = &types.LaunchTemplateCpuOptionsRequest{NestedVirtualization: value}
		}
	}
	tests := map[string]struct {
		says    func(*types.RequestLaunchTemplateData)
		has     string // a type that takes it
		lacks   string // one that does not; empty: all take it
		enclave bool
		snp     types.AmdSevSnpSpecification
		nests   types.NestedVirtualizationSpecification
	}{
		"enclaves":               {says: enclave, has: "m5.xlarge", lacks: "m5.large", enclave: true},
		"memory is encrypted":    {says: encrypted, has: "m6a.large", lacks: "m5.large", snp: types.AmdSevSnpSpecificationEnabled},
		"machines in machines":   {says: nested("enabled"), has: "m8i.large", lacks: "m5.large", nests: "enabled"},
		"none where none can be": {says: nested("disabled"), has: "m5.large", nests: "disabled"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := open(t, noLags)
			template := a.template("isolated", tt.says)
			if tt.lacks != "" {
				out, err := a.fleet(template, 1, overrides(a.override(tt.lacks, "us-east-1a")))
				a.must(err)
				if len(out.Instances) != 0 || len(out.Errors) != 1 || *out.Errors[0].ErrorCode != "InvalidParameterCombination" {
					t.Errorf("a fleet of %s alone got %d instances and errors %+v, want InvalidParameterCombination", tt.lacks, len(out.Instances), out.Errors)
				}
			}
			out, err := a.fleet(template, 1, overrides(a.override(tt.has, "us-east-1a")))
			a.must(err)
			got := a.instance(out.Instances[0].InstanceIds[0])
			if *got.EnclaveOptions.Enabled != tt.enclave || got.CpuOptions.AmdSevSnp != tt.snp || got.CpuOptions.NestedVirtualization != tt.nests {
				t.Errorf("%s shows enclaves %t and %+v", tt.has, *got.EnclaveOptions.Enabled, got.CpuOptions)
			}
			found, err := a.ec2.DescribeInstances(context.Background(), &ec2.DescribeInstancesInput{Filters: filters("enclave-options.enabled", "true")})
			a.must(err)
			if got := len(found.Reservations) == 1; got != tt.enclave {
				t.Errorf("an instance with enclaves is found: %t, want %t", got, tt.enclave)
			}
		})
	}
}

func TestProcessorFeaturesAreEnabledOrDisabled(t *testing.T) {
	a := open(t)
	_, err := a.ec2.CreateLaunchTemplate(context.Background(), &ec2.CreateLaunchTemplateInput{LaunchTemplateName: aws.String("odd"), LaunchTemplateData: &types.RequestLaunchTemplateData{
		CpuOptions: &types.LaunchTemplateCpuOptionsRequest{NestedVirtualization: "twice"},
	}})
	if code(err) != "InvalidParameterValue" {
		t.Errorf("a feature that is neither: got %v, want InvalidParameterValue", err)
	}
}
