package ssm

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

type parameterJSON struct {
	ARN              string `json:",omitempty"`
	DataType         string
	LastModifiedDate float64
	Name             string
	Selector         string `json:",omitempty"`
	Type             string
	Value            string
	Version          int
}

func (s *SSM) parameterAnswer(name string, p world.Parameter) parameterJSON {
	owner := ""
	if p.Own {
		owner = s.Settings.ID
	}
	return parameterJSON{
		ARN: "arn:aws:ssm:" + s.Settings.Region + ":" + owner + ":parameter/" + strings.TrimPrefix(name, "/"), DataType: cmp.Or(p.Data, "text"),
		LastModifiedDate: world.Seconds(p.At), Name: name, Type: cmp.Or(p.Kind, "String"), Value: p.Value, Version: cmp.Or(p.Version, 1),
	}
}

// parameterNamed finds a parameter by its name or ARN, and the version of it that is named behind a colon; 0: none is.
func (s *SSM) parameterNamed(asked string) (name string, p world.Parameter, version int, err error) {
	name = asked
	if _, below, is := strings.Cut(name, ":parameter/"); is && strings.HasPrefix(name, "arn:") {
		name = "/" + below
		if bare, _, _ := strings.Cut(below, ":"); s.Parameters[bare].Own {
			name = below // ARNs leave it open whether a name begins with a slash
		}
	}
	name, chosen, versioned := strings.Cut(name, ":")
	p, there := s.Parameters[name]
	if !there && s.releases.RecallParameter(name) {
		p, there = s.Parameters[name]
	}
	if !there {
		return "", p, 0, wire.Errorf("ParameterNotFound", "Parameter %s not found.", asked)
	}
	if versioned {
		n, wrong := strconv.Atoi(chosen)
		then, kept := p.AtVersion(n)
		if wrong != nil || !kept {
			return "", p, 0, wire.Errorf("ParameterVersionNotFound", "Systems Manager could not find version %s of %s. Verify the version and try again.", chosen, name)
		}
		return name, then, n, nil
	}
	return name, p, 0, nil
}

// parameterAsked is the answer for a parameter that is asked for by name, ARN and perhaps version.
func (s *SSM) parameterAsked(asked string) (parameterJSON, error) {
	name, p, version, err := s.parameterNamed(asked)
	if err != nil {
		return parameterJSON{}, err
	}
	answer := s.parameterAnswer(name, p)
	if version > 0 {
		answer.Selector = ":" + strconv.Itoa(version)
	}
	return answer, nil
}

func getParameter(c *call) (any, error) {
	var in struct{ Name string }
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	found, err := c.server.parameterAsked(in.Name)
	if err != nil {
		return nil, err
	}
	return map[string]any{"Parameter": found}, nil
}

// Limits of SSM.
const (
	parametersPerCall = 10
	parametersPerPage = 10
	versionsPerPage   = 50
)

func checkNames(names []string) error {
	if len(names) == 0 || len(names) > parametersPerCall {
		return wire.Errorf("ValidationException", "1 validation error detected: Value at 'names' failed to satisfy constraint: Member must have length between 1 and %d", parametersPerCall)
	}
	return nil
}

func getParameters(c *call) (any, error) {
	var in struct{ Names []string }
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	if err := checkNames(in.Names); err != nil {
		return nil, err
	}
	found, invalid := []parameterJSON{}, []string{}
	for _, asked := range in.Names {
		one, err := c.server.parameterAsked(asked)
		if err != nil {
			invalid = append(invalid, asked)
			continue
		}
		found = append(found, one)
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
	if err := c.Decode(&in); err != nil {
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
		last, err := world.ReadPageToken(c.Action, in.NextToken)
		if err != nil {
			return nil, wire.Errorf("InvalidNextToken", "The specified token isn't valid.")
		}
		after = last
	}
	found := []parameterJSON{}
	for _, name := range slices.Sorted(maps.Keys(c.server.Parameters)) {
		if name <= after || !below(name, in.Path, in.Recursive) {
			continue
		}
		if len(found) == size {
			return map[string]any{"Parameters": found, "NextToken": world.PageToken(c.Action, found[size-1].Name)}, nil
		}
		found = append(found, c.server.parameterAnswer(name, c.server.Parameters[name]))
	}
	return map[string]any{"Parameters": found}, nil
}

// getParameterHistory tells the values that a parameter has had, oldest first.
func getParameterHistory(c *call) (any, error) {
	var in struct {
		Name       string
		MaxResults int
		NextToken  string
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	size := cmp.Or(in.MaxResults, versionsPerPage)
	if size < 1 || size > versionsPerPage {
		return nil, wire.Errorf("ValidationException", "MaxResults must be between 1 and %d", versionsPerPage)
	}
	name, p, version, err := c.server.parameterNamed(in.Name)
	if err != nil || version > 0 {
		return nil, wire.Errorf("ParameterNotFound", "Parameter %s not found.", in.Name)
	}
	newest := cmp.Or(p.Version, 1)
	next := newest - len(p.Before)
	if in.NextToken != "" {
		last, err := world.ReadPageToken(c.Action, in.NextToken)
		if err != nil {
			return nil, wire.Errorf("InvalidNextToken", "The specified token isn't valid.")
		}
		if next, err = strconv.Atoi(last); err != nil {
			return nil, wire.Errorf("InvalidNextToken", "The specified token isn't valid.")
		}
	}
	type versionJSON struct {
		parameterJSON
		Labels []string
		Tier   string
		User   string `json:"LastModifiedUser"`
	}
	answer, found := map[string]any{}, []versionJSON{}
	for ; next <= newest && len(found) < size; next++ {
		if then, kept := p.AtVersion(next); kept {
			shown := c.server.parameterAnswer(name, then)
			shown.ARN = ""
			found = append(found, versionJSON{shown, []string{}, "Standard", c.server.Settings.ARN("iam", "", "root")})
		}
	}
	if answer["Parameters"] = found; next <= newest {
		answer["NextToken"] = world.PageToken(c.Action, strconv.Itoa(next))
	}
	return answer, nil
}

func below(name, path string, recursive bool) bool {
	rest, ok := strings.CutPrefix(name, strings.TrimSuffix(path, "/")+"/")
	return ok && (recursive || !strings.Contains(rest, "/"))
}
