package object

// What is kept of the kinds that an API server's admission reads of a pod beside its priority
// class (plugin/pkg/admission: runtimeclass, limitranger, resourcequota). No decision reads them.

// RuntimeClasses have no spec: their fields stand beside the metadata.
var keepRuntimeClass = keep{
	"apiVersion": all, "kind": all, "metadata": metadata(),
	"handler": all, "overhead": {"podFixed": all},
	"scheduling": {"nodeSelector": all, "tolerations": tolerations},
}

var keepLimitRange = object(keep{"limits": {
	"type": all, "max": all, "min": all, "default": all, "defaultRequest": all, "maxLimitRequestRatio": all,
}}, nil)

var keepResourceQuota = object(keep{
	"hard": all, "scopes": all,
	"scopeSelector": {"matchExpressions": {"scopeName": all, "operator": all, "values": all}},
}, keep{"hard": all, "used": all})
