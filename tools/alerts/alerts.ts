/**
 * Rules of Prometheus for alerts, in deploy/prometheus: written from tools/alerts/alert-rules.ts,
 * and tested by Prometheus' own promtool: each fires with some series, and is quiet with others.
 *
 *     npm run tool -- alerts [--write]
 *
 * Every metric of a rule is one that a server has.
 */
import { mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toolOptions } from "@zooid/conformance/internal/tool-options";
import { stringify } from "yaml";
import { ROOT } from "../pack/public-packages.ts";
import { ALERT_RULES, type AlertRule } from "./alert-rules.ts";
import { promtool } from "./promtool.ts";
import { unknownMetricsOf } from "./unknown-metrics.ts";

const RULES = join(ROOT, "deploy/prometheus/zooid-rules.yaml");
const HEAD = "# Alerts of Zooid, for series whose label `job` is that of an ensemble: npm run tool -- alerts --write\n";
const AT = "15m";
const options = toolOptions({ write: false });
const faults: string[] = [];
const text = `${HEAD}${stringify({ groups: [{ name: "zooid", rules: ALERT_RULES.map(ruleOf) }] }, { lineWidth: 0 })}`;
if (options.write) writeFileSync(RULES, text);
else if (readFileSync(RULES, "utf8") !== text)
  faults.push(`${RULES} is not what the table says: npm run tool -- alerts --write`);

for (const { name, expression } of ALERT_RULES)
  for (const metric of unknownMetricsOf(expression)) faults.push(`${name}: no server has ${metric}`);

using folder = mkdtempDisposableSync(join(tmpdir(), "alerts-"));
const tests = ALERT_RULES.flatMap((rule) => [testOf(rule, true), testOf(rule, false)]);
const testFile = join(folder.path, "tests.yaml");
writeFileSync(testFile, JSON.stringify({ rule_files: [RULES], evaluation_interval: "1m", tests }));
for (const args of [
  ["check", "rules", RULES],
  ["test", "rules", testFile],
]) {
  const { status, output } = promtool(args);
  if (status !== 0) faults.push(output);
}
for (const fault of faults) console.log(fault);
console.log(faults.length === 0 ? `${ALERT_RULES.length} alerts fire, and stay quiet` : "FAILED");
process.exitCode = faults.length === 0 ? 0 : 1;

function ruleOf({ name, expression, minutes, severity, summary, remedy }: AlertRule): object {
  return {
    alert: name,
    expr: expression,
    ...(minutes === 0 ? {} : { for: `${minutes}m` }),
    labels: { severity },
    annotations: { summary, remedy },
  };
}

/** Whether the rule's alert, and how many of it, is there at the end. */
function testOf({ name, fires, quiet, expression }: AlertRule, isFiring: boolean): object {
  const series = Object.entries(isFiring ? fires : quiet).map(([each, values]) => ({ series: each, values }));
  const query = `count(ALERTS{alertname="${name}",alertstate="firing"}) or vector(0)`;
  return {
    name: `${name} ${isFiring ? "fires" : "is quiet"}: ${expression}`,
    interval: "1m",
    input_series: series,
    promql_expr_test: [{ expr: query, eval_time: AT, exp_samples: [{ labels: "{}", value: isFiring ? 1 : 0 }] }],
  };
}
