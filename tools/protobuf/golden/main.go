// Writes objects as Go encodes them, for the test that our API server reads them as Go does: a line with the version, the
// kind, the protobuf in base64 and the JSON. Every field has a value. With "all" it writes every kind of the scheme.
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"

	"kubewright/tools/protobuf/kinds"
)

// Together they use every type that has a JSON form of its own.
var chosen = []string{
	"v1 ConfigMap", "v1 Secret", "v1 Pod", "v1 Service", "v1 Namespace", "v1 ServiceAccount", "apps/v1 Deployment",
	"apps/v1 ControllerRevision", "events.k8s.io/v1 Event", "policy/v1 PodDisruptionBudget", "networking.k8s.io/v1 Ingress",
	"authorization.k8s.io/v1 SubjectAccessReview", "autoscaling/v1 Scale", "apiextensions.k8s.io/v1 CustomResourceDefinition",
}

func main() {
	log.SetFlags(0)
	all := len(os.Args) > 1 && os.Args[1] == "all"
	write(metav1.SchemeGroupVersion.WithKind("DeleteOptions"), &metav1.DeleteOptions{})
	bodies := kinds.All()
	for _, kind := range slices.SortedFunc(maps.Keys(bodies), compare) {
		if all || slices.Contains(chosen, kind.GroupVersion().String()+" "+kind.Kind) {
			write(kind, reflect.New(bodies[kind]).Interface().(runtime.Object))
		}
	}
}

func write(kind schema.GroupVersionKind, object runtime.Object) {
	fill(reflect.ValueOf(object).Elem(), "", nil)
	object.GetObjectKind().SetGroupVersionKind(kind)
	var encoded strings.Builder
	if err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(object, &encoded); err != nil {
		log.Fatal(kind, err)
	}
	text, err := json.Marshal(object)
	if err != nil {
		log.Fatal(kind, err)
	}
	fmt.Println(kind.GroupVersion(), kind.Kind, base64.StdEncoding.EncodeToString([]byte(encoded.String())), string(text))
}

// fill gives every field a value that names it. A type inside of itself, as the path says, stays empty.
func fill(value reflect.Value, name string, path []reflect.Type) {
	switch at := value.Addr().Interface().(type) {
	case *metav1.TypeMeta:
		return
	case *metav1.Time:
		at.Time = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		return
	case *metav1.MicroTime:
		at.Time = time.Date(2026, 1, 2, 3, 4, 5, 60000, time.UTC)
		return
	case *resource.Quantity:
		*at = resource.MustParse("1500m")
		return
	case *intstr.IntOrString:
		*at = intstr.FromInt32(80)
		if len(path)%2 == 0 {
			*at = intstr.FromString("50%")
		}
		return
	case *runtime.RawExtension:
		at.Raw = []byte(`{"raw":[1,"a"]}`)
		return
	case *metav1.FieldsV1:
		at.Raw = []byte(`{"f:data":{}}`)
		return
	case *apiextensions.JSON:
		at.Raw = []byte(`[1.5,"a",{}]`)
		return
	case *apiextensions.JSONSchemaPropsOrArray:
		at.JSONSchemas = []apiextensions.JSONSchemaProps{{Type: "string"}, {}}
		return
	case *apiextensions.JSONSchemaPropsOrBool:
		at.Allows = true
		return
	case *apiextensions.JSONSchemaPropsOrStringArray:
		at.Property = []string{"a", "b"}
		return
	}
	switch value.Kind() {
	case reflect.Struct:
		path = append(path, value.Type())
		for i := range value.NumField() {
			fill(value.Field(i), value.Type().Field(i).Name, path)
		}
	case reflect.Pointer:
		if !slices.Contains(path, value.Type().Elem()) {
			value.Set(reflect.New(value.Type().Elem()))
			fill(value.Elem(), name, path)
		}
	case reflect.Slice:
		if value.Type().Elem().Kind() == reflect.Uint8 {
			value.SetBytes([]byte(name + "\xff"))
		} else if !slices.Contains(path, value.Type().Elem()) {
			value.Set(reflect.MakeSlice(value.Type(), 1, 1))
			fill(value.Index(0), name, path)
		}
	case reflect.Map:
		if slices.Contains(path, value.Type().Elem()) {
			return
		}
		value.Set(reflect.MakeMap(value.Type()))
		element := reflect.New(value.Type().Elem()).Elem()
		fill(element, name, path)
		value.SetMapIndex(reflect.ValueOf("key").Convert(value.Type().Key()), element)
	case reflect.String:
		value.SetString(name)
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int32, reflect.Int64:
		value.SetInt(int64(-len(name)))
	case reflect.Float64:
		value.SetFloat(float64(len(name)) + 0.5)
	default:
		log.Fatalf("no value is known for %v", value.Type())
	}
}

func compare(a, b schema.GroupVersionKind) int {
	return strings.Compare(a.String(), b.String())
}
