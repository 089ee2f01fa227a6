package world

// orphanSeconds is from the deletion of a Node object until PodGC has deleted the pods of the node,
// at the latest (pkg/controller/podgc/gc_controller.go quarantineTime, gcCheckPeriod).
const orphanSeconds = 60

// orphaned has PodGC delete the pods of a node that is gone, without a grace period
// (gc_controller.go gcOrphaned).
func (w *World) orphaned(node string, pods []PodName) error {
	for _, name := range pods {
		pod, err := w.Pod(name.Namespace, name.Name)
		if err != nil || pod.Spec.NodeName != node {
			continue // gone meanwhile
		}
		if rec := w.leaving[name]; rec != nil {
			err = w.Gone(pod, rec)
		} else {
			err = w.Leave(pod, &Left{Cause: CauseOrphaned}, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
