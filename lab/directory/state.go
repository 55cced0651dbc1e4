package directory

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile replaces a file of the lab in one step, so that a reader or a later
// start sees the old content or the new and nothing between.
func WriteFile(path string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(file.Name()))
	}
	return nil
}

// Save keeps a value as JSON under the given name.
func (d Directory) Save(name string, value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	return WriteFile(d.in(name), append(content, '\n'))
}

// Load reads what Save kept. It reports false, and leaves the value as it is,
// when nothing was kept.
func (d Directory) Load(name string, value any) (bool, error) {
	content, err := os.ReadFile(d.in(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", name, err)
	}
	if err := json.Unmarshal(content, value); err != nil {
		return false, fmt.Errorf("read %s: %w; remove %s to start again", name, err, d.root)
	}
	return true, nil
}
