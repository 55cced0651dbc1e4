package emulator

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/daemok/daemok/cloud/aws/emulator/wire"
)

// parameter is one SSM parameter. AWS's own are public strings of version 1.
type parameter struct {
	Value   string
	At      time.Time
	Own     bool   `json:",omitempty"` // the account's
	Kind    string `json:",omitempty"` // String where empty
	Data    string `json:",omitempty"` // text where empty
	Version int    `json:",omitempty"` // 1 where 0
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
	owner := ""
	if p.Own {
		owner = s.Account.ID
	}
	return parameterJSON{
		ARN: "arn:aws:ssm:" + s.Account.Region + ":" + owner + ":parameter/" + strings.TrimPrefix(name, "/"), DataType: cmp.Or(p.Data, "text"),
		LastModifiedDate: seconds(p.At), Name: name, Type: cmp.Or(p.Kind, "String"), Value: p.Value, Version: cmp.Or(p.Version, 1),
	}
}

// parameterNamed finds a parameter by its name or ARN, either with a version behind a colon.
func (s *state) parameterNamed(asked string) (name string, err error) {
	name = asked
	if _, below, is := strings.Cut(name, ":parameter/"); is && strings.HasPrefix(name, "arn:") {
		name = "/" + below
		if bare, _, _ := strings.Cut(below, ":"); s.Parameters[bare].Own {
			name = below // ARNs leave it open whether a name begins with a slash
		}
	}
	name, version, chosen := strings.Cut(name, ":")
	p, there := s.Parameters[name]
	if !there {
		return "", wire.Errorf("ParameterNotFound", "Parameter %s not found.", asked)
	}
	if chosen && version != strconv.Itoa(cmp.Or(p.Version, 1)) {
		return "", wire.Errorf("ParameterVersionNotFound", "Systems Manager could not find version %s of %s. Verify the version and try again.", version, name)
	}
	return name, nil
}

func getParameter(c *call) (any, error) {
	var in struct{ Name string }
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	name, err := c.state().parameterNamed(in.Name)
	if err != nil {
		return nil, err
	}
	return map[string]any{"Parameter": c.state().parameterAnswer(name)}, nil
}

// Limits of SSM.
const (
	parametersPerCall = 10
	parametersPerPage = 10
)

func checkNames(names []string) error {
	if len(names) == 0 || len(names) > parametersPerCall {
		return wire.Errorf("ValidationException", "1 validation error detected: Value at 'names' failed to satisfy constraint: Member must have length between 1 and %d", parametersPerCall)
	}
	return nil
}

func getParameters(c *call) (any, error) {
	var in struct{ Names []string }
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if err := checkNames(in.Names); err != nil {
		return nil, err
	}
	found, invalid := []parameterJSON{}, []string{}
	for _, asked := range in.Names {
		name, err := c.state().parameterNamed(asked)
		if err != nil {
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
