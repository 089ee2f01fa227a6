// Written by cmd/openapi from the handlers' annotations; do not edit.

/** A Kubernetes object, or what else is an object of any fields. */
export type Fields = { [field: string]: any };

export type AccessChange = {
  "action"?: string;
  /** AskedBy is the kind and name of who asked, Peer the address that the request came from. */
  "askedBy"?: string;
  "createdAt"?: string;
  "detail"?: Fields;
  "id"?: string;
  "object"?: string;
  "peer"?: string;
  "requestId"?: string;
};

export type AccessChangeList = {
  /** Cursor continues the list; absent on its last page. */
  "cursor"?: string;
  "items"?: Array<AccessChange>;
};

export type Admission = {
  "allowed"?: boolean;
  /** Errors say field by field why not, in an API server's words. */
  "errors"?: Array<FieldError>;
  /** Forbidden is what an API server says, with 403, where RuntimeClass, LimitRanger or ResourceQuota forbid the pod; Errors has it too. */
  "forbidden"?: string;
  /** NotEvaluated names what of the pod the release in question may judge otherwise than the newest, as which it was judged. */
  "notEvaluated"?: Array<EngineNotEvaluated>;
  /** Pod is the object as it would be stored; absent if it is refused. */
  "pod"?: Fields;
  /** Quota is the quota that does not let the pod in, and who uses it up. */
  "quota"?: QuotaUse;
  /** Warnings are those that an API server would give, in its words. They name what of the pod was passed over (fieldValidation=Warn), and what one pod of a workload does not show. */
  "warnings"?: Array<string>;
};

export type AdmissionRequest = {
  /** Cluster says whose priority classes count, and whose nodes give their zone and region to pods that name one; default if absent. */
  "cluster"?: string;
  /** Now is the time that is written into the pod; the server's if absent. */
  "now"?: string;
  /** OldPod is the v1.Pod that is there; needed for UPDATE. */
  "oldPod"?: Fields;
  /** Operation is CREATE or UPDATE. */
  "operation"?: "CREATE" | "UPDATE";
  /** Pod is the v1.Pod as it is sent. */
  "pod"?: Fields;
  /** Semantics is the API server's release of Kubernetes, as for decisions; if absent, that of the cluster. Pods are judged as by the newest one that is known. */
  "semantics"?: string;
};

export type AuditAnchor = {
  "heads"?: Array<AuditHead>;
};

export type AuditFinding = {
  "cluster"?: string;
  "detail"?: string;
  /** From and To are the first and the last place: seq of decisions and of changes of priority classes, number of revisions, what they changed, checkpoints and seals. */
  "from"?: number;
  /** ID is of a decision or of a gap, where it is known, or the name of what is wrong in a schema. */
  "id"?: string;
  /** the seal that the row is of */
  "seal"?: number;
  /** Table is decisions, revisions, checkpoints, decision_gaps, revision_changes, priority_class_changes, seals, clusters or schema. */
  "table"?: string;
  "to"?: number;
  "what"?: "changed" | "missing" | "moved" | "inserted" | "anchor" | "unchecked" | (string & {});
};

export type AuditHead = {
  "cluster"?: string;
  /** of that seal, in hexadecimal */
  "hash"?: string;
  "seal"?: number;
  /** of the last decision */
  "seq"?: number;
};

export type AuditReport = {
  /** Accepted are findings that were accepted (Accept). */
  "accepted"?: Array<AuditFinding>;
  "beforeRevision"?: number;
  /** BeforeSeq and BeforeRevision are the last decision and revision from before the chain. They are compared with what its seal of beginning has, which a migration wrote. */
  "beforeSeq"?: number;
  /** Beginning is the number of that seal, or of the deletion that the chain goes on behind. */
  "beginning"?: number;
  "cluster"?: string;
  "findings"?: Array<AuditFinding>;
  /** FromSeal and ToSeal are the seals that were checked. A check that goes on continues after ToSeal. */
  "fromSeal"?: number;
  "head"?: AuditHead;
  /** More is set where seals behind ToSeal are left. */
  "more"?: boolean;
  /** Omitted counts the findings that are not listed. */
  "omitted"?: number;
  /** Rows that were compared with their seal. */
  "rows"?: { [key: string]: number };
  "toSeal"?: number;
};

export type BatchDifferenceList = {
  /** Cursor continues the list; absent on its last page. A batch that has not ended may still add to what follows. */
  "cursor"?: string;
  "items"?: Array<ReplaysDifference>;
};

export type BatchList = {
  /** Cursor continues the list; absent on its last page. */
  "cursor"?: string;
  "items"?: Array<ReplaysJob>;
};

export type BatchRequest = {
  "cluster"?: string;
  /** Config is another KubeSchedulerConfiguration, as an object or as YAML in a string. */
  "config"?: Fields | string;
  /** Profile is another profile's name, of Config or of the server. */
  "profile"?: string;
  /** Semantics is another release of Kubernetes, as for decisions: each recorded profile decides as that one has it, or Config does. */
  "semantics"?: string;
  /** Since is inclusive, RFC 3339; absent: from the first decision on. */
  "since"?: string;
  /** Until is exclusive; absent, or in the future: until now. */
  "until"?: string;
};

export type Behaviour = {
  /** Gate reports whether kube-scheduler has a feature gate of the name. */
  "gate"?: boolean;
  /** Name is the field's, or the gate's. */
  "name"?: string;
  /** Remedy is what keeps the answer of before, or is to be looked at; empty where nothing is. */
  "remedy"?: string;
  /** Row is its row in docs/releases.md. */
  "row"?: string;
  /** Undecided reports whether no decision about a pod shows it: it is about which configurations are read, about when a pod is tried again, or about groups. */
  "undecided"?: boolean;
  /** What is what it decides. */
  "what"?: string;
  /** Where is upstream's file and function. */
  "where"?: string;
};

export type Blame = {
  /** Notes say what the history does not tell. */
  "notes"?: Array<string>;
  /** Outcome is that of the last revision: of a decision, of the node in question (fits, absent or the plugin that rejects the pod), or how many copies fit. */
  "outcome"?: string;
  "pod"?: PodRef;
  /** Revisions is how many were judged, each by an exact decision. */
  "revisions"?: number;
  /** Turns are the revisions at which the outcome became another one, the newest first. */
  "turns"?: Array<BlameTurn>;
};

export type BlameChange = {
  "kind"?: string;
  "name"?: string;
  "namespace"?: string;
  /** Node is that of a pod which got it, or was deleted from it. */
  "node"?: string;
  /** Verb is how it came: by a bind, by a change that applied or deleted it, with an upload, or from the API server that is followed. */
  "verb"?: "bind" | "apply" | "delete" | "upload" | "watch" | (string & {});
};

export type BlameTurn = {
  /** Also are the other objects of the same revision that turned it. */
  "also"?: Array<BlameChange>;
  "at"?: string;
  /** By is who asked for the change. */
  "by"?: string;
  /** Change is what turned it; without a name where the caller may not see it, and without a kind where it cannot be told. */
  "change"?: BlameChange;
  "from"?: string;
  "message"?: string;
  "snapshot"?: string;
  "to"?: string;
};

export type BoundAlong = {
  /** Left are the plugins whose claims stay as they were, since the node, which no decision of this server chose, has nothing for them. */
  "left"?: Array<EngineLeftAlone>;
  /** ResourceClaims were reserved for the pod, and those that had none got devices. */
  "resourceClaims"?: Array<BoundClaim>;
  /** VolumeClaims waited for the pod's node. */
  "volumeClaims"?: Array<BoundVolumeClaim>;
};

export type BoundClaim = {
  /** Created is set where the bind made the claim, for extended resources. */
  "created"?: boolean;
  /** Devices are those that it got; none where it had been allocated before. */
  "devices"?: Array<BoundDevice>;
  "name"?: string;
};

export type BoundDevice = {
  "adminAccess"?: boolean;
  "device"?: string;
  "driver"?: string;
  "pool"?: string;
  "request"?: string;
  /** ShareID is of a device that is given out in shares. */
  "shareID"?: string;
};

export type BoundVolumeClaim = {
  "claim"?: string;
  "selectedNode"?: string;
  "volume"?: string;
};

export type Capacity = {
  "nodes"?: CapacityNodes;
  /** OtherPods are of sizes that are not among them. */
  "otherPods"?: number;
  /** PoolLabel is the label of nodes that pools are told by. */
  "poolLabel"?: string;
  /** Resources are cpu, memory, pods, ephemeral-storage and the extended resources of most nodes. */
  "resources"?: Array<ResourceCapacity>;
  /** Shapes are the most common sizes of the pods, those of daemons left out. */
  "shapes"?: Array<ShapeCapacity>;
  "snapshot"?: string;
  "warnings"?: Array<string>;
};

export type CapacityNodes = {
  /** Bound is the least number of nodes whose allocatable resources, each by itself, hold what these pods request: no packing needs fewer. */
  "bound"?: number;
  "cordoned"?: number;
  /** CouldBeEmpty is how many nodes in use are above the bound: at most so many could be emptied. */
  "couldBeEmpty"?: number;
  /** GapPercent is CouldBeEmpty in percent of the nodes in use. */
  "gapPercent"?: number;
  /** InUse nodes have a pod that is no daemon's. */
  "inUse"?: number;
  /** NotReady nodes are so by their conditions. Neither they nor cordoned ones count as room. */
  "notReady"?: number;
  "total"?: number;
};

export type Chance = {
  /** Decided counts the choices of the first run that are chance, Named are the first ten. */
  "decided"?: number;
  /** Figures are there for more than one run. */
  "figures"?: Array<ChanceFigure>;
  "named"?: Array<ChanceChoice>;
  /** Runs is how often the question was run. */
  "runs"?: number;
};

export type ChanceChoice = {
  /** AfterSeconds is when, from the start. */
  "afterSeconds"?: number;
  /** Chosen of so many equal ones are taken. */
  "chosen"?: number;
  /** For is what the choice is made for. */
  "for"?: string;
  "of"?: number;
  /** Text is the choice in words. */
  "text"?: string;
  /** What is chosen: the node of a pod; the node of a preemption's victims; the pods that a controller deletes; the nodes on which a DaemonSet is updated; the pods that a budget lets a drain evict; or the node that is tainted. */
  "what"?: "node" | "victims" | "scaleDown" | "update" | "eviction" | "taint" | (string & {});
};

export type ChanceFigure = {
  "highest"?: number;
  "lowest"?: number;
  "median"?: number;
  /** Name is placed; pending, which are pods that have no node at the end, or places without a running pod; preempted; drained, which are nodes; or seconds, until all is over. */
  "name"?: "placed" | "pending" | "preempted" | "drained" | "seconds" | (string & {});
};

export type ChangeRequest = {
  /** Apply holds manifests: an object that is there is updated as by an apiserver and keeps what the manifest leaves out; another one is created. */
  "apply"?: Array<Fields>;
  /** Delete names objects to remove. One that does not exist is passed over and named in the answer. */
  "delete"?: Array<LedgerDeletion>;
  /** Patch changes single fields of objects that are there. */
  "patch"?: Array<LedgerPatch>;
  /** Replace holds objects that are stored as they stand. */
  "replace"?: Array<Fields>;
  /** Strict makes it an error to delete an object that does not exist. */
  "strict"?: boolean;
};

export type ClientRates = {
  /** Clients is upstream: the controllers of ReplicaSets and of taint eviction make 20 calls a second each, kube-scheduler 50, kubectl 5, after 30, 100 and 10 at once; or none: they make all at once. A scenario with a clock has upstream's if absent; drain, lose and rollout have none. */
  "clients"?: "upstream" | "none" | (string & {});
};

export type Cluster = {
  "createdAt"?: string;
  "decisions"?: number;
  /** Latest is the id of the newest revision, made at CreatedAt. */
  "latest"?: string;
  "name"?: string;
  "revisions"?: number;
  /** Running is what the newest revision says of the releases that run the cluster, and Warnings where that is another release than decisions follow. Both are of one cluster alone, not of a list. */
  "running"?: Running;
  /** Semantics is the release of Kubernetes that decisions about the cluster follow, with the gates that are not at its defaults. */
  "semantics"?: string;
  "warnings"?: Array<string>;
};

export type ClusterList = {
  /** Cursor names the next page; absent on the last. */
  "cursor"?: string;
  "items"?: Array<Cluster>;
};

export type Component = {
  "pod"?: string;
  "version"?: string;
};

export type Conflict = {
  /** Changes is the body of POST /v1/snapshots/{id}/changes that makes the stored pod equal to the request's; absent where that would be refused. */
  "changes"?: ConflictChanges;
  /** Node is the node that the pod is bound to; absent where that is not what is in the way. */
  "node"?: string;
  /** Refused is why an API server would refuse an update that makes the stored pod equal. */
  "refused"?: Array<FieldError>;
  "requestUID"?: string;
  /** Revision is the newest of the cluster when the request was judged. */
  "revision"?: number;
  /** State is that of the hold, which has ended otherwise. */
  "state"?: "committed" | "released" | "expired" | (string & {});
  /** StoredUID is that of the pod that the snapshot holds under the name, RequestUID that of the request's pod; absent where no other pod is in the way. */
  "storedUID"?: string;
};

export type ConflictChanges = {
  "patch"?: Array<LedgerPatch>;
};

export type Decision = {
  "best"?: Array<string>;
  /** BoundEffects are what the bind wrote beside the pod; absent where that is nothing. */
  "boundAlong"?: BoundAlong;
  /** BoundSnapshot is the revision that a bind made. */
  "boundSnapshot"?: string;
  /** BoundTo is the node that the pod is on in the snapshot, for a dry run about a pod that is bound: it was taken out first. */
  "boundTo"?: string;
  "cluster"?: string;
  "counts"?: EngineCounts;
  "createdAt"?: string;
  "devices"?: Array<EngineAllottedDevice>;
  "digest"?: string;
  /** Durability is spool where the database was away and the record is durable on the server's own disk, from where it goes to the database; else absent. */
  "durability"?: "spool" | (string & {});
  "durationMicros"?: number;
  "engine"?: string;
  "failures"?: Array<EngineFailureCount>;
  "gates"?: Array<string>;
  /** Groups are the rejected nodes by the same verdict, for explain=groups. They are worked out for the answer, and are not recorded. */
  "groups"?: Array<AdviceGroup>;
  "id"?: string;
  "margin"?: number;
  "message"?: string;
  /** Mode is shadow where the answer was recorded only, and everything let pass. */
  "mode"?: "shadow" | (string & {});
  /** Narrowed is which nodes the pod wants, and what those have against it, beside groups. */
  "narrowed"?: AdviceNarrowed;
  "node"?: string;
  "nodes"?: Array<EngineNodeVerdict>;
  "nodesOmitted"?: number;
  "nominatedNode"?: string;
  /** NominatedSnapshot is the revision that holds the pod nominated to its node. */
  "nominatedSnapshot"?: string;
  "notEvaluated"?: Array<EngineNotEvaluated>;
  /** Notes say what has to be known to read the answer. They are part of no digest. */
  "notes"?: Array<string>;
  "outcome"?: EngineOutcome;
  /** PendingSnapshot is the revision that holds why the pod waits, after an attempt with bind that found no node. */
  "pendingSnapshot"?: string;
  "pod"?: PodRef;
  "podDigest"?: string;
  "preemption"?: EnginePreemption;
  "priority"?: number;
  "profile"?: string;
  /** ProfileDigest names the configuration, which GET /v1/profiles/{digest} has. */
  "profileDigest"?: string;
  /** ProfileFallback is the pod's schedulerName where no profile has that name, so that the first profile judged it. */
  "profileFallback"?: string;
  "semantics"?: string;
  "snapshot"?: string;
  "snapshotDigest"?: string;
  /** StaleMillis is for how long the state may have missed what happened, of a cluster that is followed. */
  "staleMillis"?: number;
  /** Suggestions are single changes that would let the pod fit, cheapest first; they are worked out when the question wants them. They are not recorded; that they were wanted is. */
  "suggestions"?: Array<AdviceSuggestion>;
  "topologySpread"?: Array<EngineSpreadConstraint>;
  "verb"?: string;
  "volumes"?: Array<EngineVolumeBinding>;
  /** Warnings name the parts of the request that were ignored, and what the answer does not show of it. They are of the request, and not recorded. */
  "warnings"?: Array<string>;
};

export type DecisionList = {
  /** Cursor continues the list; absent on its last page. */
  "cursor"?: string;
  "items"?: Array<DecisionRow>;
  /** Next is the after of the next page; there with after alone, and on an empty page too, since more may come. */
  "next"?: number;
};

export type DecisionRequest = {
  /** Bind binds a Scheduled outcome in the same call, and writes the nomination of a Preempting one; victims stay. It needs a snapshot. */
  "bind"?: boolean;
  /** Config is a KubeSchedulerConfiguration, as an object or as YAML in a string, to decide under instead of the server's. */
  "config"?: Fields | string;
  /** DryRun computes without recording; the answer has no id. */
  "dryRun"?: boolean;
  /** Explain describes how much is written out: full, failures, groups, all (full, with every rule that rejects a node) or none. Default: failures. */
  "explain"?: "full" | "failures" | "groups" | "all" | "none";
  /** ExplainNode names a node for explain all: beside those of the best 50 nodes, its scores are told constraint by constraint and term by term. */
  "explainNode"?: string;
  /** NodeNames limits the nodes considered; absent: all. */
  "nodeNames"?: Array<string>;
  /** Now is the time that the decision is made at, for what depends on it; the server's time if absent. It is recorded beside the time of the record. */
  "now"?: string;
  /** Pod is the v1.Pod to place, or a workload (Deployment, StatefulSet, DaemonSet, Job and so on) of which one pod is placed. Either this or podRef. */
  "pod"?: Fields;
  /** PodRef names a pod of the snapshot. */
  "podRef"?: PodName;
  /** Preempt false tries no preemption for this decision. Default: true. */
  "preempt"?: boolean;
  /** Profile is a profile's name; else the pod's schedulerName where such a profile exists, else the first. */
  "profile"?: string;
  /** Semantics is the release of Kubernetes to decide as, and gates that are not at its defaults: v1.37, or v1.37 StorageCapacityScoring=false. If absent, that of the cluster. */
  "semantics"?: string;
  /** Snapshot is the state to decide on; default@latest if absent. With bind it has to be named. With dryRun it may be what a scenario comes to, as simulation:JOB@5m30s. */
  "snapshot"?: string;
  /** Suggest requests single changes that would make a pod fit that fits nowhere, each tried. */
  "suggest"?: boolean;
  /** With is what is otherwise than in the snapshot, made on a fork in memory before the decision, with dryRun. The answer's snapshotDigest is that of the state with the edits. */
  "with"?: ScenarioEdits;
};

export type DecisionRow = {
  /** AskedAsOf is the time that the question named; absent where it named none, and in records of older servers. */
  "askedAsOf"?: string;
  /** AskedBy is the kind and name of who asked. */
  "askedBy"?: string;
  /** Attempt is the id of the record that began the attempt: that of the filter call for the calls of kube-scheduler that follow it, else the record's own; absent in records of older servers. */
  "attempt"?: string;
  "boundSnapshot"?: string;
  "cluster"?: string;
  "committed"?: boolean;
  "counts"?: EngineCounts;
  "createdAt"?: string;
  "digest"?: string;
  "durationMicros"?: number;
  "engine"?: string;
  "id"?: string;
  "message"?: string;
  "mode"?: "shadow" | (string & {});
  "node"?: string;
  "nominatedNode"?: string;
  "nominatedSnapshot"?: string;
  "outcome"?: string;
  "pendingSnapshot"?: string;
  /** Placement is the id of the placement that the decision is of, Committed whether that held. */
  "placement"?: string;
  "pod"?: PodRef;
  "priority"?: number;
  "profile"?: string;
  /** Purpose is live for what was asked to place a pod, question for a decision that was to bind nothing, shadow for one that was recorded only; absent in records of older servers. */
  "purpose"?: "live" | "question" | "shadow" | (string & {});
  "semantics"?: string;
  /** Seq is the record's place in its cluster's log, in the order of commits. */
  "seq"?: number;
  "snapshot"?: string;
  "staleMillis"?: number;
  "verb"?: string;
};

export type Difference = {
  "path"?: string;
  /** any value; null where it is absent */
  "recorded"?: unknown;
  /** any value; null where it is absent */
  "replayed"?: unknown;
};

export type DisruptedPod = {
  /** Budgets are the disruption budgets that select it. */
  "budgets"?: Array<string>;
  /** By is the pod that a preemption is for; absent for other causes. */
  "by"?: string;
  /** Cause is why it leaves. */
  "cause"?: "eviction" | "deletion" | "preemption" | "taint" | "orphaned" | "scale-down" | "update" | "job-failed" | "ended" | (string & {});
  /** GoneAfterSeconds is when it is gone at the latest, by its grace period, or has ended. Absent: it stays Terminating, as its node is dead. */
  "goneAfterSeconds"?: number;
  /** LeavesAfterSeconds is when its deletion begins. */
  "leavesAfterSeconds"?: number;
  "name"?: string;
  "namespace"?: string;
  /** Node is the node that it leaves. */
  "node"?: string;
  /** NotReplaced is why there is none. */
  "notReplaced"?: string;
  /** Owner is its controller. */
  "owner"?: string;
  /** Replacement is the pod that its controller creates instead; absent where there is none. */
  "replacement"?: ReplacementPod;
  /** Rule is why the Eviction API lets it go now; absent for other causes. */
  "rule"?: Rule;
  /** Wave counts the rounds in which pods of its node are evicted, from 1; absent for other causes. */
  "wave"?: number;
};

export type Distribution = {
  "max"?: number;
  "mean"?: number;
  "min"?: number;
  "p10"?: number;
  "p50"?: number;
  "p90"?: number;
  "sd"?: number;
};

export type Drain = {
  "chance"?: Chance;
  /** Digest is over the rest of the answer. */
  "digest"?: string;
  /** Each is there where nodes are drained one by one. The lists above are empty then, the totals are the sums, and seconds is the longest. */
  "each"?: Array<SweepItem>;
  /** Find is there where nodes that can be emptied were looked for: Nodes are those found. */
  "find"?: DrainFind;
  "nodes"?: Array<DrainedNode>;
  /** Others are the pods that waited before, and those that controllers made beside the replacements. */
  "others"?: Array<ReplacementPod>;
  /** Pods left their nodes, in this order. */
  "pods"?: Array<DisruptedPod>;
  /** Remedies are what would help, each tried: for the first few reasons why nodes are not drained, pods are without a node, or a rollout is stuck. */
  "remedies"?: Array<ScenarioRemedy>;
  /** Seconds is until the last pod of the last node is gone at the latest; replacements may still be starting. */
  "seconds"?: number;
  "snapshot"?: string;
  /** Timeline is what happens, in this order, where it is wanted: the first 100,000 moments. */
  "timeline"?: Array<SimulationMoment>;
  "timelineOmitted"?: number;
  "totals"?: DrainTotals;
  /** Warnings name what the answer had to assume. */
  "warnings"?: Array<string>;
};

export type DrainFind = {
  /** Asked is how many nodes were wanted, Tried how many were tried. */
  "asked"?: number;
  /** Kept are nodes that were tried and cannot be emptied, with the first reason; at most a hundred. */
  "kept"?: Array<KeptNode>;
  /** Reasons has all of them, those with the same reason together, the most first. With the nodes found their numbers add up to tried. */
  "reasons"?: Array<DrainKeptReason>;
  "tried"?: number;
};

export type DrainKeptReason = {
  /** First is the reason of the first node, with the pod's name. */
  "first"?: string;
  /** Names are the first few of the nodes, in the order in which they were tried. */
  "names"?: Array<string>;
  "nodes"?: number;
  /** Reason has no name of a pod, as every node has others. */
  "reason"?: string;
};

export type DrainRequest = {
  /** Chance is how many times the question is run, each time with other outcomes of what Kubernetes leaves to chance: which of equal nodes, of equal pods, the order of maps. The answer is that of the first run, with what chance decided in it and, for more than one, the lowest, median and highest of the headline counts. If absent, questions without a clock count nothing. */
  "chance"?: number;
  /** Config is a KubeSchedulerConfiguration, as an object or as YAML in a string, instead of the server's. */
  "config"?: Fields;
  /** DeleteEmptyDirData takes pods with local data, which is lost. */
  "deleteEmptyDirData"?: boolean;
  /** Each has every node drained alone: of the chosen ones or, where none is chosen, of all. */
  "each"?: "node";
  /** Edits are made to the snapshot before anything else, on a fork in memory. */
  "edits"?: ScenarioEdits;
  /** Find looks for as many nodes as can be emptied, among those chosen or, where none is, among all that are not cordoned. 0: the chosen nodes are drained. */
  "find"?: number;
  /** Force takes pods that no controller manages, which do not come back. */
  "force"?: boolean;
  /** GracePeriodSeconds is used instead of the pods' own. */
  "gracePeriodSeconds"?: number;
  /** IgnoreDaemonSets leaves pods of DaemonSets where they are. With false one of them stops the drain of its node, as in kubectl drain without the flag of this name. Default: true. */
  "ignoreDaemonSets"?: boolean;
  "nodes"?: Array<string>;
  /** Profile is the one profile to decide under; if absent, that of each pod's schedulerName. */
  "profile"?: string;
  /** Rates are how fast clients are. */
  "rates"?: ClientRates;
  /** Remove deletes each node once it is drained; true if absent where nodes are looked for. One that stays is still a domain of spreads. */
  "remove"?: boolean;
  /** RespectBudgets false deletes pods instead of evicting them, as kubectl drain --disable-eviction does. Default: true. */
  "respectBudgets"?: boolean;
  "selector"?: string;
  /** Semantics is the release of Kubernetes to decide as, as for decisions; if absent, that of the cluster. */
  "semantics"?: string;
  /** StartSeconds is how long a pod takes until it is ready, where the status of the pod that it replaces does not show it; 10 if absent. */
  "startSeconds"?: number;
  /** Timeline wants it. */
  "timeline"?: boolean;
  /** Wait is for how long the call waits for the answer before it becomes a job, 0s for not at all. If absent, POST /v1/simulations waits 2s, and other calls for as long as it takes. */
  "wait"?: string;
  "zone"?: string;
};

export type DrainTotals = {
  /** Daemons counts the pods of DaemonSets that stay. */
  "daemons"?: number;
  /** Evicted pods left drained nodes; Preempted ones others, for a replacement of higher priority. */
  "evicted"?: number;
  "held"?: number;
  "nodesDrained"?: number;
  "notReplaced"?: number;
  /** NotStarted counts those placed that do not start on their node. Held counts those not replaced whose controller would, but waits for another pod, or has given up. */
  "notStarted"?: number;
  "pending"?: number;
  /** Placed and Pending are the replacements with and without a node; NotReplaced pods do not come back. */
  "placed"?: number;
  "preempted"?: number;
};

export type DrainedNode = {
  "blocked"?: Array<PodReason>;
  /** Ended counts the pods that had succeeded or failed before: kubectl drain deletes them too, whatever their budgets, and nothing takes their place. */
  "ended"?: number;
  "evicted"?: number;
  "name"?: string;
  /** Outcome is drained; refused, where a pod stops the drain before anything is evicted; or blocked, where a pod is left that may never be evicted. */
  "outcome"?: "drained" | "refused" | "blocked" | (string & {});
  "refused"?: Array<PodReason>;
  /** Removed is set where the node was deleted after its drain. */
  "removed"?: boolean;
  "seconds"?: number;
  /** Skipped pods stay; Refused ones stop the drain; Blocked ones may not be evicted. */
  "skipped"?: Array<PodReason>;
  /** StartSeconds and Seconds are when its drain begins, and until its pods are gone. */
  "startSeconds"?: number;
  /** Waves are the rounds in which budgets let pods go. */
  "waves"?: number;
};

export type Event = {
  "data"?: EventData;
  /** Event is the kind: revision, decision, placement, wake, or bookmark, which is of nothing but its id. */
  "event"?: "revision" | "decision" | "placement" | "wake" | "bookmark" | (string & {});
  /** ID is opaque; those of later events are greater texts. */
  "id"?: string;
};

export type EventData = {
  "askedBy"?: string;
  "boundRevision"?: number;
  /** Cause is that of a revision: upload, change, bind or epoch, and AskedBy who asked for it. */
  "cause"?: string;
  /** Changes is how many objects the revision changed. */
  "changes"?: number;
  "cluster"?: string;
  /** CreatedAt is when it was made. */
  "createdAt"?: string;
  /** Decision is the id of a record, with its verb, outcome, pod and node, and BoundRevision is what its bind made. */
  "decision"?: string;
  "failed"?: number;
  "hint"?: string;
  "node"?: string;
  "object"?: string;
  "outcome"?: string;
  "placed"?: number;
  /** Placement is the id of a placement, whose decisions came before its own event, and Placed and Failed are how many pods got a node and how many did not. */
  "placement"?: string;
  /** Plugin is whose hint woke the pods, and Hint the change that it is about, as upstream labels it, with the object that changed. */
  "plugin"?: string;
  /** Pods are those that the event is about: one of a decision, or those that were woken. */
  "pods"?: Array<EventPod>;
  /** Revision is the one that the event is about: that was made, decided on, or that woke pods. */
  "revision"?: number;
  "verb"?: string;
};

export type EventList = {
  /** Items are in the order in which they happened. */
  "items"?: Array<Event>;
  /** Next is the id to go on behind, also where there are no items. */
  "next"?: string;
};

export type EventPod = {
  "name"?: string;
  "namespace"?: string;
};

export type EvictionCandidate = {
  /** Pod is the v1.Pod as it is. */
  "pod"?: Fields;
  /** Usage are quantities under the signal's key: memory (the working set), ephemeral-storage (logs, writable layers and local volumes together), inodes or pids. Without it the kubelet has no statistics of the pod. */
  "usage"?: { [key: string]: string };
};

export type EvictionConfig = {
  /** EvictionHard are thresholds such as {"memory.available": "100Mi"}; absent, the kubelet's defaults count, and any that is given drops the others. */
  "evictionHard"?: { [key: string]: string };
  /** EvictionMaxPodGracePeriod bounds the grace period of soft evictions. */
  "evictionMaxPodGracePeriod"?: number;
  /** EvictionMinimumReclaim is what has to be free beyond a threshold that was met. */
  "evictionMinimumReclaim"?: { [key: string]: string };
  /** EvictionPressureTransitionPeriod is how long a node condition stays; 5m if absent. */
  "evictionPressureTransitionPeriod"?: string;
  /** EvictionSoft are thresholds that have to be met for evictionSoftGracePeriod. */
  "evictionSoft"?: { [key: string]: string };
  "evictionSoftGracePeriod"?: { [key: string]: string };
  /** MergeDefaultEvictionSettings keeps the defaults that evictionHard does not name. */
  "mergeDefaultEvictionSettings"?: boolean;
};

export type EvictionRank = {
  /** ExceedsRequests is always false for pids, which pods cannot request. */
  "exceedsRequests"?: boolean;
  "name"?: string;
  "namespace"?: string;
  /** NoStats reports whether the kubelet knows nothing of what the pod uses. */
  "noStats"?: boolean;
  "priority"?: number;
  "requests"?: string;
  "usage"?: string;
  /** UsageAboveRequests is usage less requests, below zero for a pod within them; for pids the number of processes. Absent without statistics. */
  "usageAboveRequests"?: string;
  /** Why is the reason that the pod comes after the one before it; the first has none. */
  "why"?: string;
};

export type EvictionRanking = {
  /** Protected pods are not evicted: critical ones, static ones and their mirrors. */
  "protected"?: Array<ProtectedPod>;
  /** Ranking is the order of eviction. */
  "ranking"?: Array<EvictionRank>;
  /** Warnings name what of the pods was passed over (fieldValidation=Warn), and what one pod of a workload does not show. */
  "warnings"?: Array<string>;
};

export type EvictionRankingRequest = {
  /** Pods are those of the node. */
  "pods"?: Array<EvictionCandidate>;
  /** Signal is the resource that the node lacks. */
  "signal"?: "memory" | "disk" | "inodes" | "pids";
};

export type EvictionRemedy = {
  /** in words */
  "change"?: string;
  /** what people type for it */
  "command"?: string;
};

export type EvictionVerdict = {
  "allowed"?: boolean;
  /** Budgets are the PodDisruptionBudgets that match the pod. */
  "budgets"?: Array<string>;
  "cause"?: string;
  /** Code is the HTTP status: 201, 429 (try again), 403 or 500 (never). */
  "code"?: "201" | "403" | "429" | "500" | (string & {});
  /** Message and Cause are the API server's own words. */
  "message"?: string;
  /** Remedy is a change after which the API allows it, which was tried; absent without one. */
  "remedy"?: EvictionRemedy;
  /** RetryAfterSeconds is the wait that a 429 suggests; absent without a time. */
  "retryAfterSeconds"?: number;
  "rule"?: Rule;
  /** UsesAllowance reports whether it takes one off the budget's disruptionsAllowed. */
  "usesAllowance"?: boolean;
};

export type ExpectedEnd = {
  "containers"?: Array<ExpectedStop>;
  "goneAfterSeconds"?: number;
  "phase"?: string;
  "reason"?: string;
  "timeline"?: Array<TerminationEvent>;
};

export type ExpectedStop = {
  "endsAtSeconds"?: number;
  /** ExitCode is that of exitCodes, else 0, of one that exits by itself, and 137 of one that is killed. */
  "exitCode"?: number;
  "name"?: string;
  "signalAtSeconds"?: number;
};

export type ExtenderArgs = {
  /** NodeNames are the names to choose from, in NodeNames mode. */
  "NodeNames"?: Array<string> | null;
  /** Nodes is the v1.NodeList to choose from, in Nodes mode. */
  "Nodes"?: Fields | null;
  /** Pod is the v1.Pod to place. */
  "Pod": Fields;
};

export type ExtenderBindingArgs = {
  "Node"?: string;
  "PodName"?: string;
  "PodNamespace"?: string;
  "PodUID"?: string;
};

export type ExtenderBindingResult = {
  /** Error is the reason why the pod is not bound; empty if it is. */
  "Error"?: string;
};

export type ExtenderFilterResult = {
  /** Error is the reason why the whole call failed. */
  "Error"?: string;
  /** FailedAndUnresolvableNodes don't fit whatever is evicted: node to reason. */
  "FailedAndUnresolvableNodes"?: { [key: string]: string } | null;
  /** FailedNodes don't fit, but evicting pods may change that: node to reason. */
  "FailedNodes"?: { [key: string]: string } | null;
  /** NodeNames are those that fit, in NodeNames mode. */
  "NodeNames"?: Array<string> | null;
  /** Nodes are the v1.NodeList of those that fit, in Nodes mode. */
  "Nodes"?: Fields | null;
};

export type ExtenderMetaPod = {
  "UID"?: string;
};

export type ExtenderMetaVictims = {
  "NumPDBViolations"?: number;
  /** Pods are in order of priority, highest first. */
  "Pods"?: Array<ExtenderMetaPod> | null;
};

export type ExtenderPreemptionArgs = {
  /** NodeNameToMetaVictims are the pods to evict by node, by UID (nodeCacheCapable: true). */
  "NodeNameToMetaVictims"?: { [key: string]: ExtenderMetaVictims } | null;
  /** NodeNameToVictims are the pods to evict by node, whole (nodeCacheCapable: false). */
  "NodeNameToVictims"?: { [key: string]: ExtenderVictims } | null;
  /** Pod is the v1.Pod that preempts. */
  "Pod": Fields;
};

export type ExtenderPreemptionResult = {
  /** NodeNameToMetaVictims are the nodes on which preemption helps. */
  "NodeNameToMetaVictims": { [key: string]: ExtenderMetaVictims };
};

export type ExtenderVictims = {
  "NumPDBViolations"?: number;
  /** Pods are v1.Pods, highest priority first. */
  "Pods"?: Array<Fields> | null;
};

export type FieldDiff = {
  "from"?: unknown;
  "path"?: string;
  "to"?: unknown;
};

export type FieldError = {
  /** Field is the path from the body's root, or the name of a parameter. */
  "field"?: string;
  /** Message describes what is wrong, in words. */
  "message"?: string;
  /** Type is the kind of error, as an apiserver names its causes. */
  "type"?: string;
};

export type Fit = {
  /** By is the label whose values the domains are. */
  "by"?: string;
  "count"?: number;
  /** Digest is over the nodes of all replicas, in order, and the last decision. */
  "digest"?: string;
  "domains"?: Array<FitDomain>;
  /** Each is what each node takes by itself, in the order of their names; absent unless asked for. */
  "each"?: Array<FitNode>;
  /** LimitedBy is the decision about the next replica; absent with more. */
  "limitedBy"?: FitLimit;
  /** More reports that the count ended at its maximum, not for want of room. */
  "more"?: boolean;
  /** Nodes is how many nodes got at least one. */
  "nodes"?: number;
  "notes"?: Array<string>;
  /** Placements are the nodes of the replicas, in order; absent unless asked for. */
  "placements"?: Array<string>;
  "pod"?: PodRef;
  "profile"?: string;
  /** Sensitivity is the count after one change each. */
  "sensitivity"?: Array<FitSensitivity>;
  "snapshot"?: string;
  /** Waiting are the pods of the snapshot that wait for a node, for which no room was kept. */
  "waiting"?: number;
  "warnings"?: Array<string>;
};

export type FitDomain = {
  "count"?: number;
  /** Domain is the label's value; empty for nodes without the label. */
  "domain"?: string;
  "nodes"?: number;
};

export type FitLimit = {
  "groups"?: Array<AdviceGroup>;
  /** Message is kube-scheduler's summary. */
  "message"?: string;
  /** Narrowed is which nodes the pod wants, and what those have against it. */
  "narrowed"?: AdviceNarrowed;
  "outcome"?: "Unschedulable" | "Gated" | "Error" | (string & {});
};

export type FitNode = {
  "beside"?: number;
  /** Count is how many it takes; with More that is the maximum, and not for want of room. */
  "count"?: number;
  /** Leader reports whether the leader fits there, before any replica, and Beside how many replicas fit beside it. Absent without a leader. */
  "leader"?: boolean;
  "more"?: boolean;
  "node"?: string;
};

export type FitRequest = {
  /** By counts the values of a node label apart: zone, region, node, pool, or the label itself. */
  "by"?: string;
  /** Config is a KubeSchedulerConfiguration, as an object or as YAML in a string, instead of the server's. */
  "config"?: Fields;
  /** Each adds how many replicas each node takes by itself, up to Max. */
  "each"?: "node";
  /** Edits are made to the snapshot before anything else, on a fork in memory. */
  "edits"?: ScenarioEdits;
  /** Leader is a v1.Pod, or a workload whose pod is meant: Each adds whether it fits on the node, and how many replicas fit beside it. */
  "leader"?: Fields;
  /** Max ends the count; 10000 if absent. */
  "max"?: number;
  /** Placements true lists the node of each replica. */
  "placements"?: boolean;
  /** Pod is the v1.Pod to count, or a workload (Deployment, StatefulSet, Job and so on) whose pod is counted. */
  "pod"?: Fields;
  /** Profile is the one profile to decide under; if absent, that of each pod's schedulerName. */
  "profile"?: string;
  /** Semantics is the release of Kubernetes to decide as, as for decisions; if absent, that of the cluster. */
  "semantics"?: string;
  /** Sensitivity false leaves out the counts with one more node and with smaller requests. Default: true. */
  "sensitivity"?: boolean;
  /** Wait is for how long the call waits for the answer before it becomes a job, 0s for not at all. If absent, POST /v1/simulations waits 2s, and other calls for as long as it takes. */
  "wait"?: string;
};

export type FitSensitivity = {
  "change"?: string;
  "count"?: number;
  /** Gain is the difference to the count without the change. */
  "gain"?: number;
};

export type ForkRequest = {
  /** From is the revision that it begins with, of another cluster. */
  "from"?: string;
};

export type GarbageList = {
  /** Applied is the revision without them; absent unless apply was asked for and there were any. */
  "applied"?: string;
  /** Pods go in this order: over, on nodes that are out of service, of vanished nodes, unscheduled. */
  "pods"?: Array<GarbagePod>;
  /** Snapshot is the revision that the answer is about. */
  "snapshot"?: string;
};

export type GarbagePod = {
  "name"?: string;
  "namespace"?: string;
  /** Patch is the strategic merge patch of the status that is sent before the delete; absent if the pod is over already. */
  "patch"?: StatusPatch;
  /** Reason is terminated, out-of-service, orphaned or unscheduled: the first step that takes the pod. */
  "reason"?: "terminated" | "out-of-service" | "orphaned" | "unscheduled" | (string & {});
  "uid"?: string;
  /** Why is the reason in a sentence. */
  "why"?: string;
};

export type GarbageRequest = {
  /** Apply deletes these pods from the newest revision, as the next one; 409 for a cluster that is followed. */
  "apply"?: boolean;
  /** Now is the time that is written into patches; the server's if absent. */
  "now"?: string;
  /** TerminatedPodThreshold is how many pods that are over may stay; 12500 if absent, and 0 or less leaves them all. */
  "terminatedPodThreshold"?: number;
};

export type GatedPod = {
  /** Gates are those that remain. */
  "gates"?: Array<string>;
  "name"?: string;
  "namespace"?: string;
  "priority"?: number;
  "since"?: string;
};

export type Grant = {
  /** Clusters are patterns of cluster names. */
  "clusters"?: Array<string>;
  /** Namespaces are patterns of namespaces; "*" stands for all, and for what has none. */
  "namespaces"?: Array<string>;
  /** Role is viewer, decider, binder or admin; each includes those before it. */
  "role"?: "viewer" | "decider" | "binder" | "admin" | (string & {});
};

export type GroupUse = {
  "allocatable"?: number;
  "max"?: number;
  "mean"?: number;
  "min"?: number;
  "name"?: string;
  "nodes"?: number;
  "p10"?: number;
  "p50"?: number;
  "p90"?: number;
  "requested"?: number;
  "sd"?: number;
};

export type Hold = {
  "askedBy"?: string;
  /** BoundSnapshot is the revision that has its pods first, EndedSnapshot that at which it ended. */
  "boundSnapshot"?: string;
  "cluster"?: string;
  /** Created and Expires are by the server's clock, and so is Ended; absent while it is held. */
  "created"?: string;
  "ended"?: string;
  /** EndedBy is who committed or released it. */
  "endedBy"?: string;
  "endedSnapshot"?: string;
  "expires"?: string;
  /** ID is the placement's. */
  "id"?: string;
  "placed"?: number;
  /** Pods are those that it placed, whether or not they are still there; absent in lists. */
  "pods"?: Array<StoreHeldPod>;
  "state"?: "held" | "committed" | "released" | "expired" | (string & {});
};

export type HoldList = {
  /** Cursor continues the list; absent on its last page. */
  "cursor"?: string;
  "items"?: Array<Hold>;
};

export type HostPriority = {
  "Host"?: string;
  "Score"?: number;
};

export type KeptNode = {
  "name"?: string;
  "reason"?: string;
};

export type KindDiff = {
  "added"?: number;
  /** Changed differ in what a scheduling decision reads, or in whether a node is Ready; Other in nothing else than what only the rules of a pod's life read: conditions, container statuses, probes, hooks. */
  "changed"?: number;
  "kind"?: string;
  "other"?: number;
  "removed"?: number;
};

export type KubeletVersion = {
  "nodes"?: number;
  "version"?: string;
};

export type LifecycleRequest = {
  /** Events are what happens from now on: what follows from them is the answer's timeline. At most 100. */
  "events"?: Array<PodLifeEvent>;
  /** ExitCodes are what these containers exit with, 0 to 255; 0 if absent. */
  "exitCodes"?: { [key: string]: number };
  /** ExitSeconds describes how long containers take to exit after the stop signal; those that are not named use all the time they have. */
  "exitSeconds"?: { [key: string]: number };
  /** MaxContainerRestartPeriod is the kubelet's crashLoopBackOff.maxContainerRestartPeriod: 1s to 300s, which is the default. */
  "maxContainerRestartPeriod"?: string;
  /** Node is the v1.Node of the pod. Absent, it is that of the snapshot for podRef, else taken to be healthy; null reports that it does not exist any more. */
  "node"?: Fields | null;
  /** NodeLostSince is the last sign of life of the node's kubelet, or, with node null, when the node went; what the node's Ready condition says if absent. */
  "nodeLostSince"?: string;
  /** Now is the time at which back-offs are judged; the server's if absent. */
  "now"?: string;
  /** Pod is the v1.Pod with its status, as kubectl get -o json prints it. Either this or podRef. */
  "pod"?: Fields;
  /** PodRef names a pod of the snapshot. */
  "podRef"?: PodName;
  /** PreStopSeconds describes how long containers' preStop hooks run; a sleep says so itself, others may take the whole period. */
  "preStopSeconds"?: { [key: string]: number };
  /** Semantics is the release of Kubernetes whose kubelet leads the pod's life, where its node does not tell its kubelet's version; that of the cluster if absent. */
  "semantics"?: string;
  /** Snapshot is where podRef's pod and its node are read; default@latest if absent. */
  "snapshot"?: string;
  /** Until ends the timeline; an hour after the last event if absent. */
  "until"?: string;
};

export type ListedPriorityClass = {
  "apiVersion"?: string;
  "description"?: string;
  /** GlobalDefault makes it the class of pods without a class; one class of a cluster can be. */
  "globalDefault"?: boolean;
  "kind"?: string;
  "metadata"?: PriorityClassMeta;
  /** OverriddenBy is the source of the class of this name that counts in this one's place. */
  "overriddenBy"?: "snapshot" | (string & {});
  /** PreemptionPolicy cannot change. Default: PreemptLowerPriority. */
  "preemptionPolicy"?: "PreemptLowerPriority" | "Never" | (string & {});
  /** Source is where the class is. PUT and DELETE concern the stored ones; a snapshot's classes are changed with the snapshot. */
  "source"?: "snapshot" | "stored" | "system" | (string & {});
  /** Value is at most 1000000000, but for the two built-in classes. It cannot change. */
  "value"?: number;
};

export type Loss = {
  "chance"?: Chance;
  /** Digest is over the rest of the answer. */
  "digest"?: string;
  /** Each is there where zones or nodes die one by one. The lists above are empty then, the totals are the sums, and seconds is the longest. */
  "each"?: Array<SweepItem>;
  "nodes"?: Array<LostNode>;
  /** Others are the pods that waited before, and those that controllers made beside the replacements. */
  "others"?: Array<ReplacementPod>;
  /** Pods are those that are deleted, in this order. */
  "pods"?: Array<DisruptedPod>;
  /** Remedies are what would help, each tried: for the first few reasons why nodes are not drained, pods are without a node, or a rollout is stuck. */
  "remedies"?: Array<ScenarioRemedy>;
  /** Seconds is until the last thing happens that is known of. */
  "seconds"?: number;
  "snapshot"?: string;
  /** Staying are pods of lost nodes that are never deleted, and why. */
  "staying"?: Array<PodReason>;
  /** Timeline is what happens, in this order, where it is wanted: the first 100,000 moments. */
  "timeline"?: Array<SimulationMoment>;
  "timelineOmitted"?: number;
  "totals"?: LossTotals;
  "warnings"?: Array<string>;
  "zones"?: Array<LostZone>;
};

export type LossRates = {
  /** Clients is upstream: the controllers of ReplicaSets and of taint eviction make 20 calls a second each, kube-scheduler 50, kubectl 5, after 30, 100 and 10 at once; or none: they make all at once. A scenario with a clock has upstream's if absent; drain, lose and rollout have none. */
  "clients"?: "upstream" | "none" | (string & {});
  /** GraceSeconds is from the last sign of life until the node counts as not ready (--node-monitor-grace-period). Default: 50. */
  "graceSeconds"?: number;
  /** Default: 50. */
  "largeZone"?: number;
  /** NodeSeconds is between two nodes of a zone that are tainted (--node-eviction-rate), and PartialSeconds that in a zone of which a share of UnhealthyPercent is lost (--secondary-node-eviction-rate, --unhealthy-zone-threshold), unless it has LargeZone nodes or fewer (--large-cluster-size-threshold), where none is tainted any more. With 0 none is. Default: 10. */
  "nodeSeconds"?: number;
  /** Default: 100. */
  "partialSeconds"?: number;
  /** Default: 55. */
  "unhealthyPercent"?: number;
};

export type LossRequest = {
  /** Chance is how many times the question is run, each time with other outcomes of what Kubernetes leaves to chance: which of equal nodes, of equal pods, the order of maps. The answer is that of the first run, with what chance decided in it and, for more than one, the lowest, median and highest of the headline counts. If absent, questions without a clock count nothing. */
  "chance"?: number;
  /** Config is a KubeSchedulerConfiguration, as an object or as YAML in a string, instead of the server's. */
  "config"?: Fields;
  /** Each has every zone, or every node, die alone: of the chosen nodes or, where none is chosen, of all. */
  "each"?: "zone" | "node";
  /** Edits are made to the snapshot before anything else, on a fork in memory. */
  "edits"?: ScenarioEdits;
  "nodes"?: Array<string>;
  /** Profile is the one profile to decide under; if absent, that of each pod's schedulerName. */
  "profile"?: string;
  /** Rates are the settings of the node lifecycle controller, and how fast clients are. */
  "rates"?: LossRates;
  /** RemoveAfterSeconds is when their Node objects are deleted, as a cloud's controller or a person does; absent: they stay, and no pod of theirs is ever gone. */
  "removeAfterSeconds"?: number;
  "selector"?: string;
  /** Semantics is the release of Kubernetes to decide as, as for decisions; if absent, that of the cluster. */
  "semantics"?: string;
  /** StartSeconds is how long a pod takes until it is ready, where the status of the pod that it replaces does not show it; 10 if absent. */
  "startSeconds"?: number;
  /** Timeline wants it. */
  "timeline"?: boolean;
  /** Wait is for how long the call waits for the answer before it becomes a job, 0s for not at all. If absent, POST /v1/simulations waits 2s, and other calls for as long as it takes. */
  "wait"?: string;
  "zone"?: string;
};

export type LossTotals = {
  "deleted"?: number;
  /** Ended counts pods on the nodes that had succeeded or failed before. They are deleted as the others are, hold nothing, and are not among Pods. */
  "ended"?: number;
  "held"?: number;
  "nodes"?: number;
  "notReplaced"?: number;
  /** NotStarted counts those placed that do not start on their node. Held counts those not replaced whose controller would, but waits for another pod, or has given up. */
  "notStarted"?: number;
  "pending"?: number;
  /** Placed and Pending are the replacements with and without a node; NotReplaced pods do not come back. */
  "placed"?: number;
  /** Pods were on the nodes; Deleted of them are deleted, the others stay. */
  "pods"?: number;
  "preempted"?: number;
  /** Stay counts the pods that are never deleted and serve no more, without those of DaemonSets and of kubelets' own files. */
  "stay"?: number;
};

export type LostNode = {
  /** BackAfterSeconds is when its kubelet answers again; absent: never. */
  "backAfterSeconds"?: number;
  /** DiedAfterSeconds is when its kubelet stopped; absent: at the start. */
  "diedAfterSeconds"?: number;
  "name"?: string;
  /** NotReadyAfterSeconds is when its pods lose Ready and no pod is placed on it any more. */
  "notReadyAfterSeconds"?: number;
  /** RemovedAfterSeconds is when its object is deleted; absent: never. */
  "removedAfterSeconds"?: number;
  /** TaintedAfterSeconds is when it gets the taint that evicts its pods; absent: never. */
  "taintedAfterSeconds"?: number;
  "zone"?: string;
};

export type LostZone = {
  /** Nodes counts its nodes, without those that have the label node.kubernetes.io/exclude-disruption: they do not count for its state. */
  "nodes"?: number;
  /** NotReady counts the lost nodes and those that were not ready before. */
  "notReady"?: number;
  "rule"?: Rule;
  /** State decides how fast nodes are tainted: Normal, PartialDisruption or FullDisruption. */
  "state"?: "Normal" | "PartialDisruption" | "FullDisruption" | (string & {});
  "zone"?: string;
};

export type NewToken = {
  "createdAt"?: string;
  "expiresAt"?: string;
  /** Grants are what its bearer may. */
  "grants"?: Array<Grant>;
  "id"?: string;
  "name"?: string;
  "revokedAt"?: string;
  "secret"?: string;
  /** UsedAt is when it was last used, to the minute. */
  "usedAt"?: string;
};

export type NodeBudget = {
  "allowed"?: number;
  "name"?: string;
};

export type NodeDeletion = {
  /** By is the controller that deletes it. */
  "by"?: "taint-eviction-controller" | "pod-garbage-collector-controller" | (string & {});
  /** At is when the pod is deleted; the earliest moment where Latest is there. It may be past. Absent: nothing deletes the pod. */
  "deletedAt"?: string;
  /** Latest is the latest moment, where no object shows the exact one. */
  "deletedAtLatest"?: string;
  "rule"?: Rule;
  /** Taint decides, as key:effect. */
  "taint"?: string;
  /** TolerationSeconds is how long the pod tolerates that taint. */
  "tolerationSeconds"?: number;
};

export type NodePod = {
  /** Budgets are those that select it, with the disruptions that each allows. */
  "budgets"?: Array<NodeBudget>;
  /** Ended pods take no room; leaving ones are being deleted, and gone at LeavesAt. */
  "ended"?: boolean;
  "leavesAt"?: string;
  "leaving"?: boolean;
  "name"?: string;
  "namespace"?: string;
  /** Owner is the kind and name of its controller. */
  "owner"?: string;
  "priority"?: number;
  /** Requests are in the order of the node's resources. */
  "requests"?: Array<number>;
  /** Stays is set for the pod of a DaemonSet, which a drain leaves. */
  "stays"?: boolean;
};

export type NodePool = {
  /** Cost of a node, in any unit. Default: 1. */
  "cost"?: number;
  /** Default: 1. */
  "count"?: number;
  /** Labels are put over those that there are. */
  "labels"?: { [key: string]: string };
  /** Like names a node of the base. A copy has its labels but a hostname of its own, its allocatable resources, CSINode, ResourceSlices and taints, and gets its daemon pods. It has no images, no taints of conditions, and is not cordoned. */
  "like"?: string;
  /** Max is how many nodes the pool may get. Default: 50. */
  "max"?: number;
  /** Name is the pool's name in the answer; that of its node, if absent. */
  "name"?: string;
  /** Resources replace allocatable amounts: cpu, memory, pods, ephemeral-storage, hugepages-SIZE and extended resources. Nodes of no node and no template have 110 pods if it does not say. */
  "resources"?: { [key: string]: string };
  /** Taints replace all that there are; an empty list takes them away. */
  "taints"?: Array<Fields>;
  /** Template is a Node, of which a cordon, taints of conditions and the conditions are left out. Further ones are named after it, and all where the name is taken. */
  "template"?: Fields;
  /** Zone is the value of topology.kubernetes.io/zone, and of other labels that name a zone as it. */
  "zone"?: string;
};

export type NodePressure = {
  /** Available is what is left of each signal in the end. */
  "available"?: { [key: string]: string };
  "conditions"?: Array<PressureCondition>;
  "evictions"?: Array<PressureEviction>;
  "notes"?: Array<string>;
  "thresholds"?: Array<ThresholdState>;
  /** Warnings are said of the objects that were posted. */
  "warnings"?: Array<string>;
};

export type NodePressureRequest = {
  /** Config is the kubelet's configuration; its defaults if absent. */
  "config"?: EvictionConfig;
  /** Now is the first pass; the server's time if absent. */
  "now"?: string;
  /** Pods are those of the node, with what they use. */
  "pods"?: Array<EvictionCandidate>;
  /** Signals are what the kubelet observes: memory.available, allocatableMemory.available, nodefs.available, nodefs.inodesFree, imagefs.available, imagefs.inodesFree, pid.available. */
  "signals"?: { [key: string]: NodeSignal };
};

export type NodeRoom = {
  "allocatable"?: number;
  /** Leaving is what of it pods request that are being deleted, and Nominated what those request that are nominated. */
  "leaving"?: number;
  "nominated"?: number;
  "requested"?: number;
  "resource"?: string;
};

export type NodeSelection = {
  "names"?: Array<string>;
  "selector"?: string;
};

export type NodeSignal = {
  /** Available is what is left, as a quantity. */
  "available"?: string;
  /** Capacity is the whole; thresholds in percent need it. */
  "capacity"?: string;
  /** Reclaimable is what deleting dead containers and unused images frees; disk signals only. */
  "reclaimable"?: string;
  /** Since is when this was first seen; now if absent. */
  "since"?: string;
};

export type NodeStory = {
  /** Conditions are those that are true of the node and should not be. */
  "conditions"?: Array<string>;
  "cordoned"?: boolean;
  /** Deleting reports that the node is being deleted. */
  "deleting"?: boolean;
  "labels"?: { [key: string]: string };
  "name"?: string;
  /** Nominated pods wait for pods to leave the node. */
  "nominated"?: Array<NodePod>;
  /** Pods are on the node, those of the highest priority first: evictions begin at the end. */
  "pods"?: Array<NodePod>;
  /** Resources are what the node has and its pods request, cpu, memory and pods first. */
  "resources"?: Array<NodeRoom>;
  /** Since is when the state began; absent where the condition does not say. */
  "since"?: string;
  "snapshot"?: string;
  /** State is Ready or NotReady; absent where the node says nothing of itself. */
  "state"?: "Ready" | "NotReady" | (string & {});
  "taints"?: Array<NodeTaint>;
  "zone"?: string;
};

export type NodeTaint = {
  "effect"?: string;
  "key"?: string;
  "value"?: string;
};

export type NodeUse = {
  "allocatable"?: Array<number>;
  /** Conditions are those that are true of the node and should not be. */
  "conditions"?: Array<string>;
  "cordoned"?: boolean;
  /** Deleting reports that the node is being deleted. */
  "deleting"?: boolean;
  "group"?: string;
  "name"?: string;
  "requested"?: Array<number>;
  /** Since is when the state began; absent where the condition does not say. */
  "since"?: string;
  /** State is Ready or NotReady; absent where the node says nothing of itself. */
  "state"?: "Ready" | "NotReady" | (string & {});
  /** Taints counts the node's taints that keep pods away. */
  "taints"?: number;
  "zone"?: string;
};

export type NodesUse = {
  /** GroupLabel is the label whose values are the nodes' groups. */
  "groupLabel"?: string;
  "nodes"?: Array<NodeUse>;
  /** Resources name the columns of allocatable and requested: cpu in millicores, memory and storage in bytes. */
  "resources"?: Array<string>;
  "snapshot"?: string;
};

export type NominatedPod = {
  "name"?: string;
  "namespace"?: string;
  "node"?: string;
  "priority"?: number;
  /** Since is when its condition PodScheduled last changed, else when it was created. */
  "since"?: string;
};

export type ObjectDiff = {
  "change"?: "added" | "removed" | "changed" | (string & {});
  /** Fields are those of a changed object that a scheduling decision reads, and the status of a node's conditions; OtherFields counts the rest. */
  "fields"?: Array<FieldDiff>;
  "kind"?: string;
  "name"?: string;
  "namespace"?: string;
  "otherFields"?: number;
};

export type ObjectList = {
  /** Cursor continues the list; absent on its last page. */
  "cursor"?: string;
  /** Items are Kubernetes objects, reduced to what decisions read. */
  "items"?: Array<Fields>;
};

export type ObjectName = {
  "kind"?: string;
  "name"?: string;
  "namespace"?: string;
};

export type OneMore = {
  /** Helps reports that the pod fits then, also where the pool has its maximum. */
  "helps"?: boolean;
  "pool"?: string;
  /** Reason is why the new node rejects the pod. */
  "reason"?: string;
};

export type Pending = {
  "counts"?: PendingCounts;
  /** Pods are in the order of scheduling, those with gates behind the others. */
  "pods"?: Array<PendingPod>;
  /** Snapshot is the revision that the answer is about. */
  "snapshot"?: string;
  /** Unstarted are pods that have a node and wait there for a claim that nothing will bind, by namespace and name. */
  "unstarted"?: Array<UnstartedPod>;
};

export type PendingCounts = {
  "active"?: number;
  /** Elsewhere are the waiting pods of other namespaces, where one was asked for or the caller may not see all. */
  "elsewhere"?: number;
  "gated"?: number;
  /** Judged is how many decisions were made: pods that differ only in what no decision reads are judged once. */
  "judged"?: number;
  "nodes"?: number;
  /** Omitted pods are behind the limit and were not judged. */
  "omitted"?: number;
  /** Unstarted are pods with a node that cannot start there. */
  "unstarted"?: number;
  /** WithoutRemedy are those that fit nowhere and for which no changes were tried, because they were tried for many others. */
  "withoutRemedy"?: number;
};

export type PendingPod = {
  /** Cause is the reason that keeps it from a node: what none has that it wants, else what most lack of those that have it. */
  "cause"?: string;
  "gates"?: Array<string>;
  /** Like is the pod that was judged in this one's place, since they are equal. */
  "like"?: PodRef;
  "name"?: string;
  "namespace"?: string;
  /** Outcome is that of a decision now, with every pod judged as if it were the next; absent where there is none. */
  "outcome"?: "Scheduled" | "Unschedulable" | "Gated" | "Preempting" | (string & {});
  /** Position is the place in the list of the pod's state, active or gated, from 1. */
  "position"?: number;
  "priority"?: number;
  "reasons"?: Array<PendingReason>;
  /** Remedy is the cheapest of the changes that were tried and help. */
  "remedy"?: PendingRemedy;
  /** Since is when the pod was created; absent where the snapshot does not say. */
  "since"?: string;
  "state"?: "pending" | "gated" | "nominated" | (string & {});
  /** Why is one sentence of at most 120 characters. */
  "why"?: string;
};

export type PendingReason = {
  "nodes"?: number;
  "reason"?: string;
};

export type PendingRemedy = {
  "action"?: "wait" | "changePod" | "askPlatform" | (string & {});
  "change"?: string;
  "fits"?: number;
  "outcome"?: "Scheduled" | "Preempting" | (string & {});
};

export type Placement = {
  /** BoundSnapshot is the revision that was made: it has the pods on their nodes, and why others wait. Absent where nothing was written. */
  "boundSnapshot"?: string;
  /** Committed is false for a placement that did not hold, of which nothing was written but its records, and for a dry one. */
  "committed"?: boolean;
  "failed"?: number;
  /** FirstSet is which of the removals, from 0, is the first with which the placement holds, and MayReturn are the pods of that set which can stay, all of them together. */
  "firstSet"?: number;
  /** Hold is what keeps the pods on their nodes; absent without hold, and where no pod was placed. */
  "hold"?: PlacementHold;
  /** ID names the placement; absent of a dry one. */
  "id"?: string;
  "mayReturn"?: Array<PlacementPod>;
  "placed"?: number;
  /** Results are in the order of the request. */
  "results"?: Array<PlacementResult>;
  "snapshot"?: string;
  /** StoppedBy is the pod with which it was clear that the placement does not hold. */
  "stoppedBy"?: PlacementStop;
  "warnings"?: Array<string>;
};

export type PlacementHold = {
  /** Expires is when its pods go, unless it was committed. */
  "expires"?: string;
  "id"?: string;
};

export type PlacementPod = {
  "name"?: string;
  "namespace"?: string;
};

export type PlacementRequest = {
  /** Atomic places all pods or none; with MinCount that many at least, or none. */
  "atomic"?: boolean;
  /** Bind binds what is placed, by one revision; without it nothing is written and recorded. */
  "bind"?: boolean;
  "count"?: number;
  /** Explain failures adds which plugins rejected how many nodes for pods that are not placed. Default: none. */
  "explain"?: "none" | "failures";
  /** Hold binds as bind does, for a time from 1s to 24h: after that the pods go, unless the hold was committed. In place of bind. */
  "hold"?: string;
  "minCount"?: number;
  /** Order is that of kube-scheduler's queue, by priority and then as in the request, or that of the request. Default: queue. */
  "order"?: "queue" | "given";
  /** PodGroup names a PodGroup of the snapshot as namespace/name: its pods that wait are placed, with those on nodes at least as many as its minCount. */
  "podGroup"?: string;
  /** Pods are v1.Pods. */
  "pods"?: Array<Fields>;
  /** Preempt false tries no preemption. Default: true. */
  "preempt"?: boolean;
  /** Removals are sets of pods: the answer names the first without which all pods fit, or minCount of them. Without bind and hold alone. */
  "removals"?: Array<Array<PodName>>;
  /** Snapshot is the state to place on; default@latest if absent. With bind or hold it has to be named. Without it may be what a scenario comes to, as simulation:JOB@5m30s. */
  "snapshot"?: string;
  /** Template is a v1.Pod, of which Count copies are placed, named after it: NAME-0, NAME-1 and so on. */
  "template"?: Fields;
  /** With is what is otherwise than in the snapshot. Without bind and hold alone. */
  "with"?: ScenarioEdits;
  /** Workload is a StatefulSet, whose pods are those of its ordinals with their claims, a Job with those of its indexes, or a Deployment or ReplicaSet. */
  "workload"?: Fields;
};

export type PlacementResult = {
  /** Decision is the id of the record; absent of a dry placement, and where the pod was not tried. */
  "decision"?: string;
  /** Failures count the nodes that plugins rejected; absent unless explain is failures. */
  "failures"?: Array<EngineFailureCount>;
  /** Message is kube-scheduler's about a pod that found no node. */
  "message"?: string;
  "name"?: string;
  "namespace"?: string;
  /** Node is the node that the pod gets, or that it is nominated to. */
  "node"?: string;
  "outcome"?: "Scheduled" | "Preempting" | "Unschedulable" | "Gated" | "NotTried" | (string & {});
  "victims"?: Array<EngineVictim>;
};

export type PlacementStop = {
  "message"?: string;
  "name"?: string;
  "namespace"?: string;
};

export type PodLife = {
  /** Conditions are those of others first, as they are, then the kubelet's. */
  "conditions"?: Array<PodLifeCondition>;
  /** Containers are in the order of the spec: init, main, ephemeral ones. */
  "containers"?: Array<PodLifeContainer>;
  /** DeadlineAt is when the kubelet fails the pod for its activeDeadlineSeconds, if it has not ended by then; absent without one, and once it is over. */
  "deadlineAt"?: string;
  "message"?: string;
  /** NodeDeletion is when the control plane deletes the pod because of its node, and why, or why not; absent where nothing was said of the node. */
  "nodeDeletion"?: NodeDeletion;
  /** OverdueSince is when a pod that was deleted was to be gone at the latest; absent before that. */
  "overdueSince"?: string;
  /** Phase is what the kubelet would write next: Pending, Running, Succeeded, Failed or Unknown. */
  "phase"?: string;
  /** PhaseRule is the reason why. */
  "phaseRule"?: Rule;
  /** Ready is the READY column: ready containers of all that should run on. */
  "ready"?: string;
  /** Reason and Message belong to the phase and stay as long as it does. */
  "reason"?: string;
  /** Restarts is the RESTARTS column: how many, and how long ago the last. */
  "restarts"?: string;
  /** Semantics is the release of Kubernetes whose kubelet leads the pod's life: that of its node, else the one of the question or of the cluster. Absent where it is v1.36.3. */
  "semantics"?: string;
  /** SemanticsNote is why it is another release than that of the node's kubelet; absent where it is the same. */
  "semanticsNote"?: string;
  /** Snapshot is where a pod that was named was read; callers that read snapshots fill it in. */
  "snapshot"?: string;
  /** Status is the STATUS column of kubectl get pod for the pod as posted. */
  "status"?: string;
  /** StatusAfter is how the last run ended of the container that the status is about, where that waits to run again. */
  "statusAfter"?: string;
  /** StatusRule is the reason why. */
  "statusRule"?: Rule;
  /** Timeline is what follows from the events that were given. */
  "timeline"?: PodLifeTimeline;
  /** Warnings name the parts of the request that were ignored; callers that read requests fill them in. */
  "warnings"?: Array<string>;
};

export type PodLifeCondition = {
  /** LastTransitionTime is now where the status is another than in the pod. */
  "lastTransitionTime"?: string;
  "message"?: string;
  "observedGeneration"?: number;
  "reason"?: string;
  "rule"?: Rule;
  "status"?: "True" | "False" | "Unknown" | (string & {});
  "type"?: string;
};

export type PodLifeContainer = {
  /** ExitCode is that of a terminated container. */
  "exitCode"?: number;
  /** FinishedAt is when the last run ended; absent while the container runs. */
  "finishedAt"?: string;
  /** IfItEnds is what it would cost a running container to end now with exit code 1. */
  "ifItEnds"?: PodLifeCrash;
  "kind"?: "init" | "sidecar" | "container" | "ephemeral" | (string & {});
  /** LastRun is how the last run that is over ended; absent where none is known. */
  "lastRun"?: PodLifeLastRun;
  /** Message is that of the state; snapshots do not keep it. */
  "message"?: string;
  "name"?: string;
  "next"?: PodLifeNext;
  /** Probes are those of main containers and sidecars, also the ones that are not set, with what counts for them. */
  "probes"?: Array<PodLifeProbe>;
  "ready"?: boolean;
  /** Reason is that of the state, in the kubelet's words. */
  "reason"?: string;
  "restartCount"?: number;
  /** Rule describes where the state comes from. */
  "rule"?: Rule;
  "started"?: boolean;
  /** StartedAt is when the present or the last run began. */
  "startedAt"?: string;
  /** State is waiting, running or terminated. */
  "state"?: "waiting" | "running" | "terminated" | (string & {});
};

export type PodLifeCrash = {
  /** BackoffSeconds is how long after its end; 0 is at once. */
  "backoffSeconds"?: number;
  /** ResetAt is when it has run for ten minutes, after which its delays begin anew. It may be past; absent where there is no delay to forget. */
  "resetAt"?: string;
  /** Restarts reports whether it would be started again. */
  "restarts"?: boolean;
  "rule"?: Rule;
};

export type PodLifeEvent = {
  "at"?: string;
  /** Container names whose probe or end it is. */
  "container"?: string;
  /** ExitCode ends the container at At. */
  "exitCode"?: number;
  /** Node is lost: its kubelet dies at At. */
  "node"?: "lost" | (string & {});
  /** Probe answers with Result from At on, until another event or Until. */
  "probe"?: "startup" | "liveness" | "readiness" | (string & {});
  "result"?: "Success" | "Failure" | (string & {});
  "until"?: string;
};

export type PodLifeLastRun = {
  "exitCode"?: number;
  "finishedAt"?: string;
  /** Message is what the container wrote as its last; snapshots do not keep it. */
  "message"?: string;
  /** Reason is in the runtime's words, such as OOMKilled, Error or Completed. */
  "reason"?: string;
  /** Signal is what ended it; runtimes rarely report it. */
  "signal"?: number;
  "startedAt"?: string;
};

export type PodLifeMoment = {
  /** Actor is application, kubelet, container-runtime, or a controller. */
  "actor"?: string;
  "at"?: string;
  "container"?: string;
  "event"?: string;
  "rule"?: Rule;
  /** WithinSeconds is how far upstream's chance may move it, counted from the entry that it follows: a worker's beat before or after, a back-off after. */
  "withinSeconds"?: number;
};

export type PodLifeNext = {
  "action"?: "start" | "restart" | "backoff" | "wait" | "leave" | (string & {});
  /** At is when a back-off ends, finishedAt + backoffSeconds; absent for images, whose back-off the kubelet keeps to itself. */
  "at"?: string;
  /** BackoffSeconds is the whole length of the back-off. */
  "backoffSeconds"?: number;
  /** For names the containers that are waited for. */
  "for"?: Array<string>;
  /** RemainingSeconds is what is left of it at now, rounded up. */
  "remainingSeconds"?: number;
  "rule"?: Rule;
};

export type PodLifeProbe = {
  /** Active reports whether the kubelet runs it now. */
  "active"?: boolean;
  /** FailsAfterSeconds is about how long after its start a container is given up that never passes: initialDelaySeconds + failureThreshold * periodSeconds. */
  "failsAfterSeconds"?: number;
  "failureThreshold"?: number;
  /** The probe's numbers, with an API server's defaults; absent if it is not set. */
  "initialDelaySeconds"?: number;
  "kind"?: "startup" | "liveness" | "readiness" | (string & {});
  "onFailure"?: string;
  /** What a result does; absent if it is not set. */
  "onSuccess"?: string;
  "onUnknown"?: string;
  "periodSeconds"?: number;
  /** Result is what counts now, as far as the statuses show it. */
  "result"?: "Success" | "Failure" | "Unknown" | (string & {});
  /** Rule is the reason why Result is what counts. */
  "rule"?: Rule;
  /** Set reports whether the container has this probe. */
  "set"?: boolean;
  "successThreshold"?: number;
  "timeoutSeconds"?: number;
};

export type PodLifeTimeline = {
  /** Assumes is what holds where no event says otherwise. */
  "assumes"?: Array<string>;
  "endRule"?: Rule;
  /** EndsAt is up to when the timeline goes, and EndRule why not further. */
  "endsAt"?: string;
  "entries"?: Array<PodLifeMoment>;
};

export type PodName = {
  "name"?: string;
  "namespace"?: string;
};

export type PodReason = {
  "name"?: string;
  "namespace"?: string;
  "reason"?: string;
  /** Remedy is a change of its budget after which it may be evicted, which was tried. */
  "remedy"?: EvictionRemedy;
};

export type PodRef = {
  "name"?: string;
  "namespace"?: string;
  "uid"?: string;
};

export type PodStory = {
  "afterGates"?: PodStoryVerdict;
  /** At is the time of the answer. */
  "at"?: string;
  /** Attempts are the decisions about the pod, the newest first, those that came out alike put together. */
  "attempts"?: Array<PodStoryAttempt>;
  "binding"?: PodStoryBinding;
  "cluster"?: string;
  /** Decisions is how many records the attempts are of; More that there are older ones, which were not read or whose attempts were not asked for. */
  "decisions"?: number;
  /** Ending is how a pod on a node would end if it were deleted at that time, or how it ends where it is being deleted. */
  "ending"?: Termination;
  /** Evicted is what was to go for the pod, EvictedFor those that it was to go for; the newest first. */
  "evicted"?: Array<PodStoryEviction>;
  "evictedFor"?: Array<PodStoryEviction>;
  /** Lifecycle is where the pod and its containers stand, and what happens next. */
  "lifecycle"?: PodLife;
  "more"?: boolean;
  /** Next is what happens of itself, and when, over all components, the earliest first: what is known to the second or as the latest moment. */
  "next"?: Array<PodStoryEvent>;
  /** Nomination is the node that a preemption holds for the pod. */
  "nomination"?: PodStoryNomination;
  /** Now is a decision about the pod on this snapshot, not recorded: what it waits for. AfterGates is one without its scheduling gates, for a gated pod. */
  "now"?: PodStoryVerdict;
  "pod"?: PodStoryPod;
  /** Queue is the pod's place among those that wait. */
  "queue"?: PodStoryPlace;
  /** Readiness is whether the pod may be scheduled, for a pod of the snapshot that has no node yet. */
  "readiness"?: PodStoryReadiness;
  /** which everything but the past is of */
  "snapshot"?: string;
  "snapshotAt"?: string;
  /** State is where the pod stands: pending, gated, nominated, elsewhere (another scheduler is to place it), bound, deleting, ended, or gone (the snapshot does not have it any more). */
  "state"?: "pending" | "gated" | "nominated" | "elsewhere" | "bound" | "deleting" | "ended" | "gone" | (string & {});
  /** Suggestions are single changes that would let the pod fit, each tried. */
  "suggestions"?: Array<AdviceSuggestion>;
  /** Summary is the story in one sentence, of at most 120 characters. */
  "summary"?: string;
};

export type PodStoryAttempt = {
  "count"?: number;
  /** Decision and Snapshot are the newest one's. */
  "decision"?: string;
  "first"?: string;
  "last"?: string;
  "message"?: string;
  "node"?: string;
  "nominatedNode"?: string;
  "outcome"?: string;
  /** Reasons are why nodes were rejected, by the newest one; absent for a pod that fits. */
  "reasons"?: Array<PodStoryReason>;
  "snapshot"?: string;
  /** UID distinguishes pods that had the name one after the other. */
  "uid"?: string;
  "verbs"?: Array<string>;
};

export type PodStoryBinding = {
  /** At, Decision and Snapshot are of the record that bound it; absent where it was not bound through berth. */
  "at"?: string;
  "decision"?: string;
  "node"?: string;
  "snapshot"?: string;
};

export type PodStoryEvent = {
  "at"?: string;
  /** Component is what does it: scheduler, kubelet, container-runtime, api-server, endpointslice-controller, taint-eviction-controller, pod-garbage-collector-controller. */
  "component"?: string;
  /** Container is the one that it happens to. */
  "container"?: string;
  "detail"?: string;
  /** Event describes what happens. */
  "event"?: string;
};

export type PodStoryEviction = {
  "at"?: string;
  "decision"?: string;
  "for"?: PodRef;
  "node"?: string;
  "victims"?: Array<PodStoryVictim>;
  /** VictimsOmitted counts those that are not listed. */
  "victimsOmitted"?: number;
};

export type PodStoryNomination = {
  "node"?: string;
  "since"?: string;
  /** WaitsFor are the victims that still exist; what is not known is not named. */
  "waitsFor"?: Array<PodStoryVictim>;
};

export type PodStoryPlace = {
  /** Ahead names up to five of those ahead, the next to be tried first, of namespaces that the caller may see. */
  "ahead"?: Array<PodRef>;
  "attempts"?: number;
  /** HigherPriority and Older count those ahead by what puts them there. */
  "higherPriority"?: number;
  "list"?: "active" | "gated" | (string & {});
  "nextTry"?: string;
  "of"?: number;
  "older"?: number;
  /** from 1 */
  "position"?: number;
  /** Queue, Attempts, NextTry and Woken are as GET /v1/clusters/{cluster}/queue has them; absent for a gated pod. */
  "queue"?: "active" | "backoff" | "unschedulable" | (string & {});
  /** Sooner counts the others ahead: their turn comes before this pod's waits after its failed attempts are over. */
  "sooner"?: number;
  /** Woken is the newest event that may have helped the pod since its last attempt. */
  "woken"?: Woken;
};

export type PodStoryPod = {
  "createdAt"?: string;
  "name"?: string;
  "namespace"?: string;
  "priority"?: number;
  "priorityClassName"?: string;
  "schedulerName"?: string;
  "uid"?: string;
};

export type PodStoryReadiness = {
  "gates"?: Array<string>;
  "schedulable"?: boolean;
  /** Unscheduled is what the cluster's own scheduler last wrote about the pod. */
  "unscheduled"?: PodStoryUnscheduled;
  /** Why describes what keeps it from being tried. */
  "why"?: string;
};

export type PodStoryReason = {
  "nodes"?: number;
  "plugin"?: string;
  "reason"?: string;
};

export type PodStoryUnscheduled = {
  "message"?: string;
  "reason"?: string;
  "since"?: string;
};

export type PodStoryVerdict = {
  "counts"?: EngineCounts;
  /** Error is the reason why there is no decision. */
  "error"?: string;
  "groups"?: Array<AdviceGroup>;
  "message"?: string;
  /** Narrowed is which nodes the pod wants, and what those have against it. */
  "narrowed"?: AdviceNarrowed;
  "node"?: string;
  "nominatedNode"?: string;
  "notEvaluated"?: Array<EngineNotEvaluated>;
  "outcome"?: "Scheduled" | "Unschedulable" | "Gated" | "Preempting" | (string & {});
  "profile"?: string;
  /** StartsWithinSeconds is how long the victims take at most once they are deleted. */
  "startsWithinSeconds"?: number;
  "victims"?: Array<EngineVictim>;
};

export type PodStoryVictim = {
  "name"?: string;
  "namespace"?: string;
  "priority"?: number;
  /** There reports whether the snapshot still has the pod on that node. */
  "stillThere"?: boolean;
  "terminating"?: boolean;
  "uid"?: string;
};

export type PoolAlone = {
  /** Bound is how many nodes of this pool all pods take at least; absent where they do not fit, or none within a tenth of Nodes is known. */
  "bound"?: number;
  "cost"?: number;
  /** Fits reports that all pods fit with nodes of this pool. */
  "fits"?: boolean;
  /** Like is the node that the pool's nodes are copies of; absent for a template. */
  "like"?: string;
  "max"?: number;
  "name"?: string;
  /** Nodes is the smallest count found with which all pods fit, or else as many as with any. */
  "nodes"?: number;
  /** Placed counts the pods that then fit, of those that did not fit before. */
  "placed"?: number;
  /** Reason is why an empty node of the pool rejects the first of the pods, where it places none. */
  "reason"?: string;
  /** Smallest is proven where a run was made with each smaller count, from the bound of resources on; bisected where only some were, among them the next smaller one. */
  "smallest"?: "proven" | "bisected" | (string & {});
  /** Tried are all counts that runs were made with, and how many pods each placed. */
  "tried"?: Array<PoolTry>;
};

export type PoolChoice = {
  "cost"?: number;
  "crowded"?: number;
  /** Daemons counts the daemon pods of the new nodes. Crowded are those among them that would find no room, because kube-scheduler takes older pods of equal or higher priority first. */
  "daemons"?: number;
  "fits"?: boolean;
  /** Minimal reports that runs with one node fewer, of each pool in turn, placed fewer pods. */
  "minimal"?: boolean;
  /** Placed counts the pods that fit, of those that did not fit before. */
  "placed"?: number;
  "pools"?: Array<PoolCount>;
};

export type PoolCount = {
  "name"?: string;
  "nodes"?: number;
};

export type PoolTry = {
  "nodes"?: number;
  "placed"?: number;
};

export type Pools = {
  "already"?: number;
  /** Bound is a lower bound on what any choice costs that places as many pods; absent where none within a tenth of the choice is known, or the choice has no node. */
  "bound"?: ScenarioPoolBound;
  /** Choice is the cheapest that was found over all pools. */
  "choice"?: PoolChoice;
  /** Digest is over the nodes of all pods after the choice. */
  "digest"?: string;
  "gated"?: number;
  "notes"?: Array<string>;
  /** Omitted are pods that wait after the choice and are in no entry of unplaced. */
  "omitted"?: number;
  /** Pods is how many pods the question is about. Already are those that fit without any new node, Waiting those that do not, and Gated those that wait for their gates and are not tried. */
  "pods"?: number;
  /** Pools has what each pool alone can do. */
  "pools"?: Array<PoolAlone>;
  "snapshot"?: string;
  /** Unplaced are the pods that wait after the choice, equal pods together. */
  "unplaced"?: Array<Unplaced>;
  "waiting"?: number;
  "warnings"?: Array<string>;
};

export type PoolsRequest = {
  /** Config is a KubeSchedulerConfiguration, as an object or as YAML in a string, instead of the server's. */
  "config"?: Fields;
  /** Edits are made to the snapshot before anything else, on a fork in memory. */
  "edits"?: ScenarioEdits;
  /** For is the pods that have to fit: "pending", the pods of the snapshot that wait, or {"workloads":[{"pod":{…},"count":3}]}, where pod is a v1.Pod or a workload. Without a count it is the workload's replicas, or 1. */
  "for"?: Fields;
  /** Pools are the kinds of nodes that may be added. */
  "pools"?: Array<NodePool>;
  /** Profile is the one profile to decide under; if absent, that of each pod's schedulerName. */
  "profile"?: string;
  /** Semantics is the release of Kubernetes to decide as, as for decisions; if absent, that of the cluster. */
  "semantics"?: string;
  /** Wait is for how long the call waits for the answer before it becomes a job, 0s for not at all. If absent, POST /v1/simulations waits 2s, and other calls for as long as it takes. */
  "wait"?: string;
};

export type PressureCondition = {
  "from"?: string;
  "type"?: "MemoryPressure" | "DiskPressure" | "PIDPressure" | (string & {});
  /** Until is the pass that takes it back; absent while a threshold stays met. */
  "until"?: string;
};

export type PressureEviction = {
  "at"?: string;
  "available"?: string;
  /** GoneAtSeconds is when its containers have stopped at the latest, from now. */
  "goneAtSeconds"?: number;
  /** GracePeriodSeconds is the kubelet's override of the pod's period. */
  "gracePeriodSeconds"?: number;
  "kind"?: "hard" | "soft" | (string & {});
  "message"?: string;
  "name"?: string;
  "namespace"?: string;
  "offsetSeconds"?: number;
  "resource"?: string;
  /** Signal is that of the threshold, Resource what the node is low on. */
  "signal"?: string;
  /** Why is the reason that it comes before the next one. */
  "why"?: string;
};

export type PreviewRequest = {
  /** Config is a KubeSchedulerConfiguration, as an object or as YAML in a string; the server's if absent. */
  "config"?: Fields;
  /** Explain is as for decisions. Default: failures. */
  "explain"?: "full" | "failures" | "groups" | "all" | "none";
  /** Now is the time that the decision is made at; the server's time if absent. */
  "now"?: string;
  /** Objects are the cluster: a v1 List, or what kubectl prints as text, in JSON or YAML. */
  "objects"?: Fields;
  /** Pod is the v1.Pod to place, or a workload of which one pod is placed; as an object, or as YAML in a string. */
  "pod"?: Fields;
  /** Semantics is the release of Kubernetes to decide as, as for decisions; if absent, that of the server. */
  "semantics"?: string;
  /** Suggest requests single changes that would make a pod fit that fits nowhere, each tried. */
  "suggest"?: boolean;
};

export type PriorityClass = {
  "apiVersion"?: string;
  "description"?: string;
  /** GlobalDefault makes it the class of pods without a class; one class of a cluster can be. */
  "globalDefault"?: boolean;
  "kind"?: string;
  "metadata"?: PriorityClassMeta;
  /** PreemptionPolicy cannot change. Default: PreemptLowerPriority. */
  "preemptionPolicy"?: "PreemptLowerPriority" | "Never" | (string & {});
  /** Value is at most 1000000000, but for the two built-in classes. It cannot change. */
  "value"?: number;
};

export type PriorityClassFinding = {
  "class"?: string;
  "code"?: "twoDefaults" | "unknownClass" | "otherPriority" | (string & {});
  "message"?: string;
  /** Pods counts those concerned, of which Sample names up to five. */
  "pods"?: number;
  "sample"?: Array<PodRef>;
};

export type PriorityClassList = {
  "apiVersion"?: string;
  /** Items are by name. Of several with one name the one that counts comes first: the snapshot's, then the stored one, then the built-in one. */
  "items"?: Array<ListedPriorityClass>;
  "kind"?: string;
  "metadata"?: {
    "resourceVersion"?: string;
  };
  /** Snapshot is the cluster's newest revision, whose classes are among the items; absent without one. */
  "snapshot"?: string;
  /** Warnings name several global defaults, and which of them counts. */
  "warnings"?: Array<string>;
};

export type PriorityClassMeta = {
  "annotations"?: { [key: string]: string };
  "creationTimestamp"?: string;
  "generateName"?: string;
  "generation"?: number;
  "labels"?: { [key: string]: string };
  "name"?: string;
  /** ResourceVersion, given in a PUT, must be the stored one. */
  "resourceVersion"?: string;
  "uid"?: string;
};

export type PriorityClassUse = {
  "globalDefault"?: boolean;
  "name"?: string;
  "pods"?: number;
  "preemptionPolicy"?: string;
  /** Source is where the class is: in the snapshot, stored over REST, or built in. */
  "source"?: "snapshot" | "stored" | "system" | (string & {});
  "value"?: number;
  "waiting"?: number;
};

export type PriorityClassUses = {
  "findings"?: Array<PriorityClassFinding>;
  /** Items are by value, the highest first. */
  "items"?: Array<PriorityClassUse>;
  "snapshot"?: string;
};

export type Problem = {
  /** Conflict describes what is there, where the request collides with it. */
  "conflict"?: Conflict;
  /** Detail is what is wrong with this request. */
  "detail"?: string;
  /** Errors names the fields at fault. */
  "errors"?: Array<FieldError>;
  /** Limit is the setting that the request exceeded. */
  "limit"?: string;
  /** Location is the path of what the first call with the request's Idempotency-Key has written. */
  "location"?: string;
  /** Newest is the id of the newest event, where the one to go on from is too old. */
  "newest"?: string;
  /** RequestID is the value of the X-Request-Id header. */
  "requestId"?: string;
  /** Status is the HTTP status. */
  "status"?: number;
  /** Title is the kind of problem in words, the same for all of its type. */
  "title"?: string;
  /** Type tells kinds of problems apart: urn:berth:problem:… */
  "type"?: string;
};

export type ProfileConfiguration = {
  /** Configuration has the plugins of each phase with their weights and arguments, defaults included, as they decided. */
  "configuration"?: Fields;
  /** Digest is the SHA-256 of Configuration. */
  "digest"?: string;
  /** Profile is the profile's name. */
  "profile"?: string;
};

export type ProtectedPod = {
  "name"?: string;
  "namespace"?: string;
  "why"?: string;
};

export type Query = {
  /** Admin reports that the query is about access: only admins of all clusters may run it. */
  "admin"?: boolean;
  /** Chart has the columns of a time series. */
  "chart"?: QueryChart;
  /** Description adds what to know of the answer. */
  "description"?: string;
  /** Name is what the query is run by. */
  "name"?: string;
  /** Optional are the parameters that filter nothing where they are empty. */
  "optional"?: Array<string>;
  /** Parameters are those that it takes beside limit, cluster first; all are needed but since, until and those of Optional. */
  "parameters"?: Array<string>;
  /** SQL is the query as both backends run it, with @name for a parameter. */
  "sql"?: string;
  /** Title is the question that it answers. */
  "title"?: string;
};

export type QueryAnswer = {
  "columns"?: Array<string>;
  /** More reports that limit, or the bound of 4 MiB, left rows out. */
  "more"?: boolean;
  "name"?: string;
  /** Parameters are the values that the query ran with, those that were left out included. */
  "parameters"?: { [key: string]: string };
  /** Rows are as long as Columns, of numbers, texts, booleans and nulls. */
  "rows"?: Array<Array<unknown>>;
};

export type QueryChart = {
  /** Grafana is the query for a panel of Grafana on PostgreSQL: time, metric and value of each point. Its variables are cluster_of_log and namespace. */
  "grafana"?: string;
  /** Series is the column that has a line a value; absent where there is one line. */
  "series"?: string;
  /** Time is the column of the times, which are texts; a day where it is named so. */
  "time"?: string;
  /** Value is the column of the values. */
  "value"?: string;
};

export type QueryList = {
  "items"?: Array<Query>;
};

export type Queue = {
  /** Active are all that are not gated, in the order in which they are tried if nothing changes. First those whose turn it is: higher priority first, then who was created, or failed last, earlier. Then those in back-off, by its end. Then those that wait for a change. */
  "active"?: Array<QueuedPod>;
  /** Counts are of the whole lists. */
  "counts"?: QueueCounts;
  /** Cursor continues all lists; absent on the last page. */
  "cursor"?: string;
  /** Gated pods wait for their gates and are not tried. */
  "gated"?: Array<GatedPod>;
  /** Nominated pods wait for a preemption's victims to go from a node. They are active, too. */
  "nominated"?: Array<NominatedPod>;
  /** Now is the time that the queue is shown at. */
  "now"?: string;
  /** Snapshot is the revision that the queue is of. */
  "snapshot"?: string;
};

export type QueueCounts = {
  /** Active counts the whole list; backoff and unschedulable are parts of it. */
  "active"?: number;
  "backoff"?: number;
  "gated"?: number;
  "nominated"?: number;
  "unschedulable"?: number;
};

export type QueuedPod = {
  /** Attempts counts the recorded attempts that failed: of verb decide or filter, with outcome Unschedulable or Preempting. */
  "attempts"?: number;
  /** LastAttempt is the time that the newest of them is of: the one that its question named, else when it was recorded. */
  "lastAttempt"?: string;
  "name"?: string;
  "namespace"?: string;
  /** NextTry is when the pod is tried again if nothing changes until then; absent where it is its turn. */
  "nextTry"?: string;
  "priority"?: number;
  /** Queue is the part of kube-scheduler's queue that the pod is in. A pod that no attempt failed for is active. One that was tried in vain is unschedulable until an event that a plugin which rejected it takes for one that may help, or for 5 minutes, and then in back-off from its last attempt on, by default for 1, 2, 4, 8 and then 10 seconds. */
  "queue"?: "active" | "backoff" | "unschedulable" | (string & {});
  /** Since is when the pod was created; absent where the snapshot does not say. */
  "since"?: string;
  /** Woken is the newest event that may have helped the pod since its last attempt. */
  "woken"?: Woken;
};

export type QuotaPod = {
  "name"?: string;
  "namespace"?: string;
  /** Owner is its controller. */
  "owner"?: string;
  /** Uses are its amounts of what is exceeded. */
  "uses"?: { [key: string]: string };
};

export type QuotaUse = {
  "limited"?: { [key: string]: string };
  /** More is how many other pods use of it. */
  "more"?: number;
  "name"?: string;
  /** Pods use most of what is exceeded, those that use most first: at most ten. */
  "pods"?: Array<QuotaPod>;
  /** Requested, Used and Limited are the amounts that are exceeded. */
  "requested"?: { [key: string]: string };
  "used"?: { [key: string]: string };
};

export type RecordedDecision = {
  /** AskedAsOf is the time that the question named; absent where it named none, and in records of older servers. */
  "askedAsOf"?: string;
  /** AskedBy is the kind and name of who asked, Peer the address that the call came from, RequestID its X-Request-Id; absent in records of older servers. */
  "askedBy"?: string;
  /** Attempt is the id of the record that began the attempt: that of the filter call for the calls of kube-scheduler that follow it, else the record's own; absent in records of older servers. */
  "attempt"?: string;
  "best"?: Array<string>;
  /** BoundEffects are what the bind wrote beside the pod; absent where that is nothing. */
  "boundAlong"?: BoundAlong;
  /** BoundSnapshot is the revision that a bind made. */
  "boundSnapshot"?: string;
  /** BoundTo is the node that the pod is on in the snapshot, for a dry run about a pod that is bound: it was taken out first. */
  "boundTo"?: string;
  "cluster"?: string;
  "committed"?: boolean;
  "counts"?: EngineCounts;
  "createdAt"?: string;
  "devices"?: Array<EngineAllottedDevice>;
  "digest"?: string;
  "digestAgrees"?: boolean;
  /** Durability is spool where the database was away and the record is durable on the server's own disk, from where it goes to the database; else absent. */
  "durability"?: "spool" | (string & {});
  "durationMicros"?: number;
  "engine"?: string;
  "failures"?: Array<EngineFailureCount>;
  "gates"?: Array<string>;
  /** Groups are the rejected nodes by the same verdict, for explain=groups. They are worked out for the answer, and are not recorded. */
  "groups"?: Array<AdviceGroup>;
  "id"?: string;
  "margin"?: number;
  "message"?: string;
  /** Mode is shadow where the answer was recorded only, and everything let pass. */
  "mode"?: "shadow" | (string & {});
  /** Narrowed is which nodes the pod wants, and what those have against it, beside groups. */
  "narrowed"?: AdviceNarrowed;
  "node"?: string;
  "nodes"?: Array<EngineNodeVerdict>;
  "nodesOmitted"?: number;
  "nominatedNode"?: string;
  /** NominatedSnapshot is the revision that holds the pod nominated to its node. */
  "nominatedSnapshot"?: string;
  "notEvaluated"?: Array<EngineNotEvaluated>;
  /** Note is why the answer could not be worked out again, or why it may differ. */
  "note"?: string;
  /** Notes say what has to be known to read the answer. They are part of no digest. */
  "notes"?: Array<string>;
  /** Now is the time that the engine was given, then and now. */
  "now"?: string;
  "outcome"?: EngineOutcome;
  "peer"?: string;
  /** PendingSnapshot is the revision that holds why the pod waits, after an attempt with bind that found no node. */
  "pendingSnapshot"?: string;
  /** Placement is the id of the placement that the decision is of, Committed whether that held. */
  "placement"?: string;
  "pod"?: PodRef;
  "podDigest"?: string;
  "preemption"?: EnginePreemption;
  "priority"?: number;
  "profile"?: string;
  /** ProfileDigest names the configuration, which GET /v1/profiles/{digest} has. */
  "profileDigest"?: string;
  /** ProfileFallback is the pod's schedulerName where no profile has that name, so that the first profile judged it. */
  "profileFallback"?: string;
  /** Purpose is live for what was asked to place a pod, question for a decision that was to bind nothing, shadow for one that was recorded only; absent in records of older servers. */
  "purpose"?: "live" | "question" | "shadow" | (string & {});
  "recordedDigest"?: string;
  "requestId"?: string;
  "semantics"?: string;
  "snapshot"?: string;
  "snapshotDigest"?: string;
  /** StaleMillis is for how long the state may have missed what happened, of a cluster that is followed. */
  "staleMillis"?: number;
  /** Suggestions are single changes that would let the pod fit, cheapest first; they are worked out when the question wants them. They are not recorded; that they were wanted is. */
  "suggestions"?: Array<AdviceSuggestion>;
  "topologySpread"?: Array<EngineSpreadConstraint>;
  "verb"?: string;
  "volumes"?: Array<EngineVolumeBinding>;
  /** Warnings name the parts of the request that were ignored, and what the answer does not show of it. They are of the request, and not recorded. */
  "warnings"?: Array<string>;
};

export type ReplacementPod = {
  /** CreatedAfterSeconds is when it is created. */
  "createdAfterSeconds"?: number;
  /** Message is why it waits, in kube-scheduler's words. */
  "message"?: string;
  "name"?: string;
  /** Namespace is that of a pod that waited before, and replaces none. */
  "namespace"?: string;
  /** Node is where it was placed; absent: it waits. If it leaves that node too, it is among the pods that left. */
  "node"?: string;
  /** NotStarted is why it does not start on its node; absent where it does. */
  "notStarted"?: string;
  /** ReadyAfterSeconds is when it is ready. */
  "readyAfterSeconds"?: number;
  /** WaitedFor is why it waited before it was placed. */
  "waitedFor"?: string;
};

export type Replay = {
  "decision"?: Decision;
  /** Differences are by path in the two answers; identities, times and durations are left out. */
  "differences"?: Array<Difference>;
  "differencesOmitted"?: number;
  /** Identical is set where the answer is the recorded one: without overrides to the last score of the last node, with them in everything that is compared. */
  "identical"?: boolean;
  "note"?: string;
};

export type ReplayRequest = {
  /** Config is another KubeSchedulerConfiguration, as an object or as YAML in a string. */
  "config"?: Fields | string;
  /** Pod is another v1.Pod. */
  "pod"?: Fields;
  /** Profile is another profile's name. */
  "profile"?: string;
  /** Semantics is another release of Kubernetes, as for decisions: the recorded profile decides as that one has it, or Config or Profile does. */
  "semantics"?: string;
  /** Snapshot is another state, such as prod@latest. */
  "snapshot"?: string;
};

export type ResourceCapacity = {
  "allocatable"?: number;
  /** Bound is the least number of nodes whose allocatable amounts of this resource alone hold what pods request. */
  "bound"?: number;
  /** Fragmentation is the expected share of what is free that the next pod cannot use, by the common shapes that request the resource, in percent: what is free on the nodes where the shape has no room, weighted by how many pods are of the shape (Weng et al., Beware of Fragmentation, ATC 23). Absent where no shape requests it or nothing is free. */
  "fragmentation"?: number;
  /** Free is what is left on nodes that are neither cordoned nor NotReady. */
  "free"?: number;
  /** Nodes is the distribution of requested/allocatable over nodes, in percent. */
  "nodes"?: Distribution;
  "pools"?: Array<GroupUse>;
  "requested"?: number;
  "resource"?: string;
  /** Stranded is free on nodes that have no room for a pod of any common shape that requests the resource, since another resource is gone there; 0 where no shape requests it. */
  "stranded"?: number;
  "zones"?: Array<GroupUse>;
};

export type Rollout = {
  /** Assumed is what the snapshot does not show. */
  "assumed"?: Array<string>;
  "chance"?: Chance;
  /** Created are the pods that were created for it, Removed those that left, in order. */
  "created"?: Array<ReplacementPod>;
  "daemonSet"?: PodRef;
  /** DeadlineExceededAfterSeconds is when the Deployment first reports that it exceeded its progressDeadlineSeconds, which stops nothing. */
  "deadlineExceededAfterSeconds"?: number;
  /** Deployment, StatefulSet or DaemonSet is the workload: the one of the question. */
  "deployment"?: PodRef;
  /** Digest is over the steps and over what became of each pod. */
  "digest"?: string;
  /** Displaced counts the pods that were evicted for it and find no other node. */
  "displaced"?: number;
  /** Held are the pods that the controller of a stuck StatefulSet or DaemonSet waits for at the end: of a StatefulSet one, of a DaemonSet one for each node that lacks an available pod. */
  "held"?: Array<RolloutHeld>;
  /** LeastAvailable is the smallest number of available pods on the way, MostPods the largest number of pods at once, with those that are being deleted. */
  "leastAvailable"?: number;
  "maxSurge"?: number;
  "maxUnavailable"?: number;
  "mostPods"?: number;
  /** Nodes are those of a DaemonSet on which a pod was replaced or created, in turn. */
  "nodes"?: Array<RolloutNode>;
  /** Others counts pods that waited in the snapshot and got a node meanwhile. */
  "others"?: number;
  /** Outcome is complete; or stuck, where nothing happens any more before it is; or onDelete, where all is well but pods of the old template stay until they are deleted. */
  "outcome"?: "complete" | "stuck" | "onDelete" | (string & {});
  /** Partition is of a StatefulSet: as many pods of the lowest ordinals keep the old template. */
  "partition"?: number;
  "pending"?: number;
  /** PodManagementPolicy is of a StatefulSet. */
  "podManagementPolicy"?: "OrderedReady" | "Parallel" | (string & {});
  /** Preempted are pods of others that were evicted for it, or for pods that waited before. */
  "preempted"?: Array<DisruptedPod>;
  /** Remedies are what would help, each tried: for the first few reasons why nodes are not drained, pods are without a node, or a rollout is stuck. */
  "remedies"?: Array<ScenarioRemedy>;
  "removed"?: Array<DisruptedPod>;
  "replicas"?: number;
  /** Seconds is when it is complete, or when the last thing happens. */
  "seconds"?: number;
  /** Sets are the ReplicaSets of a Deployment, the new one last. */
  "sets"?: Array<RolloutSet>;
  "snapshot"?: string;
  /** Spread is where its pods are before and after, by zone, by host, and by the keys of its spread constraints; nothing for a DaemonSet. */
  "spread"?: Array<RolloutSpread>;
  "statefulSet"?: PodRef;
  /** Steps are the changes of their sizes, in order. */
  "steps"?: Array<RolloutStep>;
  /** Strategy, Replicas, MaxSurge and MaxUnavailable are those in force, numbers of pods. Replicas of a DaemonSet are the nodes that should run a pod of it. */
  "strategy"?: "RollingUpdate" | "Recreate" | "OnDelete" | (string & {});
  /** Timeline is what happens, in this order, where it is wanted: the first 100,000 moments. */
  "timeline"?: Array<SimulationMoment>;
  "timelineOmitted"?: number;
  "try"?: string;
  /** Updated is how many pods of a StatefulSet or a DaemonSet have the new template at the end. */
  "updated"?: number;
  /** Waited counts created pods that found no node at once, and Pending those that never did. */
  "waited"?: number;
  "warnings"?: Array<string>;
  /** Why is what keeps a stuck one, and Try what would help, where it is known. */
  "why"?: string;
};

export type RolloutDomain = {
  "after"?: number;
  "before"?: number;
  "domain"?: string;
};

export type RolloutHeld = {
  "node"?: string;
  /** Pod is its name; empty where there is none. */
  "pod"?: string;
  /** Why is what it lacks. */
  "why"?: string;
};

export type RolloutNode = {
  /** BeginsAfterSeconds is when its old pod began to end, or the new one was created beside it. */
  "beginsAfterSeconds"?: number;
  "node"?: string;
  /** Pod is the last one that was created for it; absent where none was. */
  "pod"?: string;
  /** ReadyAfterSeconds is when the new pod is ready; absent: it never is. */
  "readyAfterSeconds"?: number;
};

export type RolloutRequest = {
  /** Chance is how many times the question is run, each time with other outcomes of what Kubernetes leaves to chance: which of equal nodes, of equal pods, the order of maps. The answer is that of the first run, with what chance decided in it and, for more than one, the lowest, median and highest of the headline counts. If absent, questions without a clock count nothing. */
  "chance"?: number;
  /** Config is a KubeSchedulerConfiguration, as an object or as YAML in a string, instead of the server's. */
  "config"?: Fields;
  /** DaemonSet is the apps/v1 DaemonSet with its new template. */
  "daemonSet"?: Fields;
  /** Deployment is the apps/v1 Deployment with its new template. */
  "deployment"?: Fields;
  /** Edits are made to the snapshot before anything else, on a fork in memory. */
  "edits"?: ScenarioEdits;
  /** Profile is the one profile to decide under; if absent, that of each pod's schedulerName. */
  "profile"?: string;
  /** Rates are how fast clients are. */
  "rates"?: ClientRates;
  /** Semantics is the release of Kubernetes to decide as, as for decisions; if absent, that of the cluster. */
  "semantics"?: string;
  /** StartSeconds is how long a pod takes from its bind until it is ready; if absent the median of the Deployment's pods, what the pod took that is replaced, or 10. */
  "startSeconds"?: number;
  /** StatefulSet is the apps/v1 StatefulSet with its new template. Without replicas it keeps its number of pods. */
  "statefulSet"?: Fields;
  /** Timeline wants it. */
  "timeline"?: boolean;
  /** Wait is for how long the call waits for the answer before it becomes a job, 0s for not at all. If absent, POST /v1/simulations waits 2s, and other calls for as long as it takes. */
  "wait"?: string;
};

export type RolloutSet = {
  "after"?: number;
  /** Before and After are its replicas. */
  "before"?: number;
  "name"?: string;
  "new"?: boolean;
};

export type RolloutSpread = {
  /** Domains are listed where they are at most 50; hosts where they have pods. */
  "domains"?: Array<RolloutDomain>;
  "key"?: string;
  "skewAfter"?: number;
  /** SkewBefore and SkewAfter are how many pods the fullest domain has more than the emptiest one that the new pods may use. */
  "skewBefore"?: number;
};

export type RolloutStep = {
  "afterSeconds"?: number;
  "from"?: number;
  "set"?: string;
  "to"?: number;
};

export type RotateRequest = {
  /** Overlap is for how long the old token stays valid. Default: 1h. */
  "overlap"?: string;
};

export type Rule = {
  /** ID is stable and has the form "subject/what-applied", such as "phase/init-failed". Clients may compare it; it never changes its meaning. */
  "id"?: string;
  /** Text is one sentence that names the reason the rule applied here, with the names and numbers that made it apply. It is for people and may be worded better. */
  "text"?: string;
};

export type Running = {
  "apiServers"?: Array<Component>;
  /** Kubelets are the versions of kubelets that nodes report, by version. */
  "kubelets"?: Array<KubeletVersion>;
  "schedulers"?: Array<Component>;
};

export type ScenarioAddNodes = {
  /** Default: 1. */
  "count"?: number;
  /** Labels are put over those that there are. */
  "labels"?: { [key: string]: string };
  /** Like names a node of the base. A copy has its labels but a hostname of its own, its allocatable resources, CSINode, ResourceSlices and taints, and gets its daemon pods. It has no images, no taints of conditions, and is not cordoned. */
  "like"?: string;
  /** Resources replace allocatable amounts: cpu, memory, pods, ephemeral-storage, hugepages-SIZE and extended resources. Nodes of no node and no template have 110 pods if it does not say. */
  "resources"?: { [key: string]: string };
  /** Taints replace all that there are; an empty list takes them away. */
  "taints"?: Array<Fields>;
  /** Template is a Node, of which a cordon, taints of conditions and the conditions are left out. Further ones are named after it, and all where the name is taken. */
  "template"?: Fields;
  /** Zone is the value of topology.kubernetes.io/zone, and of other labels that name a zone as it. */
  "zone"?: string;
};

export type ScenarioEdits = {
  "addNodes"?: Array<ScenarioAddNodes>;
  "apply"?: Array<Fields>;
  "delete"?: Array<LedgerDeletion>;
  "patch"?: Array<LedgerPatch>;
  "removeNodes"?: NodeSelection;
};

export type ScenarioRemedy = {
  /** Change is the change in words, Command what people type for it; absent where no single command does it. */
  "change"?: string;
  "command"?: string;
  /** For is what it helps: a node, a workload or a pod. */
  "for"?: string;
  /** Pods is how many more pods wait for the same reason as the one that it was tried for. */
  "pods"?: number;
  /** Warning is what speaks against it. */
  "warning"?: string;
};

export type ShapeCapacity = {
  "example"?: string;
  /** Largest is the largest pod of these proportions that a node has room for, as a multiple of the requests; absent for pods that request nothing. */
  "largest"?: number;
  /** Nodes is how many nodes have room for one. */
  "nodes"?: number;
  /** Pods is how many pods are of this size, Example the first of them by name. */
  "pods"?: number;
  /** Requests are what a pod requests, cpu in millicores. */
  "requests"?: { [key: string]: number };
  /** Room is how many pieces of this size are free, by resources alone, if nothing else came. */
  "room"?: number;
};

export type ShutdownConfig = {
  /** ShutdownGracePeriod is for all pods, such as "30s". */
  "shutdownGracePeriod"?: string;
  "shutdownGracePeriodByPodPriority"?: Array<ShutdownShare>;
  /** ShutdownGracePeriodCriticalPods is the part of it for critical pods. */
  "shutdownGracePeriodCriticalPods"?: string;
};

export type ShutdownShare = {
  "priority"?: number;
  "shutdownGracePeriodSeconds"?: number;
};

export type SimulatedNode = {
  "cordoned"?: boolean;
  "name"?: string;
  /** Ready is its condition; absent where it has none. */
  "ready"?: "True" | "False" | "Unknown" | (string & {});
  "taints"?: Array<string>;
};

export type SimulatedPod = {
  "name"?: string;
  "namespace"?: string;
  /** Node is absent of a pod that waits, which may be nominated to one. */
  "node"?: string;
  "nominated"?: string;
  "owner"?: string;
  "phase"?: "Pending" | "Running" | "Succeeded" | "Failed" | (string & {});
  "ready"?: boolean;
  /** Terminating is of a pod that is being deleted. */
  "terminating"?: boolean;
};

export type Simulation = {
  /** Arrivals is how many pods arrived, with the daemon pods of new nodes: placed, pending, gated and evicted add up to it. Nodes is how many nodes there were for them. */
  "arrivals"?: number;
  "base"?: string;
  "chance"?: Chance;
  /** Clock is what happened, where the scenario has a clock. */
  "clock"?: SimulationClock;
  /** Differences compare each further configuration with the first. */
  "differences"?: Array<SimulationDifference>;
  /** Digest is over all attempts of all configurations. */
  "digest"?: string;
  "gone"?: Array<PodRef>;
  "nodes"?: number;
  /** Notes are what a closed loop does not know, and in which order pods were taken. */
  "notes"?: Array<string>;
  "profiles"?: Array<SimulationRun>;
  /** Removed are the nodes that the edits took out, Gone the pods that went with them. */
  "removed"?: Array<string>;
  /** Start is the capacity before the first attempt, StartSpread the spread violations then. */
  "start"?: Capacity;
  "startSpread"?: SpreadViolations;
  "warnings"?: Array<string>;
};

export type SimulationArrivals = {
  /** History are the pods of recorded decisions. */
  "history"?: SimulationHistory;
  /** Pending are the pods of the snapshot that wait, in the order of kube-scheduler's queue. */
  "pending"?: boolean;
  /** Placed takes every placed pod from its node and has it arrive again, by creation: those of DaemonSets and static pods stay. */
  "placed"?: boolean;
  /** Pods are single pods, with their time. */
  "pods"?: Array<SimulationPod>;
  /** Workloads are pods of which there are several. */
  "workloads"?: Array<SimulationWorkload>;
};

export type SimulationBudget = {
  "maxUnavailable"?: string;
  "minAvailable"?: string;
  "name"?: string;
  /** Default: default. */
  "namespace"?: string;
};

export type SimulationClock = {
  /** Drains are those of the scenario, by node. Lost are nodes that died, LostZones their zones as they were with most nodes lost. */
  "drains"?: Array<DrainedNode>;
  "ended"?: "idle" | "duration" | "hotLoop" | (string & {});
  /** HotLoop is one of the objects that turn in a hot loop. */
  "hotLoop"?: string;
  "lost"?: Array<LostNode>;
  "lostZones"?: Array<LostZone>;
  "others"?: Array<ReplacementPod>;
  /** Pods left their nodes, in this order. Others came: they waited before, the scenario created them, or controllers made them beside the replacements. */
  "pods"?: Array<DisruptedPod>;
  /** Rollouts are the updates of workloads, in the order in which they began. */
  "rollouts"?: Array<SimulationRolledOut>;
  /** Seconds is when the run ended, Ended why: idle, where nothing was to happen any more; duration; or hotLoop, where one instant brought about more and more. */
  "seconds"?: number;
  /** Timeline is what happened, in this order: the first 100,000 moments. */
  "timeline"?: Array<SimulationMoment>;
  "timelineOmitted"?: number;
  "totals"?: SimulationClockTotals;
  /** Waiting counts the pods without a node at the end, without those that wait for their gates. */
  "waiting"?: number;
};

export type SimulationClockTotals = {
  "held"?: number;
  "left"?: number;
  "notReplaced"?: number;
  /** NotStarted counts those placed that do not start on their node. Held counts those not replaced whose controller would, but waits for another pod, or has given up. */
  "notStarted"?: number;
  "pending"?: number;
  /** Placed and Pending are the replacements with and without a node; NotReplaced pods do not come back. */
  "placed"?: number;
  "preempted"?: number;
};

export type SimulationContainerExit = {
  /** Container is the pod's first one if absent. */
  "container"?: string;
  /** Every has it end again so long after each later start. */
  "every"?: string;
  "exitCode"?: number;
  "name"?: string;
  /** Default: default. */
  "namespace"?: string;
};

export type SimulationDifference = {
  "against"?: string;
  /** Elsewhere are the arrivals that both place, on different nodes; Gained are placed by the profile alone, Lost by the other alone. */
  "elsewhere"?: number;
  /** First is the first attempt that comes out otherwise; absent where none does. Until then both runs have the same state. */
  "first"?: SimulationFirstDifference;
  "gained"?: number;
  "lost"?: number;
  /** Pods are the first of them by namespace and name. */
  "pods"?: Array<SimulationMovedPod>;
  /** Profile is compared with Against. */
  "profile"?: string;
};

export type SimulationDrain = {
  /** Force takes pods that no controller manages, which do not come back. */
  "force"?: boolean;
  /** GracePeriodSeconds is used instead of the pods' own. */
  "gracePeriodSeconds"?: number;
  "nodes"?: Array<string>;
  /** RespectBudgets false deletes pods instead of evicting them. Default: true. */
  "respectBudgets"?: boolean;
  "selector"?: string;
  "zone"?: string;
};

export type SimulationEvent = {
  /** AddNodes has nodes come that are Ready, with their daemon pods. */
  "addNodes"?: ScenarioAddNodes;
  /** Apply has an object stored as an API server stores it: a DaemonSet, Job or CronJob, which comes or has another spec (such as suspend), or one of a kind without an event of its own. */
  "apply"?: Fields;
  /** At is from the start, in whole seconds; the start if absent. */
  "at"?: string;
  /** ContainerExits ends a container, ProbeFails has a probe fail for some time. StartsIn and EndsIn are how long a pod takes to start or to end, as with a slow image or hook. */
  "containerExits"?: SimulationContainerExit;
  /** Cordon and Uncordon change whether pods may come to nodes. */
  "cordon"?: ScenarioNodeChoice;
  /** Create has pods come: a v1.Pod, under its own name where there is no count, or the pods of a workload. */
  "create"?: SimulationWorkload;
  /** Delete and Evict name a pod. An eviction may be refused by a budget, once. */
  "delete"?: SimulationPodName;
  /** Drain drains nodes one after the other, as kubectl drain does. */
  "drain"?: SimulationDrain;
  "endsIn"?: SimulationPodTakes;
  "evict"?: SimulationPodName;
  /** NodesDie has the kubelets of nodes stop, NodesReturn answer again, with their containers still running. RemoveNodes deletes the Node objects. */
  "nodesDie"?: ScenarioNodeChoice;
  "nodesReturn"?: ScenarioNodeChoice;
  "probeFails"?: SimulationProbeFailure;
  /** RebootNodes has nodes stop and start again, with all containers. */
  "rebootNodes"?: SimulationReboot;
  "removeNodes"?: ScenarioNodeChoice;
  /** RollOut has a workload get another template, and so new pods in the place of its old ones. */
  "rollOut"?: SimulationRollOut;
  /** Scale has a workload want another number of pods. */
  "scale"?: SimulationScale;
  "setBudget"?: SimulationBudget;
  /** SetQuota changes hard limits of a ResourceQuota, SetBudget what a PodDisruptionBudget wants. */
  "setQuota"?: SimulationQuota;
  "startsIn"?: SimulationPodTakes;
  /** Taint adds a taint to nodes, Untaint takes it off. */
  "taint"?: SimulationTaint;
  "uncordon"?: ScenarioNodeChoice;
  /** Ungate takes scheduling gates off a pod. */
  "ungate"?: SimulationUngate;
  "untaint"?: SimulationTaint;
};

export type SimulationFirstDifference = {
  "against"?: SimulationOutcome;
  /** Attempt counts from 1. */
  "attempt"?: number;
  "pod"?: string;
  "profile"?: SimulationOutcome;
};

export type SimulationHistory = {
  /** Cluster is that of the base if absent. */
  "cluster"?: string;
  "since"?: string;
  /** exclusive */
  "until"?: string;
};

export type SimulationJob = {
  "cluster"?: string;
  "createdAt"?: string;
  "endedAt"?: string;
  "id"?: string;
  /** Kind is the last part of the path that it was asked by. */
  "kind"?: "simulations" | "fit" | "pools" | "drains" | "losses" | "rollouts" | (string & {});
  /** Progress is how far each part is that has begun. */
  "progress"?: Array<SimulationProgress>;
  /** Reason is the reason why it failed. */
  "reason"?: string;
  /** Result is the answer that the call would have had, once it is done; lists are without it. */
  "result"?: Fields;
  "snapshot"?: string;
  "state"?: "queued" | "running" | "done" | "cancelled" | "failed" | (string & {});
};

export type SimulationList = {
  /** Cursor continues the list; absent on its last page. */
  "cursor"?: string;
  "items"?: Array<SimulationJob>;
};

export type SimulationMoment = {
  /** AfterSeconds is when, from the start. */
  "afterSeconds"?: number;
  "node"?: string;
  /** Owner is the pod's controller, or the workload that it happens to. */
  "owner"?: string;
  /** Pod is the pod that it happens to; absent where it happens to a node or a workload. */
  "pod"?: string;
  /** What happens, such as bound or nodeTainted. */
  "what"?: "created" | "ungated" | "waits" | "nominated" | "bound" | "cannotStart" | "ready" | "unready" | "containerExited" | "containerRestarted" | "backOff" | "probeFailed" | "containerStopping" | "repeats" | "leaves" | "gone" | "succeeded" | "failed" | "refused" | "scaled" | "rolloutBegins" | "rolloutComplete" | "deadlineExceeded" | "nodeAdded" | "nodeDied" | "nodeReboots" | "nodeNotReady" | "nodeTainted" | "nodeBack" | "nodeRemoved" | "cordoned" | "uncordoned" | "tainted" | "untainted" | "drainBegins" | "drainEnds" | "applied" | "quotaChanged" | "budgetChanged" | "jobCreated" | "jobSkipped" | "jobDeleted" | (string & {});
  /** Why it happens: kube-scheduler's message, the cause of an end, or a rule. */
  "why"?: string;
};

export type SimulationMove = {
  /** Digest is that of the decision, as POST /v1/decisions has it. */
  "digest"?: string;
  "node"?: string;
  "outcome"?: "Scheduled" | "Unschedulable" | "Gated" | "Preempting" | "Error" | (string & {});
  "pod"?: string;
  "victims"?: Array<string>;
};

export type SimulationMovedPod = {
  "against"?: string;
  "node"?: string;
  "pod"?: string;
};

export type SimulationOutcome = {
  "limit"?: FitLimit;
  "node"?: string;
  "nodes"?: Array<EngineNodeVerdict>;
  "outcome"?: "Scheduled" | "Unschedulable" | "Gated" | "Preempting" | "Error" | (string & {});
};

export type SimulationPending = {
  /** Example is the first of them in the queue; the limit is a decision about it at the end. */
  "example"?: string;
  "groups"?: Array<AdviceGroup>;
  /** Message is kube-scheduler's summary. */
  "message"?: string;
  /** Narrowed is which nodes the pod wants, and what those have against it. */
  "narrowed"?: AdviceNarrowed;
  "outcome"?: "Unschedulable" | "Gated" | "Error" | (string & {});
  "pods"?: number;
};

export type SimulationPod = {
  "at"?: string;
  "duration"?: string;
  "pod"?: Fields;
};

export type SimulationPodName = {
  "name"?: string;
  /** Default: default. */
  "namespace"?: string;
};

export type SimulationPodTakes = {
  /** Kind is that of the workload whose pods are meant; a pod if absent. */
  "kind"?: "Pod" | "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet" | "Job" | (string & {});
  "name"?: string;
  /** Default: default. */
  "namespace"?: string;
  "seconds"?: number;
};

export type SimulationProbeFailure = {
  /** Container is the first one with such a probe if absent. */
  "container"?: string;
  /** For is how long it fails; for ever if absent. */
  "for"?: string;
  "name"?: string;
  /** Default: default. */
  "namespace"?: string;
  "probe"?: "readiness" | "liveness" | "startup" | (string & {});
};

export type SimulationProfile = {
  /** Config is a KubeSchedulerConfiguration, as an object or as YAML in a string; the server's own if absent. */
  "config"?: Fields;
  "name"?: string;
  /** Semantics is the release of Kubernetes to decide as; the scenario's if absent. */
  "semantics"?: string;
};

export type SimulationProgress = {
  "done"?: number;
  "part"?: string;
  /** Total is 0 where it is not known. */
  "total"?: number;
};

export type SimulationQuota = {
  "hard"?: { [key: string]: string };
  "name"?: string;
  /** Default: default. */
  "namespace"?: string;
};

export type SimulationReboot = {
  "nodes"?: Array<string>;
  "selector"?: string;
  /** Takes is how long a node does not answer; a minute if absent. Default: 1m. */
  "takes"?: string;
  "zone"?: string;
};

export type SimulationRequest = {
  "arrivals"?: SimulationArrivals;
  /** Base is a revision of a cluster, or cluster@latest. */
  "base"?: string;
  /** Chance is how many times the question is run, each time with other outcomes of what Kubernetes leaves to chance: which of equal nodes, of equal pods, the order of maps. The answer is that of the first run, with what chance decided in it and, for more than one, the lowest, median and highest of the headline counts. If absent, questions without a clock count nothing. */
  "chance"?: number;
  /** Clock has virtual time go on: preemptions' victims end by their grace periods, pods take a while to start, controllers make others, and Events happen. Pods that wait take part. */
  "clock"?: boolean;
  "edits"?: ScenarioEdits;
  "events"?: Array<SimulationEvent>;
  /** Keep is how much is answered of each attempt: summary (nothing), moves (each pod's node) or decisions (with the digest of each decision). Default: summary. */
  "keep"?: "summary" | "moves" | "decisions";
  /** Now is the time that decisions are made at; when the revision was made, if absent. */
  "now"?: string;
  /** Profiles are the configurations, each of which the whole scenario is run under; the server's own if absent. */
  "profiles"?: Array<SimulationProfile>;
  "rates"?: LossRates;
  /** Semantics is the release of Kubernetes to decide as, as for decisions, where a profile names none; if absent, that of the cluster. */
  "semantics"?: string;
  /** StartSeconds is how long a pod takes until it is ready of which nothing is known; 10 if absent. Rates are the settings of the node lifecycle controller, and how fast clients are. */
  "startSeconds"?: number;
  /** Tries is how many attempts each pod has; 0 or absent: as many as changes may help. */
  "tries"?: number;
  "until"?: SimulationUntil;
  /** Wait is for how long the call waits for the answer before it becomes a job, 0s for not at all. If absent, POST /v1/simulations waits 2s, and other calls for as long as it takes. */
  "wait"?: string;
};

export type SimulationRollOut = {
  /** DaemonSet is of apps/v1. Its pods are replaced node by node, as maxUnavailable and maxSurge allow. */
  "daemonSet"?: Fields;
  /** Deployment is of apps/v1. Its pods take as long to start as its old ones did. */
  "deployment"?: Fields;
  /** StatefulSet is of apps/v1. It keeps its number of pods, which are replaced from the highest ordinal down to its partition. */
  "statefulSet"?: Fields;
};

export type SimulationRolledOut = {
  /** Assumed is what the snapshot does not show. */
  "assumed"?: Array<string>;
  /** BeganAfterSeconds is when the update came, CompleteAfterSeconds when it was complete; absent: it is not, at the end. */
  "beganAfterSeconds"?: number;
  "completeAfterSeconds"?: number;
  /** DeadlineExceededAfterSeconds is when a Deployment first reported that it exceeded its progressDeadlineSeconds, which stops nothing. */
  "deadlineExceededAfterSeconds"?: number;
  "kind"?: "Deployment" | "StatefulSet" | "DaemonSet" | (string & {});
  /** LeastAvailable is the smallest number of available pods on the way (of a DaemonSet: of nodes with one), MostPods the largest number of pods at once, with those that are being deleted. */
  "leastAvailable"?: number;
  "mostPods"?: number;
  "name"?: string;
  "namespace"?: string;
};

export type SimulationRun = {
  /** Attempts counts decisions, Waves the passes over the queue. */
  "attempts"?: number;
  "digest"?: string;
  /** End is the capacity at the end, Spread the spread violations. Absent where no configuration has PodTopologySpread. */
  "end"?: Capacity;
  "evicted"?: number;
  "gated"?: number;
  /** Groups are the pending pods by why they wait at the end. */
  "groups"?: Array<SimulationPending>;
  /** Moved counts the pods of arrivals.placed that end on another node than the snapshot's. */
  "moved"?: number;
  /** Moves are the attempts, in order, as keep says. */
  "moves"?: Array<SimulationMove>;
  "name"?: string;
  "pending"?: number;
  /** Placed arrivals are on a node at the end, or left it when their time was over; Pending have none, Gated wait for their gates, Evicted lost theirs to a preemption. */
  "placed"?: number;
  /** Preemptions counts attempts that evicted pods, Victims all pods that were evicted. */
  "preemptions"?: number;
  /** Series is how the run went: a sample after every twentieth of the arrivals, about. */
  "series"?: Array<SimulationSample>;
  "spread"?: SpreadViolations;
  /** Stopped reports that the run ended by until.decisions before it was idle. */
  "stopped"?: boolean;
  "victims"?: number;
  /** Wait is of the attempts that were made from a pod's arrival until it was placed: time is ordinal, and the scheduler takes one pod after the other. */
  "wait"?: Distribution;
  "waves"?: number;
};

export type SimulationSample = {
  /** Allocation is of requested/allocatable over nodes, by resource; Stranded as in the capacity. */
  "allocation"?: { [key: string]: Distribution };
  "attempts"?: number;
  /** CouldBeEmpty is how many of them are above the bound, as in the capacity. */
  "couldBeEmpty"?: number;
  /** Fragmentation is as in the capacity, by resource. */
  "fragmentation"?: { [key: string]: number };
  "nodesInUse"?: number;
  "pending"?: number;
  "placed"?: number;
  "spread"?: SpreadViolations;
  "stranded"?: { [key: string]: number };
  /** Used is requested/allocatable of all nodes together, by resource, in percent. */
  "used"?: { [key: string]: number };
  /** Waiting are those of them that wait for a node: not the gated, nor arrivals that were evicted. */
  "waiting"?: number;
};

export type SimulationScale = {
  "kind"?: "Deployment" | "ReplicaSet" | "StatefulSet" | "Job" | (string & {});
  "name"?: string;
  "namespace"?: string;
  /** Replicas is the number; of a Job it is its parallelism. */
  "replicas"?: number;
};

export type SimulationState = {
  "afterSeconds"?: number;
  /** Cursor continues the list of pods; absent on its last page. */
  "cursor"?: string;
  /** Nodes are all nodes by name, on the first page alone. */
  "nodes"?: Array<SimulatedNode>;
  /** Pods are by namespace and name. */
  "pods"?: Array<SimulatedPod>;
  /** Snapshot names it for dry calls. */
  "snapshot"?: string;
  "time"?: string;
};

export type SimulationTaint = {
  "effect"?: "NoSchedule" | "PreferNoSchedule" | "NoExecute" | (string & {});
  "key"?: string;
  "nodes"?: Array<string>;
  "selector"?: string;
  "value"?: string;
  "zone"?: string;
};

export type SimulationTimeline = {
  /** Cursor continues the list; absent on its last page. */
  "cursor"?: string;
  "items"?: Array<SimulationMoment>;
  /** Omitted is how many moments came after the last one that was written down. */
  "omitted"?: number;
};

export type SimulationUngate = {
  /** Gates are their names; all if absent. */
  "gates"?: Array<string>;
  "name"?: string;
  /** Default: default. */
  "namespace"?: string;
};

export type SimulationUntil = {
  /** Decisions ends it after so many attempts. */
  "decisions"?: number;
  /** Duration ends it after so much time. It needs a clock. */
  "duration"?: string;
  /** Idle ends it when no pod waits that a change since its last attempt could help; so it is unless told otherwise. */
  "idle"?: boolean;
};

export type SimulationWorkload = {
  /** Count is how many; if absent spec.replicas, or of a Job spec.parallelism, at most spec.completions. Of a CronJob it is the pods of one Job. */
  "count"?: number;
  /** Pod is a v1.Pod, or a workload (Deployment, Job and so on). */
  "pod"?: Fields;
};

export type Snapshot = {
  /** AskedBy is the kind and name of who asked for it. */
  "askedBy"?: string;
  /** Cause is what made the revision: upload, change, bind, fork or epoch, or the end of holds: commit, release or expired. */
  "cause"?: string;
  "cluster"?: string;
  "createdAt"?: string;
  /** Deleted names what a change deleted, in the order of the request. */
  "deleted"?: Array<ObjectName>;
  /** Digest is over the content alone: equal states have equal digests. */
  "digest"?: string;
  /** Ending names the pods whose graceful end a change began: they stay until they are deleted again. */
  "ending"?: Array<ObjectName>;
  /** Followed reports whether the cluster is followed through its apiserver: a kind without objects is one that the cluster has none of. */
  "followed"?: boolean;
  /** Holds are those whose pods the state has on their nodes, and that have not ended. */
  "holds"?: ClusterHoldSum;
  "hygiene"?: ClusterHygiene;
  /** ID is cluster@revision. */
  "id"?: string;
  /** Ignored counts what the upload held of kinds that are not kept; changes leave it as it is. */
  "ignored"?: { [key: string]: number };
  /** NotFound names what a change was to delete and the state did not hold. */
  "notFound"?: Array<ObjectName>;
  "objects"?: { [key: string]: number };
  "revision"?: number;
  /** Unapplied are the kinds that it has objects of, and that admissions and changes alone apply: an API server does, before a scheduler sees a pod. */
  "unapplied"?: Array<string>;
  /** UnknownFields counts the fields of an upload that Kubernetes v1.36 does not have, by kind and path: they were left out. */
  "unknownFields"?: { [key: string]: number };
  /** Warnings name the parts of a change that were ignored (fieldValidation=Warn), and the pods that it put on nodes which are not there or have no room for them. */
  "warnings"?: Array<string>;
};

export type SnapshotList = {
  /** Cursor continues the list; absent on its last page. */
  "cursor"?: string;
  "items"?: Array<Snapshot>;
};

export type SpreadViolations = {
  "hard"?: number;
  "soft"?: number;
};

export type StateDiff = {
  "from"?: string;
  /** Hidden objects are in namespaces that the caller may not see, or in none; the kinds do not count them. */
  "hidden"?: number;
  /** Kinds count the objects that differ, by kind. */
  "kinds"?: Array<KindDiff>;
  /** Objects are those that were added or removed, and those that changed in what a scheduling decision reads; by kind, namespace and name. */
  "objects"?: Array<ObjectDiff>;
  /** Omitted objects are behind the limit. */
  "omitted"?: number;
  "to"?: string;
};

export type StatusPatch = {
  "metadata"?: StatusPatchMetadata;
  "status"?: StatusPatchStatus;
};

export type StatusPatchCondition = {
  "lastTransitionTime"?: string;
  "message"?: string;
  "reason"?: string;
  "status"?: string;
  "type"?: string;
};

export type StatusPatchConditionType = {
  "type"?: string;
};

export type StatusPatchMetadata = {
  "uid"?: string;
};

export type StatusPatchStatus = {
  "$setElementOrder/conditions"?: Array<StatusPatchConditionType>;
  "conditions"?: Array<StatusPatchCondition>;
  "phase"?: string;
};

export type SweepItem = {
  /** Deleted, Ended and Stay are as in the totals of a loss, and Ended counts the pods of a drained node that had ended before. */
  "deleted"?: number;
  "ended"?: number;
  "held"?: number;
  "name"?: string;
  "nodes"?: number;
  "notReplaced"?: number;
  /** NotStarted counts those placed that do not start on their node. Held counts those not replaced whose controller would, but waits for another pod, or has given up. */
  "notStarted"?: number;
  /** OK reports that no pod is left without a node: all that controllers make instead can run, none stays on a dead node, and the drain is done. Pods that no controller makes again are counted in notReplaced alone. */
  "ok"?: boolean;
  /** Outcome is how the drain goes; absent for a loss. */
  "outcome"?: "drained" | "refused" | "blocked" | (string & {});
  "pending"?: number;
  /** Placed and Pending are the replacements with and without a node; NotReplaced pods do not come back. */
  "placed"?: number;
  /** Pods were on the nodes of a loss, or are evicted by a drain. */
  "pods"?: number;
  "preempted"?: number;
  "seconds"?: number;
  "stay"?: number;
  /** Why is the first pod for which that is not so, and what is said of it. */
  "why"?: string;
};

export type Termination = {
  "cause"?: string;
  /** Containers are those that are stopped, sidecars last and in their order. */
  "containers"?: Array<TerminationStop>;
  /** DeletionTimestamp is what the API server has or writes; for delete and preempt only. */
  "deletionTimestamp"?: string;
  "endpoints"?: TerminationEndpoints;
  /** Eviction is how the Eviction API answers. */
  "eviction"?: EvictionVerdict;
  /** EvictionTimeoutSeconds is how long the kubelet waits for an evicted pod to be gone before it reports "timeout waiting to kill pod". */
  "evictionTimeoutSeconds"?: number;
  /** Expected is the end with the exits of exitSeconds, beside the slowest one. */
  "expected"?: ExpectedEnd;
  /** GoneAfterSeconds is the longest time until the object is gone or, where the kubelet ends the pod by itself, until the pod is over. Absent where it is unknown, or where the pod continues. */
  "goneAfterSeconds"?: number;
  /** GracePeriodSeconds is what the API server writes for delete and preempt, the kubelet's effective period for evictions and shutdown, and that of the container with the probe for liveness and startup. Where causes follow, it is the last period that the containers are stopped with. */
  "gracePeriodSeconds"?: number;
  /** LeftRunning are the containers that may still run when the object is gone. */
  "leftRunning"?: Array<string>;
  "message"?: string;
  /** NodeDeletion is when and why the control plane deletes the pod; for taint only. */
  "nodeDeletion"?: NodeDeletion;
  /** NotRunning are the containers that need not be stopped. */
  "notRunning"?: Array<TerminationIdle>;
  /** Notes are what else is worth knowing. */
  "notes"?: Array<string>;
  /** OverdueSince is when the object was to be gone at the latest, where that is past; goneAfterSeconds is 0 then. */
  "overdueSince"?: string;
  /** Phase is the pod's at the end of the timeline; PhaseIfAllExitZero where it would be another if all containers ended with exit code 0 in time. */
  "phase"?: string;
  "phaseIfAllExitZero"?: string;
  /** Reason and Message go with Phase in the pod's status. */
  "reason"?: string;
  /** Refused is why the kubelet does not evict the pod at all; absent where it does. */
  "refused"?: Rule;
  /** Semantics is the release of Kubernetes whose kubelet leads the pod's life: that of its node, else the one of the question or of the cluster. Absent where it is v1.36.3. */
  "semantics"?: string;
  /** SemanticsNote is why it is another release than that of the node's kubelet; absent where it is the same. */
  "semanticsNote"?: string;
  /** Snapshot is where a pod that was named was read; callers that read snapshots fill it in. */
  "snapshot"?: string;
  /** StaysTerminating reports whether the pod's node does not answer: the object stays until the node is back, out of service or deleted. */
  "staysTerminating"?: boolean;
  /** Steps name the source of each number, in the order of the reckoning. */
  "steps"?: Array<TerminationStep>;
  /** Timeline is what happens if every container uses all the time it has. */
  "timeline"?: Array<TerminationEvent>;
  /** Warnings name the parts of the request that were ignored; callers that read requests fill them in. */
  "warnings"?: Array<string>;
};

export type TerminationEndpoints = {
  "detail"?: string;
  "ready"?: boolean;
  /** Removed reports whether no slice lists the pod any more. */
  "removed"?: boolean;
  "serving"?: boolean;
  "terminating"?: boolean;
};

export type TerminationEvent = {
  /** Actor is who does it: api-server, scheduler, kubelet, container-runtime, endpointslice-controller, taint-eviction-controller, pod-garbage-collector-controller, or the controller that owns the pod, such as replicaset-controller. */
  "actor"?: string;
  /** At is absent where it is beyond the year 9999. */
  "at"?: string;
  "container"?: string;
  "detail"?: string;
  "event"?: string;
  "offsetSeconds"?: number;
};

export type TerminationFollowing = {
  /** AfterSeconds is when, counted from the first cause. */
  "afterSeconds"?: number;
  /** Cause is one that ends a pod, except for those of probes and taints, or kubelet-restart or runtime-restart. */
  "cause"?: "delete" | "preempt" | "api-eviction" | "evict-soft" | "evict-hard" | "kubelet-preempt" | "shutdown" | "kubelet-restart" | "runtime-restart" | (string & {});
  /** Force is a delete with period 0. */
  "force"?: boolean;
  /** GracePeriodSeconds is the delete's option, or the node's share of a shutdown. */
  "gracePeriodSeconds"?: number;
};

export type TerminationIdle = {
  "kind"?: string;
  "name"?: string;
  "state"?: string;
};

export type TerminationRequest = {
  /** Budgets are the policy/v1 PodDisruptionBudgets that an api-eviction meets, with their status. */
  "budgets"?: Array<Fields>;
  /** Cause is why the pod ends. */
  "cause"?: "delete" | "evict-soft" | "evict-hard" | "preempt" | "liveness" | "startup" | "shutdown" | "api-eviction" | "taint" | "kubelet-preempt";
  /** Container is the one whose probe failed; needed if several have one. */
  "container"?: string;
  /** EvictionMaxPodGracePeriod is the kubelet's setting for soft evictions; 0 if absent. */
  "evictionMaxPodGracePeriod"?: number;
  /** ExitCodes are what these containers exit with, 0 to 255; 0 if absent. */
  "exitCodes"?: { [key: string]: number };
  /** ExitSeconds describes how long containers take to exit after the stop signal, for the end beside the slowest one (expected). */
  "exitSeconds"?: { [key: string]: number };
  /** Force is a delete with gracePeriodSeconds 0. */
  "force"?: boolean;
  /** GracePeriodSeconds is the delete's option, also of an api-eviction; for shutdown the node's share for the pod's priority. */
  "gracePeriodSeconds"?: number;
  /** HookFails names containers whose preStop hook fails. */
  "hookFails"?: Array<string>;
  /** Node is the v1.Node of the pod. Absent, it is that of the snapshot for podRef, else taken to be healthy; null reports that it does not exist any more. One that is not Ready keeps a deleted pod Terminating; for taint its taints decide when the pod is deleted. */
  "node"?: Fields | null;
  /** NodeLostSince is the last sign of life of the node's kubelet, or when the node was deleted. */
  "nodeLostSince"?: string;
  /** Now is when it happens; the server's time if absent. */
  "now"?: string;
  /** Pod is the v1.Pod as it is; defaults are filled in. Either this or podRef. */
  "pod"?: Fields;
  /** PodRef names a pod of the snapshot. */
  "podRef"?: PodName;
  /** PreStopSeconds describes how long containers' preStop hooks run; a sleep says so itself, others may take the whole period. */
  "preStopSeconds"?: { [key: string]: number };
  /** Semantics is the release of Kubernetes whose kubelet leads the pod's life, where its node does not tell its kubelet's version; that of the cluster if absent. */
  "semantics"?: string;
  /** Shutdown is the kubelet's configuration of graceful node shutdown, to find the share in. */
  "shutdown"?: ShutdownConfig;
  /** Snapshot is where podRef's pod and its node are read (default@latest if absent), and the budgets of an api-eviction where none are given. */
  "snapshot"?: string;
  /** Then are later events of the pod that is ending, in order of time. */
  "then"?: Array<TerminationFollowing>;
};

export type TerminationStep = {
  /** Container is set where the number is one container's. */
  "container"?: string;
  /** Rule describes what is done with it. */
  "rule"?: string;
  /** Source is the field or the component that the value comes from. */
  "source"?: string;
  "value"?: number;
};

export type TerminationStop = {
  "killAtSeconds"?: number;
  /** Kind is container, sidecar, init or ephemeral. */
  "kind"?: string;
  "name"?: string;
  /** PreStopSeconds is what its hook takes of the period; absent without a hook, or where it is not run. */
  "preStopSeconds"?: number;
  /** PreStopUnknown reports whether nothing tells how long its hook runs, so that preStopSeconds is the most that it may take. */
  "preStopUnknown"?: boolean;
  "signal"?: string;
  "signalAtSeconds"?: number;
  /** StopTimeoutSeconds is what the container runtime is given between the signal and SIGKILL. */
  "stopTimeoutSeconds"?: number;
  /** WaitSeconds is how long a sidecar waits for its turn. */
  "waitSeconds"?: number;
};

export type ThresholdState = {
  "actsAt"?: string;
  "available"?: string;
  "kind"?: "hard" | "soft" | (string & {});
  "met"?: boolean;
  /** Observed reports whether the question has the signal; without it the kubelet passes the threshold over. */
  "observed"?: boolean;
  /** Quantity is the value for the signal's capacity. */
  "quantity"?: string;
  "signal"?: string;
  /** Since is when it was first met, ActsAt when the kubelet evicts for it. */
  "since"?: string;
  "value"?: string;
};

export type Token = {
  "createdAt"?: string;
  "expiresAt"?: string;
  /** Grants are what its bearer may. */
  "grants"?: Array<Grant>;
  "id"?: string;
  "name"?: string;
  "revokedAt"?: string;
  /** UsedAt is when it was last used, to the minute. */
  "usedAt"?: string;
};

export type TokenList = {
  "items"?: Array<Token>;
};

export type TokenRequest = {
  /** ExpiresAt is when it stops being valid; absent: after 90 days. */
  "expiresAt"?: string;
  "grants"?: Array<Grant>;
  "name"?: string;
};

export type Unplaced = {
  "message"?: string;
  /** More has what one more node of each pool would do for it. */
  "more"?: Array<OneMore>;
  /** Outcome and Message are those of its decision after the choice. */
  "outcome"?: string;
  /** Pod is the first of them, in the order of the queue. */
  "pod"?: PodRef;
  "pods"?: number;
};

export type UnstartedPod = {
  /** Claim is the one that nothing will bind, Why says so. */
  "claim"?: string;
  "name"?: string;
  "namespace"?: string;
  "node"?: string;
  "why"?: string;
};

export type Upgrade = {
  /** Asked counts the pods that were decided on under both. */
  "asked"?: UpgradeAsked;
  /** Behaviours are all differences between the releases. */
  "behaviours"?: Array<Behaviour>;
  "decisions"?: Array<UpgradeDifference>;
  /** Differ is how many of them have another answer. */
  "differ"?: number;
  /** From and To are the releases, with gates that are not at their defaults. */
  "from"?: string;
  /** Gone are in versions of APIs, or have fields, that the other release does not have, drops, or will not have for long. */
  "gone"?: Array<UpgradeFinding>;
  /** Groups are the differences, counted by kind and cause; Decisions are they one by one. */
  "groups"?: Array<UpgradeGroup>;
  /** NotTold is what a snapshot cannot tell. */
  "notTold"?: Array<string>;
  /** Objects are worth a look whatever is decided today. */
  "objects"?: Array<UpgradeFinding>;
  /** Settings are what the other release does not take of the configuration. What is decided is then decided by the rest, or not at all. */
  "settings"?: Array<string>;
  "snapshot"?: string;
  "to"?: string;
};

export type UpgradeAsked = {
  /** Omitted are behind the limit. */
  "omitted"?: number;
  "running"?: number;
  "waiting"?: number;
};

export type UpgradeChange = {
  "after"?: string;
  "before"?: string;
  /** Causes are the names of the behaviours that make it, together; absent where none of those in which the releases differ does. */
  "causes"?: Array<string>;
  "kind"?: "fails" | "noLongerFits" | "fitsNow" | "otherVictims" | "otherNode" | "otherDevices" | "otherScores" | "otherMessage" | (string & {});
};

export type UpgradeDifference = {
  "changes"?: Array<UpgradeChange>;
  "pod"?: PodRef;
};

export type UpgradeExample = {
  "after"?: string;
  "before"?: string;
  /** ID is the record's; absent for a decision that was asked for the report. */
  "id"?: string;
  "pod"?: PodRef;
};

export type UpgradeFinding = {
  /** Behaviour is the name of the difference; absent where a version or a field goes. */
  "behaviour"?: string;
  "kind"?: string;
  "message"?: string;
  "objects"?: number;
  /** Sample names up to five, namespace/name. */
  "sample"?: Array<string>;
};

export type UpgradeGroup = {
  /** Causes are names of behaviours; absent where none of those in which the releases differ makes the difference. */
  "causes"?: Array<string>;
  "decisions"?: number;
  "examples"?: Array<UpgradeExample>;
  "kind"?: "fails" | "noLongerFits" | "fitsNow" | "otherVictims" | "otherNode" | "otherDevices" | "otherScores" | "otherMessage" | (string & {});
};

export type ViewPage = {
  "columns"?: Array<string>;
  /** Cursor is that of the page that follows; absent from the last one. */
  "cursor"?: string;
  /** Rows are as long as Columns, in the order of their time. */
  "rows"?: Array<Array<unknown>>;
  /** Types are integer, number, boolean, time (RFC 3339) or text; empty where neither the database nor a value shows it. */
  "types"?: Array<string>;
  "view"?: string;
};

export type Whoami = {
  "grants"?: Array<Grant>;
  "groups"?: Array<string>;
  /** Kind is where the identity is from; anonymous is a caller without one, where none is needed. */
  "kind"?: "anonymous" | "token" | "certificate" | "oidc" | "kubernetes" | (string & {});
  "name"?: string;
};

export type Woken = {
  /** Event is named as in kube-scheduler's metrics. */
  "event"?: string;
  /** Hint is the plugin that rejected the pod, and whose queueing hint takes the event for one that may help. */
  "hint"?: string;
  /** Object is the one that came, went or changed; absent where the caller may not see it. */
  "object"?: ObjectName;
  /** Snapshot is the revision that brought it. */
  "snapshot"?: string;
};

export type AdviceAlso = {
  "detail"?: string;
  "nodes"?: number;
  "reason"?: string;
  "short"?: AdviceShort;
};

export type AdviceAlsoFailing = {
  "message"?: string;
  "nodes"?: number;
  "reason"?: string;
  "rule"?: string;
};

export type AdviceAsk = {
  "by"?: "nodeSelector" | "nodeAffinity" | "resource" | "volume" | "taint" | (string & {});
  /** Detail is the selector, the resource, the volume, or the taint that most nodes have. */
  "detail"?: string;
  /** Missing are the labels that no node has, where no node is left. */
  "missing"?: Array<AdviceMissing>;
  /** Nodes is how many nodes are left that have this and all before it. */
  "nodes"?: number;
  /** Others is how many other taints nodes are left out for. */
  "others"?: number;
};

export type AdviceCure = {
  "detail"?: string;
  "nodes"?: number;
  "reason"?: string;
  "rule"?: string;
};

export type AdviceEdit = {
  "kind"?: "Pod" | "Node" | "PodDisruptionBudget" | "PersistentVolumeClaim" | "PersistentVolume" | "ResourceClaim" | "CSINode" | "ResourceSlice" | (string & {});
  "name"?: string;
  "namespace"?: string;
  /** Patch is a JSON patch (RFC 6902) of the object as it was decided on. A pod has its defaults and its priority filled in. */
  "patch"?: Array<AdviceOp>;
};

export type AdviceGroup = {
  "action"?: "wait" | "changePod" | "askPlatform" | (string & {});
  /** Also counts further reasons of the same rule against nodes of the group. */
  "also"?: Array<AdviceAlso>;
  /** AlsoFailing counts the other rules that reject nodes of the group when each is run on its own. They would still reject them after the first cause is removed. */
  "alsoFailing"?: Array<AdviceAlsoFailing>;
  /** Detail names the taint, the selector, the domain or the amount that is short. */
  "detail"?: string;
  /** Merged is how many small groups this one stands for; absent for one. */
  "merged"?: number;
  /** Message is kube-scheduler's sentence. */
  "message"?: string;
  /** Nearest is the node that lacks least, with the objects that are in the way there. */
  "nearest"?: AdviceNearest;
  "nodes"?: number;
  /** Reason is a stable code, such as InsufficientCPU or UntoleratedTaint. */
  "reason"?: string;
  /** Rule is the first failing plugin in kube-scheduler's order. */
  "rule"?: string;
  /** Sample is the first few of the nodes, by name. */
  "sample"?: Array<string>;
  /** Short is how much the nodes of the group lack; absent for what has no amount. */
  "short"?: AdviceShort;
};

export type AdviceHolder = {
  "kind"?: string;
  "name"?: string;
  "namespace"?: string;
};

export type AdviceMissing = {
  "key"?: string;
  /** Meant is the label that was most likely meant. */
  "meant"?: AdviceNodeLabel;
  "more"?: number;
  /** empty where any would do */
  "value"?: string;
  /** Values are the commonest values of the key, and More how many others there are. */
  "values"?: Array<AdviceNodeLabel>;
};

export type AdviceNarrowed = {
  /** Asks are what the pod wants of nodes and not all have, in the order in which people look. */
  "asks"?: Array<AdviceAsk>;
  /** Nodes is how many nodes have all of it. */
  "nodes"?: number;
  /** Obstacles count those nodes by the first reason of their first failing filter, by number. */
  "obstacles"?: Array<AdviceObstacle>;
  /** Of is the number of nodes that the decision was about. */
  "of"?: number;
};

export type AdviceNearest = {
  "detail"?: EngineDetail;
  "node"?: string;
};

export type AdviceNodeLabel = {
  "key"?: string;
  "nodes"?: number;
  "value"?: string;
};

export type AdviceObstacle = {
  "allHeld"?: boolean;
  "detail"?: string;
  /** Holders have what the nodes lack, where they are at most two on all of the nodes; AllHeld is set where none of a resource is left. */
  "holders"?: Array<AdviceHolder>;
  /** Never is set where the nodes would lack it without any pod. */
  "never"?: boolean;
  "nodes"?: number;
  "reason"?: string;
  "rule"?: string;
};

export type AdviceOp = {
  "op"?: "add" | "replace" | "remove" | (string & {});
  "path"?: string;
  /** any value; absent for remove */
  "value"?: unknown;
};

export type AdviceShort = {
  "max"?: number;
  "median"?: number;
  "min"?: number;
  /** a resource's name, or skew */
  "of"?: string;
  "unit"?: "millicores" | "bytes" | "count" | "skew" | (string & {});
};

export type AdviceSuggestion = {
  /** Action names who makes such a change. */
  "action"?: "wait" | "changePod" | "askPlatform" | (string & {});
  /** in words */
  "change"?: string;
  /** Command is what people type for it; absent where no single command does it. A change of a pod that a controller made is one of the controller's template. */
  "command"?: string;
  /** Cures counts, for each group, the nodes on which the pod would fit. */
  "cures"?: Array<AdviceCure>;
  /** Edit is the change as a JSON patch, exactly as it was tried. For a claim it makes the object, with a placeholder for its size. */
  "edit"?: AdviceEdit;
  /** Edits are all patches of a change of several objects, edit being the first. They were tried together. */
  "edits"?: Array<AdviceEdit>;
  /** nodes on which the pod would fit; of a budget's, those where no budget would be violated */
  "fits"?: number;
  /** gate, toleration, resource, topologySpread, nodeSelector, nodeAffinity, podAffinity, podAntiAffinity, hostPort, claim; uncordon, recover, capacity, label; preemptionPolicy, priorityClass, budget; node (one more), pair; wait, delete, resize (of other pods) */
  "kind"?: string;
  /** Labels are what the copy has otherwise by keys beside the zone, which a spread or a volume of the pod reads; new-KEY stands for a value that no node has. */
  "labels"?: { [key: string]: string };
  /** Like is the existing node that the new one would copy, without its pods. */
  "like"?: string;
  "node"?: string;
  /** up to five of them, by name */
  "nodes"?: Array<string>;
  /** Outcome is Scheduled, or Preempting where the change lets the pod evict others. */
  "outcome"?: "Scheduled" | "Preempting" | (string & {});
  /** of a pair: the kinds of its two changes */
  "parts"?: Array<string>;
  /** pod, node, budget or claim */
  "target"?: string;
  /** VerifiedBy is the engine that tried it. */
  "verifiedBy"?: string;
  /** Warning is what speaks against the change. */
  "warning"?: string;
  /** Zone is the one that the copy is in, where it is another than that of the node; new-zone stands for one without nodes. */
  "zone"?: string;
};

export type ClusterHoldSum = {
  "held"?: number;
  /** Until is when the time of the first of them is over. */
  "until"?: string;
};

export type ClusterHygiene = {
  /** BudgetsWithoutDisruptions counts budgets whose status allows no disruption, or that have none. */
  "budgetsWithoutDisruptions"?: number;
  /** GlobalDefaults counts priority classes with globalDefault. An apiserver admits one. */
  "globalDefaults"?: number;
  "missingKinds"?: Array<ClusterMissingKind>;
  "nodesCordoned"?: ClusterNodeList;
  /** NodesNotReady are so by their conditions, and NodesCordoned by hand or by a drain. */
  "nodesNotReady"?: ClusterNodeList;
  /** NodesOvercommitted counts nodes whose pods ask for more cpu, memory or ephemeral storage than the node has, or are more than it takes. A kubelet admits none of those that are too many. */
  "nodesOvercommitted"?: number;
  /** NodesWithoutCapacity counts nodes that take no pod, since they say of no pods, or of neither cpu nor memory, that they have room for it. */
  "nodesWithoutCapacity"?: number;
  "notes"?: Array<string>;
  "pendingPods"?: number;
  /** PodsOfUnknownClasses have no priority and name a class that neither the snapshot nor berth knows: they count as priority 0. */
  "podsOfUnknownClasses"?: ClusterPodList;
  /** PodsOfWrappingAmounts ask for amounts that do not fit 64 bits in their unit. They wrap, as in kube-scheduler, and such a pod may count as less than nothing. */
  "podsOfWrappingAmounts"?: ClusterPodList;
  "podsOnUnknownNodes"?: ClusterPodList;
  "terminalPods"?: number;
};

export type ClusterMissingKind = {
  "consequence"?: string;
  "kind"?: string;
};

export type ClusterNodeList = {
  "count"?: number;
  /** at most 10, by name */
  "sample"?: Array<string>;
};

export type ClusterPodList = {
  "count"?: number;
  /** at most 20, by namespace and name */
  "sample"?: Array<ClusterPodOnNode>;
};

export type ClusterPodOnNode = {
  "name"?: string;
  "namespace"?: string;
  "node"?: string;
  "priorityClassName"?: string;
};

export type EngineAllottedDevice = {
  "claim"?: string;
  "device"?: string;
  "driver"?: string;
  "pool"?: string;
  "request"?: string;
};

export type EngineBlocker = {
  /** Amount is how much it holds of the detail's resource, in the unit of the detail. */
  "amount"?: number;
  "kind"?: string;
  "name"?: string;
  "namespace"?: string;
  /** Node is where a pod runs, or is nominated to. */
  "node"?: string;
  /** Owner is the kind and name of a pod's controller, of a Deployment instead of its ReplicaSet. */
  "owner"?: string;
  /** Resizing is how much of it counts for a resize that its node defers. */
  "resizing"?: number;
  /** Since is when an ending pod was deleted, Until when it has to be gone: RFC 3339. */
  "since"?: string;
  /** State is ending, overdue, nominated, resizeDeferred, evictable, waiting or missing; empty for a pod that stays. */
  "state"?: "ending" | "overdue" | "nominated" | "resizeDeferred" | "evictable" | "waiting" | "missing" | (string & {});
  "until"?: string;
  /** Why is what the object has to do with the rejection, where that is not plain. */
  "why"?: string;
};

export type EngineBudget = {
  "allowedAfter"?: number;
  "allowedBefore"?: number;
  /** Disrupted reports that the budget counts the pod as gone already, so that it takes nothing. */
  "disrupted"?: boolean;
  "name"?: string;
  "violated"?: boolean;
};

export type EngineCounts = {
  /** nodes that passed every filter */
  "feasible"?: number;
  /** nodes considered */
  "nodes"?: number;
};

export type EngineDetail = {
  "available"?: number;
  /** Blockers are the objects that cause it, at most MaxBlockers; BlockersOmitted counts the rest. */
  "blockers"?: Array<EngineBlocker>;
  "blockersOmitted"?: number;
  "capacity"?: number;
  "claim"?: string;
  "domain"?: string;
  "effect"?: string;
  "hostIP"?: string;
  "key"?: string;
  "kind"?: string;
  "matching"?: number;
  "maxSkew"?: number;
  "name"?: string;
  "port"?: number;
  "protocol"?: string;
  "request"?: string;
  "requested"?: number;
  "skew"?: number;
  "term"?: string;
  "topologyKey"?: string;
  "value"?: string;
  "volume"?: string;
};

export type EngineFailureCount = {
  "code"?: string;
  "nodes"?: number;
  "plugin"?: string;
  "reason"?: string;
};

export type EngineLeftAlone = {
  "plugin"?: string;
  "reason"?: string;
};

export type EngineNodeVerdict = {
  /** AlsoFailing are the other filters that reject the node when each is run on its own, in the profile's order. They are worked out for ExplainAll, and are part of no digest. */
  "alsoFailing"?: Array<EngineRuleFailure>;
  "code"?: string;
  "details"?: Array<EngineDetail>;
  "feasible"?: boolean;
  "name"?: string;
  /** NotJudged are filters that fail with an error on the node and that kube-scheduler did not reach, since another filter rejects it before. */
  "notJudged"?: Array<EngineNotEvaluated>;
  "plugin"?: string;
  "reasons"?: Array<string>;
  /** weighted total; absent where no scoring took place */
  "score"?: number;
  "scores"?: Array<EnginePluginScore>;
  /** Stage is where Plugin rejects the node. */
  "stage"?: "PreFilter" | "PreFilterNarrowing" | "Filter" | (string & {});
};

export type EngineNotCandidate = {
  "code"?: string;
  /** by name; at most ten unless everything is explained */
  "names"?: Array<string>;
  "nodes"?: number;
  "plugin"?: string;
  "reason"?: string;
  "tried"?: boolean;
};

export type EngineNotEvaluated = {
  "plugin"?: string;
  "reason"?: string;
};

export type EngineOutcome = "Scheduled" | "Unschedulable" | "Gated" | "Preempting" | (string & {});

export type EnginePluginScore = {
  "normalized"?: number;
  /** Parts are what constraints and terms add to the raw score, which is the sum of their points, rounded. They are worked out for ExplainAll, for the best nodes and the one that the question names, and are part of no digest. */
  "parts"?: Array<EngineScorePart>;
  "plugin"?: string;
  "raw"?: number;
  "weight"?: number;
  "weighted"?: number;
};

export type EnginePodRef = {
  "name"?: string;
  "namespace"?: string;
  "uid"?: string;
};

export type EnginePreemption = {
  /** Candidates are the nodes on which evictions help, the chosen one first and the others in the order of the choice. */
  "candidates"?: Array<EnginePreemptionCandidate>;
  "candidatesOmitted"?: number;
  /** ClearedNominations are the pods of lower priority that no longer wait for the node. */
  "clearedNominations"?: Array<EnginePodRef>;
  /** Eligible reports whether the pod may preempt others; Reason why not. */
  "eligible"?: boolean;
  /** Node is the node of the victims, the decision's nominatedNode. */
  "node"?: string;
  /** NotCandidates are the other nodes, counted by why. */
  "notCandidates"?: Array<EngineNotCandidate>;
  /** NumPDBViolations counts the victims whose eviction a budget forbids. */
  "numPDBViolations"?: number;
  "reason"?: string;
  /** Reprieved are the pods of lower priority that stay on the node. */
  "reprieved"?: Array<EngineReprieved>;
  /** Rounds count how many candidates fell in each round of the choice, listed or omitted. Rounds in which none fell are left out; after the last one the chosen node is left. */
  "rounds"?: Array<EnginePreemptionRound>;
  /** StartsWithinSeconds is the longest of the victims' grace periods: the pod can start by then. */
  "startsWithinSeconds"?: number;
  "victims"?: Array<EngineVictim>;
  /** WaitsFor are the pods that the pod had evicted from the node that it is nominated to and that are still there: as long as they are, no other pods are evicted for it. */
  "waitsFor"?: Array<EnginePodRef>;
};

export type EnginePreemptionCandidate = {
  "chosen"?: boolean;
  "lost"?: EngineTournament;
  "node"?: string;
  "numPDBViolations"?: number;
  "victims"?: Array<EngineVictim>;
};

export type EnginePreemptionRound = {
  "criterion"?: string;
  "fell"?: number;
  "left"?: number;
  /** from 1 */
  "round"?: number;
};

export type EngineReprieved = {
  /** Budgets are the first 16 of the pod. */
  "budgets"?: Array<EngineBudget>;
  "budgetsOmitted"?: number;
  "name"?: string;
  "namespace"?: string;
  "priority"?: number;
  "uid"?: string;
  "violatesPDB"?: boolean;
  "why"?: string;
};

export type EngineRuleFailure = {
  "code"?: string;
  "details"?: Array<EngineDetail>;
  "plugin"?: string;
  "reasons"?: Array<string>;
};

export type EngineScorePart = {
  /** Base is maxSkew - 1 of a constraint. */
  "base"?: number;
  "by"?: "topologySpread" | "nodeAffinity" | "addedAffinity" | "podAffinity" | "podAntiAffinity" | "othersPodAffinity" | "othersPodAntiAffinity" | "more" | (string & {});
  /** Count is the number of pods in the node's domain that count; of node affinity 1 where the node matches. */
  "count"?: number;
  /** Points are Count × Weight + Base. */
  "points"?: number;
  /** Term is the selector in words; of more: how many others there are. */
  "term"?: string;
  /** TopologyKey is that of a constraint, or of a term about pods. */
  "topologyKey"?: string;
  /** Weight is that of the term, negative for anti-affinity; of a constraint: ln(domains + 2). */
  "weight"?: number;
};

export type EngineSpreadConstraint = {
  "domains"?: Array<EngineSpreadDomain>;
  "domainsOmitted"?: number;
  /** hard constraints only */
  "globalMinimum"?: number;
  "labelSelector"?: string;
  "maxSkew"?: number;
  "minDomains"?: number;
  "selfMatch"?: boolean;
  /** pod, or defaultConstraints (System or List) */
  "source"?: string;
  "topologyKey"?: string;
  "whenUnsatisfiable"?: string;
};

export type EngineSpreadDomain = {
  "eligible"?: boolean;
  /** HoldsPod is set where the pod is bound there already. It was taken out to decide where it would go, and is not among matching. */
  "holdsPod"?: boolean;
  "leftOut"?: Array<EngineSpreadPod>;
  "leftOutOmitted"?: number;
  "matching"?: number;
  "nodes"?: number;
  /** Pods are those that count, LeftOut those that the selector matches and that do not, each with why: at most ten of each, by name. The last counts those beyond. */
  "pods"?: Array<EngineSpreadPod>;
  "skewAfter"?: number;
  "skewIfPlaced"?: number;
  "value"?: string;
  /** why the domain is not eligible */
  "why"?: string;
};

export type EngineSpreadPod = {
  "name"?: string;
  "node"?: string;
  "why"?: string;
};

export type EngineTournament = {
  "best"?: number;
  "criterion"?: string;
  /** from 1 */
  "round"?: number;
  "value"?: number;
};

export type EngineVictim = {
  /** Because lists the reasons that keep the preemptor off the node if this pod stays. */
  "because"?: Array<string>;
  "budgets"?: Array<EngineBudget>;
  "budgetsOmitted"?: number;
  /** GracePeriodSeconds is its grace period at eviction, or what is set if it is terminating already. */
  "gracePeriodSeconds"?: number;
  "name"?: string;
  "namespace"?: string;
  "priority"?: number;
  /** Replacement is what becomes of the pod that the victim's controller makes instead, once the victims are gone and the preemptor is on their node. It is tried beside suggestions, for the first victims. */
  "replacement"?: string;
  "terminating"?: boolean;
  "uid"?: string;
  /** Unknown reports that the snapshot does not have the pod on the node: it is as the caller of /preempt named it. */
  "unknown"?: boolean;
  /** ViolatesPDB reports whether a budget forbids the eviction; Budgets are the first 16 of the pod. */
  "violatesPDB"?: boolean;
};

export type EngineVolumeBinding = {
  "claim"?: string;
  "provision"?: string;
  "volume"?: string;
};

export type LedgerDeletion = {
  /** GracePeriodSeconds lets a pod that runs end gracefully: its deletionTimestamp is written, and another deletion without it removes the pod. Absent, the pod goes at once. */
  "gracePeriodSeconds"?: number;
  "kind"?: string;
  "name"?: string;
  "namespace"?: string;
};

export type LedgerPatch = {
  "kind"?: string;
  "name"?: string;
  "namespace"?: string;
  "patch"?: Fields;
  /** Type describes what the patch is: a JSON merge patch (RFC 7386), a JSON patch (RFC 6902) or Kubernetes' strategic merge patch. */
  "type"?: "merge" | "json" | "strategic" | (string & {});
};

export type ReplaysDifference = {
  /** Changes are the differences between two releases with their causes, where the batch is under another one and nothing else. */
  "changes"?: Array<UpgradeChange>;
  "createdAt"?: string;
  /** Differences are by path, the first of them where there are many. */
  "differences"?: Array<Difference>;
  /** a node counts once where there are many */
  "differencesOmitted"?: number;
  /** Error is why there is no answer. */
  "error"?: string;
  "id"?: string;
  "pod"?: PodRef;
  "snapshot"?: string;
  "verb"?: string;
};

export type ReplaysJob = {
  "cluster"?: string;
  "createdAt"?: string;
  "different"?: number;
  "done"?: number;
  "endedAt"?: string;
  "errors"?: number;
  "id"?: string;
  "identical"?: number;
  "parts"?: number;
  "partsDone"?: number;
  "profile"?: string;
  /** Reason is the reason why it failed. */
  "reason"?: string;
  /** Semantics is the release that stands in for the recorded one. */
  "semantics"?: string;
  "since"?: string;
  "state"?: "queued" | "running" | "done" | "cancelled" | "failed" | (string & {});
  /** Total is how many decisions there are; Done is the sum of the last three. */
  "total"?: number;
  "until"?: string;
};

export type ScenarioNodeChoice = {
  "nodes"?: Array<string>;
  "selector"?: string;
  "zone"?: string;
};

export type ScenarioPoolBound = {
  "cost"?: number;
  /** Resource is the one that the bound comes from; absent where it rests on runs. */
  "resource"?: string;
  /** Runs reports that cheaper choices which the requests allow were run and place fewer pods. */
  "runs"?: boolean;
};

export type StoreHeldPod = {
  /** the record's id */
  "decision"?: string;
  "name"?: string;
  "namespace"?: string;
  "node"?: string;
  "uid"?: string;
};

export type UpgradeKind = "fails" | "noLongerFits" | "fitsNow" | "otherVictims" | "otherNode" | "otherDevices" | "otherScores" | "otherMessage" | (string & {});
