// Command parse reads metrics from its input as Prometheus' own parser does, and says how many families and series there are, and what its linter thinks of
// their names.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return err
	}
	if len(families) == 0 {
		return fmt.Errorf("there are no metrics")
	}
	series := 0
	for name, family := range families {
		if family.GetHelp() == "" {
			return fmt.Errorf("%s has no help", name)
		}
		series += len(family.Metric)
	}
	problems, err := promlint.New(bytes.NewReader(text)).Lint()
	if err != nil {
		return err
	}
	for _, problem := range problems {
		fmt.Printf("%s: %s\n", problem.Metric, problem.Text)
	}
	fmt.Printf("%d families, %d series, %d remarks of the linter\n", len(families), series, len(problems))
	return nil
}
