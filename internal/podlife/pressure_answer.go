package podlife

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Pressure is a node that runs out of something.
type Pressure struct {
	Config EvictionConfig
	// Signals are what the kubelet observes, by signal.
	Signals map[string]Observed
	// Pods are the node's, with what they use: what an eviction gives back.
	Pods []Consumer
	Now  time.Time
}

// Observed is a signal's value.
type Observed struct {
	Available resource.Quantity `json:"available" swaggertype:"string" example:"200Mi"`
	// Capacity is needed for thresholds in percent.
	Capacity resource.Quantity `json:"capacity,omitzero" swaggertype:"string" example:"8Gi"`
	// Reclaimable is what the kubelet frees by deleting dead containers and unused
	// images before it evicts; disk signals only.
	Reclaimable resource.Quantity `json:"reclaimable,omitzero" swaggertype:"string" example:"0"`
	// Since is when the value was first seen; now if absent.
	Since *time.Time `json:"since,omitempty"`
}

// PressureRelief is what the kubelet does about it.
type PressureRelief struct {
	Thresholds []ThresholdState    `json:"thresholds"`
	Evictions  []PressureEviction  `json:"evictions"`
	Conditions []PressureCondition `json:"conditions"`
	// Available is what is left of each signal in the end.
	Available map[string]resource.Quantity `json:"available" swaggertype:"object,string"`
	Notes     []string                     `json:"notes,omitempty"`
} // @name PressureRelief

// ThresholdState is a threshold as it stands at first.
type ThresholdState struct {
	Signal string `json:"signal" example:"memory.available"`
	Kind   string `json:"kind" enums:"hard,soft"`
	Value  string `json:"value" example:"100Mi"`
	// Quantity is the value for the signal's capacity.
	Quantity  *resource.Quantity `json:"quantity,omitempty" swaggertype:"string"`
	Available *resource.Quantity `json:"available,omitempty" swaggertype:"string"`
	// Observed reports whether the question has the signal; without it the kubelet
	// passes the threshold over.
	Observed bool `json:"observed"`
	Met      bool `json:"met"`
	// Since is when it was first met, ActsAt when the kubelet evicts for it.
	Since  *time.Time `json:"since,omitempty"`
	ActsAt *time.Time `json:"actsAt,omitempty"`
} // @name ThresholdState

// PressureEviction is one pod that goes; the kubelet evicts one a pass.
type PressureEviction struct {
	At            time.Time `json:"at"`
	OffsetSeconds int64     `json:"offsetSeconds"`
	Namespace     string    `json:"namespace"`
	Name          string    `json:"name"`
	// Signal is that of the threshold, Resource what the node is low on.
	Signal   string `json:"signal"`
	Kind     string `json:"kind" enums:"hard,soft"`
	Resource string `json:"resource" example:"memory"`
	// GracePeriodSeconds is the kubelet's override of the pod's period.
	GracePeriodSeconds int64 `json:"gracePeriodSeconds"`
	// GoneAtSeconds is when its containers have stopped at the latest, from now.
	GoneAtSeconds int64              `json:"goneAtSeconds"`
	Available     *resource.Quantity `json:"available" swaggertype:"string"`
	Message       string             `json:"message"`
	// Why is the reason that it comes before the next one.
	Why string `json:"why,omitempty"`
} // @name PressureEviction

// PressureCondition is a condition of the node while it is True.
type PressureCondition struct {
	Type corev1.NodeConditionType `json:"type" swaggertype:"string" enums:"MemoryPressure,DiskPressure,PIDPressure"`
	From time.Time                `json:"from"`
	// Until is the pass that takes it back; absent while a threshold stays met.
	Until *time.Time `json:"until,omitempty"`
} // @name PressureCondition
