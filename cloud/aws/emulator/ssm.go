package emulator

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/cloud/aws/emulator/wire"
)

// parameter is one SSM parameter; all are public strings of version 1.
type parameter struct {
	Value string
	At    time.Time
}

type parameterJSON struct {
	ARN              string
	DataType         string
	LastModifiedDate float64
	Name             string
	Type             string
	Value            string
	Version          int
}

func (s *state) parameterAnswer(name string) parameterJSON {
	p := s.Parameters[name]
	return parameterJSON{
		ARN: "arn:aws:ssm:" + s.Account.Region + "::parameter" + name, DataType: "text", LastModifiedDate: seconds(p.At),
		Name: name, Type: "String", Value: p.Value, Version: 1,
	}
}

// parameterName strips the version or label that a name may carry.
func parameterName(name string) string {
	name, _, _ = strings.Cut(name, ":")
	return name
}

func getParameter(c *call) (any, error) {
	var in struct{ Name string }
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	name := parameterName(in.Name)
	if _, ok := c.state().Parameters[name]; !ok {
		return nil, wire.Errorf("ParameterNotFound", "Parameter %s not found.", in.Name)
	}
	return map[string]any{"Parameter": c.state().parameterAnswer(name)}, nil
}

// Limits of SSM.
const (
	parametersPerCall = 10
	parametersPerPage = 10
)

func getParameters(c *call) (any, error) {
	var in struct{ Names []string }
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if len(in.Names) == 0 || len(in.Names) > parametersPerCall {
		return nil, wire.Errorf("ValidationException", "1 validation error detected: Value at 'names' failed to satisfy constraint: Member must have length between 1 and %d", parametersPerCall)
	}
	found, invalid := []parameterJSON{}, []string{}
	for _, asked := range in.Names {
		name := parameterName(asked)
		if _, ok := c.state().Parameters[name]; !ok {
			invalid = append(invalid, asked)
			continue
		}
		found = append(found, c.state().parameterAnswer(name))
	}
	return map[string]any{"Parameters": found, "InvalidParameters": invalid}, nil
}

func getParametersByPath(c *call) (any, error) {
	var in struct {
		Path       string
		Recursive  bool
		MaxResults int
		NextToken  string
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(in.Path, "/") {
		return nil, wire.Errorf("ValidationException", "The parameter path must begin with '/'")
	}
	size := cmp.Or(in.MaxResults, parametersPerPage)
	if size < 1 || size > parametersPerPage {
		return nil, wire.Errorf("ValidationException", "MaxResults must be between 1 and %d", parametersPerPage)
	}
	after := ""
	if in.NextToken != "" {
		last, err := readPageToken(c.action, in.NextToken)
		if err != nil {
			return nil, wire.Errorf("InvalidNextToken", "The specified token isn't valid.")
		}
		after = last
	}
	found := []parameterJSON{}
	for _, name := range slices.Sorted(maps.Keys(c.state().Parameters)) {
		if name <= after || !below(name, in.Path, in.Recursive) {
			continue
		}
		if len(found) == size {
			return map[string]any{"Parameters": found, "NextToken": pageToken(c.action, found[size-1].Name)}, nil
		}
		found = append(found, c.state().parameterAnswer(name))
	}
	return map[string]any{"Parameters": found}, nil
}

func below(name, path string, recursive bool) bool {
	rest, ok := strings.CutPrefix(name, strings.TrimSuffix(path, "/")+"/")
	return ok && (recursive || !strings.Contains(rest, "/"))
}

// seconds is how JSON services write moments.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
