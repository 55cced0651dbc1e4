package container

import "testing"

func TestFilesAreBelowTheInnermostMount(t *testing.T) {
	m := mounts{"/etc": "/lab/a", "/etc/app": "/lab/b", "/etc/app/tls": "/lab/c", "/data": "/lab/d"}
	for path, want := range map[string]string{
		"/etc": "/lab/a", "/etc/hosts": "/lab/a/hosts", "/etc/app": "/lab/b", "/etc/app/settings.yaml": "/lab/b/settings.yaml",
		"/etc/app/tls/tls.crt": "/lab/c/tls.crt", "/etc/apple": "/lab/a/apple", "/data/": "/lab/d", "/database": "/database", "": "",
	} {
		if got := m.at(path); got != want {
			t.Errorf("%q is at %q, want %q", path, got, want)
		}
	}
}
