package object

// What is kept of the storage kinds: what VolumeBinding, VolumeZone,
// NodeVolumeLimits and VolumeRestrictions read.

var claimSpec = keep{
	"accessModes": all, "selector": labelSelector, "resources": {"requests": all},
	"volumeName": all, "storageClassName": all, "volumeMode": all, "volumeAttributesClassName": all,
}

var keepPVC = object(claimSpec, keep{"phase": all},
	"pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller",
	"volume.beta.kubernetes.io/storage-class", "volume.kubernetes.io/selected-node")

var keepPV = object(
	keep{
		"capacity": all, "accessModes": all, "storageClassName": all, "volumeMode": all,
		"volumeAttributesClassName":     all,
		"persistentVolumeReclaimPolicy": all,
		"claimRef":                      {"namespace": all, "name": all, "uid": all},
		"nodeAffinity":                  {"required": nodeSelector},
		"csi":                           {"driver": all, "volumeHandle": all},
		"local":                         presence, "hostPath": presence, "nfs": presence,
		"gcePersistentDisk":    {"pdName": all, "readOnly": all},
		"awsElasticBlockStore": {"volumeID": all, "readOnly": all},
		"azureDisk":            {"diskName": all, "diskURI": all, "kind": all},
		"cinder":               {"volumeID": all},
		"vsphereVolume":        {"volumePath": all},
		"portworxVolume":       {"volumeID": all},
		"iscsi":                {"iqn": all, "lun": all, "targetPortal": all, "readOnly": all},
		"rbd":                  {"monitors": all, "image": all, "pool": all, "readOnly": all},
	},
	keep{"phase": all},
	"pv.kubernetes.io/bound-by-controller", "volume.beta.kubernetes.io/storage-class")

var keepStorageClass = keep{
	"apiVersion": all, "kind": all,
	"metadata":    metadata("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"),
	"provisioner": all, "volumeBindingMode": all, "reclaimPolicy": all,
	"allowedTopologies": {"matchLabelExpressions": {"key": all, "values": all}},
}

var keepCSINode = object(
	keep{"drivers": {"name": all, "topologyKeys": all, "allocatable": {"count": all}}},
	nil, "storage.alpha.kubernetes.io/migrated-plugins")

var keepCSIDriver = object(
	keep{"attachRequired": all, "storageCapacity": all, "preventPodSchedulingIfMissing": all}, nil)

var keepCSICapacity = keep{
	"apiVersion": all, "kind": all, "metadata": metadata(),
	"nodeTopology": labelSelector, "storageClassName": all, "capacity": all, "maximumVolumeSize": all,
}

var keepAttachment = object(
	keep{"attacher": all, "nodeName": all, "source": {"persistentVolumeName": all}},
	keep{"attached": all})
