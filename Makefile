# Two commands do everything: `make demo` shows the product at work in a lab
# on this machine, `make test` runs all checks. `make help` lists the rest.
# Needs Go, git, make, gcc (for the race detector) and coreutils; Chromium and Node.js for tests of pages.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:

KUBERNETES := v1.36.3
COMMIT     := $(shell git describe --always --dirty --abbrev=12 --exclude '*' 2>/dev/null || echo unknown)

# All that runs without the race detector shares these flags, and so one build cache: programs, tests, linters and the lab.
# Another value of CGO_ENABLED, -trimpath or -gcflags compiles 2,500 packages once more. Debugging information would be a
# tenth of that work: to attach a debugger, build with `make -B build STATIC=CGO_ENABLED=0`, and `make -B build` later.
STATIC := CGO_ENABLED=0 GOFLAGS="-buildvcs=false -trimpath -gcflags=all=-dwarf=false"
# Compilers, tests of many small worlds and labs of stories live for seconds or minutes, and need not save memory: a lab of
# 80 nodes took 126 instead of 173 cpu seconds with GOGC=300.
QUICKLY := GOGC=400 $(STATIC)

VERSIONED := -X github.com/daemok/daemok/internal/version.commit=$(COMMIT)
RELEASED  := -s -w $(VERSIONED) -X github.com/daemok/daemok/internal/version.release=$$version
K8S_VERSIONED := \
	-X k8s.io/component-base/version.gitVersion=$(KUBERNETES) \
	-X k8s.io/component-base/version.gitMajor=1 \
	-X k8s.io/component-base/version.gitMinor=36 \
	-X k8s.io/component-base/version.gitTreeState=clean

# What make lint looks at.
MODULES := . lab internal/release internal/linttemplates internal/lint deploy/monitoring

# What a program is made of: everything that may be compiled or embedded.
sources = $(shell find $(wildcard $(1)) -type f -not -name '*_test.go' -not -path '*/testdata/*' -not -path '*/.lab/*' -not -path 'deploy/monitoring/*' -not -name '*.md' 2>/dev/null)
SHARED         := go.mod go.sum core cloud kube deploy $(addprefix internal/,brief expression gates misspelt nearest pause version)
DAEMOK_SOURCES := $(call sources,$(SHARED) bench controller demo doctor examples observe simulate test ui cmd/daemok)
CONTROLLER_SOURCES := $(call sources,$(SHARED) controller observe ui cmd/daemok-controller)
LAB_SOURCES    := $(call sources,$(SHARED) charts examples lab test)

# All packages are tested without the race detector, which makes code five to ten times slower and compiles every library
# once more. In `make test` only what divides work among processors runs with it; in `make test-full` the whole controllers too,
# whose stories reach every goroutine, and all packages but QUICKER whose files start goroutines or share memory.
# Those of `make test-full` have one processor each: the timers of a bubble of testing/synctest share one shadow stack in the detector of
# Go 1.26, which two processors that fire them at once bring to a crash (SIGSEGV in its StackDepot).
SHARES  := ^[[:space:]]*go |[.]Go[(]|\bsync[.]|\batomic[.]|httptest[.]
QUICKER := core bench cmd/daemok internal/tidy internal/mutate kube/api migrate test/emulator test/sim
TESTED   = $(filter-out internal/tidy,$(shell go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}' ./... | sed 's|^$(CURDIR)/||'))
RACED    = $(foreach p,$(filter-out test/whole $(QUICKER) $(addsuffix /%,$(QUICKER)),$(TESTED)),$(if $(shell grep -lE '$(SHARES)' $(p)/*.go),./$(p)))
PLAIN    = $(addprefix ./,$(filter-out test/whole core/decide,$(TESTED)))
PARTLY  := core/decide
RACED_STORIES := TestStories|TestTheNumberOfProcessorsChangesNothing
RACED_SEEDS   := 10
RACE := GOGC=400 GOFLAGS="-buildvcs=false -trimpath" go test -race -vet=off

# Tests in another order each time cannot be remembered from one run to the next: `make test-full` does it.
SHUFFLE  ?=
SEEDS    ?= 200
FROM     ?= 0
FUZZTIME ?= 20s
# What a run with empty caches leaves in the build cache and in the folder of temporary files, in GB.
ROOM_NEEDED := 12
FUZZLEAST := 1000
# What `make mutate` changes: packages that decide, not those that parse and print. Each mutant whose tests all pass takes as
# long as those tests, so a run draws some, and leaves out tests of many random worlds, which take ten times as long as all
# stories (SLOW=^$$ leaves out none). KILLED_LEAST is the share of mutants that must be noticed, in percent, and is only raised;
# two samples of 80 differ by some percent. A mutant whose loop does not end must not take all memory: MUTANT_MEMORY, in kB.
MUTATE        ?= $(filter-out $(addprefix core/,explanation plan scenario),$(patsubst %/,%,$(wildcard core/*/)))
MUTANTS       ?= 80
KILLED_LEAST  := 50
MUTANT_MEMORY := 8388608
SLOW          ?= EveryPlan|ChangesNothing|ChangeNothing|NoPlanIs|SmallPlans|MaySplitInTwo|PlansFit|CostsNoMore

# What knows which vulnerable functions are called. It exits with 3 where it finds some.
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0

# What a release has programs for.
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64

##@ Every day

.PHONY: help
help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} \
	  /^##@ / {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: bin/daemok bin/daemok-controller bin/daemok-lab ## build bin/daemok, bin/daemok-controller, bin/daemok-lab where sources changed

.PHONY: demo
demo: build ## watch pods get a node, and the node go again, in a lab; ONCE=1 ends after that
	@bin/daemok demo $(if $(ONCE),--once)

# What takes longest, the stories in labs, starts as early as it can: they wait most of their time, and all else runs beside them.
.PHONY: test
test: room format build generated ## all that CI runs; ends with the test runner's summary
	@echo "test: stories in labs; unit tests; linters, templates and the race detector, side by side"
	@$(MAKE) --no-print-directory lab-test > bin/lab-test.log 2>&1 & lab=$$!; \
	  nice -n 10 $(MAKE) --no-print-directory plain release-test browser-test > bin/plain.log 2>&1 & plain=$$!; red=0; \
	  nice -n 10 $(MAKE) --no-print-directory --keep-going lint tidy templates monitoring raced || red=1; \
	  wait $$plain || red=1; cat bin/plain.log; \
	  wait $$lab || red=1; cat bin/lab-test.log; exit $$red

##@ The checks of `make test`, one by one

# A disk that fills up halfway fails tests that have nothing to do with it.
.PHONY: room
room: ## fail if the build cache or the folder of temporary files has not ROOM_NEEDED GB of room
	@echo "test: room"
	@for folder in "$$(go env GOCACHE)" "$${TMPDIR:-/tmp}"; do mkdir -p "$$folder"; \
	  free=$$(df --output=avail -B 1000000000 "$$folder" | tail -n 1 | tr -dc 0-9); \
	  [ "$$free" -ge $(ROOM_NEEDED) ] || { echo "room: $$folder has $$free GB of room, and the tests need $(ROOM_NEEDED): free some, for instance with go clean -cache"; exit 1; }; done

.PHONY: format
format: ## fail if a Go file is not gofmt'ed
	@echo "test: format"
	@unformatted=$$(find . -name '*.go' -not -path './bin/*' -not -path '*/.lab/*' -exec gofmt -l {} +); \
	  if [ -n "$$unformatted" ]; then echo "not gofmt'ed, run gofmt -w on:"; echo "$$unformatted"; exit 1; fi

.PHONY: lint
lint: bin/tools/lint ## go vet's analysers, staticcheck and others, set up in internal/lint; only what changed is looked at again
	@red=0; for module in $(MODULES); do echo "test: lint ($$module)"; \
	  (cd $$module && $(QUICKLY) go vet -vettool=$(CURDIR)/bin/tools/lint ./...) || red=1; done; exit $$red
	@echo "test: each linter finds a planted mistake"
	@cd internal/lint && $(STATIC) go test -vet=off .

.PHONY: tidy
tidy: ## rules of the repository: import directions, purity of core, sizes of types and packages, documents
	@echo "test: tidy"
	@$(STATIC) go test -vet=off ./internal/tidy/...

# What neither the module nor the lab reaches, tests included: programs and tests of the lab use much that nothing else does.
.PHONY: deadcode
deadcode: bin/tools/deadcode ## functions that no program and no test reaches
	@echo "test: dead code"
	@dead=$$(comm -12 <(bin/tools/deadcode -test ./... | sort) <(cd lab && ../bin/tools/deadcode -test -filter '^github.com/daemok/daemok' ./... | sed -n 's|^$(CURDIR)/||p' | sort); \
	  cd lab && ../bin/tools/deadcode -test ./... | sed 's|^|lab/|'); \
	  if [ -n "$$dead" ]; then echo "$$dead"; exit 1; fi

.PHONY: unit
unit: raced plain ## unit tests and stories of the main module

.PHONY: raced
raced: ## what divides work among processors, with the race detector
	@echo "test: parallel work (-race)"
	@$(RACE) $(SHUFFLE) ./core/parallel
	@$(RACE) $(SHUFFLE) -run '$(RACED_STORIES)' -timeout 45m ./$(PARTLY) # labs have the processors first

.PHONY: raced-all
raced-all: raced ## that, all stories of the whole controllers, and other packages that share memory
	@echo "test: whole controllers, and packages that share memory (-race)"
	@$(RACE) $(SHUFFLE) -cpu 1 -timeout 90m ./test/whole -args -seeds $(RACED_SEEDS)
	@$(RACE) $(SHUFFLE) -cpu 1 -timeout 90m $(RACED)

.PHONY: plain
plain: ## all packages of the main module, without the race detector
	@echo "test: stories, the core and tables (main module)"
	@$(QUICKLY) go test -vet=off $(SHUFFLE) -timeout 60m ./test/whole ./core/decide $(PLAIN)

.PHONY: monitoring
monitoring: ## dashboards ask for nothing that is not served, and alerts fire when they should
	@echo "test: dashboards and rules (monitoring module)"
	@cd deploy/monitoring && $(STATIC) go test ./...

.PHONY: release-test
release-test: ## tests of what makes releases, with programs of a few lines
	@echo "test: images, charts, bills of materials (release module)"
	@cd internal/release && $(STATIC) go test -vet=off $(SHUFFLE) ./...

.PHONY: browser-test
browser-test: ## the pages of ui/web in Chromium; left out where Chromium or Node.js is missing, but not in CI
	@echo "test: pages in a browser"
	@$(STATIC) go build -o bin/tools/serve-example ./ui/web/browser/serve
	@ui/web/browser/run.sh test

.PHONY: generated
generated: ## fail if `make generate` changes a generated file
	@echo "test: generated files unchanged"
	@sums() { find . -name 'zz_generated*.go' -o -name '*_gen.go' -o -path './kube/api/crds/*.yaml' -o -path './deploy/aws/*' -type f -o -path './docs/reference/*' -type f -o -path './deploy/monitoring/*.yaml' -o -path './deploy/monitoring/dashboards/*' -o -path './charts/*/crds/*' -o -path './charts/*/files/*' -o -path './charts/*/README.md' -o -path './docs/architecture.md' | sort | xargs -r sha256sum; }; \
	  before=$$(sums); $(MAKE) --no-print-directory generate; after=$$(sums); \
	  if [ "$$before" != "$$after" ]; then echo "generated files are stale, commit the result of make generate:"; \
	    diff <(echo "$$before") <(echo "$$after") | sed -n 's/^[<>] [0-9a-f]*  /  /p' | sort -u; exit 1; fi

.PHONY: templates
templates: ## read the CloudFormation template and the Terraform module of deploy/aws as those tools do
	@echo "test: templates of deploy/aws"
	@cd internal/linttemplates && $(STATIC) go test -count=1 -vet=off ./... # files of another module are not part of the cache's key

.PHONY: lab-test
lab-test: build ## tests of the lab module and the stories in labs
	@echo "test: lab module and lab stories"
	@cd lab && DAEMOK_BIN=$(CURDIR)/bin DAEMOK_SUM="$$(sha256sum ../bin/daemok*)" $(QUICKLY) go test -vet=off $(SHUFFLE) -parallel 3 -timeout 60m ./stories ./oracle ./...

##@ Longer checks

.PHONY: test-full
test-full: export SHUFFLE := -shuffle=on
test-full: test longer bill deadcode ## the checks of test in another order, longer, and bill

.PHONY: longer
longer: export SHUFFLE := -shuffle=on
longer: build ## long counts of seeds, beside them all stories with the race detector, and lab-long, which waits most of its time; logs in bin
	@$(MAKE) --no-print-directory lab-long > bin/lab-long.log 2>&1 & lab=$$!; \
	  nice -n 10 $(MAKE) --no-print-directory raced-all > bin/raced-all.log 2>&1 & raced=$$!; red=0; \
	  nice -n 10 $(MAKE) --no-print-directory seeds || red=1; \
	  wait $$raced || red=1; cat bin/raced-all.log; wait $$lab || red=1; cat bin/lab-long.log; exit $$red

.PHONY: seeds
seeds: ## what is drawn from seeds, with long counts of them; goes on where one is red
	@red=0; for long in "cheapest" "faults SEEDS=500" "sim SEEDS=2000" "oracle SEEDS=2000" mutate; do \
	  $(MAKE) --no-print-directory $$long || red=1; done; exit $$red

.PHONY: oracle
oracle: ## compare plans with the real kube-scheduler; SEEDS=200 FROM=0, one world: SEED=7, one story: STORY=file
	@mkdir -p bin && cd lab && $(QUICKLY) go test -c -o $(CURDIR)/bin/oracle.test ./oracle
	@cd lab/oracle && $(CURDIR)/bin/oracle.test -test.timeout 90m -test.run 'TestTheSchedulerAgrees|TestWaitsEnd|TestStory' -stories $(CURDIR)/bin \
	  $(if $(STORY),-story $(abspath $(STORY)),$(if $(SEED),-seeds 1 -from $(SEED),-seeds $(SEEDS) -from $(FROM)))

.PHONY: cheapest
cheapest: ## compare what plans cost with first-fit decreasing and with the least possible; SEEDS=2000
	@$(STATIC) go test -count=1 -timeout 30m ./core/decide -run 'TestNoPlanIsMoreExpensiveThanFirstFitDecreasing|TestSmallPlansAreTheCheapest' -v -args \
	  -worlds $(if $(filter file,$(origin SEEDS)),2000,$(SEEDS))

.PHONY: sim
sim: ## simulated clusters, invariants checked after every event; SEEDS=200 FROM=0
	@mkdir -p bin && $(QUICKLY) go test -c -o bin/sim.test ./test/sim
	@bin/sim.test -test.timeout 4h -test.run TestNoSeedBreaksAPromise -seeds $(SEEDS) -from $(FROM) > bin/sim.log 2>&1 \
	  || { grep -v '^sim: ' bin/sim.log; grep '^sim: FAILED' bin/sim.log || echo "sim: FAILED seeds=$(SEEDS) from=$(FROM) failed=1 first=none (see above)"; exit 1; }
	@grep '^sim: ok' bin/sim.log

.PHONY: faults
faults: ## the real loops under injected faults; SEEDS=200 FROM=0
	@mkdir -p bin && $(QUICKLY) go test -c -o bin/faults.test ./test/whole
	@bin/faults.test -test.run 'TestNo(Seed|Trouble|Reply|Page)|TestDeath|TestAMigration' -deaths 0 -seeds $(SEEDS) -from $(FROM) > bin/faults.log \
	  || { cat bin/faults.log; grep -m 1 '^faults: FAILED' bin/faults.log || \
	    echo "faults: FAILED seeds=$(SEEDS) from=$(FROM) failed=1 first=none (a death of the controller, see above)"; exit 1; }
	@grep '^faults: ok' bin/faults.log

.PHONY: conformance
conformance: ## the provider suite against any endpoint, with credentials and region from the environment; ENDPOINT=URL
	@test -n "$(ENDPOINT)" || { echo "conformance: say where: make conformance ENDPOINT=URL" >&2; exit 2; }
	@mkdir -p bin && $(QUICKLY) go test -c -o bin/conformance.test ./cloud/aws
	@bin/conformance.test -test.timeout 3h -test.v -test.run '^TestEndpoint$$' -endpoint '$(ENDPOINT)' > bin/conformance.log 2>&1 \
	  || { cat bin/conformance.log; grep '^conformance: FAILED' bin/conformance.log || echo "conformance: FAILED passed=0 skipped=0 failed=1 (see above)"; exit 1; }
	@awk '/^=== (RUN|NAME|CONT) / {name = $$3} /^ +[a-z_]+\.go:[0-9]+: / {said = $$0; sub(/^ +[a-z_]+\.go:[0-9]+: /, "", said); why[name] = said} \
	  /--- SKIP: / {print "skipped: " $$3 ": " why[$$3]}' bin/conformance.log
	@grep '^conformance: ok' bin/conformance.log

.PHONY: mutate
mutate: ## change one place of the core at a time, a test must fail; MUTANTS=80 drawn by SEED=(today), MUTATE=core/feasibility, FROM=0 goes on
	@ulimit -v $(MUTANT_MEMORY) 2>/dev/null || true; \
	  $(STATIC) go run ./internal/mutate -seed $(or $(SEED),$(shell date +%Y%m%d)) -n $(MUTANTS) -from $(FROM) -floor $(KILLED_LEAST) -skip '$(SLOW)' $(addprefix ./,$(MUTATE))

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME=20s; fewer than a thousand executions of one fail
	@mkdir -p bin; grep -rEl --include='*_test.go' '^func Fuzz' $(filter-out lab,$(wildcard */)) | sort | while read -r file; do \
	  for name in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' "$$file"); do \
	    target="$$name in $$(dirname $$file)"; \
	    $(STATIC) go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "./$$(dirname $$file)" > bin/fuzz.log 2>&1 \
	      || { cat bin/fuzz.log; echo "fuzz: FAILED $$target"; exit 1; }; \
	    executions=$$(sed -n 's/^fuzz: elapsed: .*execs: \([0-9]*\).*/\1/p' bin/fuzz.log | tail -n 1); \
	    [ "$${executions:-0}" -ge $(FUZZLEAST) ] || { cat bin/fuzz.log; \
	      echo "fuzz: FAILED $$target: $${executions:-0} executions in $(FUZZTIME), want $(FUZZLEAST) at least"; exit 1; }; \
	    echo "fuzz: ok $$target: $$executions executions"; done; done

.PHONY: bench
bench: bin/daemok ## Go benchmarks of the core, then daemok bench place
	@$(STATIC) go test -run '^$$' -bench . -benchmem ./core/... ./bench/...
	@bin/daemok bench place --mix plain --pods 5000

.PHONY: bill
bill: build ## pay for a thousand pods in labs, on demand and five times on spot, print what was planned, said and paid; time five hundred
	@cd lab && DAEMOK_BIN=$(CURDIR)/bin $(STATIC) go test -count=1 -timeout 60m ./stories -run 'TestTheBill|TestFigures' -v -args -figures

.PHONY: lab-long
lab-long: build ## stories in labs in which minutes must go by: newer images and versions, nodes that stay ill, throttled calls, storms, what is bought elsewhere
	@cd lab && DAEMOK_BIN=$(CURDIR)/bin $(STATIC) go test -count=1 -timeout 60m ./stories -run TestAfterMinutes -v -args -long

##@ Upkeep

.PHONY: generate
generate: ## write CRDs, deep copies and pages of the reference from the API types, pages of commands from their help, IAM policies and templates from cloud/aws/rights, dashboards and rules, what the charts have of them, and the list of folders
	@cd deploy/monitoring && $(STATIC) go run ./generate .
	@$(STATIC) go generate ./kube/api/... ./deploy/aws ./charts/... ./internal/tidy
	@$(STATIC) go run ./cmd/daemok reference --markdown docs/reference/cli

.PHONY: man
man: ## man pages of all commands, in bin/man: MANPATH=bin/man man daemok-plan
	@$(STATIC) go run ./cmd/daemok reference --man bin/man/man1

.PHONY: dashboards
dashboards: ## draw the dashboards over a recording of a lab, for docs/tasks/monitoring.md
	@cd deploy/monitoring && $(STATIC) go run ./draw dashboards testdata/lab.txt.gz ../../docs/images/dashboards

.PHONY: record
record: build ## make that recording again, which takes a quarter of an hour
	@deploy/monitoring/testdata/record.sh deploy/monitoring/testdata/lab.txt.gz

.PHONY: recording
recording: build ## record the demo on a terminal for the README, as docs/images/demo.cast, and draw it; needs script of util-linux
	@script -q -e -c 'stty columns 80 rows 40; TERM=xterm-256color COLORTERM= NO_COLOR= bin/daemok demo --once' --log-out bin/demo.out --log-timing bin/demo.timing
	@$(STATIC) go run ./internal/picture/cast -title 'daemok demo --once' bin/demo.out bin/demo.timing > bin/demo.cast
	@sed 's|$(CURDIR)/||g' bin/demo.cast > docs/images/demo.cast
	@$(STATIC) go test -count=1 -vet=off ./internal/picture -update

.PHONY: vulnerabilities
vulnerabilities: ## ask the Go vulnerability database about each module; another one: GOVULNDB=URL, or file:///FOLDER of a copy
	@$(STATIC) GOBIN=$(CURDIR)/bin/tools go install $(GOVULNCHECK)
	@red=0; for module in $(MODULES); do echo "vulnerabilities: $$module"; code=0; \
	  (cd $$module && $(STATIC) $(CURDIR)/bin/tools/govulncheck $(if $(GOVULNDB),-db '$(GOVULNDB)') ./...) || code=$$?; \
	  case $$code in 0) ;; 3) red=1 ;; *) echo "vulnerabilities: FAILED: $$module was not checked (see above). Where https://vuln.go.dev cannot be reached, name a mirror: make vulnerabilities GOVULNDB=URL"; exit 2 ;; esac; done; exit $$red

.PHONY: clean
clean: ## remove what make built
	rm -rf bin dist

##@ Releases

.PHONY: release
release: bin/tools/release ## what users download, in dist: image, programs, charts, bills of materials; PLATFORMS="linux/amd64"
	@rm -rf dist
	@version=$$(bin/tools/release version); for platform in $(PLATFORMS); do \
	  echo "release: build $$platform (a platform's first build takes minutes)"; \
	  export GOOS=$${platform%/*} GOARCH=$${platform#*/} GOAMD64=v1 GOARM64=v8.0; to=$(CURDIR)/dist/bin/$${GOOS}_$$GOARCH; mkdir -p $$to; \
	  $(QUICKLY) go build -ldflags "$(RELEASED)" -o $$to/ ./cmd/daemok ./cmd/daemok-controller; \
	  (cd lab && $(QUICKLY) go build -ldflags "$(RELEASED) $(K8S_VERSIONED)" -o $$to/ ./cmd/daemok-lab); done; \
	  unset GOOS GOARCH GOAMD64 GOARM64; \
	  (cd lab && $(STATIC) go run ./chart/pack -version "$$version" -at "$$(git log -1 --format=%cI)"); \
	  $(STATIC) go run ./cmd/daemok reference --man dist/man/man1; \
	  bin/tools/release assemble -version "$$version" -kubernetes $(KUBERNETES)

# The programs.

bin/daemok: $(DAEMOK_SOURCES)
	@echo "build: $@"
	@$(QUICKLY) go build -ldflags '$(VERSIONED)' -o $@ ./cmd/daemok
	@touch $@

bin/daemok-controller: $(CONTROLLER_SOURCES)
	@echo "build: $@"
	@$(QUICKLY) go build -ldflags '$(VERSIONED)' -o $@ ./cmd/daemok-controller
	@touch $@

bin/daemok-lab: $(LAB_SOURCES)
	@if [ -e $@ ]; then echo "build: $@"; else \
	  echo "build: $@ (links a whole control plane: the first build takes 5 minutes or more on two cores, later ones seconds)"; fi
	@cd lab && $(QUICKLY) go build -ldflags '$(VERSIONED) $(K8S_VERSIONED)' -o ../$@ ./cmd/daemok-lab
	@touch $@

bin/tools/release: $(call sources,internal/release)
	@echo "build: $@"
	@cd internal/release && $(QUICKLY) go build -o ../../$@ .
	@touch $@

bin/tools/deadcode: internal/lint/go.mod internal/lint/go.sum
	@echo "build: $@"
	@cd internal/lint && $(QUICKLY) go build -o ../../bin/tools/ golang.org/x/tools/cmd/deadcode

bin/tools/lint: $(call sources,internal/lint)
	@echo "build: $@"
	@cd internal/lint && $(QUICKLY) go build -o ../../bin/tools/ . ./analyze
	@touch $@
