// Writes which fields of the built-in kinds have to be there, as the OpenAPI documents of the original say it. The types do
// not: a field that JSON always shows may be optional all the same.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"kubewright/tools/protobuf/kinds"
)

func main() {
	log.SetFlags(0)
	version := kubernetesVersion()
	required := map[string][]string{}
	for _, path := range documents(version) {
		addDocument(path, required)
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	fmt.Fprintln(out, "# Which fields of the built-in kinds have to be there. Made by tools/protobuf; not edited by hand.")
	fmt.Fprintln(out, "# k8s.io/kubernetes", version)
	for _, name := range slices.Sorted(maps.Keys(required)) {
		fields := required[name]
		slices.Sort(fields)
		fmt.Fprintln(out, name, strings.Join(fields, " "))
	}
}

// kubernetesVersion is the version of the original that goes with the modules of the types.
func kubernetesVersion() string {
	for _, module := range kinds.Modules() {
		if version, found := strings.CutPrefix(module, "k8s.io/api v0."); found {
			return "v1." + version
		}
	}
	log.Fatal("the types come from no released module")
	return ""
}

func documents(version string) []string {
	command := exec.Command("go", "mod", "download", "-json", "k8s.io/kubernetes@"+version)
	command.Dir = os.TempDir()
	text, err := command.Output()
	if err != nil {
		log.Fatal(err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(text, &module); err != nil {
		log.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(module.Dir, "api/openapi-spec/v3/*.json"))
	if err != nil || len(paths) == 0 {
		log.Fatal("no documents in ", module.Dir)
	}
	return paths
}

// addDocument notes the types that have such fields, but for lists of kinds, all of which have items.
func addDocument(path string, required map[string][]string) {
	text, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Required []string                   `json:"required"`
				Kinds    []struct{ Kind string }    `json:"x-kubernetes-group-version-kind"`
				Fields   map[string]json.RawMessage `json:"properties"`
			}
		}
	}
	if err := json.Unmarshal(text, &document); err != nil {
		log.Fatal(path, ": ", err)
	}
	for name, schema := range document.Components.Schemas {
		_, isList := schema.Fields["items"]
		if len(schema.Required) > 0 && !(isList && len(schema.Kinds) > 0) {
			required[goName(name)] = schema.Required
		}
	}
}

// goName is the name that the types have in the other tables: core/v1.Pod.
func goName(name string) string {
	parts := strings.Split(name, ".")
	return strings.Join(parts[len(parts)-3:len(parts)-1], "/") + "." + parts[len(parts)-1]
}
