# Every target works on a machine with Go, git and make; `make help` lists them.
GO      ?= go
VERSION := $(shell sed -n 's/^const Number = "\(.*\)"/\1/p' internal/version/version.go)
TAG     ?= $(VERSION)
LDFLAGS := -s -w
TOOL    := $(GO) tool -modfile=tools/go.mod
CODE    := cmd deploy internal migrations test
PROSE   := $(CODE) client docs README.md CONTRIBUTING.md CHANGELOG.md
# What tests call and no program does: their own packages, two tables that are held to documents, and
# the profile that most tests of the engine begin with. The module client is for other programs.
TESTS_ONLY := ^client/|^test/[a-z]*test/|^test/rollupcheck/|^test/player/|engine/rules/descriptor\.go.* Describe$$|engine/rules/registry\.go.* DefaultSpec$$|internal/kube/follow/kinds\.go.* Kinds$$
# Packages whose tests start goroutines and take seconds, not minutes, under the race detector.
RACE    := $(addprefix ./internal/,decision/bind handlers/extender/wire kube/follow memory ops/certs priorityclass jobs/replays revision store/groupcommit)
FUZZTIME ?= 30s
GOVULNCHECK := v1.9.0
REDOCLY := 2.77.0
LISTEN  ?= 127.0.0.1:8080
N       ?= 2000
SEED    ?= 1
SEEDS   ?= 1
# Make has an AS of its own, the assembler.
AS =

.PHONY: help run build postgres test test-web screenshots race test-race lint fmt generate verify ci bench bench-compare bench-calls fuzz fuzz-short openb conformance conformance-short tables vectors mutants linear torture hostile growth soak throughput faults cluster image clean manifests release release-check package-test licences modules pin-images vuln upgrade-data

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: ## serve on 127.0.0.1:8080 over ./data: make run LISTEN=127.0.0.1:9090
	@echo "Compiling the server: minutes the first time, seconds after that."
	@CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/server ./cmd/server
	@exec bin/server --listen $(LISTEN) --pages read-write

build: ## static binaries in bin/: the server, and berth for people (kubectl-berth is the same as a plugin)
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/ ./cmd/server ./cmd/berth
	ln -sf berth bin/kubectl-berth

test: postgres ## all tests
	@./script/shell.sh
	$(GO) test -timeout 10m ./...

test-web: ## the pages in a real browser, Debian's chromium unless there is one: make test-web FULL=1 tries all at 5,000 nodes
	@./script/browser.sh
	cd test/web && BERTH_TEST_FULL=$(FULL) $(GO) test -count=1 -timeout 10m ./...

screenshots: ## write the pictures of docs/explorer.md again
	@./script/browser.sh
	cd test/web && $(GO) test -count=1 -run Screenshots -update ./...

test-race: postgres ## all tests under the race detector
	@./script/shell.sh
	@./script/cc.sh
	CGO_ENABLED=1 $(GO) test -race -timeout 20m ./...

race: ## the packages that start goroutines, under the race detector
	@./script/cc.sh
	CGO_ENABLED=1 $(GO) test -race -timeout 20m $(RACE)

postgres: ## PostgreSQL's binaries for the tests, installed where missing and possible
	@./script/postgres.sh

lint: ## vet, staticcheck, the analyzers of tools/lint, unused parameters, spelling and formatting
	$(GO) vet ./...
	$(GO) build -C tools -o ../bin/lint ./lint
	$(GO) vet -vettool=bin/lint ./...
	$(TOOL) staticcheck ./...
	$(TOOL) unparam ./...
	git ls-files -z $(PROSE) ':!internal/handlers/swaggerui/*' | xargs -0 $(TOOL) misspell -error
	@$(TOOL) -n godot >/dev/null # so that its download is not among its findings
	@out="$$($(TOOL) godot $(CODE) 2>&1)"; test -z "$$out" || { echo "$$out"; exit 1; }
	@out="$$($(TOOL) gofumpt -l $(CODE) client tools/contract tools/lint tools/release 2>/dev/null)"; test -z "$$out" || { echo "not formatted (make fmt):"; echo "$$out"; exit 1; }

fmt: ## format the code
	$(TOOL) gofumpt -w $(CODE) client tools/contract tools/lint tools/release

generate: ## write api/openapi.yaml, client/ts/types.ts and docs/sql-reference.md again
	$(GO) run ./cmd/openapi
	$(GO) test -count=1 ./migrations -run Reference -update

.PHONY: redocly
redocly: ## lint api/openapi.yaml by Redocly's own program, which npm brings; its rules are tests of cmd/openapi, too
	REDOCLY_TELEMETRY=off npx --yes @redocly/cli@$(REDOCLY) lint api/openapi.yaml

manifests: ## write deploy/rendered again
	cd test/deploy && $(GO) test -count=1 ./... -update

verify: ## what is generated is current, go.mod is tidy, nothing is left over
	$(GO) mod tidy -diff
	@all="$$($(TOOL) deadcode ./...)" || exit 1; dead="$$(echo "$$all" | grep -vE '$(TESTS_ONLY)')"; test -z "$$dead" || { echo "no program calls these:"; echo "$$dead"; exit 1; }
	cd test/deploy && $(GO) test ./...
	cd test/upstream && $(GO) list -deps -test -tags v1_37 . >/dev/null # its go.mod names what the product imports
	cd tools/release && $(GO) vet . && $(GO) test .
	cd client && $(GO) mod tidy -diff && $(GO) vet ./... && $(GO) test ./...
	cd tools/contract && $(GO) vet . && $(GO) test . # what the last release answered is still answered
	$(RELEASER) licences -platforms linux/amd64
	@test -z "$$(gofmt -l cmd internal migrations)" || { gofmt -l cmd internal migrations; exit 1; }

vuln: ## known vulnerabilities of what is called; from vuln.go.dev, or a copy: GOVULNDB=file:///path
	./script/vuln.sh $(GOVULNCHECK) $(GOVULNDB)

ci: lint verify test conformance-short test-web race bench-compare ## exactly what CI runs

bench: ## benchmarks with allocations
	$(GO) test -run '^$$' -bench . -benchmem -timeout 30m ./internal/engine/... ./internal/handlers/... ./internal/kube/object/... ./internal/store/... ./internal/revision/... ./internal/decision/record/... ./internal/report/...

.PHONY: bench-scenario
bench-scenario: ## a scenario beside a call for each pod: make bench-scenario SHORT=1 on a tenth of the cluster
	$(GO) test -run '^$$' -bench ScenarioBesideCalls -benchtime 1x -count 3 $(if $(SHORT),-short) ./internal/handlers

.PHONY: bench-upstream
bench-upstream: ## decisions beside kube-scheduler's own, in one process: make bench-upstream BENCH_NODES=1000
	cd test/upstream && $(GO) test -tags v1_37 -run '^$$' -bench . -benchtime 1s -count 3 -timeout 60m

bench-compare: ## the hot paths against an earlier commit, fails on a loss over 30 %: make bench-compare BASE=HEAD~9
	$(GO) run ./test/benchcompare $(if $(BASE),-base $(BASE)) $(BENCH)

bench-calls: ## calls that users make, of this tree and an earlier commit in turns: make bench-calls BASE=HEAD~9 CALLS='-nodes 1500 -only bind'
	$(GO) run ./test/benchcalls $(if $(BASE),-base $(BASE)) $(CALLS)

.PHONY: bench-scheduler-perf
bench-scheduler-perf: ## upstream's scheduler_perf workloads beside their thresholds: make bench-scheduler-perf PERF='--only Basic --rounds 1 --store postgres'
	$(GO) run ./test/schedulerperf $(PERF)

fuzz: ## every fuzz target for FUZZTIME each
	@for pkg in $$($(GO) list ./internal/...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg 2>/dev/null | grep '^Fuzz'); do \
	    echo "== $$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x $$pkg || exit 1; \
	  done; \
	done

openb: ## run a real cluster's trace against a running server: make openb DATA=DIR
	$(GO) run ./test/openb --data $(DATA)

conformance: ## try berth against kube-scheduler's own plugins: make conformance N=2000 SEED=1 CONFIG=mixed RELEASE=v1.37
	./test/conformance/$(if $(RELEASE),release.sh $(RELEASE),run.sh) $(N) $(SEED) $(if $(RELEASE),$(or $(CONFIG),default) "$(AS)" $(EACH),$(CONFIG))

conformance-short: ## decisions alone, by the default configuration and by mixed ones, from seeds of their own
	./test/conformance/run.sh 1000 1 default ""
	./test/conformance/run.sh 1000 100001 mixed ""

.PHONY: controllers
controllers: ## hold scenarios with a clock to upstream's controllers: make controllers N=5000 SEED=1 PART=job,attach
	./test/conformance/controllers.sh $(or $(N),5000) $(or $(SEED),1) $(PART)

.PHONY: admission-list
admission-list: ## write what releases admit differently, by the packages of each; some minutes the first time
	cd test/conformance && $(GO) test ./admit -run TestReleases -count=1 -timeout 60m -update

.PHONY: release-diff
release-diff: ## what two releases of Kubernetes differ in, beside what is known of it: make release-diff FROM=v1.36.3 TO=v1.37.2 DIFF='-all -out DIR'
	cd test/conformance && $(GO) run ./cmd/releasediff $(DIFF) $(FROM) $(TO)

.PHONY: courts
courts: ## build the oracle of every release, after a change of what they share
	cd test/conformance && for mod in releases/v*.mod; do r=$$(basename $$mod .mod) && \
	$(GO) build -modfile=$$mod -tags $$(echo $$r | tr . _) -o /dev/null ./cmd/conformance || exit 1; done

.PHONY: hints
hints: ## hold queueing hints to those of kube-scheduler's plugins: make hints HINTS=15000 SEED=1 RELEASE=v1.35
ifneq ($(RELEASE),)
	./test/conformance/hints.sh $(RELEASE) $(or $(HINTS),15000) $(or $(SEED),1)
else
	cd test/upstream && HINTS=$(or $(HINTS),15000) HINTS_SEED=$(SEED) $(GO) test -tags v1_37 -count=1 -timeout 60m -run 'TestHints$$' -v .
endif

tables: ## play the scenarios of kube-scheduler's own tests through berth: make tables PLUGIN=NodeAffinity RELEASE=v1.37
	./test/conformance/tables.sh $(if $(PLUGIN),-plugin $(PLUGIN)) $(if $(RELEASE),-release $(RELEASE)) $(if $(AS),-semantics $(AS))

vectors: ## write the golden vectors again from kube-scheduler's own verdicts: make vectors RELEASE=v1.37 for those that differ there
	$(if $(RELEASE),VECTORS=internal/engine/testdata/vectors/$(RELEASE).json.gz ./test/conformance/release.sh $(RELEASE) $(or $(N),2000) 9000000 default upstream 12,cd test/conformance && $(GO) run ./cmd/conformance -write-vectors ../../internal/engine/testdata/vectors)

mutants: ## show that the vectors alone catch faults put into the rules: make mutants MUTANTS=spread
	$(GO) run ./test/faults -vectors $(MUTANTS)

torture: postgres ## break servers and Postgres under load, then do the books: make torture SEEDS=1 SEED=7
	$(GO) run ./test/torture --seeds $(SEEDS) $(if $(filter command line environment,$(origin SEED)),--seed $(SEED)) $(TORTURE)

SOAK ?= 1h
soak: ## clusters that come, change and go on one server, whose heap has to stay flat: make soak SOAK=2m
	$(GO) run ./test/soak --for $(SOAK)

growth: ## show that no dimension of the input costs more than n log n: make growth GROWTH='pods on'
	BERTH_GROWTH='$(or $(GROWTH),1)' $(GO) test -count=1 -timeout 60m -run 'TestGrowth$$' ./internal/handlers

hostile: ## requests that are made to end a server, on one with 1 GiB
	$(GO) run ./test/hostile

.PHONY: tenancy
tenancy: ## what three tenants notice of a fourth at twenty times its share: make tenancy TENANCY='-only dry -- --caller-slots 4'
	$(GO) run ./test/tenancy $(TENANCY)

.PHONY: patroni
patroni: ## switchovers and failovers of Patroni under load, with etcd and PostgreSQL of Debian, five minutes: make patroni PATRONI=async
	@./script/patroni.sh
	$(GO) run ./test/patroni -only '$(PATRONI)'

throughput: postgres ## what records, HTTP and batch replays leave of their floors, in one run
	$(GO) run ./test/throughput
	$(GO) test -run '^$$' -bench FilterHTTP -benchmem ./internal/handlers

faults: postgres ## show that the tests find bugs put into the code: make faults FAULTS=spool
	$(GO) run ./test/faults $(FAULTS)

linear: postgres ## three replicas under faults, 20 times 10 s, judged by Porcupine; 500 lost answers, also to jobs; hostile rows
	BERTH_LINEAR_RUNS=20 BERTH_LINEAR_SECONDS=10 BERTH_CUTS=500 BERTH_HOSTILE=all $(GO) test -timeout 40m -run 'TestLinearizable|TestCutAroundCommit|TestHostileRows' ./internal/revision ./internal/store/postgres

cluster: postgres build ## berth between a real kube-apiserver and a real kube-scheduler: make cluster SCENARIO=name CLUSTER='-outage 15s'
	./test/cluster/run.sh "$(SCENARIO)" $(CLUSTER)

upgrade-data: ## keep a data directory and the API of this release, for test/upgrade and tools/contract, before it is tagged
	$(GO) build -o bin/server ./cmd/server
	$(GO) run ./test/upgrade -program bin/server -out test/upgrade/testdata/$(VERSION).tar.gz
	rm -f api/released/*.yaml
	{ echo "# api/openapi.yaml of $(VERSION), to which tools/contract holds today's."; tail -n +2 api/openapi.yaml; } >api/released/$(VERSION).yaml

PLATFORMS ?= linux/amd64,linux/arm64,darwin/amd64,darwin/arm64
RELEASER  := cd tools/release && $(GO) build -o ../../bin/release . && cd ../.. && bin/release
NAMED     := $(if $(RELEASE_URL),-url '$(RELEASE_URL)') $(if $(MAINTAINER),-maintainer '$(MAINTAINER)')

release: ## archives, packages, image, chart, bills of materials and checksums in dist/: make release RELEASE_URL=https://… MAINTAINER='NAME <ADDRESS>' PLATFORMS=linux/amd64
	$(RELEASER) build -platforms $(PLATFORMS) $(NAMED) $(RELEASE_FLAGS)

release-check: ## build the release twice, in two folders with empty caches, and compare the bytes
	$(RELEASER) check -platforms $(PLATFORMS) $(NAMED) $(RELEASE_FLAGS)

package-test: ## run what `make release` built without Go: the image on its own root, the package in a fresh Debian; as root
	@command -v mmdebstrap >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends mmdebstrap lintian systemd; }
	cd tools/release && BERTH_DIST=$(CURDIR)/dist $(GO) test -count=1 -v -timeout 20m -run 'TestImage|TestArchiveRuns|TestBill|TestKrew|TestChecksums|TestDebian' .
	lintian --allow-root --fail-on error,warning --suppress-tags statically-linked-binary dist/*_$$(dpkg --print-architecture).deb
	systemd-analyze security --offline=yes --threshold=20 tools/release/debian/berth.service | tail -1

licences: ## the licences of what is linked in, for all platforms; an unknown one fails
	$(RELEASER) licences -platforms $(PLATFORMS)

modules: ## what is linked in, with versions, dates and licences: make -s modules >tools/release/modules.md
	@$(RELEASER) modules

pin-images: ## write today's digests of the images into Dockerfile and docker-compose.yml
	$(RELEASE) pin

image: ## a small static container image
	docker build --build-arg VERSION=$(VERSION) --build-arg REVISION="$$(git rev-parse HEAD)" -t berth:$(TAG) .

clean: ## remove what was built
	rm -rf bin dist
