package object

import (
	"reflect"
	"strings"
	"testing"
)

const hostilePod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"n","generateName":"CANARY-","selfLink":"CANARY","resourceVersion":"CANARY",
"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"env\":\"CANARY\"}","note":"CANARY","kubernetes.io/config.mirror":"kept-mirror"},
"managedFields":[{"manager":"CANARY","fieldsV1":{"f:CANARY":{}}}],"finalizers":["kept-finalizer"]},
"spec":{"serviceAccountName":"CANARY","imagePullSecrets":[{"name":"CANARY"}],"hostname":"CANARY","dnsConfig":{"searches":["CANARY"]},"hostAliases":[{"hostnames":["CANARY"]}],"unknown":{"CANARY":"CANARY"},
"securityContext":{"seLinuxOptions":{"user":"CANARY"}},
"volumes":[{"name":"s","secret":{"secretName":"CANARY"}},{"name":"c","configMap":{"name":"CANARY"}},{"name":"h","hostPath":{"path":"/CANARY"}},{"name":"pr","projected":{"sources":[{"secret":{"name":"CANARY"}}]}},
{"name":"csi","csi":{"driver":"d","volumeAttributes":{"k":"CANARY"},"nodePublishSecretRef":{"name":"CANARY"}}},{"name":"rbd","rbd":{"monitors":["m"],"image":"i","user":"CANARY","keyring":"CANARY","secretRef":{"name":"CANARY"}}},{"name":"pvc","persistentVolumeClaim":{"claimName":"kept-claim"}}],
"initContainers":[{"name":"i","image":"kept-init","env":[{"name":"CANARY","value":"CANARY"}]}],
"ephemeralContainers":[{"name":"e","image":"x","env":[{"name":"CANARY"}],"command":["CANARY"]}],
"containers":[{"name":"c","image":"kept-image","command":["CANARY"],"args":["--CANARY"],"workingDir":"/CANARY","env":[{"name":"CANARY","value":"CANARY"},{"name":"X","valueFrom":{"secretKeyRef":{"name":"CANARY","key":"CANARY"}}}],"envFrom":[{"secretRef":{"name":"CANARY"}}],
"volumeMounts":[{"name":"CANARY","mountPath":"/CANARY"}],"terminationMessagePath":"/CANARY",
"livenessProbe":{"httpGet":{"port":1,"host":"CANARY","path":"/CANARY","httpHeaders":[{"name":"Authorization","value":"CANARY"}]}},"readinessProbe":{"exec":{"command":["CANARY"]}},"startupProbe":{"grpc":{"port":2,"service":"CANARY"}},
"lifecycle":{"preStop":{"exec":{"command":["CANARY"]}},"postStart":{"exec":{"command":["CANARY"]}}}}]},
"status":{"message":"CANARY","podIP":"CANARY","hostIP":"CANARY","containerStatuses":[{"name":"c","image":"x","imageID":"CANARY","containerID":"CANARY","ready":true,"restartCount":1,"state":{"waiting":{"reason":"R","message":"CANARY"}},"lastState":{"terminated":{"exitCode":1,"message":"CANARY"}}}]}}`

// What isn't on the allow-list must leave no trace, in JSON and in YAML.
func TestSecretsDoNotSurvive(t *testing.T) {
	o := mustRead(t, hostilePod, JSON)[0]
	for _, bytes := range []string{string(o.JSON), dump(o.Value)} {
		if i := strings.Index(bytes, "CANARY"); i >= 0 {
			t.Errorf("a canary survives: …%s…", bytes[max(0, i-80):min(len(bytes), i+40)])
		}
	}
	for _, want := range []string{"kept-mirror", "kept-finalizer", "kept-claim", "kept-init", "kept-image", `"exec":{}`} {
		if !strings.Contains(string(o.JSON), want) {
			t.Errorf("%s is lost", want)
		}
	}
	checkFixedPoint(t, []Object{o})
	// Nor may an error text show what isn't kept.
	_, _, err := readAll(strings.Replace(hostilePod, `"restartCount":1`, `"restartCount":"many"`, 1), JSON, Limits{})
	if err == nil || strings.Contains(err.Error(), "CANARY") {
		t.Errorf("error = %v", err)
	}
}

// dump writes every string that a value holds.
func dump(v any) string {
	var b strings.Builder
	var walk func(reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer, reflect.Interface:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i))
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Map:
			for _, k := range v.MapKeys() {
				walk(k)
				walk(v.MapIndex(k))
			}
		case reflect.String:
			b.WriteString(v.String() + "\n")
		}
	}
	walk(reflect.ValueOf(v))
	return b.String()
}

// Every name on the allow-list must be a field of the Go type: a slip of the
// pen would silently drop what a decision reads.
func TestAllowListNamesFields(t *testing.T) {
	for name, k := range kinds {
		checkNames(t, name, k.keep, reflect.TypeOf(k.alloc()))
	}
}

func checkNames(t *testing.T, path string, tr *trie, typ reflect.Type) {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	if tr.whole || typ.Kind() == reflect.Map {
		return
	}
	for key, b := range tr.keys {
		f, ok := jsonField(typ, key)
		if !ok {
			t.Errorf("%s.%s isn't a field of %v", path, key, typ)
			continue
		}
		checkNames(t, path+"."+key, b.node, f)
	}
}

func jsonField(typ reflect.Type, key string) (reflect.Type, bool) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == key {
			return f.Type, true
		}
		if name == "" && f.Anonymous {
			if t, ok := jsonField(f.Type, key); ok {
				return t, true
			}
		}
	}
	return nil, false
}
