// Writes how the fields of built-in kinds are patched by strategic merge patch: the tags that Go types carry, along the
// fields that lead to them. Types and fields without such tags are left out.
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

func main() {
	log.SetFlags(0)
	for _, add := range []func(*runtime.Scheme) error{apiextensions.AddToScheme, apiregistration.AddToScheme} {
		if err := add(scheme.Scheme); err != nil {
			log.Fatal(err)
		}
	}
	facts := facts{types: map[string][]string{}, matters: map[reflect.Type]bool{}}
	var kinds []string
	for kind, goType := range scheme.Scheme.AllKnownTypes() {
		if kind.Version == runtime.APIVersionInternal || strings.HasSuffix(goType.PkgPath(), "/meta/v1") || isList(goType) {
			continue
		}
		if facts.add(goType) {
			kinds = append(kinds, fmt.Sprintf("kind %s %s %s", kind.GroupVersion(), kind.Kind, name(goType)))
		}
	}
	slices.Sort(kinds)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	fmt.Fprintln(out, "# How the fields of built-in kinds are patched. Made by tools/protobuf; not edited by hand.")
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "k8s.io/api" || module.Path == "k8s.io/apimachinery" || module.Path == "k8s.io/apiextensions-apiserver" || module.Path == "k8s.io/kube-aggregator" {
				fmt.Fprintln(out, "#", module.Path, module.Version)
			}
		}
	}
	for _, typeName := range facts.names() {
		fmt.Fprintln(out, "type", typeName)
		for _, line := range facts.types[typeName] {
			fmt.Fprintln(out, line)
		}
	}
	for _, line := range kinds {
		fmt.Fprintln(out, line)
	}
}

func isList(goType reflect.Type) bool {
	object, ok := reflect.New(goType).Interface().(runtime.Object)
	return ok && meta.IsListType(object)
}

type facts struct {
	types map[string][]string
	// Whether a type has facts; false while it is looked at.
	matters map[reflect.Type]bool
}

func (f *facts) names() []string {
	var names []string
	for typeName := range f.types {
		names = append(names, typeName)
	}
	slices.Sort(names)
	return names
}

// add says whether there is anything to know of a type.
func (f *facts) add(goType reflect.Type) bool {
	if known, seen := f.matters[goType]; seen {
		return known
	}
	f.matters[goType] = false
	lines := f.fields(goType)
	slices.Sort(lines)
	if len(lines) == 0 {
		return false
	}
	f.types[name(goType)] = lines
	f.matters[goType] = true
	return true
}

func (f *facts) fields(goType reflect.Type) []string {
	var lines []string
	for i := range goType.NumField() {
		field := goType.Field(i)
		jsonName, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		below := element(field.Type)
		if jsonName == "" && field.Anonymous && below.Kind() == reflect.Struct {
			lines = append(lines, f.fields(below)...)
			continue
		}
		strategy, key := field.Tag.Get("patchStrategy"), field.Tag.Get("patchMergeKey")
		leadsTo := "-"
		if below.Kind() == reflect.Struct && !isMap(field.Type) && f.add(below) {
			leadsTo = name(below)
		}
		if jsonName == "" || jsonName == "-" || strategy == "" && leadsTo == "-" {
			continue
		}
		lines = append(lines, strings.TrimRight(strings.Join([]string{jsonName, leadsTo, strategy, key}, " "), " "))
	}
	return lines
}

// element is what a pointer or a list holds.
func element(goType reflect.Type) reflect.Type {
	for goType.Kind() == reflect.Pointer || goType.Kind() == reflect.Slice {
		goType = goType.Elem()
	}
	return goType
}

// Strategic merge patch does not look into maps from names to structs.
func isMap(goType reflect.Type) bool {
	return element(goType).Kind() == reflect.Map
}

func name(goType reflect.Type) string {
	parts := strings.Split(goType.PkgPath(), "/")
	return strings.Join(parts[len(parts)-2:], "/") + "." + goType.Name()
}
