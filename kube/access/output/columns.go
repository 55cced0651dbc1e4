package output

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/util/jsonpath"
)

// column is one of a table that the user wrote.
type column struct {
	header string
	path   *jsonpath.JSONPath
}

// none stands where a row has nothing, as kubectl prints it.
const none = "<none>"

// readColumns reads columns as kubectl does: HEADER:.path,HEADER:.path
func readColumns(text string) ([]column, error) {
	var out []column
	for part := range strings.SplitSeq(text, ",") {
		header, path, has := strings.Cut(part, ":")
		if header == "" || !has || path == "" {
			return nil, fmt.Errorf("column %q: write HEADER:.path, such as NAME:.name", part)
		}
		c := column{header, jsonpath.New(header).AllowMissingKeys(true)}
		if err := c.path.Parse(braced(path)); err != nil {
			return nil, fmt.Errorf("column %q: %w", part, err)
		}
		out = append(out, c)
	}
	return out, nil
}

// braced is a path as templates have it: x.y, .x.y and {.x.y} are the same.
func braced(path string) string {
	path = strings.TrimSuffix(strings.TrimPrefix(path, "{"), "}")
	if !strings.HasPrefix(path, ".") && !strings.HasPrefix(path, "[") {
		path = "." + path
	}
	return "{" + path + "}"
}

// writeColumns prints a line of each row.
func (f *Format) writeColumns(out io.Writer, rows []Row) error {
	table := printers.GetNewTabWriter(out)
	headers := make([]string, len(f.cols))
	for i, c := range f.cols {
		headers[i] = c.header
	}
	fmt.Fprintln(table, strings.Join(headers, "\t"))
	for _, r := range rows {
		value, err := plainValue(r.Value)
		if err != nil {
			return err
		}
		cells := make([]string, len(f.cols))
		for i, c := range f.cols {
			if cells[i], err = c.cell(value); err != nil {
				return fmt.Errorf("-o %s: column %s: %w", f.asked, c.header, err)
			}
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	return table.Flush()
}

// cell is what a path leads to, with commas between where that is several.
func (c column) cell(row any) (string, error) {
	found, err := c.path.FindResults(row)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, list := range found {
		for _, v := range list {
			text, err := cellText(v.Interface())
			if err != nil {
				return "", err
			}
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return none, nil
	}
	return strings.Join(texts, ","), nil
}

// cellText is a value in one line.
func cellText(value any) (string, error) {
	switch v := value.(type) {
	case nil:
		return none, nil
	case string:
		return v, nil
	}
	data, err := json.Marshal(value)
	return string(data), err
}
