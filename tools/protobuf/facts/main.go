// Writes how the fields of built-in kinds are patched by strategic merge patch: the tags that Go types carry, along the
// fields that lead to them. Types and fields without such tags are left out.
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"reflect"
	"slices"
	"strings"

	"kubewright/tools/protobuf/kinds"
)

func main() {
	log.SetFlags(0)
	facts := facts{types: map[string][]string{}, matters: map[reflect.Type]bool{}}
	var lines []string
	for kind, goType := range kinds.All() {
		if facts.add(goType) {
			lines = append(lines, fmt.Sprintf("kind %s %s %s", kind.GroupVersion(), kind.Kind, name(goType)))
		}
	}
	slices.Sort(lines)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	fmt.Fprintln(out, "# How the fields of built-in kinds are patched. Made by tools/protobuf; not edited by hand.")
	for _, module := range kinds.Modules() {
		fmt.Fprintln(out, "#", module)
	}
	for _, typeName := range facts.names() {
		fmt.Fprintln(out, "type", typeName)
		for _, line := range facts.types[typeName] {
			fmt.Fprintln(out, line)
		}
	}
	for _, line := range lines {
		fmt.Fprintln(out, line)
	}
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
	return kinds.PackageOf(goType) + "." + goType.Name()
}
