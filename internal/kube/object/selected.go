package object

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/labels"
)

// selectable is what of an object in canonical form lists are filtered by.
type selectable struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name            string     `json:"name"`
		Labels          labels.Set `json:"labels"`
		OwnerReferences []struct {
			Kind string `json:"kind"`
			Name string `json:"name"`
			UID  string `json:"uid"`
		} `json:"ownerReferences"`
	} `json:"metadata"`
	Spec struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
}

func selectableOf(js []byte) (o selectable) {
	_ = json.Unmarshal(js, &o) // it is ours
	return o
}

// NodeOf returns the node that an object in canonical form belongs to: that it is, that it
// describes (CSINode, ResourceSlice), or that a pod is on; "" for others.
func NodeOf(js []byte) string {
	switch o := selectableOf(js); o.Kind {
	case "Node", "CSINode":
		return o.Metadata.Name
	case "Pod", "ResourceSlice":
		return o.Spec.NodeName
	}
	return ""
}

// LabelsOf returns the labels of an object in canonical form.
func LabelsOf(js []byte) labels.Set { return selectableOf(js).Metadata.Labels }

// OwnedBy reports whether an object in canonical form names an owner: KIND/NAME, or its UID.
func OwnedBy(js []byte, owner string) bool {
	for _, o := range selectableOf(js).Metadata.OwnerReferences {
		if o.Kind+"/"+o.Name == owner || o.UID != "" && o.UID == owner {
			return true
		}
	}
	return false
}
