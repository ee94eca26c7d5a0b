import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DASHBOARDS, MISSING, metricNamesOf } from "@zooid/embedded-server/internal/testing/dashboard-expressions";
import type { Rule } from "./prometheus-server.ts";

/** An expression that boards or alerts ask Prometheus for. */
export interface AskedExpression {
  /** The board and its panel, or the alert. */
  readonly by: string;
  readonly query: string;
}

interface GrafanaPanel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

/**
 * The expressions of the committed boards.
 *
 * @param folder deploy/grafana
 */
export function expressionsOfBoards(folder: string, job: string): readonly AskedExpression[] {
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return files.flatMap((name) => {
    const { title, panels } = JSON.parse(readFileSync(join(folder, name), "utf8")) as {
      readonly title: string;
      readonly panels: readonly GrafanaPanel[];
    };
    return panels.flatMap(({ title: panel, targets = [] }) =>
      targets.map(({ expr }) => ({ by: `${title}, ${panel}`, query: withVariables(expr, job) })),
    );
  });
}

/**
 * The expression with Grafana's variables replaced; any server stands for the one that is chosen.
 */
function withVariables(expression: string, job: string): string {
  return expression
    .replaceAll("$job", job)
    .replaceAll('instance="$instance"', 'instance=~".+"')
    .replaceAll("$__rate_interval", "10s");
}

/** The expressions that alerts compare: they have no value while they are quiet. */
export function expressionsOfAlerts(rules: readonly Rule[]): readonly AskedExpression[] {
  return rules.map(({ name, query }) => ({ by: `alert ${name}`, query: withoutThreshold(query) }));
}

/** The expressions of boards and alerts that others made for Apache's exporter. */
export function foreignExpressions(): readonly AskedExpression[] {
  return DASHBOARDS.filter(({ source }) => source === "metrics").flatMap(({ name, expressions }) =>
    expressions
      .filter((query) => !metricNamesOf(query).some((metric) => MISSING.has(metric)))
      .map((query) => ({ by: name, query: withoutThreshold(query) })),
  );
}

/** Comparisons with `bool` have a value on either side of the threshold. */
function withoutThreshold(query: string): string {
  return query.replace(/ (==|!=|>=|<=|>|<) (?!bool )/g, " $1 bool ");
}
