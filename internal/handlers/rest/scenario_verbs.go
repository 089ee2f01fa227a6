package rest

import "berth/internal/scenario"

// scenarioVerbs are the kinds of questions about what comes next, by the last part of their path.
var scenarioVerbs = map[string]func() scenarioRequest{
	simulationVerb: newSimulation,
	"fit":          newFit,
	"pools":        newPools,
	"drains":       newDrain,
	"losses":       newLoss,
	"rollouts":     newRollout,
}

// simulationVerb is that of the questions that name their cluster in the body.
const simulationVerb = "simulations"

// FitRequest asks how many more replicas of a pod fit.
type FitRequest struct {
	scenario.FitQuestion
	ScenarioBase
} // @name FitRequest

// newFit returns an empty request.
//
//	@Summary		How many more replicas of a pod fit, and what runs out first
//	@Description	Replicas are decided and bound one after the other on a fork in memory, until one gets no node. No pod is evicted for one, and no room is kept for pods that wait. Nothing is recorded, and the cluster stays as it is. The same question about the same revision has the same answer.
//	@Tags			scenarios
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			cluster			path		string		true	"the cluster"
//	@Param			body			body		FitRequest	true	"the pod"
//	@Param			snapshot		query		string		false	"a revision of the cluster, such as prod@3; the newest if absent"
//	@Param			now				query		string		false	"the time that decisions are made at (RFC 3339); when the revision was made, if absent"
//	@Param			fieldValidation	query		string		false	"how to treat unknown fields of objects; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Param			Idempotency-Key	header	string	false	"a key under which the call is done once in 24 hours"
//	@Success		200				{object}	scenario.Fit
//	@Success		202				{object}	simulations.Job	"it goes on as a job, at Location"
//	@Failure		400,401,403,404,409,413,415,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/clusters/{cluster}/fit [post]
func newFit() scenarioRequest { return &FitRequest{} }

// PoolsRequest asks how many nodes of which pools pods need.
type PoolsRequest struct {
	scenario.PoolsQuestion
	ScenarioBase
} // @name PoolsRequest

// newPools returns an empty request.
//
//	@Summary		How many nodes of which pools pods need to fit
//	@Description	Each count is tried by a run: nodes are added to a fork in memory, their daemon pods placed, and all pods arrive in the order of the queue. Of each pool it finds the smallest count with which all pods fit, and over all pools the cheapest choice that is found, beside a lower bound where one within a tenth of it is known. No pod is evicted for another one, nothing is recorded, and the cluster stays as it is.
//	@Tags			scenarios
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			cluster			path		string			true	"the cluster"
//	@Param			body			body		PoolsRequest	true	"the pods and the pools"
//	@Param			snapshot		query		string			false	"a revision of the cluster, such as prod@3; the newest if absent"
//	@Param			now				query		string			false	"the time that decisions are made at (RFC 3339); when the revision was made, if absent"
//	@Param			fieldValidation	query		string			false	"how to treat unknown fields of objects; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Param			Idempotency-Key	header	string	false	"a key under which the call is done once in 24 hours"
//	@Success		200				{object}	scenario.Pools
//	@Success		202				{object}	simulations.Job	"it goes on as a job, at Location"
//	@Failure		400,401,403,404,409,413,415,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/clusters/{cluster}/pools [post]
func newPools() scenarioRequest { return &PoolsRequest{} }

// DrainRequest asks what a drain of nodes does.
type DrainRequest struct {
	scenario.DrainQuestion
	ScenarioBase
} // @name DrainRequest

// newDrain returns an empty request.
//
//	@Summary		What draining nodes does, or which nodes can be emptied
//	@Description	Nodes are cordoned and drained one after the other as by kubectl drain: pods leave in waves as their budgets let them, their controllers create others, and each of those is decided on the state as it is then. With find, as many nodes as can be emptied are looked for, each proven by running it; with each, every node is drained alone. Seconds are by grace periods and start times. Nothing is recorded, and the cluster stays as it is.
//	@Tags			scenarios
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			cluster			path		string			true	"the cluster"
//	@Param			body			body		DrainRequest	true	"the nodes"
//	@Param			snapshot		query		string			false	"a revision of the cluster, such as prod@3; the newest if absent"
//	@Param			now				query		string			false	"the time that decisions are made at (RFC 3339); when the revision was made, if absent"
//	@Param			fieldValidation	query		string			false	"how to treat unknown fields of objects; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Param			Idempotency-Key	header	string	false	"a key under which the call is done once in 24 hours"
//	@Success		200				{object}	scenario.Drain
//	@Success		202				{object}	simulations.Job	"it goes on as a job, at Location"
//	@Failure		400,401,403,404,409,413,415,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/clusters/{cluster}/drains [post]
func newDrain() scenarioRequest { return &DrainRequest{} }

// LossRequest asks what happens when nodes die.
type LossRequest struct {
	scenario.LossQuestion
	ScenarioBase
} // @name LossRequest

// newLoss returns an empty request.
//
//	@Summary		What happens, and when, if nodes or a zone die
//	@Description	The node lifecycle controller counts the nodes as lost, taints them by zone at its rates, and their pods are deleted when their tolerations end; no kubelet ends those pods, so they stay Terminating until the Node object goes. Replacements are decided on the state as it is then. With each, every zone or node dies alone. Nothing is recorded, and the cluster stays as it is.
//	@Tags			scenarios
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			cluster			path		string		true	"the cluster"
//	@Param			body			body		LossRequest	true	"the nodes"
//	@Param			snapshot		query		string		false	"a revision of the cluster, such as prod@3; the newest if absent"
//	@Param			now				query		string		false	"the time that decisions are made at (RFC 3339); when the revision was made, if absent"
//	@Param			fieldValidation	query		string		false	"how to treat unknown fields of objects; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Param			Idempotency-Key	header	string	false	"a key under which the call is done once in 24 hours"
//	@Success		200				{object}	scenario.Loss
//	@Success		202				{object}	simulations.Job	"it goes on as a job, at Location"
//	@Failure		400,401,403,404,409,413,415,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/clusters/{cluster}/losses [post]
func newLoss() scenarioRequest { return &LossRequest{} }

// RolloutRequest asks how the update of a Deployment, a StatefulSet or a DaemonSet goes.
type RolloutRequest struct {
	scenario.RolloutQuestion
	ScenarioBase
} // @name RolloutRequest

// newRollout returns an empty request.
//
//	@Summary		How a workload's update goes: its steps, who waits for a node and why, how long it takes
//	@Description	The pods that a Deployment, a StatefulSet or a DaemonSet has in the snapshot are replaced by pods of the new template on a fork in memory, in virtual seconds, as its controllers do it (RollingUpdate, Recreate or OnDelete) and the scheduler places them. Pods that wait in the snapshot take part. Nothing is recorded, and the cluster stays as it is.
//	@Tags			scenarios
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			cluster			path		string			true	"the cluster"
//	@Param			body			body		RolloutRequest	true	"the Deployment, StatefulSet or DaemonSet with its new template"
//	@Param			snapshot		query		string			false	"a revision of the cluster, such as prod@3; the newest if absent"
//	@Param			now				query		string			false	"the time that it begins at (RFC 3339); when the revision was made, if absent"
//	@Param			fieldValidation	query		string			false	"how to treat unknown fields of objects; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Param			Idempotency-Key	header	string	false	"a key under which the call is done once in 24 hours"
//	@Success		200				{object}	scenario.Rollout
//	@Success		202				{object}	simulations.Job	"it goes on as a job, at Location"
//	@Failure		400,401,403,404,409,413,415,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/clusters/{cluster}/rollouts [post]
func newRollout() scenarioRequest { return &RolloutRequest{} }

// SimulationRequest is a scenario.
type SimulationRequest struct {
	scenario.Request
	ScenarioWait
	// Semantics is the release of Kubernetes to decide as, as for decisions, where a profile names
	// none; if absent, that of the cluster.
	Semantics string `json:"semantics,omitempty" example:"v1.37"`
} // @name SimulationRequest

// newSimulation returns an empty request.
//
//	@Summary		Run a scenario, under one configuration or several
//	@Description	Pods arrive at a fork of a revision, in memory: each is decided as by kube-scheduler, and each outcome changes the state for the next. What is placed, what waits and why, how full the nodes are over time, and where configurations differ first and why. Time is ordinal. Nothing is recorded, and the cluster stays as it is. The same scenario has the same answer, with the same digest.
//	@Tags			scenarios
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			body			body		SimulationRequest	true	"the scenario"
//	@Param			fieldValidation	query		string				false	"how to treat unknown fields of objects; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Param			Idempotency-Key	header	string	false	"a key under which the call is done once in 24 hours"
//	@Success		200				{object}	scenario.Simulation
//	@Success		202				{object}	simulations.Job	"it goes on as a job, at Location"
//	@Failure		400,401,403,404,409,413,415,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/simulations [post]
func newSimulation() scenarioRequest { return &SimulationRequest{} }
