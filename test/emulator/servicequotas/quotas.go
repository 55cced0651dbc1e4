package servicequotas

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// quotaUnset is what the account may have until SetQuota says less: the lab is not about
// asking AWS for more.
const quotaUnset = 1_000_000

const quotasPerPage = 100

// listServiceQuotas answers for EC2, applied values and AWS's own defaults alike.
func listServiceQuotas(c *call) (any, error) {
	var in struct {
		ServiceCode string
		MaxResults  int
		NextToken   string
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	if err := quotaService(in.ServiceCode); err != nil {
		return nil, err
	}
	size := cmp.Or(in.MaxResults, quotasPerPage)
	if size < 1 || size > quotasPerPage {
		return nil, wire.Errorf("IllegalArgumentException", "MaxResults must be between 1 and %d", quotasPerPage)
	}
	after := ""
	if in.NextToken != "" {
		var err error
		if after, err = world.ReadPageToken(c.Action, in.NextToken); err != nil {
			return nil, wire.Errorf("InvalidPaginationTokenException", "The token is invalid")
		}
	}
	answer := map[string]any{}
	list := []any{}
	for _, q := range world.ByKey(world.Quotas(), func(q world.Quota) string { return q.Code }) {
		if q.Code <= after {
			continue
		}
		if len(list) == size {
			answer["NextToken"] = world.PageToken(c.Action, after)
			break
		}
		after = q.Code
		list = append(list, c.quotaAnswer(q))
	}
	answer["Quotas"] = list
	return answer, nil
}

// getServiceQuota answers for one, its applied value or AWS's own default.
func getServiceQuota(c *call) (any, error) {
	var in struct{ ServiceCode, QuotaCode string }
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	if err := quotaService(in.ServiceCode); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(world.Quotas(), func(q world.Quota) bool { return q.Code == in.QuotaCode })
	if i < 0 {
		return nil, wire.Errorf("NoSuchResourceException", "The quota %s of service ec2 does not exist, or limits no vCPUs, which are all that the emulator has", in.QuotaCode)
	}
	return map[string]any{"Quota": c.quotaAnswer(world.Quotas()[i])}, nil
}

func quotaService(code string) error {
	if code != "ec2" {
		return wire.Errorf("NoSuchResourceException", "The service %s does not exist, or has no quotas in the emulator: it has those of ec2", code)
	}
	return nil
}

func (c *call) quotaAnswer(q world.Quota) map[string]any {
	a := c.server.Settings
	value, set := c.server.Quotas[q.Code]
	if !set || c.Action == "ListAWSDefaultServiceQuotas" || c.Action == "GetAWSDefaultServiceQuota" {
		value = quotaUnset
	}
	return map[string]any{
		"ServiceCode": "ec2", "ServiceName": "Amazon Elastic Compute Cloud (Amazon EC2)", "QuotaCode": q.Code, "QuotaName": q.Name,
		"QuotaArn": a.ARN("servicequotas", a.Region, "ec2/"+q.Code), "Value": float64(value), "Unit": "None", "Adjustable": true, "GlobalQuota": false,
		"QuotaAppliedAtLevel": "ACCOUNT",
	}
}
