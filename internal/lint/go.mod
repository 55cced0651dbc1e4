module github.com/daemok/daemok/internal/lint

go 1.26.0

require (
	codeberg.org/polyfloyd/go-errorlint v1.9.0
	github.com/golangci/misspell v0.8.0
	github.com/golangci/unconvert v0.0.0-20250410112200-a129a6e6413e
	github.com/gordonklaus/ineffassign v0.2.0
	github.com/gostaticanalysis/nilerr v0.1.2
	github.com/karamaru-alpha/copyloopvar v1.2.2
	github.com/kisielk/errcheck v1.30.0
	github.com/mgechev/revive v1.17.1
	github.com/sashamelentyev/usestdlibvars v1.29.0
	github.com/sonatard/noctx v0.5.1
	github.com/timakin/bodyclose v0.0.0-20260723120731-857993a2939c
	golang.org/x/tools v0.52.0
	honnef.co/go/tools v0.8.2
)

require (
	github.com/BurntSushi/toml v1.6.0 // indirect
	github.com/fatih/structtag v1.2.0 // indirect
	github.com/gostaticanalysis/analysisutil v0.7.1 // indirect
	github.com/gostaticanalysis/comment v1.5.0 // indirect
	github.com/hashicorp/go-version v1.9.0 // indirect
	golang.org/x/exp/typeparams v0.0.0-20231108232855-2478ac86f678 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/telemetry v0.0.0-20261009151841-97e8ea77aa2a // indirect
	golang.org/x/text v0.37.0 // indirect
	golang.org/x/tools/go/packages/packagestest v0.1.1-deprecated // indirect
)

tool golang.org/x/tools/cmd/deadcode
