// Package kinds knows the Go types of the built-in kinds.
package kinds

import (
	"log"
	"reflect"
	"runtime/debug"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// All gives the kinds whose objects a client may send, with their types: lists and watch events only come from the server. Options,
// which are registered with every version, are not among them.
func All() map[schema.GroupVersionKind]reflect.Type {
	for _, add := range []func(*runtime.Scheme) error{apiextensions.AddToScheme, apiregistration.AddToScheme} {
		if err := add(scheme.Scheme); err != nil {
			log.Fatal(err)
		}
	}
	found := map[schema.GroupVersionKind]reflect.Type{}
	for kind, goType := range scheme.Scheme.AllKnownTypes() {
		object := reflect.New(goType).Interface().(runtime.Object)
		isInternal := kind.Version == runtime.APIVersionInternal || kind.Kind == metav1.WatchEventKind
		if !isInternal && !meta.IsListType(object) && PackageOf(goType) != "meta/v1" {
			found[kind] = goType
		}
	}
	return found
}

// Modules are the modules that the types come from, with their versions.
func Modules() []string {
	info, _ := debug.ReadBuildInfo()
	var found []string
	for _, module := range info.Deps {
		switch module.Path {
		case "k8s.io/api", "k8s.io/apiextensions-apiserver", "k8s.io/apimachinery", "k8s.io/kube-aggregator":
			found = append(found, module.Path+" "+module.Version)
		}
	}
	return found
}

// PackageOf is the end of the type's package path: core/v1, meta/v1.
func PackageOf(goType reflect.Type) string {
	parts := strings.Split(goType.PkgPath(), "/")
	return strings.Join(parts[len(parts)-2:], "/")
}
