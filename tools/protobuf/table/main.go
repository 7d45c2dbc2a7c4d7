// Writes the table of fields by which our API server reads protobuf: for each message of the built-in kinds, the number,
// the JSON name and the type of each field. The tags of the Go types say the same as the .proto files beside them, and
// also what JSON does with a field (inline, omitted when empty), which the .proto files do not.
package main

import (
	"bufio"
	"encoding"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kubewright/tools/protobuf/kinds"
)

func main() {
	log.SetFlags(0)
	table := table{messages: map[string]map[string]message{}, versions: map[string]schema.GroupVersion{}}
	for kind, goType := range kinds.All() {
		table.addKind(kind, goType)
	}
	// The only options that come as a body.
	table.addKind(metav1.SchemeGroupVersion.WithKind("DeleteOptions"), reflect.TypeFor[metav1.DeleteOptions]())
	out := bufio.NewWriter(os.Stdout)
	table.write(out)
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}

type table struct {
	// By package and name.
	messages map[string]map[string]message
	// The group and version of the kinds of a package.
	versions map[string]schema.GroupVersion
}

type message struct {
	isKind bool
	fields []string
}

func (t *table) addKind(kind schema.GroupVersionKind, goType reflect.Type) {
	t.addMessage(goType)
	room, name := kinds.PackageOf(goType), goType.Name()
	if name != kind.Kind {
		log.Fatalf("kind %v is made by a type of another name: %v", kind, goType)
	}
	if known, found := t.versions[room]; found && known != kind.GroupVersion() {
		log.Fatalf("package %s serves %v and %v", room, known, kind.GroupVersion())
	}
	t.versions[room] = kind.GroupVersion()
	found := t.messages[room][name]
	found.isKind = true
	t.messages[room][name] = found
}

func (t *table) addMessage(goType reflect.Type) {
	room, name := kinds.PackageOf(goType), goType.Name()
	if t.messages[room] == nil {
		t.messages[room] = map[string]message{}
	}
	if _, found := t.messages[room][name]; found {
		return
	}
	t.messages[room][name] = message{} // Types may contain themselves.
	var fields []string
	for i := range goType.NumField() {
		if line := t.field(room, goType, goType.Field(i)); line != "" {
			fields = append(fields, line)
		}
	}
	t.messages[room][name] = message{fields: fields}
}

// field is the line of one field: number, JSON name, type, how empty values read, and Go's name where it is not the JSON name.
func (t *table) field(room string, owner reflect.Type, field reflect.StructField) string {
	tag := strings.Split(field.Tag.Get("protobuf"), ",")
	jsonName, jsonOptions, _ := strings.Cut(field.Tag.Get("json"), ",")
	options := strings.Split(jsonOptions, ",")
	if len(tag) < 2 {
		if field.Anonymous && jsonName == "" || jsonName == "-" {
			return "" // TypeMeta: the envelope carries it.
		}
		log.Fatalf("%v.%s has no number", owner, field.Name)
	}
	fieldType, optional := field.Type, field.Type.Kind() == reflect.Pointer
	if optional {
		fieldType = fieldType.Elem()
	}
	kind := t.typeOf(room, fieldType)
	line := tag[1]
	switch {
	case jsonName != "":
		line += " " + jsonName
	case field.Anonymous:
		line += " >"
	default:
		log.Fatalf("%v.%s has no name in JSON", owner, field.Name)
	}
	switch {
	case dropsEmpty(fieldType, optional, options):
		kind += "?"
	case !optional && jsonName != "":
		kind += "!"
	}
	line += " " + kind
	if field.Name != strings.ToUpper(jsonName[:min(1, len(jsonName))])+jsonName[min(1, len(jsonName)):] {
		line += " " + field.Name
	}
	return line
}

// dropsEmpty says whether JSON leaves the field out when it has the zero value.
func dropsEmpty(fieldType reflect.Type, optional bool, options []string) bool {
	if optional {
		return false
	}
	isStruct := fieldType.Kind() == reflect.Struct
	return slices.Contains(options, "omitzero") || slices.Contains(options, "omitempty") && !isStruct
}

func (t *table) typeOf(room string, goType reflect.Type) string {
	if special, found := specials[goType.String()]; found {
		return special
	}
	if reflect.PointerTo(goType).Implements(jsonMarshaler) || reflect.PointerTo(goType).Implements(textMarshaler) {
		log.Fatalf("%v has a JSON form of its own", goType)
	}
	isMessage := reflect.PointerTo(goType).Implements(protoMessage)
	switch goType.Kind() {
	case reflect.Struct:
		t.addMessage(goType)
		if other := kinds.PackageOf(goType); other != room {
			return other + "." + goType.Name()
		}
		return goType.Name()
	case reflect.Slice:
		if goType.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		if isMessage {
			return "items" // A list as an element: a message with the list as its only field.
		}
		return "[]" + t.typeOf(room, goType.Elem())
	case reflect.Map:
		if goType.Key().Kind() != reflect.String {
			log.Fatalf("%v has other keys than strings", goType)
		}
		return "{}" + t.typeOf(room, goType.Elem())
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Float64:
		return goType.Kind().String()
	}
	log.Fatalf("no type is known for %v", goType)
	return ""
}

// specials are the types that have a JSON form of their own.
var specials = map[string]string{
	"v1.Time":                         "time",
	"v1.MicroTime":                    "microtime",
	"v1.FieldsV1":                     "json",
	"v1.JSON":                         "json",
	"v1.JSONSchemaPropsOrArray":       "schemaOrArray",
	"v1.JSONSchemaPropsOrBool":        "schemaOrBool",
	"v1.JSONSchemaPropsOrStringArray": "schemaOrStrings",
	"runtime.RawExtension":            "json",
	"resource.Quantity":               "quantity",
	"intstr.IntOrString":              "intOrString",
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	protoMessage  = reflect.TypeFor[interface{ Unmarshal([]byte) error }]()
)

func (t *table) write(out *bufio.Writer) {
	fmt.Fprintln(out, "# The fields of the built-in kinds in protobuf, and how they read in JSON. Made by tools/protobuf; not edited by hand.")
	for _, module := range kinds.Modules() {
		fmt.Fprintln(out, "#", module)
	}
	for _, room := range slices.Sorted(keys(t.messages)) {
		fmt.Fprintf(out, "package %s %s\n", room, t.versions[room])
		for _, name := range slices.Sorted(keys(t.messages[room])) {
			found := t.messages[room][name]
			word := "message"
			if found.isKind {
				word = "kind"
			}
			fmt.Fprintln(out, word, name)
			for _, line := range found.fields {
				fmt.Fprintln(out, line)
			}
		}
	}
}

func keys[V any](of map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range of {
			if !yield(key) {
				return
			}
		}
	}
}
