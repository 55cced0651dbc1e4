package emulator_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"

	"github.com/daemok/daemok/test/emulator/ec2/reservation"
)

// quotas lists the values that apply, by code, in pages of ten.
func (a *account) quotas() map[string]float64 {
	a.Helper()
	all := map[string]float64{}
	pages := servicequotas.NewListServiceQuotasPaginator(servicequotas.NewFromConfig(a.config),
		&servicequotas.ListServiceQuotasInput{ServiceCode: aws.String("ec2"), MaxResults: aws.Int32(10)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(context.Background())
		a.must(err)
		for _, q := range page.Quotas {
			all[*q.QuotaCode] = *q.Value
		}
	}
	return all
}

// "Amazon EC2 limits the number of running On-Demand Instances per account by vCPUs; each limit
// is for one or more instance families. Spot requests are limited likewise, apart."
func TestQuotas(t *testing.T) {
	a := open(t, noLags)
	a.template("web")
	const standard, spotStandard = "L-1216C47A", "L-34B43A08"
	if got := a.quotas(); len(got) != 19 || got[standard] < 1000 {
		t.Fatalf("quotas are %v, want nineteen, and plenty of them", got)
	}
	a.must(a.server.SetQuota(standard, 10))
	a.must(a.server.SetQuota(spotStandard, 2))
	if err := a.server.SetQuota("L-0", 1); err == nil || !strings.Contains(err.Error(), "such as L-1216C47A") {
		t.Errorf("a quota that is none = %v, want one named", err)
	}
	oneUsual, err := servicequotas.NewFromConfig(a.config).GetAWSDefaultServiceQuota(context.Background(),
		&servicequotas.GetAWSDefaultServiceQuotaInput{ServiceCode: aws.String("ec2"), QuotaCode: aws.String(standard)})
	a.must(err)
	one, err := servicequotas.NewFromConfig(a.config).GetServiceQuota(context.Background(),
		&servicequotas.GetServiceQuotaInput{ServiceCode: aws.String("ec2"), QuotaCode: aws.String(standard)})
	a.must(err)
	usual, err := servicequotas.NewFromConfig(a.config).ListAWSDefaultServiceQuotas(context.Background(),
		&servicequotas.ListAWSDefaultServiceQuotasInput{ServiceCode: aws.String("ec2")})
	a.must(err)
	if a.quotas()[standard] != 10 || *one.Quota.Value != 10 || *usual.Quotas[0].Value == 10 || *oneUsual.Quota.Value == 10 {
		t.Errorf("the quota is %v in lists and %v by itself, want 10; AWS's own default stays", a.quotas()[standard], *one.Quota.Value)
	}
	_, err = servicequotas.NewFromConfig(a.config).ListServiceQuotas(context.Background(), &servicequotas.ListServiceQuotasInput{ServiceCode: aws.String("s3")})
	if code(err) != "NoSuchResourceException" {
		t.Errorf("another service: %q, want NoSuchResourceException", code(err))
	}

	fleet := func(kind string, n int32, change ...func(*ec2.CreateFleetInput)) (launched int, why string) {
		t.Helper()
		out, err := a.fleet("web", n, overrides(a.override(kind, "us-east-1a")), change...)
		a.must(err)
		return launchedBy(out)
	}
	if n, why := fleet("m5.large", 7); n != 5 || why != "VcpuLimitExceeded" {
		t.Errorf("seven of two vCPUs under ten: %d bought, %q; want 5, VcpuLimitExceeded", n, why)
	}
	if n, why := fleet("c5.large", 1); n != 0 || why != "VcpuLimitExceeded" {
		t.Errorf("one of another family of the same quota: %d bought, %q; want none", n, why)
	}
	if n, why := fleet("x2iedn.xlarge", 1); n != 1 || why != "" {
		t.Errorf("one that another quota counts: %d bought, %q; want it", n, why)
	}
	if n, why := fleet("m5.large", 2, spot); n != 1 || why != "MaxSpotInstanceCountExceeded" {
		t.Errorf("two on spot under two: %d bought, %q; want 1, MaxSpotInstanceCountExceeded", n, why)
	}
	out, err := a.ec2.DescribeInstances(context.Background(), &ec2.DescribeInstancesInput{Filters: filters("instance-type", "m5.large")})
	a.must(err)
	_, err = a.ec2.TerminateInstances(context.Background(), &ec2.TerminateInstancesInput{InstanceIds: []string{firstOnDemand(out)}})
	a.must(err)
	if n, why := fleet("c5.large", 1); n != 1 || why != "" {
		t.Errorf("after one was given back: %d bought, %q; want it", n, why)
	}
}

// "Capacity Reservations count towards your On-Demand Instance limits", used or not, and a
// reservation beyond them is refused. Those that another account shares count with it.
func TestReservationsCountAgainstQuotas(t *testing.T) {
	a := open(t, noLags)
	a.template("web")
	a.must(a.server.SetQuota("L-1216C47A", 10))
	a.server.AddReservation(reservation.CapacityReservation{Type: "m5.large", Zone: "us-east-1a", Count: 5, Targeted: true, Owner: "210987654321"})
	reserve := func(n int32) (*ec2.CreateCapacityReservationOutput, error) {
		return a.ec2.CreateCapacityReservation(context.Background(), &ec2.CreateCapacityReservationInput{
			InstanceType: aws.String("m5.large"), InstancePlatform: types.CapacityReservationInstancePlatformLinuxUnix, AvailabilityZone: aws.String("us-east-1a"),
			InstanceCount: aws.Int32(n), InstanceMatchCriteria: types.InstanceMatchCriteriaTargeted,
		})
	}
	launch := func(n int32) (launched int, why string) {
		out, err := a.fleet("web", n, overrides(a.override("m5.large", "us-east-1a")))
		a.must(err)
		return launchedBy(out)
	}
	made, err := reserve(3)
	a.must(err)
	if n, why := launch(7); n != 2 || why != "VcpuLimitExceeded" {
		t.Errorf("with six of ten vCPUs reserved: %d bought, %q; want 2, VcpuLimitExceeded", n, why)
	}
	if _, err := reserve(1); code(err) != "InstanceLimitExceeded" {
		t.Errorf("a reservation beyond the limit: %q, want InstanceLimitExceeded", code(err))
	}
	run, err := a.ec2.RunInstances(context.Background(), &ec2.RunInstancesInput{
		MinCount: aws.Int32(3), MaxCount: aws.Int32(3), InstanceType: "m5.large", SubnetId: a.subnets()["us-east-1a"].SubnetId,
		LaunchTemplate:                   &types.LaunchTemplateSpecification{LaunchTemplateName: aws.String("web")},
		CapacityReservationSpecification: &types.CapacityReservationSpecification{CapacityReservationTarget: &types.CapacityReservationTarget{CapacityReservationId: made.CapacityReservation.CapacityReservationId}},
	})
	if err != nil || len(run.Instances) != 3 {
		t.Errorf("launching into the reservation at the limit: %v; want all three", err)
	}
	for _, i := range run.Instances {
		_, err := a.ec2.TerminateInstances(context.Background(), &ec2.TerminateInstancesInput{InstanceIds: []string{*i.InstanceId}})
		a.must(err)
	}
	_, err = a.ec2.CancelCapacityReservation(context.Background(), &ec2.CancelCapacityReservationInput{CapacityReservationId: made.CapacityReservation.CapacityReservationId})
	a.must(err)
	if n, why := launch(3); n != 3 || why != "" {
		t.Errorf("once the reservation is cancelled: %d bought, %q; want 3", n, why)
	}
}

// launchedBy counts what a fleet launched, and says why it was not more.
func launchedBy(out *ec2.CreateFleetOutput) (launched int, why string) {
	for _, i := range out.Instances {
		launched += len(i.InstanceIds)
	}
	if len(out.Errors) > 0 {
		why = *out.Errors[0].ErrorCode
	}
	return launched, why
}

func firstOnDemand(out *ec2.DescribeInstancesOutput) string {
	for _, r := range out.Reservations {
		for _, i := range r.Instances {
			if i.InstanceLifecycle != types.InstanceLifecycleTypeSpot {
				return *i.InstanceId
			}
		}
	}
	return ""
}
