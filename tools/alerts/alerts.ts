/**
 * Rules of Prometheus for alerts, in deploy/prometheus: written from tools/alerts/alert-rules.ts,
 * and tested by Prometheus' own promtool: each fires with some series, and is quiet with others.
 *
 *     npm run tool -- alerts [--write]
 *
 * promtool is built with Go and kept in .cache. Every metric of a rule is one that a server has.
 */
import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempDisposableSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toolOptions } from "@zooid/conformance/internal/tool-options";
import { helpOf } from "@zooid/embedded-server/internal/admin/metric-help";
import { stringify } from "yaml";
import { ROOT } from "../pack/public-packages.ts";
import { ALERT_RULES, type AlertRule } from "./alert-rules.ts";

const VERSION = "0.307.3";
const CACHE = join(ROOT, ".cache");
const RULES = join(ROOT, "deploy/prometheus/zooid-rules.yaml");
const HEAD = "# Alerts of Zooid, for series whose label `job` is that of an ensemble: npm run tool -- alerts --write\n";
const AT = "15m";
/** A metric of Prometheus itself, and words of its language. */
const OTHER_NAMES = new Set([
  "up",
  "time",
  "absent",
  "and",
  "on",
  "count",
  "by",
  "job",
  "rate",
  "increase",
  "floor",
  "abs",
  "max",
  "bool",
  "or",
]);

const options = toolOptions({ write: false });
const faults: string[] = [];
const text = `${HEAD}${stringify({ groups: [{ name: "zooid", rules: ALERT_RULES.map(ruleOf) }] }, { lineWidth: 0 })}`;
if (options.write) writeFileSync(RULES, text);
else if (readFileSync(RULES, "utf8") !== text)
  faults.push(`${RULES} is not what the table says: npm run tool -- alerts --write`);

for (const { name, expression } of ALERT_RULES) {
  const metrics = expression.replace(/"[^"]*"|\[[^\]]*\]|\{[^}]*\}/g, "").match(/[a-z_][a-z_0-9]*/g) ?? [];
  for (const metric of metrics.filter((each) => !OTHER_NAMES.has(each)))
    if ([metric, metric.replace(/_(?:sum|count)$/, "")].every((each) => helpOf(each, true) === undefined))
      faults.push(`${name}: no server has ${metric}`);
}

using folder = mkdtempDisposableSync(join(tmpdir(), "alerts-"));
const tests = ALERT_RULES.flatMap((rule) => [testOf(rule, true), testOf(rule, false)]);
const testFile = join(folder.path, "tests.yaml");
writeFileSync(testFile, JSON.stringify({ rule_files: [RULES], evaluation_interval: "1m", tests }));
const promtool = installPromtool();
for (const args of [
  ["check", "rules", RULES],
  ["test", "rules", testFile],
]) {
  const { status, stdout, stderr } = spawnSync(promtool, args, { encoding: "utf8" });
  if (status !== 0) faults.push(`${stdout}${stderr}`);
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

function installPromtool(): string {
  const place = join(CACHE, `promtool-${VERSION}`);
  const program = join(place, "promtool");
  if (existsSync(program)) return program;
  mkdirSync(CACHE, { recursive: true });
  const empty = mkdtempSync(`${place}-`);
  const command = "github.com/prometheus/prometheus/cmd/promtool";
  const requires = `require github.com/prometheus/prometheus v${VERSION}`;
  // Its module excludes versions of others, so that it cannot be installed by its name.
  writeFileSync(join(empty, "go.mod"), `module zooid.test/promtool\n\ngo 1.24.0\n\n${requires}\n`);
  writeFileSync(join(empty, "tools.go"), `//go:build tools\n\npackage main\n\nimport _ "${command}"\n`);
  execFileSync("go", ["build", "-o", "promtool", command], {
    cwd: empty,
    env: { ...process.env, GOFLAGS: "-mod=mod" },
    stdio: "ignore",
  });
  try {
    renameSync(empty, place);
  } catch (error) {
    // Another tool was first.
    if (!existsSync(program)) throw error;
    rmSync(empty, { recursive: true });
  }
  return program;
}
