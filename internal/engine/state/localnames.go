package state

// scalarIDs assigns ids to the names of resources.
type scalarIDs interface {
	// scalar returns the id of a name, a new one where it has none yet.
	scalar(name string) int32
	lookupScalar(name string) (id int32, known bool)
}

// LocalNames assigns ids to names of a question that the tables do not hold: resources of its pod,
// resources of the nodes that it replaces, volumes of its pod. The tables are permanent, so
// questions must not write into them. Local ids are negative. They live as long as the question, or
// as the overlay that was made for it. A name with a local id keeps it, even if the tables learn
// the name meanwhile. Everything else in the state was interned before the question came, so a name
// never has two ids in one question.
type LocalNames struct {
	t       *Tables
	up      *LocalNames // of the state; nil without. Not written any more.
	first   int         // how many names up has
	names   []string
	ids     map[string]int32
	volumes map[volumeKey]int32
}

// NewLocalNames returns the names of a question about the state.
func NewLocalNames(s *State) LocalNames {
	l := LocalNames{t: s.t, up: s.local}
	if l.up != nil {
		l.first = l.up.first + len(l.up.names)
	}
	return l
}

func (l *LocalNames) scalar(name string) int32 {
	if id, known := l.lookupScalar(name); known {
		return id
	}
	if l.ids == nil {
		l.ids = map[string]int32{}
	}
	l.names = append(l.names, name)
	id := -int32(l.first + len(l.names))
	l.ids[name] = id
	return id
}

func (l *LocalNames) lookupScalar(name string) (int32, bool) {
	for at := l; at != nil; at = at.up {
		if id, ok := at.ids[name]; ok {
			return id, true
		}
	}
	return l.t.lookupScalar(name)
}

func (l *LocalNames) scalarName(id int32) string {
	if id >= 0 {
		return l.t.scalarName(id)
	}
	i := int(-id) - 1
	for i < l.first {
		l = l.up
	}
	return l.names[i-l.first]
}

// ScalarID returns the id of a resource by name; ok is false where neither a node nor a pod of
// the state nor the question mentions it.
func (l *LocalNames) ScalarID(name string) (id int32, ok bool) { return l.lookupScalar(name) }

// ScalarName returns a resource's name.
func (l *LocalNames) ScalarName(id int32) string { return l.scalarName(id) }

// ForgetVolumes drops the ids of volumes.
func (l *LocalNames) ForgetVolumes() { l.volumes = nil }

// volume returns the id of a CSI volume. Drivers are named by the state or by Kubernetes' own list
// of plugins, so they are interned.
func (l *LocalNames) volume(key volumeKey) CSIVolume {
	by := l.t.driver(key.driver)
	if id, ok := l.volumes[key]; ok {
		return CSIVolume{id, by}
	}
	if id, known := l.t.lookupVolume(key); known {
		return CSIVolume{id, by}
	}
	if l.volumes == nil {
		l.volumes = map[volumeKey]int32{}
	}
	id := -int32(len(l.volumes) + 1)
	l.volumes[key] = id
	return CSIVolume{id, by}
}
